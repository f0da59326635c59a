# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Frames as hex, built from named parts.  Checksums are left at zero: the switch does not look at them.

MAC_ONE=020000000001
MAC_TWO=020000000002

repeat() {
	local out

	printf -v out '%*s' "$2" ''
	echo "${out// /$1}"
}

# ether TYPE PAYLOAD: from MAC_ONE to MAC_TWO
ether() {
	echo "$MAC_TWO$MAC_ONE$1$2"
}

# tag TCI: an 802.1Q tag, with the TPID before it as it stands after the addresses
tag() {
	echo "8100$1"
}

# tagged TAGS TYPE PAYLOAD
tagged() {
	echo "$MAC_TWO$MAC_ONE$1$2$3"
}

# ipv4 PROTO SRC DST PAYLOAD: addresses as 8 hex digits
ipv4() {
	printf '4500%04x0001000040%s0000%s%s%s\n' $((20 + ${#4} / 2)) "$1" "$2" "$3" "$4"
}

# udp SPORT DPORT PAYLOAD: ports in decimal
udp() {
	printf '%04x%04x%04x0000%s\n' "$1" "$2" $((8 + ${#3} / 2)) "$3"
}

# tcp SPORT DPORT FLAGS PAYLOAD: flags as 3 hex digits
tcp() {
	printf '%04x%04x00000001000000005%s020000000000%s\n' "$1" "$2" "$3" "$4"
}

# udp_frame DPORT [BYTES]: IPv4 from 10.0.0.1 to 10.0.0.2, source port 1000, BYTES of payload
udp_frame() {
	ether 0800 "$(ipv4 11 0a000001 0a000002 "$(udp 1000 "$1" "$(repeat 5a "${2:-8}")")")"
}

# frame_of BYTES: an IPv4 UDP frame of so many bytes, Ethernet header included
frame_of() {
	udp_frame 9 $(($1 - 14 - 20 - 8))
}

# size HEX: in bytes
size() {
	echo $((${#1} / 2))
}
