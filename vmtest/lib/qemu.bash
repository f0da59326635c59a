# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel in QEMU with the host's files inside: an initrd of busybox and a handful of modules, virtiofs for the
# files, virtio ports for output and status.  No disk image, no packages in the guest.

# Modules that the guest needs to reach the host's files; drivers that are built in have none.
boot_modules() {
	modprobe --dirname "$KERNEL_DIR" --set-version "$KERNEL_RELEASE" --show-depends --all \
		virtio_pci virtio_console virtiofs overlay >"$JOB/modules" 2>"$JOB/modprobe" ||
		die "kernel $KERNEL_RELEASE: $(tail -n 1 "$JOB/modprobe")"
	awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$JOB/modules"
}

unpack_module() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -dc "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

archive() {
	(cd "$1" && find . -mindepth 1 | cpio --quiet --create --format=newc --owner=0:0)
}

# make_initrd FILE: busybox, init, modules in the order of their loading; made anew only when init has changed
make_initrd() {
	local root=$JOB/initrd module modules number=100

	[[ $1 -nt $GUEST/init && $1 -nt ${BASH_SOURCE[0]} ]] && return
	modules=$(boot_modules) || exit
	mkdir -p "$root/bin" "$root/modules"
	cp "$(command -v busybox)" "$root/bin/busybox"
	cp "$GUEST/init" "$root/init"
	for module in $modules; do
		number=$((number + 1))
		unpack_module "$module" >"$root/modules/$number.ko" || die "cannot unpack $module"
	done
	archive "$root" >"$1.$$" && mv "$1.$$" "$1"
}

# The kernel reads archives one behind the other: the second holds what this run is to do.
append_job() {
	make_job "$JOB/second/vmtest"
	cat "$1" <(archive "$JOB/second") >"$JOB/initrd.cpio"
}

# virtiofsd has no read-only export: it gets a mount namespace in which the host's root is read-only.
serve_files() {
	local daemon i

	for daemon in /usr/lib/qemu/virtiofsd /usr/libexec/virtiofsd; do
		[[ -x $daemon ]] && break
	done
	mkdir "$JOB/root"
	unshare --mount --propagation private -- sh -c 'mount --rbind / "$1/root" && mount -o remount,bind,ro "$1/root" &&
		exec "$2" --socket-path="$1/files" --thread-pool-size=2 -o source="$1/root" -o cache=always -o sandbox=chroot' \
		sh "$JOB" "$daemon" >"$JOB/virtiofsd" 2>&1 &
	FILES_PID=$!
	for ((i = 0; i < 100; i++)); do
		[[ ! -S $JOB/files ]] || return 0
		sleep 0.05
	done
	die "virtiofsd does not start: $(tail -n 1 "$JOB/virtiofsd")"
}

# A FIFO for each of the guest's streams; only one when both of ours lead to the same place, so that lines keep order.
# They are held open for writing here, so that a reader ends with QEMU, and also if QEMU does not start.
open_streams() {
	mkfifo "$JOB/out" "$JOB/err"
	exec {HOLD_OUT}<>"$JOB/out" {HOLD_ERR}<>"$JOB/err"
	add_stream out 1
	[[ /dev/fd/1 -ef /dev/fd/2 ]] || add_stream err 2
}

# add_stream NAME FD
add_stream() {
	cat "$JOB/$1" >&"$2" {HOLD_OUT}>&- {HOLD_ERR}>&- &
	STREAM_PIDS+=($!)
	QEMU_ARGS+=(-chardev "file,id=$1,path=$JOB/$1" -device "virtserialport,name=$1,chardev=$1")
}

close_streams() {
	exec {HOLD_OUT}>&- {HOLD_ERR}>&-
	wait "${STREAM_PIDS[@]}"
}

qemu_args() {
	local memory=${VMTEST_MEMORY:-1G} extra

	# shellcheck disable=SC2054 # the commas are QEMU's
	QEMU_ARGS=(
		-machine "q35,accel=${VMTEST_ACCEL:-tcg}" -cpu max -smp "${VMTEST_CPUS:-1}" -m "$memory"
		-object "memory-backend-memfd,id=mem,size=$memory,share=on" -numa node,memdev=mem
		-nodefaults -no-user-config -no-reboot -display none -net none
		-kernel "$KERNEL_IMAGE" -initrd "$JOB/initrd.cpio"
		-append "console=ttyS0 panic=-1 oops=panic loglevel=5 random.trust_cpu=on ${VMTEST_APPEND-}"
		-serial "file:$JOB/console"
		-chardev "socket,id=files,path=$JOB/files" -device vhost-user-fs-pci,chardev=files,tag=host
		-device virtio-serial-pci
		-chardev "file,id=status,path=$JOB/status" -device virtserialport,name=status,chardev=status
	)
	# Extra arguments are words: VMTEST_QEMU="-icount shift=0,sleep=off"
	read -ra extra <<<"${VMTEST_QEMU-}"
	QEMU_ARGS+=("${extra[@]}")
}

boot_shell() {
	local saved

	saved=$(stty --save 2>/dev/null) && stty raw -echo
	qemu-system-x86_64 "${QEMU_ARGS[@]}" -chardev stdio,id=tty,signal=off -device virtconsole,chardev=tty
	[[ ! $saved ]] || stty "$saved"
}

boot_job() {
	timeout --kill-after=5 "$LIMIT" qemu-system-x86_64 "${QEMU_ARGS[@]}" </dev/null >"$JOB/qemu" 2>&1 &
	QEMU_PID=$!
	wait "$QEMU_PID"
	QEMU_STATUS=$?
	QEMU_PID=
}

# Which failure it was that left no status behind.
why_no_status() {
	if [[ ${QEMU_STATUS-} == 124 ]]; then
		echo "no end after $LIMIT s"
	elif grep -aq 'Kernel panic' "$JOB/console"; then
		grep -a 'Kernel panic' "$JOB/console" | tail -n 1
	elif grep -aq '^vmtest: guest: ' "$JOB/console"; then
		grep -a '^vmtest: guest: ' "$JOB/console" | tail -n 1
	else
		echo "the guest ended without a status${QEMU_STATUS:+, QEMU with $QEMU_STATUS: $(tail -n 1 "$JOB/qemu")}"
	fi | tr -d '\r'
}

# run_qemu: COMMAND's status, or 125
run_qemu() {
	local initrd=$JOB/first.cpio

	# A directory of the user's may hold another kernel the next time.
	[[ $KERNEL_DIR != "$CACHE"/kernels/* ]] || initrd=$KERNEL_DIR.cpio
	make_initrd "$initrd"
	append_job "$initrd"
	serve_files
	: >"$JOB/console"
	qemu_args
	if [[ $SHELL_AFTER ]]; then
		boot_shell
	else
		open_streams
		boot_job
		close_streams
	fi
	[[ -s $JOB/status ]] || die_with_console "$(why_no_status)"
	return "$(<"$JOB/status")"
}
