#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The flow commands: what they print, what they return, what they leave alone.

load lib/common

ARP="in_port(1),eth(),eth_type(0x0806),arp()"
IP="in_port(1),eth(),eth_type(0x0800),ipv4()"
DNS="in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=53)"
FRAME=$(udp_frame 53 10)

@test "a flow is printed as it was added, with nothing counted" {
	switch_up 2
	run --separate-stderr flow_add "$IP" 2
	assert_success
	assert_equal "$output$stderr" ""
	run dump
	assert_output "$(printed "$IP"), packets:0, bytes:0, used:never, actions:2"
}

@test "short and long forms are the same flow" {
	switch_up 2
	flow_add "in_port(1),eth(),eth_type(0x806),arp()" 2
	run dump
	assert_output "$(printed "$ARP"), packets:0, bytes:0, used:never, actions:2"
	run flow_add "$ARP" 2
	assert_failure 1
	assert_output --partial "File exists"
}

@test "packets, bytes and used" {
	local used

	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 7 ">h2" "$FRAME" 7
	assert_flow "$IP" 7 $((7 * $(size "$FRAME")))
	used=$(dump | sed -nE 's/.*, used:([0-9]+\.[0-9]{3})s, actions:2$/\1/p')
	assert [ -n "$used" ]
	assert [ "${used%.*}" -lt 60 ]
	assert_equal "$(show_value hit) $(show_value missed) $(show_value lost) $(show_value flows)" "7 0 0 1"
}

@test "TCP flags are collected and printed in their order" {
	local flow="in_port(1),eth(),eth_type(0x0800),ipv4(proto=6,frag=no),tcp()" frame flags

	switch_up 2
	flow_add "$flow" 2
	for flags in 002 010 001 018; do
		frame=$(ether 0800 "$(ipv4 06 0a000001 0a000002 "$(tcp 1 80 $flags)")")
		exchange h1 "$frame" 1 ">h2" "$frame" 1
	done
	run flow_line "$flow"
	assert_output --regexp ', used:[0-9.]+s, flags:SFP\., actions:2$'
}

@test "a flow that never saw TCP has no flags" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	run dump
	refute_output --partial "flags:"
}

@test "a flow that exists is refused, its actions and counts stay" {
	switch_up 3
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	assert_refused "File exists" add-flow "$DP" "$IP" 3
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	assert_flow "$IP" 3 $((3 * $(size "$FRAME")))
}

@test "bits outside the mask make no other flow" {
	switch_up 2
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.1.2.3/255.255.0.0)" 2
	run dump
	assert_output --partial "ipv4(dst=10.1.0.0/255.255.0.0)"
	run flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.1.9.9/255.255.0.0)" 2
	assert_failure 1
	tcvs del-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.1.7.7/255.255.0.0)"
	assert_equal "$(dump)" ""
}

@test "mod-flow changes the actions and keeps the statistics" {
	switch_up 3
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	tcvs mod-flow "$DP" "$IP" 3
	assert_flow "$IP" 2 $((2 * $(size "$FRAME")))
	exchange h1 "$FRAME" 1 ">h3" "$FRAME" 1
	assert_flow "$IP" 3 $((3 * $(size "$FRAME")))
}

@test "mod-flow takes lists longer than a flow entry holds, and back" {
	switch_up 3
	flow_add "$IP" 2
	tcvs mod-flow "$DP" "$IP" 2,3,2,3,2,3,2,3,2,3
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 10 ">h3" "$FRAME" 10
	tcvs mod-flow "$DP" "$IP" 3
	exchange h1 "$FRAME" 2 ">h3" "$FRAME" 2
	run dump
	assert_output --regexp ', actions:3$'
}

@test "mod-flow --clear zeroes the statistics" {
	switch_up 3
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	tcvs mod-flow --clear "$DP" "$IP" 2
	run dump
	assert_output "$(printed "$IP"), packets:0, bytes:0, used:never, actions:2"
}

@test "mod-flow -s prints the statistics" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	run tcvs mod-flow -s "$DP" "$IP" 2
	assert_success
	assert_output --regexp "^packets:2, bytes:$((2 * $(size "$FRAME"))), used:[0-9]+\.[0-9]{3}s$"
}

@test "mod-flow of a flow that is not there: refused, made with --may-create" {
	switch_up 2
	assert_refused "No such file or directory" mod-flow "$DP" "$IP" 2
	tcvs mod-flow --may-create "$DP" "$IP" 2
	run dump
	assert_output "$(printed "$IP"), packets:0, bytes:0, used:never, actions:2"
}

@test "del-flow removes one flow, -s prints what it counted" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "$ARP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	run tcvs del-flow -s "$DP" "$IP"
	assert_success
	assert_output --regexp "^packets:2, bytes:$((2 * $(size "$FRAME"))), used:[0-9]+\.[0-9]{3}s$"
	run dump
	assert_output "$(printed "$ARP"), packets:0, bytes:0, used:never, actions:2"
	exchange h1 "$FRAME" 3
	assert_equal "$(show_value missed)" 3
	assert_refused "No such file or directory" del-flow "$DP" "$IP"
}

@test "a flow that is deleted and added again starts at 0" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	tcvs del-flow "$DP" "$IP"
	flow_add "$IP" 2
	run dump
	assert_output "$(printed "$IP"), packets:0, bytes:0, used:never, actions:2"
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_flow "$IP" 3 $((3 * $(size "$FRAME")))
}

@test "del-flows removes all, masks too" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "$ARP" 2
	flow_add "$DNS" 2
	assert_equal "$(tcvs show "$DP" | grep -oE 'total:[0-9]+')" total:2
	tcvs del-flows "$DP"
	assert_equal "$(dump)" ""
	assert_equal "$(show_value flows)" 0
	exchange h1 "$FRAME" 1
	flow_add "$IP" 2
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	assert_flow "$IP" 2 $((2 * $(size "$FRAME")))
}

@test "get-flow finds a flow by the ufid that dump-flows -m prints" {
	local ufid

	switch_up 2
	flow_add "$IP" 2
	flow_add "$ARP" 2
	ufid=$(tcvs dump-flows -m "$DP" | grep 'eth_type(0x0806)' | grep -oE '^ufid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
	run tcvs get-flow "$DP" "$ufid"
	assert_success
	assert_output "$(printed "$ARP"), packets:0, bytes:0, used:never, actions:2"
	tcvs del-flow "$DP" "$ARP"
	assert_refused "No such file or directory" get-flow "$DP" "$ufid"
}

@test "a flow keeps its ufid over mod-flow" {
	local before

	switch_up 3
	flow_add "$IP" 2
	before=$(tcvs dump-flows -m "$DP" | grep -o '^ufid:[^,]*')
	tcvs mod-flow "$DP" "$IP" 3
	assert_equal "$(tcvs dump-flows -m "$DP" | grep -o '^ufid:[^,]*')" "$before"
}

@test "names: in actions and in_port, and printed with --names" {
	switch_up 2
	flow_add "in_port($(dev p1)),eth(),eth_type(0x0800),ipv4()" "$(dev p2)"
	run dump
	assert_output "$(printed "$IP"), packets:0, bytes:0, used:never, actions:2"
	run tcvs dump-flows --names "$DP"
	assert_output --partial "in_port($(dev p1))"
	assert_output --partial "actions:$(dev p2)"
}

@test "dump-masks names each mask with its flows and hits" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 1
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0,proto=6)" 2
	exchange h1 "$FRAME" 5 ">h2" "$FRAME" 5
	run --separate-stderr tcvs dump-masks "$DP"
	assert_success
	assert_output --regexp 'flows:2.*hits:5|hits:5.*flows:2'
	assert_output --regexp 'flows:1.*hits:0|hits:0.*flows:1'
}

@test "show counts lookups and masks as ovs-dpctl does" {
	switch_up 2
	flow_add "$DNS" 2
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 2
	exchange h1 "$FRAME" 4 ">h2" "$FRAME" 4
	run tcvs show "$DP"
	assert_line --index 0 "tcvs@$DP:"
	assert_line "  lookups: hit:4 missed:0 lost:0"
	assert_line "  flows: 2"
	assert_line --regexp '^  masks: hit:[0-9]+ total:2 hit/pkt:[0-9]+\.[0-9]{2}$'
	# Behind the name, how the port is attached, where ovs-dpctl has nothing.
	assert_line --regexp "^  port 1: $(dev p1) \((tcx|clsact)\)$"
	assert_line --regexp "^  port 2: $(dev p2) \((tcx|clsact)\)$"
}

@test "refused flow and action texts change nothing" {
	switch_up 2
	flow_add "$IP" 2
	assert_refused 'ipv6' add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv6()" 2
	assert_refused 'ttl' add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(ttl=256)" 2
	assert_refused '65536' add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6),tcp(dst=65536)" 2
	assert_refused 'foo' add-flow "$DP" "in_port(1),eth(),foo(1)" 2
	assert_refused 'foo' add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(foo=1)" 2
	assert_refused 'foo' add-flow "$DP" "$ARP" foo
	assert_refused '70000' add-flow "$DP" "$ARP" 70000
	assert_refused '65535' add-flow "$DP" "$ARP" 65535
	assert_refused '' add-flow "$DP" "$ARP" '2;3'
	assert_refused 'bar' mod-flow "$DP" "$IP" 2,bar
	assert_refused '' add-flow "$DP" "in_port(1),eth(" 2
	assert_refused '' add-flow "$DP" "" 2
}

@test "features that are not there yet are refused by name" {
	switch_up 2
	for action in 'userspace(pid=1)' 'ct(commit)' 'meter(1)'; do
		assert_refused "${action%%(*}" add-flow "$DP" "$IP" "$action"
	done
	for key in 'ct_state(+trk)' 'tunnel(tun_id=1)'; do
		assert_refused "${key%%(*}" add-flow "$DP" "$key,$IP" 2
	done
}
