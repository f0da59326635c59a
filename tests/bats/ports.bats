#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Ports come, go, are renamed and moved; the local port; what is done to a device and undone; foreign filters.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"
FRAME=$(udp_frame 9 10)

needs_tcx() {
	have_tcx || skip "needs the TCX hook (Linux 6.6)"
}

ports() {
	tcvs show "$DP" | grep '^  port'
}

@test "ports are numbered from 1, the first free number, or as port_no says" {
	switch_up 2
	veth p3 h3 far
	veth p4 h4 far
	tcvs add-if "$DP" "$(dev p3),port_no=7"
	tcvs add-if "$DP" "$(dev p4)"
	assert_port 1 "$(dev p1)"
	assert_port 2 "$(dev p2)"
	assert_port 3 "$(dev p4)"
	assert_port 7 "$(dev p3)"
	flow_add "in_port(7),eth(),eth_type(0x0800),ipv4()" 3
	exchange h3 "$FRAME" 2 ">h4" "$FRAME" 2
}

@test "add-dp takes interfaces, add-if several" {
	local i

	ns_add sw
	ns_add far
	for i in 1 2 3 4; do
		veth "p$i" "h$i" far
	done
	on_exit dp_remove
	tcvs add-dp "$DP" "$(dev p1)" "$(dev p2),port_no=5"
	tcvs add-if "$DP" "$(dev p3)" "$(dev p4),port_no=9"
	assert_port 1 "$(dev p1)"
	assert_port 5 "$(dev p2)"
	assert_port 2 "$(dev p3)"
	assert_port 9 "$(dev p4)"
	tcvs del-if "$DP" "$(dev p1)" "$(dev p4)"
	run ports
	refute_output --partial "$(dev p1)"
	refute_output --partial "$(dev p4)"
}

@test "a port number that is taken or too large is refused" {
	switch_up 1
	veth p2 h2 far
	assert_refused 'port.* 1 ' add-if "$DP" "$(dev p2),port_no=1"
	assert_refused 'port_no' add-if "$DP" "$(dev p2),port_no=65535"
	assert_refused 'port_no' add-if "$DP" "$(dev p2),port_no=x"
	assert_equal "$(promisc p2)" false
}

@test "the local port: an address on the datapath's own device" {
	switch_up 1
	ns_add host
	veth p2 left host
	tcvs add-if "$DP" "$(dev p2)"
	assert_port 0 "$DP"
	assert [ "$(ports | grep -c "^  port 0: $DP (internal")" -eq 1 ]
	in_ns sw ip addr add 172.31.111.1/24 dev "$DP"
	in_ns sw ip link set "$DP" up
	in_ns host ip addr add 172.31.111.2/24 dev "$(dev left)"
	for pair in "0 2" "2 0"; do
		flow_add "in_port(${pair% *}),eth(),eth_type(0x0806),arp()" "${pair#* }"
		flow_add "in_port(${pair% *}),eth(),eth_type(0x0800),ipv4()" "${pair#* }"
	done
	in_ns sw ping -c 3 -i 0.05 -W 5 172.31.111.2
	in_ns host ping -c 3 -i 0.05 -W 5 172.31.111.1
	assert_equal "$(flow_stat "in_port(0),eth(),eth_type(0x0800),ipv4()" packets)" 6
	assert_equal "$(flow_stat "in_port(2),eth(),eth_type(0x0800),ipv4()" packets)" 6
}

@test "TCP through the local port arrives intact" {
	switch_up 1
	ns_add host
	veth p2 left host
	tcvs add-if "$DP" "$(dev p2)"
	in_ns sw ip addr add 172.31.111.1/24 dev "$DP"
	in_ns sw ip link set "$DP" up
	in_ns host ip addr add 172.31.111.2/24 dev "$(dev left)"
	flow_add "in_port(0),eth(),eth_type(0x0806),arp()" 2
	flow_add "in_port(2),eth(),eth_type(0x0806),arp()" 0
	flow_add "in_port(0),eth(),eth_type(0x0800),ipv4()" 2
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 0
	head -c 20000000 /dev/urandom >"$BATS_TEST_TMPDIR/data"
	background host socat -u TCP4-LISTEN:5000,reuseaddr "CREATE:$BATS_TEST_TMPDIR/copy"
	wait_for listening host -t 5000
	in_ns sw socat -u "OPEN:$BATS_TEST_TMPDIR/data" TCP4:172.31.111.2:5000,retry=20,interval=0.1
	wait_for cmp "$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/copy"
}

@test "the local port is a port also when the host's end has been moved to another namespace" {
	local attached

	switch_up 1
	attached=$(ports | grep "^  port 0: $DP (internal")
	refute [ "${attached/detached/}" != "$attached" ]
	ns_add host
	in_ns sw ip link set "$DP" netns "$(ns host)"
	assert_equal "$(ports | grep "^  port 0:")" "$attached"
	in_ns host ip link set "$DP" up
	flow_add "in_port(1),eth()" 0
	frames check --send "$(dev h1)" "$(udp_frame 9)" 2
	assert_equal "$(in_ns host ip -j -s link show dev "$DP" | jq '.[0].stats64.rx.packets')" 2
}

@test "the local port cannot be removed" {
	switch_up 1
	assert_refused '' del-if "$DP" "$DP"
}

@test "add-if makes a device promiscuous, del-if undoes it" {
	switch_up 2
	assert_equal "$(promisc p1)" true
	tcvs del-if "$DP" "$(dev p1)"
	assert_equal "$(promisc p1)" false
	assert_equal "$(link_json p1 .promiscuity)" 0
}

@test "a device that the user made promiscuous stays so" {
	switch_up 1
	veth p2 h2 far
	in_ns sw ip link set "$(dev p2)" promisc on
	tcvs add-if "$DP" "$(dev p2)"
	tcvs del-if "$DP" "$(dev p2)"
	assert_equal "$(promisc p2)" true
}

@test "del-dp undoes what add-if did" {
	switch_up 2
	tcvs del-dp "$DP"
	assert_equal "$(promisc p1) $(promisc p2)" "false false"
	assert_equal "$(in_ns sw tc qdisc show | grep -c clsact || true)" 0
	run in_ns sw ip link show "$DP"
	assert_failure
}

@test "del-if takes a port number too, and its frames are the host's again" {
	switch_up 2
	flow_add "$FLOW" 2
	tcvs del-if "$DP" 1
	run ports
	refute_output --partial "$(dev p1)"
	exchange h1 "$FRAME" 3
	assert_flow "$FLOW" 0 0
	assert_refused 'port' del-if "$DP" "$(dev p1)"
}

@test "a renamed device stays a port" {
	switch_up 2
	flow_add "$FLOW" 2
	in_ns sw ip link set "$(dev p2)" down
	in_ns sw ip link set "$(dev p2)" name "$(dev new)"
	in_ns sw ip link set "$(dev new)" up
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	assert_port 2 "$(dev new)"
	tcvs del-if "$DP" "$(dev new)"
	assert_equal "$(promisc new)" false
}

@test "a deleted device is shown as gone; its port drops, and del-if clears it" {
	switch_up 2
	flow_add "$FLOW" 2
	in_ns sw ip link del "$(dev p2)"
	assert_port 2 "$(dev p2)" gone
	exchange h1 "$FRAME" 3
	assert_drops 2 no_port 3
	tcvs del-if "$DP" "$(dev p2)"
	assert_no_port 2
	veth p2 h2 far
	tcvs add-if "$DP" "$(dev p2),port_no=2"
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
}

@test "a number that a flow still names is given to no other device unasked" {
	switch_up 2
	flow_add "$FLOW" 2
	tcvs del-if "$DP" "$(dev p2)"
	veth p3 h3 far
	tcvs add-if "$DP" "$(dev p3)"
	assert_no_port 2
	assert_port 3 "$(dev p3)"
	exchange h1 "$FRAME" 3
	assert_drops 2 no_port 3
}

# move_away NAME: into namespace other, in which a device with the ifindex of port 2 waits (x, its far end h8)
move_away() {
	ns_add other
	ip link add "$(dev x)" index "$(ifindex p2)" netns "$(ns other)" type veth peer name "$(dev h8)" netns "$(ns far)"
	in_ns other ip link set "$(dev x)" up
	in_ns far ip link set "$(dev h8)" up
	in_ns sw ip link set "$(dev "$1")" netns "$(ns other)"
	in_ns other ip link set "$(dev "$1")" up
}

@test "a device moved to another namespace is not served from there, even with port 2's ifindex in it" {
	needs_tcx
	switch_up 3
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	move_away p1
	exchange h1 "$FRAME" 4
	assert_drops 1 foreign_netns 4
	assert_flow "$FLOW" 1 "$(size "$FRAME")"
	tcvs del-if "$DP" "$(dev p1)"
}

@test "with clsact, a device moved to another namespace is no longer served" {
	switch_up 3 ,attach=clsact
	flow_add "$FLOW" 2
	move_away p1
	exchange h1 "$FRAME" 4
	assert_flow "$FLOW" 0 0
}

@test "an output to a device that was moved away is dropped and counted" {
	switch_up 3
	flow_add "$FLOW" 2
	ns_add other
	in_ns sw ip link set "$(dev p2)" netns "$(ns other)"
	in_ns other ip link set "$(dev p2)" up
	exchange h1 "$FRAME" 3
	assert_drops 2 no_port 3
}

# Other people's filters on both sides of ours; none matches a frame of the test.
foreign_filters() {
	in_ns sw tc qdisc add dev "$(dev p1)" clsact
	in_ns sw tc filter add dev "$(dev p1)" ingress pref 1 protocol all u32 match u32 0xfeedbee5 0xffffffff flowid 1:1
	in_ns sw tc filter add dev "$(dev p1)" ingress pref 65000 protocol all u32 match u32 0xfeedbee5 0xffffffff flowid 1:1
	in_ns sw tc filter add dev "$(dev p1)" egress pref 7 protocol all u32 match u32 0xfeedbee5 0xffffffff flowid 1:1
}

# coexist OPTIONS: p1 has foreign filters before it becomes a port
coexist() {
	local before

	switch_up 0 "$1"
	veth p1 h1 far
	veth p2 h2 far
	foreign_filters
	before=$(ingress_filters p1)
	tcvs add-if "$DP" "$(dev p1)" "$(dev p2)"
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	tcvs del-if "$DP" "$(dev p1)"
	assert_equal "$(ingress_filters p1)" "$before"
	assert_equal "$(in_ns sw tc filter show dev "$(dev p1)" egress | grep -c 'pref 7 .*flowid')" 1
	exchange h1 "$FRAME" 1
}

@test "foreign clsact filters survive beside TCX" {
	needs_tcx
	coexist ""
}

@test "foreign clsact filters survive beside a filter of ours" {
	coexist ,attach=clsact
}

@test "a foreign filter that is added later survives del-if, and so does the clsact that it needs" {
	for options in "" ,attach=clsact; do
		switch_up 1 "$options"
		in_ns sw tc qdisc add dev "$(dev p1)" clsact 2>/dev/null || true
		in_ns sw tc filter add dev "$(dev p1)" ingress pref 50 protocol all u32 match u32 0xfeedbee5 0xffffffff flowid 1:1
		tcvs del-if "$DP" "$(dev p1)"
		run ingress_filters p1
		assert_output --partial "pref 50"
		refute_output --partial bpf
		run_cleanups
	done
}

@test "forced clsact: one filter of ours per port, and no qdisc left behind" {
	switch_up 2 ,attach=clsact
	assert_equal "$(ingress_filters p1 | grep -c 'bpf.*direct-action')" 1
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_flow "$FLOW" 3 $((3 * $(size "$FRAME")))
	tcvs del-if "$DP" "$(dev p1)"
	assert_equal "$(in_ns sw tc qdisc show dev "$(dev p1)" | grep -c clsact || true)" 0
	tcvs del-dp "$DP"
	assert_equal "$(in_ns sw tc qdisc show | grep -c clsact || true)" 0
}

@test "TCX: no clsact is made" {
	needs_tcx
	switch_up 2
	assert_equal "$(in_ns sw tc qdisc show | grep -c clsact || true)" 0
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
}

@test "an attach option that is none is refused" {
	ns_add sw
	assert_refused 'attach' add-dp "$DP,attach=xdp"
	assert_equal "$(ls "$PINS" 2>/dev/null)" ""
}

@test "nothing unmatched reaches the host stack" {
	switch_up 1
	in_ns sw ip addr add 10.0.0.2/24 dev "$(dev p1)"
	in_ns far ip addr add 10.0.0.1/24 dev "$(dev h1)"
	run in_ns far ping -c 1 -W 1 10.0.0.2
	assert_failure
	assert [ "$(show_value missed)" -ge 1 ]
	tcvs del-if "$DP" "$(dev p1)"
	in_ns far ping -c 1 -W 5 10.0.0.2
}
