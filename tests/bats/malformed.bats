#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Headers that are short, lie, or stand where a program cannot look at them directly, over real ports: each frame goes
# where its key says, unchanged and counted.  Each test plays its frames twice: from a plain sender, and through a ring, whose
# frames are linear only up to the Ethernet header.  The keys themselves are tested in tests/prog.

load lib/common

IN="in_port(1),eth(),eth_type"
SENDER=frames.py

# As in lib/net.bash, with either sender.
frames() {
	in_ns far /usr/bin/python3 "$TOOLS/$SENDER" "$@"
}

# For play, in threes: the flow that a frame has to match, the flow's output, the frame.
FRAMES=()

# matches FLOW PORT FRAME...
matches() {
	local frame

	for frame in "${@:3}"; do
		FRAMES+=("$1" "$2" "$frame")
	done
}

# expect FLOW PORT FRAME...: the flow is added, with an output to the port; these frames match it
expect() {
	flow_add "$1" "$2"
	matches "$@"
}

# Sends all frames, first one by one with each sender; then the flows have counted what they had to.
play() {
	local i args flow port frame sender
	declare -A packets=() bytes=()

	for sender in frames.py ring_frames.py; do
		SENDER=$sender
		args=()
		for ((i = 0; i < ${#FRAMES[@]}; i += 3)); do
			flow=${FRAMES[i]} port=${FRAMES[i + 1]} frame=${FRAMES[i + 2]}
			args+=(h1 "$frame" 2 ">h$port" "$frame" 2)
			packets[$flow]=$((${packets[$flow]-0} + 2))
			bytes[$flow]=$((${bytes[$flow]-0} + 2 * $(size "$frame")))
		done
		exchange "${args[@]}"
		for flow in "${!packets[@]}"; do
			assert_flow "$flow" "${packets[$flow]}" "${bytes[$flow]}"
		done
	done
	assert_equal "missed $(show_value missed)" "missed 0"
}

# ip_says TOTAL-LENGTH PAYLOAD: an IPv4/UDP header that gives this total length (4 digits), from 10.0.0.1 to 10.0.0.2
ip_says() {
	ether 0800 "45b9${1}000100004011""00000a0000010a000002$2"
}

# first_byte XX: IPv4 whose version and header length are that, then so many bytes of DNS
first_byte() {
	ether 0800 "$1""b9001c000100004011""00000a0000010a000002$(udp 1000 53 "")"
}

# ipv6 NEXT PAYLOAD [LENGTH]: from fc00::1 to fc00::2; LENGTH as 4 digits, else the right one
ipv6() {
	local length

	printf -v length %04x $((${#2} / 2))
	ether 86dd "60000000${3-$length}$1""40fc000000000000000000000000000001fc000000000000000000000000000002$2"
}

# tcp_says DIGIT: TCP whose data offset is that, without anything behind 20 bytes of header
tcp_says() {
	ether 0800 "$(ipv4 06 0a000001 0a000002 "003500350000000100000000${1}002020000000000")"
}

DNS=$(udp 1000 53 aabbccdd)
EMPTY4="ipv4(src=0.0.0.0,dst=0.0.0.0,proto=0,tos=0,ttl=0,frag=no)"

@test "IPv4: a total length that lies changes nothing" {
	switch_up 3
	expect "$IN(0x0800),ipv4(proto=17,tos=0xb9,frag=no),udp(dst=53)" 2 "$(ip_says 0000 "$DNS")" "$(ip_says 0014 "$DNS")" \
		"$(ip_says 0015 "$DNS")" "$(ip_says ffff "$DNS")" "$(ip_says 0020 "$DNS")"
	play
}

@test "IPv4: a header length that cannot be makes an empty IP key, and the frame is switched" {
	switch_up 3
	flow_add "$IN(0x0800),ipv4(proto=17)" 2
	expect "$IN(0x0800),$EMPTY4" 3 "$(first_byte 40)" "$(first_byte 44)" "$(first_byte 4f)" "$(first_byte 48)"
	play
}

@test "IPv4: cut in the header, or right behind the Ethernet header" {
	local frame n

	switch_up 3
	flow_add "$IN(0x0800),ipv4(proto=17)" 2
	frame=$(ip_says 0020 "$DNS")
	for n in 14 15 20 33; do
		matches "$IN(0x0800),$EMPTY4" 3 "${frame:0:$((2 * n))}"
	done
	flow_add "$IN(0x0800),$EMPTY4" 3
	play
}

@test "a bare Ethernet header of any type is switched" {
	local type

	switch_up 3
	for type in 0800 0806 86dd 8847 88cc 0600; do
		expect "$IN(0x$type)" 2 "$MAC_TWO$MAC_ONE$type"
	done
	play
}

@test "IPv4: UDP, TCP and SCTP cut in their headers have ports 0" {
	local proto

	switch_up 3
	for proto in 6:tcp 17:udp 132:sctp; do
		flow_add "$IN(0x0800),ipv4(proto=${proto%:*},frag=no),${proto#*:}(dst=53)" 2
		expect "$IN(0x0800),ipv4(proto=${proto%:*},frag=no),${proto#*:}(src=0,dst=0)" 3 \
			"$(ether 0800 "$(ipv4 "$(printf %02x "${proto%:*}")" 0a000001 0a000002 0035003500)")"
	done
	play
}

@test "IPv4: a TCP data offset that lies" {
	switch_up 3
	flow_add "$IN(0x0800),ipv4(proto=6,frag=no),tcp(dst=53)" 2
	# Below five words, or beyond the frame's end.
	expect "$IN(0x0800),ipv4(proto=6,frag=no),tcp(src=0,dst=0)" 3 "$(tcp_says 0)" "$(tcp_says 4)" "$(tcp_says 6)" \
		"$(tcp_says f)"
	play
}

@test "IPv4: a later fragment's payload is no header; the first one has ports" {
	switch_up 4
	flow_add "$IN(0x0800),ipv4(proto=17,frag=no),udp(dst=53)" 4
	expect "$IN(0x0800),ipv4(proto=17,frag=later)" 2 "$(ether 0800 "45000020000100b9401100000a0000010a000002$DNS")" \
		"$(ether 0800 "45000020000120b9401100000a0000010a000002$DNS")" "$(ether 0800 "450000150001000140110000""0a0000010a00000235")"
	expect "$IN(0x0800),ipv4(proto=17,frag=first),udp(dst=53)" 3 "$(ether 0800 "450000200001200040110000""0a0000010a000002$DNS")"
	play
}

@test "IPv6: fragments" {
	switch_up 4
	flow_add "$IN(0x86dd),ipv6(proto=17,frag=no),udp(dst=53)" 4
	expect "$IN(0x86dd),ipv6(proto=44,frag=later)" 2 "$(ipv6 2c "1100000800000001$DNS")" "$(ipv6 2c "1100000900000001$DNS")"
	expect "$IN(0x86dd),ipv6(proto=17,frag=first),udp(dst=53)" 3 "$(ipv6 2c "1100000100000001$DNS")"
	play
}

@test "IPv6: a payload length that lies changes nothing" {
	switch_up 3
	expect "$IN(0x86dd),ipv6(proto=17,frag=no),udp(dst=53)" 2 "$(ipv6 11 "$DNS" 0000)" "$(ipv6 11 "$DNS" 0001)" \
		"$(ipv6 11 "$DNS" ffff)" "$(ipv6 11 "$DNS")"
	play
}

@test "IPv6: ports are found behind extension headers, AH by its own length rule" {
	local options=0000000000000000000000000000 ah=000000010000000200000003

	switch_up 3
	expect "$IN(0x86dd),ipv6(proto=17,frag=no),udp(dst=53)" 2 "$(ipv6 00 "1100""010400000000$DNS")" \
		"$(ipv6 3c "2b01$options""1100""000000000000$DNS")" \
		"$(ipv6 33 "3c04""0000$ah""0000000000000000""1100""010400000000$DNS")"
	play
}

@test "IPv6: unknown protocols are not walked: their payload makes no ports" {
	switch_up 4
	flow_add "$IN(0x86dd),ipv6(proto=17)" 4
	expect "$IN(0x86dd),ipv6(proto=47)" 2 "$(ipv6 2f "1100003500350000$DNS")"
	expect "$IN(0x86dd),ipv6(proto=4)" 2 "$(ipv6 04 "1100003500350000$DNS")"
	expect "$IN(0x86dd),ipv6(proto=253)" 3 "$(ipv6 fd "1100003500350000$DNS")"
	play
}

# nd TYPE OPTIONS: for fe80::1
nd() {
	ipv6 3a "$1""00000000000000fe800000000000000000000000000001$2"
}

@test "neighbor discovery: options of length 0, cut off, or none at all" {
	switch_up 3
	expect "$IN(0x86dd),ipv6(proto=58,frag=no),icmpv6(type=136,code=0),nd(target=fe80::1,sll=00:00:00:00:00:00,tll=00:00:00:00:00:00)" \
		2 "$(nd 88 "")"
	expect "$IN(0x86dd),ipv6(proto=58,frag=no),icmpv6(type=135,code=0),nd(target=fe80::1,sll=02:00:00:00:00:01)" 3 \
		"$(nd 87 0101020000000001)"
	# The target counts, what the options say up to the bad one does; an address that is said twice empties all.
	expect "$IN(0x86dd),ipv6(proto=58,frag=no),icmpv6(type=135,code=0),nd(target=fe80::1,sll=00:00:00:00:00:00)" 2 \
		"$(nd 87 0100020000000001)" "$(nd 87 01020200000000)" "$(nd 87 0102020000000001)"
	expect "$IN(0x86dd),ipv6(proto=58,frag=no),icmpv6(type=135,code=0),nd(target=::,sll=00:00:00:00:00:00)" 3 \
		"$(nd 87 01010200000000010101020000000001)"
	play
}

@test "ARP of another kind of network is switched with an empty ARP key" {
	switch_up 3
	flow_add "$IN(0x0806),arp(op=1)" 2
	expect "$IN(0x0806),arp(sip=0.0.0.0,tip=0.0.0.0,op=0)" 3 "$(ether 0806 "0006080006040001$(repeat 0a 20)")" \
		"$(ether 0806 "0001080006040001")"
	play
}

@test "frames of 60, 1400 and 9000 bytes match the same flow and leave identical" {
	local i size udp4 udp6 tcp4 vlan

	udp4="$IN(0x0800),ipv4(src=10.0.0.1,dst=10.0.0.2,proto=17,tos=0,ttl=64,frag=no),udp(src=1000,dst=9)"
	udp6="$IN(0x86dd),ipv6(src=fc00::1,dst=fc00::2,label=0,proto=17,tclass=0,hlimit=64,frag=no),udp(src=1000,dst=53)"
	tcp4="$IN(0x0800),ipv4(proto=6,frag=no),tcp(src=1,dst=80),tcp_flags(psh|ack)"
	vlan="$IN(0x8100),vlan(vid=5,pcp=0),encap(eth_type(0x0800),ipv4(proto=17,frag=no),udp(src=1000,dst=9))"
	switch_up 3
	for i in p1 p2 p3; do
		in_ns sw ip link set "$(dev $i)" mtu 9500
	done
	for i in h1 h2 h3; do
		in_ns far ip link set "$(dev $i)" mtu 9500
	done
	flow_add "$udp4" 2
	flow_add "$udp6" 3
	flow_add "$tcp4" 2
	flow_add "$vlan" 3
	for size in 60 1400 9000; do
		matches "$udp4" 2 "$(frame_of "$size")"
		matches "$udp6" 3 "$(ipv6 11 "$(udp 1000 53 "$(repeat 5a $((size - 62)))")")"
		matches "$tcp4" 2 "$(ether 0800 "$(ipv4 06 0a000001 0a000002 "$(tcp 1 80 018 "$(repeat 5a $((size - 54)))")")")"
		matches "$vlan" 3 "$(tagged "$(tag 0005)" 0800 "$(ipv4 11 0a000001 0a000002 \
			"$(udp 1000 9 "$(repeat 5a $((size - 46)))")")")"
	done
	play
}

@test "no key byte is left over from the frame before" {
	local udp tcp

	switch_up 2
	udp=$(udp 1000 53 5a5a5a5a5a5a5a5a)
	tcp=$(tcp 1234 80 0ff "")
	in_ns far /usr/bin/python3 "$TOOLS/key_after.py" --send "$(dev h1)" --pin "$PINS/cpu_state" -- \
		"$(nd 87 0101020000000001)" \
		"$(nd 88 0201020000000002)" \
		"$(ipv6 3a 8000000000010001)" \
		"$(ipv6 11 "$udp")" \
		"$(ipv6 2c "1100000900000001$udp")" \
		"$(tagged "$(tag 6005)$(tag 7006)" 0800 "$(ipv4 06 0a000001 0a000002 "$tcp")")" \
		"$(tagged "$(tag 6005)$(tag 7006)$(tag 1007)" 0800 "$(ipv4 06 0a000001 0a000002 "$tcp")")" \
		"$(ether 0800 "$(ipv4 11 0a000001 0a000002 "$udp")")" \
		"$(ether 0806 "0001080006040001""020000000001""0a000001""000000000000""0a000002")" \
		"$(ether 8847 "000640400006514000064041")" \
		"$(ether 0010 "42420300000000000000000000000000")" \
		"$(ether 0800 4f)" \
		"$(ether 86dd 60)" \
		"$MAC_TWO$MAC_ONE""0800"
}
