#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What edits leave on the wire, byte for byte, and what a stack or a tap device makes of it.  Where a test is about
# something that went wrong elsewhere, F and its number in the reports say so.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),udp()"

# passes ACTIONS IN OUT
passes() {
	tcvs del-flows "$DP"
	flow_add "$FLOW" "$1,2"
	exchange h1 "$2" 3 ">h2" "$3" 3
}

@test "F44: addresses, ports and tags have the bytes that were written, and are shown as they were written" {
	local in out vid

	switch_up 2
	in=$(udp_frame 9)
	out=021122334455${in:12}
	passes "set(eth(dst=02:11:22:33:44:55))" "$in" "$out"
	passes "pedit(ex munge eth dst set 02:11:22:33:44:55)" "$in" "$out"
	run dump
	assert_output --partial "actions:pedit(ex munge eth dst set 02:11:22:33:44:55),2"
	out=${in:0:60}0a010203${in:68:4}0102${in:76}
	passes "pedit(ex munge ip dst set 10.1.2.3 munge udp dport set 258)" "$in" "$out"
	run dump
	assert_output --partial "actions:pedit(ex munge ip dst set 10.1.2.3 munge udp dport set 258),2"
	for vid in 1 10 2047 4095; do
		out=${in:0:24}8100$(printf %04x $((7 << 13 | vid)))${in:24}
		passes "push_vlan(vid=$vid,pcp=7)" "$in" "$out"
		run dump
		assert_output --partial "actions:push_vlan(vid=$vid,pcp=7),2"
	done
}

@test "F42: a class is written and the congestion bits stay, by set and by pedit" {
	local in out ecn

	switch_up 2
	for ecn in 0 1 2 3; do
		in=$(udp_frame 9)
		in=${in:0:30}$(printf %02x "$ecn")${in:32}
		out=${in:0:30}$(printf %02x $((0xb8 | ecn)))${in:32}
		passes "pedit(ex munge ip tos set 0xb8 retain 0xfc)" "$in" "$out"
		# The sum was 0 and wrong; it is as much wrong afterwards.
		out=${out:0:48}$(printf %04x $((0xffff - 0xb8)))${out:52}
		passes "set(ipv4(tos=0xb8/0xfc))" "$in" "$out"
	done
}

@test "F43: a key of udp finds the header behind IP options; one of ip without ex takes 20 bytes for granted" {
	local options=01010101 in out

	switch_up 2
	in=$(udp_frame 9)
	# Four bytes of options: the header's length is 6 words, the packet's 4 more.
	in=${in:0:28}46${in:30:2}$(printf %04x $((0x${in:32:4} + 4)))${in:36:32}$options${in:68}
	out=${in:0:80}0050${in:84}
	passes "pedit(ex munge udp dport set 80)" "$in" "$out"
	out=${in:0:72}0050${in:76}
	passes "pedit(munge ip dport set 80)" "$in" "$out"
}

@test "F20: what lies outside of the packet is not written, is counted, and the packet goes on" {
	local in

	switch_up 2
	in=$(ether 0800 "$(ipv4 06 0a000001 0a000002 "")")
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6),tcp()" "pedit(ex munge tcp dport set 80),2"
	exchange h1 "$in" 3 ">h2" "$in" 3
	run tcvs dump-flows -m "$DP"
	assert_output --partial "overlimits:3"
	for offset in 2147483644 -2147483648; do
		run tcvs add-flow "$DP" "in_port(2),eth()" "pedit(munge offset $offset u32 set 0),1"
		assert_failure
		assert_output --partial "$offset"
	done
}

@test "hardware addresses are edited at offsets from the network header, as tc scripts do" {
	local in out

	switch_up 2
	in=$(udp_frame 9)
	out=021122334455020000aaaaaa${in:24}
	passes "pedit(munge offset -14 u16 set 0x0211 munge offset -12 u32 set 0x22334455 munge offset -8 u32 set 0x020000aa munge offset -4 u16 set 0xaaaa)" \
		"$in" "$out"
	passes "pedit(ex munge ipv4-16 add 00000010 mask ffffff00)" "$in" "0210${in:4}"
	run tcvs dump-flows -m "$DP"
	refute_output --partial "overlimits:3"
}

@test "F12: super-packets are edited and tagged whole: nothing is dropped, and the bytes are counted" {
	local bytes sent

	two_hosts
	seven_lines
	tcvs mod-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4()" \
		"push_vlan(vid=9,pcp=0),pop_vlan,pedit(ex munge ip ttl set 60),csum(ip),2"
	background right iperf3 -s -p "$SERVICE" --logfile "$BATS_TEST_TMPDIR/server"
	wait_for listening right -t "$SERVICE"
	in_ns left iperf3 -J -c 172.31.110.2 -p "$SERVICE" -t 2 >"$BATS_TEST_TMPDIR/out"
	sent=$(jq '.end.sum_sent.bytes' "$BATS_TEST_TMPDIR/out")
	bytes=$(flow_stat "in_port(1),eth(),eth_type(0x0800),ipv4()" bytes)
	((bytes >= sent && bytes < sent * 11 / 10)) || fail "$sent bytes were sent, $bytes counted"
	# Fewer packets than segments: they were not cut up on the way.
	(($(flow_stat "in_port(1),eth(),eth_type(0x0800),ipv4()" packets) * 1448 < sent))
	assert_equal "$(tcvs drops "$DP")" ""
	assert_no_checksum_errors
}

# tapped_hosts: the right host is behind a tap port
tapped_hosts() {
	ns_add sw
	ns_add left
	ns_add right
	veth l0 left left
	background sw /usr/bin/python3 "$TOOLS/tap_relay.py" "$SW:$(dev r0)" "$(ns right):$(dev right)"
	wait_for in_ns right ip link show dev "$(dev right)"
	in_ns sw ip link set "$(dev r0)" up
	in_ns right ip link set "$(dev right)" up
	in_ns left ip addr add 172.31.110.1/24 dev "$(dev left)"
	in_ns right ip addr add 172.31.110.2/24 dev "$(dev right)"
}

@test "F54: a stack behind a tap port answers, also when the hardware address was edited" {
	local right_mac left_mac

	tapped_hosts
	seven_lines
	in_ns left ping -c 3 -i 0.05 -W 5 172.31.110.2
	TRANSFER_BYTES=3000000 transfer left right 172.31.110.2 tcp
	TRANSFER_BYTES=3000000 transfer right left 172.31.110.1 tcp
	right_mac=$(in_ns right ip -j link show dev "$(dev right)" | jq -r '.[0].address')
	left_mac=$(in_ns left ip -j link show dev "$(dev left)" | jq -r '.[0].address')
	in_ns left ip neigh replace 172.31.110.2 lladdr 02:00:00:00:00:99 dev "$(dev left)" nud permanent
	in_ns right ip neigh replace 172.31.110.1 lladdr "$left_mac" dev "$(dev right)" nud permanent
	tcvs mod-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4()" "pedit(ex munge eth dst set $right_mac),2"
	in_ns left ping -c 3 -i 0.05 -W 5 172.31.110.2
	TRANSFER_BYTES=3000000 transfer left right 172.31.110.2 tcp
	assert_no_checksum_errors
}
