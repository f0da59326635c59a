#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tagged frames: which flow takes them, the exact bytes that leave, and that tags are counted.

load lib/common

IP=$(ipv4 11 0a000001 0a000002 "$(udp 1000 2000 766c616e)")
UNTAGGED=$(ether 0800 "$IP")

@test "a trunk: each VLAN has its port, PCP and DEI bits pass unchanged" {
	local ten=$(tagged 8100000a 0800 "$IP") priority=$(tagged 8100a00a 0800 "$IP") dei=$(tagged 8100100a 0800 "$IP")
	local twenty=$(tagged 81000014 0800 "$IP") key="in_port(1),eth(),eth_type(0x8100)"

	switch_up 3
	flow_add "$key,vlan(vid=10),encap(eth_type(0x0800),ipv4())" 2
	flow_add "$key,vlan(vid=20),encap(eth_type(0x0800),ipv4())" 3
	exchange h1 "$ten" 2 h1 "$priority" 3 h1 "$dei" 4 h1 "$twenty" 5 \
		">h2" "$ten" 2 ">h2" "$priority" 3 ">h2" "$dei" 4 ">h3" "$twenty" 5
	assert_flow "$key,vlan(vid=10),encap(eth_type(0x0800),ipv4())" 9 $((9 * $(size "$ten")))
	assert_flow "$key,vlan(vid=20),encap(eth_type(0x0800),ipv4())" 5 $((5 * $(size "$twenty")))
}

@test "a match on pcp takes that priority only" {
	local high=$(tagged 8100a00a 0800 "$IP") low=$(tagged 8100200a 0800 "$IP")

	switch_up 3
	flow_add "in_port(1),eth(),eth_type(0x8100),vlan(vid=10,pcp=5),encap(eth_type(0x0800),ipv4())" 2
	exchange h1 "$high" 3 h1 "$low" 2 ">h2" "$high" 3
	assert_equal "$(show_value missed)" 2
}

@test "untagged and tagged frames never share a flow" {
	local ten=$(tagged 8100000a 0800 "$IP")

	switch_up 3
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4()" 2
	flow_add "in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800),ipv4())" 3
	exchange h1 "$UNTAGGED" 4 h1 "$ten" 3 ">h2" "$UNTAGGED" 4 ">h3" "$ten" 3
	assert_flow "in_port(1),eth(),eth_type(0x0800),ipv4()" 4 $((4 * $(size "$UNTAGGED")))
}

@test "802.1ad is another type of tag than 802.1Q" {
	local service=$(tagged 88a8000a 0800 "$IP") customer=$(tagged 8100000a 0800 "$IP")
	local flow="in_port(1),eth(),eth_type(0x88a8),vlan(vid=10),encap(eth_type(0x0800),ipv4())"

	switch_up 3
	flow_add "$flow" 2
	exchange h1 "$service" 3 h1 "$customer" 2 ">h2" "$service" 3
	assert_flow "$flow" 3 $((3 * $(size "$service")))
	assert_equal "$(show_value missed)" 2
}

@test "QinQ: both tags are matched and both are counted" {
	local both=$(tagged 88a8000a81000014 0800 "$IP") other=$(tagged 88a8000a81000015 0800 "$IP")
	local swapped=$(tagged 88a800148100000a 0800 "$IP") inner="encap(eth_type(0x8100),vlan(vid=20),encap(eth_type(0x0800),ipv4()))"
	local flow="in_port(1),eth(),eth_type(0x88a8),vlan(vid=10),$inner"

	switch_up 3
	flow_add "$flow" 2,3
	exchange h1 "$both" 5 h1 "$other" 1 h1 "$swapped" 1 ">h2" "$both" 5 ">h3" "$both" 5
	assert_flow "$flow" 5 $((5 * $(size "$both")))
}

@test "two 802.1Q tags" {
	local both=$(tagged 8100000a8100e014 0800 "$IP")
	local flow="in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x8100),vlan(vid=20),encap(eth_type(0x0800),ipv4()))"

	switch_up 2
	flow_add "$flow" 2
	exchange h1 "$both" 5 ">h2" "$both" 5
	assert_flow "$flow" 5 $((5 * $(size "$both")))
}

@test "a priority tag is a tag with VLAN 0" {
	local priority=$(tagged 8100a000 0800 "$IP") plain=$(tagged 81000000 0800 "$IP")
	local flow="in_port(1),eth(),eth_type(0x8100),vlan(vid=0),encap(eth_type(0x0800),ipv4())"

	switch_up 3
	flow_add "$flow" 2
	exchange h1 "$priority" 3 h1 "$plain" 2 h1 "$UNTAGGED" 1 ">h2" "$priority" 3 ">h2" "$plain" 2
	assert_flow "$flow" 5 $((5 * $(size "$priority")))
	assert_equal "$(show_value missed)" 1
}

@test "ARP, IPv6 and ports are matched behind a tag" {
	local arp=$(tagged 8100000a 0806 "00010800060400010200000000010a0000010000000000000a000002")
	local ip6=$(tagged 8100000a 86dd "60000000000c1140$(repeat 0 30)01$(repeat 0 30)02$(udp 7 53 01020304)")
	local in="in_port(1),eth(),eth_type(0x8100),vlan(vid=10)"

	switch_up 3
	flow_add "$in,encap(eth_type(0x0806),arp(tip=10.0.0.2,op=1))" 2
	flow_add "$in,encap(eth_type(0x86dd),ipv6(proto=17,frag=no),udp(dst=53))" 3
	exchange h1 "$arp" 2 h1 "$ip6" 3 ">h2" "$arp" 2 ">h3" "$ip6" 3
}
