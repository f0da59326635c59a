#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Flows that overlap with different actions: refused in either order, the other flow named, and taken with --overlap.
# tests/unit/test_overlap.c compares the decision with its definition; here it is the commands' turn.

load lib/common

IN="in_port(1),eth(),eth_type(0x0800)"
WIDE="$IN,ipv4(dst=10.0.0.0/255.255.255.0)"
NARROW="$IN,ipv4(dst=10.0.0.2)"
FILE=$BATS_TEST_TMPDIR/flows

# No frames here: a datapath without ports is enough.
switch_alone() {
	ns_add sw
	dp_add
}

# refusal FLOW ACTIONS: as it is to be read
refusal() {
	echo "tcvsctl: updating flow table (File exists): overlaps flow $1, actions:$2; delete that one, or take both with --overlap"
}

# assert_overlap FLOW ACTIONS ARGS...: the command is refused with this one line, and nothing is changed
# shellcheck disable=SC2154 # stderr is set by run
assert_overlap() {
	local text

	text=$(refusal "$1" "$2")
	assert_refused "overlaps flow" "${@:3}"
	assert_equal "$stderr" "$text"
}

# flows_are LINE...: keys and actions, in any order
flows_are() {
	assert_equal "$(dump | sed 's/, packets:.*, actions:/ /' | sort)" "$(printf '%s\n' "$@" | sort)"
}

@test "a flow in another one, with other actions, is refused, and the other one is named" {
	switch_alone
	flow_add "$WIDE" 2
	assert_overlap "$WIDE" 2 add-flow "$DP" "$NARROW" 3
	flows_are "$WIDE 2"
}

@test "a flow around another one, with other actions, is refused, and the other one is named" {
	switch_alone
	flow_add "$NARROW" 3
	assert_overlap "$NARROW" 3 add-flow "$DP" "$WIDE" 2
	flows_are "$NARROW 3"
}

@test "flows that cross each other are refused in either order" {
	local a="$IN,ipv4(src=10.0.0.1)" b="$IN,ipv4(dst=10.0.0.2)"

	switch_alone
	flow_add "$a" 2
	assert_overlap "$a" 2 add-flow "$DP" "$b" drop
	tcvs del-flow "$DP" "$a"
	flow_add "$b" drop
	assert_overlap "$b" drop add-flow "$DP" "$a" 2
}

@test "with --overlap both are taken" {
	switch_alone
	flow_add "$WIDE" 2
	tcvs add-flow --overlap "$DP" "$NARROW" 3
	flows_are "$WIDE 2" "$NARROW 3"
}

@test "equal actions are no conflict" {
	switch_alone
	flow_add "$WIDE" 2,3
	flow_add "$NARROW" "2, 3"
	flow_add "in_port(1),eth()" 2,3
	assert_refused "overlaps flow" add-flow "$DP" "$IN,ipv4(src=10.0.0.1)" 3,2
	assert_equal "$(show_value flows)" 3
}

@test "masks that only partly cover each other's bits: no packet fits both, both are taken in either order" {
	local a="$IN,ipv4(src=10.0.0.1/192.0.0.0,dst=10.0.0.2/192.0.0.0)"
	local b="$IN,ipv4(src=200.0.0.1/128.0.0.0,dst=200.0.0.2/128.0.0.0)"

	switch_alone
	flow_add "$a" 2
	flow_add "$b" 3
	tcvs del-flow "$DP" "$a"
	flow_add "$a" 2
	assert_equal "$(show_value flows)" 2
	assert_refused "a flow with this key and mask is there already" add-flow "$DP" "$b" 4
}

@test "tagged and untagged flows never overlap, and a tag's bits count" {
	local vlan="in_port(1),eth(),eth_type(0x8100)"

	switch_alone
	flow_add "in_port(1),eth()" 2
	flow_add "$vlan,vlan(vid=10),encap(eth_type(0x0800),ipv4())" 3
	flow_add "$vlan,vlan(vid=1/0x1),encap(eth_type(0x0800),ipv4())" 4
	assert_refused "overlaps flow.*vid=10.*actions:3;" \
		add-flow "$DP" "$vlan,vlan(vid=2/0x2),encap(eth_type(0x0800),ipv4())" 4
}

@test "the same key and mask is File exists as before, whatever it overlaps" {
	switch_alone
	flow_add "$WIDE" 2
	tcvs add-flow --overlap "$DP" "$NARROW" 3
	assert_refused "File exists.*a flow with this key and mask is there already" add-flow "$DP" "$NARROW" 4
	assert_refused "File exists.*a flow with this key and mask is there already" add-flow --overlap "$DP" "$NARROW" 4
}

@test "mod-flow into a conflict is refused, out of one and into none it is not" {
	switch_alone
	flow_add "$WIDE" 2
	flow_add "$NARROW" 2
	assert_overlap "$WIDE" 2 mod-flow "$DP" "$NARROW" 3
	assert_overlap "$WIDE" 2 mod-flow -s --clear "$DP" "$NARROW" 3
	tcvs mod-flow --overlap "$DP" "$NARROW" 3
	# What a flow has already is no new conflict.
	tcvs mod-flow --clear "$DP" "$NARROW" 3
	assert_overlap "$WIDE" 2 mod-flow "$DP" "$NARROW" 4
	tcvs mod-flow "$DP" "$NARROW" 2
	flows_are "$WIDE 2" "$NARROW 2"
}

@test "mod-flow --may-create adds as add-flow does" {
	switch_alone
	flow_add "$WIDE" 2
	assert_overlap "$WIDE" 2 mod-flow --may-create "$DP" "$NARROW" 3
	tcvs mod-flow --may-create --overlap "$DP" "$NARROW" 3
	flows_are "$WIDE 2" "$NARROW 3"
}

@test "a flow too long for a refusal is named by its UFID, which del-flow takes" {
	local ufid=00000000-0000-0000-0000-0000000000aa

	switch_alone
	flow_add "ufid:$ufid,$WIDE" "$(printf '101,%.0s' {1..120})"
	assert_refused "overlaps flow ufid:$ufid; delete that one" add-flow "$DP" "$NARROW" 3
	tcvs del-flow "$DP" "ufid:$ufid"
	flow_add "$NARROW" 3
}

@test "in JSON the refusal is the error" {
	switch_alone
	flow_add "$WIDE" 2
	run --separate-stderr tcvs -j add-flow "$DP" "$NARROW" 3
	assert_failure 1
	jq -e '.error | contains("overlaps flow")' <<<"$output$stderr"
}

# shellcheck disable=SC2154 # stderr_lines is set by run
@test "add-flows says the line of each conflict and applies the others" {
	switch_alone
	cat >"$FILE" <<-END
		$WIDE 2
		$NARROW 3
		in_port(2),eth() 2
		in_port(2),eth(src=00:00:00:00:00:01) drop
		delete in_port(2),eth()
		in_port(2),eth(src=00:00:00:00:00:01) drop
		$NARROW 2
		modify $NARROW 4
		in_port(3),eth() 1
	END
	run -1 --separate-stderr tcvs add-flows "$DP" "$FILE"
	assert_equal "${#stderr_lines[@]}" 4
	assert_equal "${stderr_lines[0]}" "$(refusal "$WIDE" 2 | sed 's/tcvsctl: /&line 2: /')"
	assert_equal "${stderr_lines[1]}" "$(refusal "in_port(2),eth()" 2 | sed 's/tcvsctl: /&line 4: /')"
	assert_equal "${stderr_lines[2]}" "$(refusal "$WIDE" 2 | sed 's/tcvsctl: /&line 8: /')"
	flows_are "$WIDE 2" "$NARROW 2" "in_port(2),eth(src=00:00:00:00:00:01) drop" "in_port(3),eth() 1"
}

@test "add-flows and mod-flows take conflicts with --overlap" {
	switch_alone
	printf '%s\n' "$WIDE 2" "$NARROW 3" >"$FILE"
	tcvs add-flows --overlap "$DP" "$FILE"
	flows_are "$WIDE 2" "$NARROW 3"
	printf '%s\n' "$WIDE 4" "$NARROW 5" >"$FILE"
	run -1 tcvs mod-flows "$DP" "$FILE"
	tcvs mod-flows --overlap "$DP" "$FILE"
	flows_are "$WIDE 4" "$NARROW 5"
}

# Port N: 20 networks and 20 hosts, half of them in a network, and every fourth of those with other actions.
many_flows() {
	awk 'BEGIN {
		for (port = 1; port <= 50; port++) {
			for (i = 0; i < 20; i++)
				printf "in_port(%d),eth(),eth_type(0x0800),ipv4(dst=10.%d.%d.0/24) 2\n", port, i % 3, i
			for (i = 0; i < 20; i++)
				printf "in_port(%d),eth(),eth_type(0x0800),ipv4(dst=10.%d.%d.7) %d\n",
					port, i % 3 + (i % 2 ? 4 : 0), i, i % 8 ? 2 : 3
		}
	}'
}

@test "a file of thousands of flows: each conflict is found, also with flows that were there" {
	local expected

	switch_alone
	many_flows >"$FILE"
	expected=$(awk '/\.7\) 3/ { print NR }' "$FILE")
	run -1 --separate-stderr tcvs add-flows "$DP" "$FILE"
	assert_equal "$(sed -nE 's/.*line ([0-9]+): .*overlaps flow .*/\1/p' <<<"$stderr")" "$expected"
	assert_equal "$(show_value flows)" $((2000 - $(wc -l <<<"$expected")))
	# Hosts without a network stand; the networks around them are refused now.
	sed -nE 's/(dst=10\.)4(\.[0-9]+\.)7\) .*/\14\20\/24) 4/p' "$FILE" >"$FILE.around"
	run -1 --separate-stderr tcvs add-flows "$DP" "$FILE.around"
	assert_equal "$(grep -c 'overlaps flow' <<<"$stderr")" "$(wc -l <"$FILE.around")"
	assert_equal "$(show_value flows)" $((2000 - $(wc -l <<<"$expected")))
}
