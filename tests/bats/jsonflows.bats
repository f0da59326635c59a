#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files of flows as JSON: what dump-flows -j prints, add-flows, mod-flows and del-flows take.

load lib/common

FILE=$BATS_TEST_TMPDIR/flows
ARP="in_port(1),eth(),eth_type(0x0806)"

# dump_json: without what counts and what changes
dump_json() {
	tcvs -j dump-flows "$DP" | jq -S '.flows | map(del(.page, .slot)) | sort_by(.ufid)'
}

@test "random flows of all kinds, dumped, deleted, loaded and dumped again are the same" {
	local before

	switch_up 1
	"$TOOLS/random_flows.py" 1000 >"$FILE"
	tcvs add-flows --overlap "$DP" "$FILE"
	assert_equal "$(show_value flows)" 1000
	before=$(dump_json)
	assert_equal "$(jq length <<<"$before")" 1000
	dump | sort >"$FILE.text"
	tcvs -j dump-flows "$DP" >"$FILE.json"
	tcvs del-flows "$DP"
	tcvs -j add-flows --overlap "$DP" "$FILE.json" | jq -e '.added == 1000'
	diff <(dump_json) - <<<"$before"
	diff <(dump | sort) "$FILE.text"
}

@test "an array will do, by a pipe, and without -j" {
	switch_up 1
	tcvs add-flows "$DP" - <<<'  [{"match": {"in_port": 1, "eth": {}, "eth_type": 2054}, "actions": [{"output": 1}]}]'
	assert_equal "$(dump | sed 's/, packets.*actions/ actions/')" "$ARP actions:1"
	tcvs add-flows "$DP" - <<<'[]'
	assert_equal "$(show_value flows)" 1
}

@test "mod-flows takes new actions, del-flows what a filtered dump shows" {
	switch_up 2
	flow_add "$ARP" 2
	flow_add "in_port(2),eth(),eth_type(0x0806)" 1
	tcvs -j dump-flows "$DP" filter=in_port=1 | jq '.flows[].actions = "1,2"' | tcvs mod-flows "$DP" -
	assert_equal "$(flow_line "$ARP" | sed 's/.*actions://')" 1,2
	tcvs -j dump-flows "$DP" filter=in_port=1 | tcvs -j del-flows "$DP" - | jq -e '.deleted == 1'
	assert_equal "$(dump | sed 's/, packets.*//')" "in_port(2),eth(),eth_type(0x0806)"
}

@test "a flow keeps its UFID and whether it was reactive" {
	local ufid=01234567-89ab-cdef-0123-456789abcdef

	switch_up 1
	tcvs add-flow --reactive "$DP" "ufid:$ufid,$ARP" 1
	tcvs -j dump-flows "$DP" >"$FILE"
	tcvs del-flows "$DP"
	tcvs add-flows "$DP" "$FILE"
	tcvs -m dump-flows "$DP" | grep "^ufid:$ufid,.* origin:reactive,"
}

@test "what is wrong with one flow is said by its place, and the others are applied" {
	switch_up 1
	jq -n '[{match: {eth_type: 2054, eth: {}}, actions: []}, {match: {eth_type: 2048}, actions: [], priority: 5},
		{match: {eth_type: 34525}}, {match: {ipv4: {}}, actions: []}]' >"$FILE"
	run -1 --separate-stderr tcvs add-flows "$DP" "$FILE"
	assert_equal "$output" ""
	assert_regex "${stderr_lines[0]}" "flow 2: unknown member 'priority'"
	assert_regex "${stderr_lines[1]}" "flow 3: actions are missing"
	assert_regex "${stderr_lines[2]}" "flow 4: .*ipv4: needs eth_type"
	assert_regex "${stderr_lines[3]}" "3 flows failed, 1 were applied"
	run -1 --separate-stderr tcvs -j add-flows "$DP" "$FILE"
	assert_equal "$(jq -c '[.failed[].flow]' <<<"$output")" "[1,2,3,4]"
}

@test "a file that is no JSON is refused with the place, and nothing is changed" {
	switch_up 1
	flow_add "$ARP" 1
	printf '{"flows": [\n{"match": {"eth": {}}, "actions": [}\n' >"$FILE"
	assert_refused "line 2, column [0-9]+: not JSON" add-flows "$DP" "$FILE"
	printf '{"flows": [], "more": 1}' >"$FILE"
	assert_refused "not an array of flows" add-flows "$DP" "$FILE"
}
