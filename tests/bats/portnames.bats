#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Names and numbers of ports: odd names, renames, numbers that are kept, devices that only look like a port's.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"
FRAME=$(udp_frame 9 10)

# named_veth NAME PEER: a device of exactly that name in the switch's namespace; its other end is PEER in namespace far
named_veth() {
	ip link add "$1" netns "$SW" type veth peer name "$(dev "$2")" netns "$(ns far)"
	in_ns far ip link set "$(dev "$2")" up
	in_ns sw ip link set "$1" up
	wait_for can_send far "$2"
}

promisc_of() {
	in_ns sw ip -j link show dev "$1" | jq -r '.[0].flags | index("PROMISC") != null'
}

# dumped_names: the lines of dump-flows --names as lines of a file
dumped_names() {
	tcvs dump-flows --names "$DP" | sed -E 's/, packets:.*actions:/ /'
}

# A port of that name is used by it wherever a port can be named.
use_port() {
	local name=$1

	switch_up 1
	named_veth "$name" h2
	tcvs add-if "$DP" "$name"
	assert_port 2 "$name"
	assert_equal "$(promisc_of "$name")" true
	tcvs set-if "$DP" "$name,port_no=2"
	flow_add "in_port($(dev p1)),eth(),eth_type(0x0800),ipv4()" "$name"
	flow_add "in_port($name),eth(),eth_type(0x0800),ipv4()" "$(dev p1),$name"
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	exchange h2 "$FRAME" 2 ">h1" "$FRAME" 2 ">h2" "$FRAME" 2
	run dumped_names
	assert_line "in_port($name),eth(),eth_type(0x0800) $(dev p1),$name"
	dumped_names >"$BATS_TEST_TMPDIR/flows"
	tcvs del-flows "$DP"
	tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	assert_equal "$(dumped_names)" "$(cat "$BATS_TEST_TMPDIR/flows")"
	tcvs del-if "$DP" "$name"
	assert_no_port 2
	assert_equal "$(promisc_of "$name")" false
}

@test "a name with a dot" {
	use_port eth0.100
}

@test "a name with a dot, with clsact" {
	switch_up 1 ,attach=clsact
	named_veth eth0.100 h2
	tcvs add-if "$DP" eth0.100
	flow_add "$FLOW" eth0.100
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	tcvs del-if "$DP" eth0.100
	assert_equal "$(in_ns sw tc qdisc show dev eth0.100 | grep -c clsact || true)" 0
}

@test "a name of fifteen characters" {
	use_port abcdefghijklm-0
}

@test "names that begin with a dash or look like a pattern" {
	use_port v-1
	run_cleanups
	use_port 'a*[b]'
}

@test "a VLAN device over a port's device" {
	switch_up 2
	in_ns sw ip link add link "$(dev p2)" name "$(dev p2).5" type vlan id 5 2>/dev/null || skip "no VLAN devices here"
	in_ns sw ip link set "$(dev p2).5" up
	tcvs add-if "$DP" "$(dev p2).5"
	assert_port 3 "$(dev p2).5"
	flow_add "$FLOW" "$(dev p2).5"
	# Out of the VLAN device, with its tag, by the device below; not in again by port 2, where it is not received.
	exchange h1 "$FRAME" 2 ">h2" "${FRAME:0:24}81000005${FRAME:24}" 2
	tcvs del-if "$DP" "$(dev p2).5"
}

# A flow text in which the port's name would say something else has the number instead.
@test "a name that is a number, or a word of flow texts, is not mistaken for it" {
	local name

	for name in 7 0x1 drop pop_vlan trunc; do
		switch_up 2
		named_veth "$name" h3
		tcvs add-if "$DP" "$name"
		assert_port 3 "$name"
		flow_add "$FLOW" 3
		flow_add "in_port(3),eth(),eth_type(0x0800),ipv4()" 1,3
		dumped_names >"$BATS_TEST_TMPDIR/flows"
		dump | sed 's/, packets:.*actions:/ /' >"$BATS_TEST_TMPDIR/numbers"
		tcvs del-flows "$DP"
		tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
		assert_equal "$name: $(dump | sed 's/, packets:.*actions:/ /')" "$name: $(cat "$BATS_TEST_TMPDIR/numbers")"
		exchange h1 "$FRAME" 1 ">h3" "$FRAME" 1
		tcvs del-if "$DP" 3
		assert_no_port 3
		run_cleanups
	done
}

@test "a datapath whose name has a dot, or fifteen characters" {
	local name

	ns_add sw
	for name in "${TAG}.1" "${TAG}abcdef"; do
		on_exit tcvs del-dp "$name"
		tcvs add-dp "$name"
		run tcvs dump-dps
		assert_line "tcvs@$name"
		tcvs add-flow "$name" "$FLOW" 0
		assert_equal "$(tcvs dump-flows "$name" | wc -l)" 1
		run tcvs show "$name"
		assert_line --regexp "^  port 0: $name \(internal, .*\)$"
		tcvs del-dp "$name"
		run tcvs dump-dps
		refute_output --regexp "tcvs@$name\b"
	done
	assert_equal "$(in_ns sw ip -j link show | jq length)" 1
}

@test "names that are none are refused" {
	local name

	switch_up 1
	for name in abcdefghijklmnop '' ,port_no=2; do
		assert_refused '15 characters|not a valid' add-if "$DP" "$name"
		assert_refused '15 characters|not a valid|no port' del-if "$DP" "$name"
	done
	assert_refused 'speed=10' add-if "$DP" "$(dev p1),speed=10"
	for name in a/b 'a b' .. a:b; do
		assert_refused '' add-if "$DP" "$name"
	done
}

rename() {
	in_ns sw ip link set "$1" down
	in_ns sw ip link set "$1" name "$2"
	in_ns sw ip link set "$2" up
}

@test "two ports that swap their names: numbers and flows stay with the devices" {
	switch_up 3
	flow_add "$FLOW" 2
	rename "$(dev p2)" "$(dev tmp)"
	rename "$(dev p3)" "$(dev p2)"
	rename "$(dev tmp)" "$(dev p3)"
	assert_port 2 "$(dev p3)"
	assert_port 3 "$(dev p2)"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	flow_add "in_port($(dev p2)),eth(),eth_type(0x0800),ipv4()" "$(dev p3)"
	run dump
	assert_line --regexp '^in_port\(3\).*actions:2$'
	exchange h3 "$FRAME" 2 ">h2" "$FRAME" 2
	assert_refused 'port' add-if "$DP" "$(dev p2)"
	tcvs del-if "$DP" "$(dev p2)"
	assert_no_port 3
	assert_port 2 "$(dev p3)"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
}

@test "a renamed port can be removed and added by its new name, and its old name is free" {
	switch_up 2
	rename "$(dev p2)" "$(dev new)"
	assert_refused "$(dev p2)" del-if "$DP" "$(dev p2)"
	assert_refused 'exists' add-if "$DP" "$(dev new)"
	veth p2 h3 far
	tcvs add-if "$DP" "$(dev p2)"
	assert_port 2 "$(dev new)"
	assert_port 3 "$(dev p2)"
	tcvs del-if "$DP" "$(dev new)"
	tcvs add-if "$DP" "$(dev new)"
	assert_port 2 "$(dev new)"
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
}

@test "the local port's device is renamed: the datapath keeps its name and is removed whole" {
	switch_up 1
	rename "$DP" "$(dev lo)"
	run -0 tcvs show "$DP"
	assert_line --regexp "^  port 0: $(dev lo) \(internal, .*\)$"
	tcvs del-dp "$DP"
	assert_equal "$(in_ns sw ip -j link show | jq length)" 2
}

# rename_until FILE: port 3 has one of two names, until FILE is gone
rename_until() {
	while [[ -e $1 ]]; do
		rename "$(dev p3)" "$(dev q3)"
		sleep 0.03
		rename "$(dev q3)" "$(dev p3)"
		sleep 0.03
	done
}

renaming_start() {
	touch "$BATS_TEST_TMPDIR/go"
	on_exit rm -f "$BATS_TEST_TMPDIR/go"
	rename_until "$BATS_TEST_TMPDIR/go" 3>&- &
	RENAMING=$!
}

renaming_stop() {
	rm "$BATS_TEST_TMPDIR/go"
	wait "$RENAMING"
	wait_for can_send far h3
}

@test "a port is renamed while commands show it and change others" {
	local round

	switch_up 3
	flow_add "$FLOW" 2
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 3
	veth p4 h4 far
	renaming_start
	for ((round = 0; round < 10; round++)); do
		run -0 --separate-stderr tcvs show "$DP"
		assert_line --regexp "^  port 3: ${TAG}[pq]3 \((tcx|clsact)\)$"
		run -0 --separate-stderr tcvs dump-flows --names "$DP"
		assert_line --regexp "^in_port\($(dev p2)\).*actions:${TAG}[pq]3$"
		tcvs add-if "$DP" "$(dev p4)"
		tcvs del-if "$DP" "$(dev p4)"
	done
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	renaming_stop
	assert_equal "$(promisc p3) $(promisc p4)" "true false"
	exchange h2 "$FRAME" 2 ">h3" "$FRAME" 2
}

@test "a device is renamed while it is added: it becomes a port or stays as it was" {
	local round added=0

	switch_up 3
	flow_add "$FLOW" 3
	renaming_start
	for ((round = 0; round < 10; round++)); do
		tcvs del-if "$DP" 3 || ((added == 0))
		added=0
		if tcvs add-if "$DP" "$(dev p3),port_no=3" || tcvs add-if "$DP" "$(dev q3),port_no=3"; then
			added=1
		fi
		assert_equal "$(tcvs show "$DP" | grep -cE "^  port 3: ${TAG}[pq]3 \((tcx|clsact)\)$")" "$added"
	done
	renaming_stop
	assert_equal "$(promisc p3)" "$( ((added)) && echo true || echo false)"
	((added)) || tcvs add-if "$DP" "$(dev p3),port_no=3"
	exchange h1 "$FRAME" 2 ">h3" "$FRAME" 2
	tcvs del-if "$DP" "$(dev p3)"
	assert_equal "$(promisc p3)" false
}

@test "set-if takes what is so and refuses what is not" {
	switch_up 2
	tcvs set-if "$DP" "$(dev p1)" "$(dev p2),port_no=2,type=system" "$DP,type=internal"
	assert_refused "$(dev p1).*number from 1 to 2" set-if "$DP" "$(dev p1),port_no=2"
	assert_refused "$(dev p1).*type from system to vxlan" set-if "$DP" "$(dev p1),type=vxlan"
	assert_refused "$DP.*type from internal to system" set-if "$DP" "$DP,type=system"
	assert_refused "nosuch" set-if "$DP" nosuch
	assert_refused "speed=10" set-if "$DP" "$(dev p1),speed=10"
	run -1 --separate-stderr tcvs set-if "$DP" "$(dev p1),port_no=5" nosuch "$(dev p2),port_no=2"
	assert_equal "lines on stderr: ${#stderr_lines[@]}" "lines on stderr: 2"
}

@test "types that cannot be added are refused by name" {
	switch_up 1
	veth p2 h2 far
	for type in vxlan geneve gre internal patch; do
		assert_refused "type=$type" add-if "$DP" "$(dev p2),type=$type"
	done
	tcvs add-if "$DP" "$(dev p2),type=system,port_no=4"
	assert_port 4 "$(dev p2)"
}

@test "an automatic number is the lowest that no port has and no flow names" {
	local i

	switch_up 4
	for i in 5 6 7 8 9; do
		veth "p$i" "h$i" far
	done
	tcvs del-if "$DP" "$(dev p2)" "$(dev p3)"
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 1
	flow_add "$FLOW" 1,5,1,5,1,7
	tcvs add-if "$DP" "$(dev p5)" "$(dev p6)" "$(dev p7)"
	assert_port 3 "$(dev p5)"
	assert_port 6 "$(dev p6)"
	assert_port 8 "$(dev p7)"
	tcvs mod-flow "$DP" "$FLOW" 1,5
	tcvs add-if "$DP" "$(dev p8)"
	assert_port 7 "$(dev p8)"
	tcvs add-if "$DP" "$(dev p9),port_no=2"
	assert_port 2 "$(dev p9)"
	exchange h9 "$FRAME" 1 ">h1" "$FRAME" 1
	tcvs del-flow "$DP" "$FLOW"
	tcvs add-if "$DP" "$(dev p2)"
	assert_port 5 "$(dev p2)"
}

@test "a number comes back when the flows that name it are gone" {
	switch_up 3
	flow_add "$FLOW" 2
	flow_add "in_port(3),eth(),eth_type(0x0800),ipv4()" drop
	tcvs del-if "$DP" "$(dev p2)" "$(dev p3)"
	tcvs add-if "$DP" "$(dev p3)"
	assert_port 4 "$(dev p3)"
	exchange h1 "$FRAME" 2 h3 "$FRAME" 1
	assert_drops 2 no_port 2
	tcvs del-flows "$DP"
	tcvs del-if "$DP" 4
	tcvs add-if "$DP" "$(dev p3)" "$(dev p2)"
	assert_port 2 "$(dev p3)"
	assert_port 3 "$(dev p2)"
}

@test "the highest number" {
	switch_up 1
	veth p2 h2 far
	tcvs add-if "$DP" "$(dev p2),port_no=65534"
	flow_add "$FLOW" 65534
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	flow_add "in_port(65534),eth(),eth_type(0x0800),ipv4()" 1
	exchange h2 "$FRAME" 1 ">h1" "$FRAME" 1
	for number in 0 65535 65536 -1 1x 4294967297; do
		assert_refused "port_no=$number" add-if "$DP" "$(dev p9),port_no=$number"
	done
}

# reborn OPTIONS: port 2's device is deleted and another made with its name; that one is not the port
reborn() {
	switch_up 2 "$1"
	flow_add "$FLOW" 2
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 1
	in_ns sw ip link del "$(dev p2)"
	veth p2 h2 far
	assert_port 2 "$(dev p2)" gone
	assert_equal "$(promisc p2)" false
	exchange h1 "$FRAME" 3 h2 "$FRAME" 2
	assert_drops 2 no_port 3
	assert_flow "in_port(2),eth(),eth_type(0x0800),ipv4()" 0 0
	# It can be a port of its own, under another number.
	tcvs add-if "$DP" "$(dev p2)"
	assert_port 2 "$(dev p2)" gone
	run -0 tcvs show "$DP"
	assert_line --regexp "^  port 3: $(dev p2) \((tcx|clsact)\)$"
	exchange h1 "$FRAME" 1
	tcvs del-if "$DP" 2
	assert_no_port 2
	run -0 tcvs show "$DP"
	assert_line --regexp "^  port 3: $(dev p2) "
	tcvs del-if "$DP" "$(dev p2)"
	tcvs add-if "$DP" "$(dev p2),port_no=2"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
	exchange h2 "$FRAME" 2 ">h1" "$FRAME" 2
}

@test "a device that is deleted and made again is not the port" {
	reborn ""
}

@test "a device that is deleted and made again is not the port, with clsact" {
	reborn ,attach=clsact
}

@test "a device with the name and the ifindex of a deleted one is not the port either" {
	local index

	switch_up 2
	flow_add "$FLOW" 2
	index=$(ifindex p2)
	in_ns sw ip link del "$(dev p2)"
	ip link add "$(dev p2)" index "$index" netns "$SW" type veth peer name "$(dev h2)" netns "$(ns far)"
	in_ns far ip link set "$(dev h2)" up
	in_ns sw ip link set "$(dev p2)" up
	wait_for can_send far h2
	run -0 tcvs show "$DP"
	refute_line --regexp "^  port 2: .*\((tcx|clsact)\)$"
	tcvs del-if "$DP" 2
	tcvs add-if "$DP" "$(dev p2),port_no=2"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
}

# assert_detached: port 1 is shown so, the other one is not; it forwards again after del-if and add-if
assert_detached() {
	run -0 tcvs show "$DP"
	assert_line "  port 1: $(dev p1) (detached)"
	assert_line --regexp "^  port 2: $(dev p2) \((tcx|clsact)\)$"
	assert_equal "$(tcvs -j show "$DP" | jq -r '.datapaths[0].ports[1].attached')" detached
	exchange h1 "$FRAME" 2
	assert_flow "$FLOW" 1 "$(size "$FRAME")"
	tcvs del-if "$DP" "$(dev p1)"
	tcvs add-if "$DP" "$(dev p1),port_no=1"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
}

# attached OPTIONS
attached() {
	switch_up 2 "$1"
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
}

@test "our filter is removed by hand: show says detached" {
	attached ,attach=clsact
	in_ns sw tc filter del dev "$(dev p1)" ingress
	assert_detached
}

@test "the clsact qdisc is removed by hand: show says detached" {
	attached ,attach=clsact
	in_ns sw tc qdisc del dev "$(dev p1)" clsact
	assert_detached
}

@test "the pin of a TCX link is removed by hand: show says detached" {
	have_tcx || skip "needs the TCX hook (Linux 6.6)"
	attached ""
	rm "$PINS/link_1"
	sleep 0.1
	assert_detached
}

@test "a TCX link is detached by hand: show says detached" {
	have_tcx || skip "needs the TCX hook (Linux 6.6)"
	attached ""
	"$BPFTOOL" link detach pinned "$PINS/link_1"
	assert_detached
}

@test "a program of somebody else in our filter's place is not taken for ours" {
	switch_up 1 ,attach=clsact
	/usr/bin/python3 "$TOOLS/redirect.py" 1 "$PINS/foreign"
	in_ns sw tc filter replace dev "$(dev p1)" ingress pref 17 protocol all handle 0x74637673 bpf da \
		object-pinned "$PINS/foreign"
	rm "$PINS/foreign"
	run -0 tcvs show "$DP"
	assert_line --regexp "^  port 1: $(dev p1) \(detached"
	tcvs del-if "$DP" "$(dev p1)"
	run ingress_filters p1
	assert_output --partial "name redirect"
}
