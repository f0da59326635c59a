#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Where frames go: several outputs, none, missing ones, and what a port's MTU lets through.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"
FRAME=$(udp_frame 9 40)

@test "each of several outputs gets the exact frame" {
	switch_up 4
	flow_add "$FLOW" 2,3,4
	exchange h1 "$FRAME" 50 ">h2" "$FRAME" 50 ">h3" "$FRAME" 50 ">h4" "$FRAME" 50
	assert_flow "$FLOW" 50 $((50 * $(size "$FRAME")))
}

@test "a port named twice gets two copies" {
	switch_up 3
	flow_add "$FLOW" 2,2,3
	exchange h1 "$FRAME" 10 ">h2" "$FRAME" 20 ">h3" "$FRAME" 10
}

@test "output to the ingress port sends the frame back" {
	switch_up 3
	flow_add "$FLOW" 1
	exchange h1 "$FRAME" 5 ">h1" "$FRAME" 5
	tcvs mod-flow "$DP" "$FLOW" 1,2
	exchange h1 "$FRAME" 5 ">h1" "$FRAME" 5 ">h2" "$FRAME" 5
	tcvs mod-flow "$DP" "$FLOW" 2,1
	exchange h1 "$FRAME" 5 ">h1" "$FRAME" 5 ">h2" "$FRAME" 5
}

@test "drop and the empty list: nothing leaves, the flow counts, so does the reason" {
	switch_up 2
	flow_add "$FLOW" drop
	exchange h1 "$FRAME" 3
	assert_flow "$FLOW" 3 $((3 * $(size "$FRAME")))
	assert_drops 1 no_action 3
	run flow_line "$FLOW"
	assert_output --regexp ', actions:drop$'
	tcvs del-flow "$DP" "$FLOW"
	flow_add "$FLOW" ""
	exchange h1 "$FRAME" 4
	assert_drops 1 no_action 7
	run flow_line "$FLOW"
	assert_output --regexp ', actions:drop$'
}

@test "an output to a missing port drops that copy, counted at that port" {
	switch_up 3
	flow_add "$FLOW" 9
	exchange h1 "$FRAME" 3
	assert_drops 9 no_port 3
	tcvs mod-flow "$DP" "$FLOW" 9,2
	exchange h1 "$FRAME" 4 ">h2" "$FRAME" 4
	assert_drops 9 no_port 7
	tcvs mod-flow "$DP" "$FLOW" 2,9
	exchange h1 "$FRAME" 5 ">h2" "$FRAME" 5
	assert_drops 9 no_port 12
	tcvs mod-flow "$DP" "$FLOW" 2,9,3
	exchange h1 "$FRAME" 6 ">h2" "$FRAME" 6 ">h3" "$FRAME" 6
	assert_drops 9 no_port 18
}

@test "a port that is added later is found by flows that name it already" {
	switch_up 2
	flow_add "$FLOW" 3
	exchange h1 "$FRAME" 1
	veth p3 h3 far
	tcvs add-if "$DP" "$(dev p3),port_no=3"
	exchange h1 "$FRAME" 2 ">h3" "$FRAME" 2
	assert_drops 3 no_port 1
}

@test "an output whose device is down costs the other outputs nothing" {
	switch_up 3
	flow_add "$FLOW" 2,3
	in_ns sw ip link set "$(dev p2)" down
	exchange h1 "$FRAME" 5 ">h3" "$FRAME" 5
	tcvs mod-flow "$DP" "$FLOW" 3,2
	exchange h1 "$FRAME" 5 ">h3" "$FRAME" 5
	in_ns sw ip link set "$(dev p2)" up
	exchange h1 "$FRAME" 5 ">h2" "$FRAME" 5 ">h3" "$FRAME" 5
}

# Only port 2 keeps an MTU of 1500: the devices on the way in, and the far end of port 2, take anything, so that what is
# dropped is dropped by the switch.
mtu_switch() {
	switch_up 3
	for name in p1 p3; do
		in_ns sw ip link set "$(dev $name)" mtu 9000
	done
	for name in h1 h2 h3; do
		in_ns far ip link set "$(dev $name)" mtu 9000
	done
}

@test "a frame above the port's MTU is dropped and counted, one of exactly the MTU passes" {
	local fits over

	fits=$(frame_of 1514)
	over=$(frame_of 1515)
	mtu_switch
	flow_add "$FLOW" 2
	exchange h1 "$fits" 3 ">h2" "$fits" 3
	assert_drops 2 mtu 0
	exchange h1 "$over" 4
	assert_drops 2 mtu 4
	tcvs mod-flow "$DP" "$FLOW" 2,3
	exchange h1 "$over" 5 ">h3" "$over" 5
	assert_drops 2 mtu 9
	tcvs mod-flow "$DP" "$FLOW" 3,2
	exchange h1 "$over" 5 ">h3" "$over" 5
	assert_drops 2 mtu 14
}

@test "a VLAN tag does not count against the MTU" {
	local frame

	frame=$(tagged 8100000a 0800 "$(ipv4 11 0a000001 0a000002 "$(udp 1 2 "$(repeat 5a 1472)")")")
	assert_equal "$(size "$frame")" 1518
	mtu_switch
	flow_add "in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800),ipv4())" 2
	exchange h1 "$frame" 3 ">h2" "$frame" 3
	assert_drops 2 mtu 0
}

@test "an MTU that is changed while the switch runs is honoured" {
	local frame

	frame=$(frame_of 1514)
	mtu_switch
	flow_add "$FLOW" 2
	exchange h1 "$frame" 1 ">h2" "$frame" 1
	in_ns sw ip link set "$(dev p2)" mtu 1400
	exchange h1 "$frame" 2
	assert_drops 2 mtu 2
	in_ns sw ip link set "$(dev p2)" mtu 9000
	frame=$(frame_of 9014)
	exchange h1 "$frame" 3 ">h2" "$frame" 3
	assert_drops 2 mtu 2
}

@test "a GSO packet passes whole, judged by its segments" {
	local packet flow="in_port(1),eth(),eth_type(0x0800),ipv4(proto=6,frag=no),tcp()"

	packet=$(ether 0800 "$(ipv4 06 0a000001 0a000002 "$(tcp 1000 80 010 "$(repeat 47 20000)")")")
	mtu_switch
	flow_add "$flow" 2
	exchange --gso 1460 h1 "$packet" 3 ">h2" "$packet" 3
	assert_drops 2 mtu 0
	exchange --gso 1461 h1 "$packet" 4
	assert_drops 2 mtu 4
	tcvs mod-flow "$DP" "$flow" 2,3
	exchange --gso 1460 h1 "$packet" 3 ">h2" "$packet" 3 ">h3" "$packet" 3
	exchange --gso 4000 h1 "$packet" 2 ">h3" "$packet" 2
	assert_drops 2 mtu 6
	assert_flow "$flow" 12 $((12 * $(size "$packet")))
}
