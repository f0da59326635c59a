#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Writers at the same time lose nothing.

load lib/common

FLOWS=200

# add_flows OCTET: FLOWS flows, three masks
add_flows() {
	local i mask

	for ((i = 0; i < FLOWS; i++)); do
		case $((i % 3)) in
		0) mask=255.255.255.255 ;;
		1) mask=255.255.255.0 ;;
		2) mask=255.255.0.0 ;;
		esac
		flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(src=$1.0.0.1,dst=$i.$i.0.0/$mask)" 2 || return 1
	done
}

del_flows() {
	local key

	dump | grep "ipv4(src=$1\.0\.0\.1," | sed 's/, packets:.*//' | while read -r key; do
		tcvs del-flow "$DP" "$key" || return 1
	done
}

both() {
	local first second

	"$1" "$2" 3>&- &
	first=$!
	"$3" "$4" 3>&- &
	second=$!
	wait "$first" || fail "$1 $2"
	wait "$second" || fail "$3 $4"
}

@test "two add-flow loops of $FLOWS flows each" {
	local frame

	switch_up 2
	both add_flows 10 add_flows 11
	assert_equal "$(dump | wc -l)" $((2 * FLOWS))
	assert_equal "$(dump | sort -u | wc -l)" $((2 * FLOWS))
	assert_equal "$(show_value flows)" $((2 * FLOWS))
	assert_equal "$(tcvs show "$DP" | grep -oE 'total:[0-9]+')" total:3
	frame=$(ether 0800 "$(ipv4 11 0b000001 c7c70000 "$(udp 1 2 00)")")
	exchange h1 "$frame" 2 ">h2" "$frame" 2

	both del_flows 10 add_flows 12
	assert_equal "$(dump | wc -l)" $((2 * FLOWS))
	assert_equal "$(dump | grep -c 'src=10\.')" 0

	both del_flows 11 del_flows 12
	assert_equal "$(dump)" ""
	assert_equal "$(show_value flows)" 0
}

@test "of two commands that add the same flow one is refused" {
	local i flow failed=0

	switch_up 2
	for ((i = 0; i < 20; i++)); do
		flow="in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.$i)"
		tcvs add-flow "$DP" "$flow" 2 2>/dev/null 3>&- &
		tcvs add-flow "$DP" "$flow" 2 2>/dev/null || failed=$((failed + 1))
		wait $! || failed=$((failed + 1))
	done
	assert_equal "$failed" 20
	assert_equal "$(dump | wc -l)" 20
}

@test "two add-dp of the same name: one wins, one is refused" {
	local failed=0

	ns_add sw
	on_exit dp_remove
	tcvs add-dp "$DP" 2>/dev/null 3>&- &
	tcvs add-dp "$DP" 2>/dev/null || failed=$((failed + 1))
	wait $! || failed=$((failed + 1))
	assert_equal "$failed" 1
	tcvs show "$DP"
	tcvs del-dp "$DP"
}
