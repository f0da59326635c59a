# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# pktgen, in the network namespace of whoever sources this.  Guest time counts instructions, one a nanosecond, so what
# pktgen says a run took is the instructions of its whole way to the receiver.

PKTGEN=/proc/net/pktgen

# pktgen_device DEVICE: frames of 64 bytes from here on go by it
pktgen_device() {
	local line

	PKTGEN_DEVICE=$1
	echo rem_device_all >$PKTGEN/kpktgend_0
	echo "add_device $1" >$PKTGEN/kpktgend_0
	for line in "pkt_size 64" "delay 0" "clone_skb 0" "udp_src_min 1000" "udp_src_max 1000" "udp_dst_min 2000" \
		"udp_dst_max 2000" "src_mac $FROM_MAC" "dst_mac $TO_MAC"; do
		echo "$line" >"$PKTGEN/$1"
	done
	# Else pktgen keeps a reference to each frame, and bridge and Open vSwitch have to clone it (Linux 6.6).
	echo "flag !SHARED" >"$PKTGEN/$1" || die "this pktgen shares its frames: needs a later kernel"
}

# pktgen_flows SRC DST DST_MAX [PORTS]: for random addresses from DST on, less than DST_MAX, and from so many ports
pktgen_flows() {
	local line random=

	[[ $2 != "$3" ]] || random='!'
	for line in "src_min $1" "src_max $1" "dst_min $2" "dst_max $3" "udp_src_max $((1000 + ${4-0}))" \
		"flag ${random}IPDST_RND" "flag ${random}UDPSRC_RND"; do
		echo "$line" >"$PKTGEN/$PKTGEN_DEVICE"
	done
}

# pktgen_run COUNT: sets PKTGEN_USEC
pktgen_run() {
	local result

	echo "count $1" >"$PKTGEN/$PKTGEN_DEVICE"
	echo start >$PKTGEN/pgctrl
	result=$(sed -n 's/^Result: OK: \([0-9]*\)(.*usec, \([0-9]*\) .*/\1 \2/p' "$PKTGEN/$PKTGEN_DEVICE")
	[[ ${result#* } == "$1" ]] || die "pktgen sent ${result:-nothing} of $1 frames"
	PKTGEN_USEC=${result% *}
}
