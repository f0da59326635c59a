#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Ports with peer=on: frames are given to the veth's other end, past the device's queue.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"

# peer_switch: port 1 (h1) and port 2 (h2), whose output goes to the other end
peer_switch() {
	switch_up 2
	tcvs set-if "$DP" "$(dev p2),peer=on"
	mac=$(in_ns far cat "/sys/class/net/$(dev h2)/address" 2>/dev/null ||
		in_ns far ip -j link show dev "$(dev h2)" | jq -r '.[0].address')
	mac=${mac//:/}
}

# sent_by NAME: frames that the device on the switch's side was given to send
sent_by() {
	link_json "$1" .stats64.tx.packets
}

@test "frames for the other end, broadcast and multicast skip the device; others go by it, all arrive alike" {
	local payload before kind macs

	peer_switch
	flow_add "$FLOW" 2
	payload=0800$(ipv4 11 0a000001 0a000002 "$(udp 1000 9 5a5a5a5a5a5a)")
	before=$(sent_by p2)
	for macs in "$mac$MAC_ONE" "ffffffffffff$MAC_ONE" "01005e000001$MAC_ONE"; do
		exchange h1 "$macs$payload" 10 ">h2" "$macs$payload" 10
	done
	assert_equal "$(sent_by p2)" "$before"
	macs=$MAC_TWO$MAC_ONE
	exchange h1 "$macs$payload" 10 ">h2" "$macs$payload" 10
	assert_equal "$(sent_by p2)" $((before + 10))
	assert_flow "$FLOW" 40 $((40 * $(size "$macs$payload")))
	run tcvs show -s "$DP"
	assert_line --regexp 'frames: forwarded:40 dropped:0$'
}

@test "copies go by the device, the last output to the other end" {
	local frame before

	peer_switch
	flow_add "$FLOW" 2,2
	frame=$mac$MAC_ONE$(cut -c 25- <<<"$(udp_frame 9)")
	before=$(sent_by p2)
	exchange h1 "$frame" 10 ">h2" "$frame" 20
	assert_equal "$(sent_by p2)" $((before + 10))
}

@test "ping, TCP and UDP of both families between peer ports" {
	local before

	two_hosts
	seven_lines
	ipv6_flows
	tcvs set-if "$DP" "$(dev l0),peer=on" "$(dev r0),peer=on"
	before=$(sent_by r0)
	in_ns left ping -c 3 -i 0.05 -W 5 172.31.110.2
	in_ns left ping -6 -c 3 -i 0.05 -W 5 fd00::2
	transfer left right 172.31.110.2 tcp
	transfer left right 172.31.110.2 udp
	transfer right left fd00::1 tcp
	transfer left right fd00::2 udp
	assert_no_checksum_errors
	assert_equal "$(sent_by r0)" "$before"
}

@test "show tells, add-if takes it, set-if turns it off, a deleted port forgets it" {
	switch_up 2
	tcvs del-if "$DP" "$(dev p2)"
	tcvs add-if "$DP" "$(dev p2),peer=on,port_no=7"
	run tcvs show "$DP"
	assert_line --regexp "^  port 7: $(dev p2) \(.*peer\)$"
	assert_equal "$(tcvs -j show "$DP" | jq -c '[.datapaths[0].ports[] | [.number, .peer]]')" \
		'[[0,false],[1,false],[7,true]]'
	tcvs set-if "$DP" "$(dev p2),peer=off"
	run tcvs show "$DP"
	refute_output --partial peer
	tcvs set-if "$DP" "$(dev p2),peer=on"
	tcvs del-if "$DP" "$(dev p2)"
	tcvs add-if "$DP" "$(dev p2),port_no=7"
	run tcvs show "$DP"
	refute_output --partial peer
}

@test "peer=on is refused for what is no veth into another namespace, and changes nothing" {
	switch_up 1
	on_exit nsenter --net="/run/netns/$SW" ip link del "$(dev d0)"
	in_ns sw ip link add "$(dev d0)" type bridge
	in_ns sw ip link add "$(dev a0)" type veth peer name "$(dev b0)"
	run tcvs add-if "$DP" "$(dev d0),peer=on"
	assert_failure
	assert_output --partial "peer=on is for a veth whose other end is in another network namespace; this is none"
	run tcvs add-if "$DP" "$(dev a0),peer=on"
	assert_failure
	assert_output --partial "this one's is in this one"
	run tcvs set-if "$DP" "$DP,peer=on"
	assert_failure
	run tcvs add-if "$DP" "$(dev a0),peer=yes"
	assert_failure
	assert_output --partial "peer=on and peer=off"
	assert_no_port 2
	assert_equal "$(promisc a0)" false
}
