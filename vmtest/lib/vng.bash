# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel with virtme-ng: generic kernels, the host's files by 9p.  Slower than lib/qemu.bash, and stdout and
# stderr come out as one stream; for those who know vng.

# Options for every boot.  The directory of the job is the only one that the guest can write to.
vng_args() {
	VNG_ARGS=(--run "$KERNEL_IMAGE" --force-9p --memory "${VMTEST_MEMORY:-1G}" --cpus "${VMTEST_CPUS:-1}" --rwdir "$JOB=$JOB")
	[[ ${VMTEST_ACCEL:-tcg} == kvm ]] || VNG_ARGS+=(--disable-kvm)
	[[ ! ${VMTEST_APPEND-} ]] || VNG_ARGS+=(--append "$VMTEST_APPEND")
	[[ ! ${VMTEST_QEMU-} ]] || VNG_ARGS+=(--qemu-opts="$VMTEST_QEMU")
}

# run_vng: COMMAND's status, or 125
run_vng() {
	local status

	command -v vng >/dev/null || die "VNG=1, but vng is not installed (virtme-ng)"
	command -v udevadm >/dev/null || die "vng needs udev on the host, for the ports that bring output and status out"
	vng_args
	if [[ $SHELL_AFTER ]]; then
		[[ ! $COMMAND ]] || die "with VNG=1, -s takes no command"
		vng "${VNG_ARGS[@]}"
		return
	fi
	make_job "$JOB"
	# Given a file, vng's guest opens /proc/self/fd/1 anew and loses what was written: hence cat.
	timeout --foreground --kill-after=5 "$LIMIT" vng "${VNG_ARGS[@]}" --verbose -- \
		bash "$JOB/session" </dev/null 2>"$JOB/console" | cat
	status=${PIPESTATUS[0]}
	[[ -s $JOB/status ]] && return "$(<"$JOB/status")"
	((status != 124)) || die_with_console "no end after $LIMIT s"
	die_with_console "the guest ended without a status, vng with $status"
}
