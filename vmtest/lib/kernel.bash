# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# From the name of a kernel series to an unpacked kernel: KERNEL_DIR (what modprobe --dirname takes), KERNEL_RELEASE and
# KERNEL_IMAGE.  Versions come from Debian's metapackages, so a security update is what gets tested next.

CACHE=$TOP/build/vmtest

die() {
	echo "vmtest: $*" >&2
	exit 125
}

# kernel_packages FLAVOUR: cloud-amd64 or amd64; what the metapackages linux-image-FLAVOUR and linux-image-6.12-FLAVOUR
# lead to, in any version that the lists have: linux-image-VERSION-FLAVOUR, a line each.
kernel_packages() {
	local metas

	mapfile -t metas < <(apt-cache search --names-only "^linux-image-([0-9]+\\.[0-9]+-)?$1\$" | awk '{ print $1 }')
	((${#metas[@]})) || return 0
	apt-cache show "${metas[@]}" | grep '^Depends:' | grep -oE 'linux-image-[0-9]+\.[0-9]+\.[^ ,]+' |
		sort --version-sort --unique
}

# kernel_package SERIES FLAVOUR: the newest one of a series, nothing if there is none
kernel_package() {
	kernel_packages "$2" | grep -E "^linux-image-${1/./\\.}\\." | tail -n 1
}

# Lists may be empty on a fresh system, or older than the archive.
update_lists() {
	((EUID == 0)) && apt-get update --quiet=2 >&2
}

# kernel_parts PACKAGE: it and those that it depends on and that hold parts of the same kernel; since 7.0 there are three.
kernel_parts() {
	{ echo "$1"; apt-cache depends --important "$1" | awk '$1 == "Depends:" { print $2 }'; } |
		awk -v version="${1#linux-image-}" '/^linux-(image|binary|modules|base)-/ {
			own = $0; sub(/^linux-[a-z]*-/, "", own); if (own == version) print }' | sort --unique
}

# download PACKAGE DIR: its files into DIR
download() {
	local part parts debs=$2.deb

	mapfile -t parts < <(kernel_parts "$1")
	mkdir -p "$debs"
	(cd "$debs" && apt-get --quiet=2 download "${parts[@]}" 2>&1 | grep -v 'performed unsandboxed' >&2
		exit "${PIPESTATUS[0]}") || return
	for part in "$debs"/*.deb; do
		dpkg-deb --extract "$part" "$2" || return
	done
	rm -r "$debs"
}

# fetch PACKAGE DIR: DIR appears whole or not at all
fetch() {
	local package=$1 dir=$2 part=$2.part

	[[ ! -d $dir ]] || return 0
	rm -rf "$part" "$part.deb"
	mkdir -p "$part"
	echo "vmtest: fetching $package" >&2
	download "$package" "$part" || return
	# Where /lib is a part of /usr, packages know only the latter; modprobe --dirname wants the former.
	[[ -e $part/lib ]] || ln -s usr/lib "$part/lib"
	mv "$part" "$dir"
}

# unpacked_series SERIES FLAVOUR: sets KERNEL_DIR
unpacked_series() {
	local package

	package=$(kernel_package "$1" "$2") || true
	if [[ ! $package ]]; then
		update_lists || die "no linux-image-*-$2 in this machine's package lists"
		package=$(kernel_package "$1" "$2") || true
	fi
	[[ $package ]] || die "kernel $1: no metapackage linux-image-*-$2 leads to one; there are: $(
		kernel_packages "$2" | tr '\n' ' ')"
	KERNEL_DIR=$CACHE/kernels/$package
	mkdir -p "$CACHE/kernels"
	exec {lock}>"$CACHE/kernels/lock"
	flock "$lock"
	if ! fetch "$package" "$KERNEL_DIR"; then
		update_lists || die "kernel $1: cannot fetch $package"
		package=$(kernel_package "$1" "$2")
		KERNEL_DIR=$CACHE/kernels/$package
		fetch "$package" "$KERNEL_DIR" || die "kernel $1: cannot fetch $package"
	fi
	exec {lock}>&-
}

# find_kernel KERNEL FLAVOUR: a series such as 6.12, or a directory that holds an unpacked kernel
find_kernel() {
	local modules image

	if [[ $1 =~ ^[0-9]+\.[0-9]+$ ]]; then
		unpacked_series "$1" "$2"
	else
		[[ -d $1 ]] || die "$1: neither a kernel series such as 6.12 nor a directory"
		KERNEL_DIR=$(cd "$1" && pwd)
	fi
	modules=("$KERNEL_DIR"/lib/modules/*)
	[[ ${#modules[@]} == 1 && -d ${modules[0]} ]] || die "$KERNEL_DIR/lib/modules: not exactly one kernel's modules"
	KERNEL_RELEASE=${modules[0]##*/}
	KERNEL_IMAGE=
	for image in "$KERNEL_DIR/boot/vmlinuz-$KERNEL_RELEASE" "${modules[0]}/vmlinuz"; do
		[[ -f $image ]] && KERNEL_IMAGE=$image
	done
	[[ $KERNEL_IMAGE ]] || die "$KERNEL_DIR: no vmlinuz-$KERNEL_RELEASE"
	[[ -f ${modules[0]}/modules.dep.bin ]] || depmod --basedir "$KERNEL_DIR" "$KERNEL_RELEASE" ||
		die "$KERNEL_DIR: depmod failed"
}
