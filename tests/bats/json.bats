#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# -j: JSON from every command, also when it fails; keys that do not change, values with types, and the same as the text.

load lib/common

IP="in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0)"
TCP="in_port(2),eth(src=02:00:00:00:00:01),eth_type(0x86dd),ipv6(dst=fc00::/fe00::,proto=6,frag=no),tcp(dst=80)"
TAGGED="in_port(1),eth(),eth_type(0x8100),vlan(vid=5),encap(eth_type(0x0806),arp(op=1))"
FRAME=$(udp_frame 9 10)

# json ARGS...: what the command says under -j, which must be one JSON object, and nothing on stderr
# shellcheck disable=SC2154 # output and stderr are set by run
json() {
	run -0 --separate-stderr tcvs -j "$@"
	assert_equal "$stderr" ""
	assert_equal "$(jq -sc "map(type)" <<<"$output")" "[\"object\"]"
}

# quiet ARGS...: a command that has nothing to say says nothing, or an empty object.
quiet() {
	run -0 --separate-stderr tcvs -j "$@"
	assert_equal "$stderr" ""
	assert_equal "$(jq -c . <<<"$output" | grep -vxF '{}' || true)" ""
}

# assert_jq FILTER: true of the last output
assert_jq() {
	jq -es "length == 1 and (.[0] | ($1))" <<<"$output" >/dev/null || fail "not true: $1 of $output"
}

# json_error PATTERN ARGS...: exit status 1, an object with the error on stdout, nothing on stderr
json_error() {
	run -1 --separate-stderr tcvs -j "${@:2}"
	assert_equal "$stderr" ""
	assert_jq 'type == "object" and (.error | type == "string")'
	grep -qiE -- "$1" <<<"$(jq -r .error <<<"$output")" || fail "expected $1 in: $output"
}

@test "commands that change things say nothing in JSON" {
	ns_add sw
	ns_add far
	veth p1 h1 far
	veth p2 h2 far
	on_exit dp_remove
	quiet add-dp "$DP" "$(dev p1)"
	quiet add-if "$DP" "$(dev p2)"
	quiet set-if "$DP" "$(dev p2),port_no=2"
	quiet add-flow "$DP" "$IP" 2
	quiet mod-flow "$DP" "$IP" 1
	quiet mod-flow --clear "$DP" "$IP" 1
	quiet mod-flow --may-create "$DP" "$TCP" 1
	quiet del-flow "$DP" "$IP"
	quiet del-flows "$DP"
	quiet del-if "$DP" "$(dev p2)"
	quiet del-dp "$DP"
}

@test "version, list-commands and help" {
	ns_add sw
	json version
	assert_jq '.version | type == "string"'
	assert_equal "tcvsctl $(jq -r .version <<<"$output")" "$(tcvs version)"
	json list-commands
	assert_jq '.commands | length > 15 and all(.[]; (.name | type == "string") and (.args | type == "string"))'
	assert_equal "$(jq -r '.commands[] | "  \(.name) \(.args)"' <<<"$output")" "$(tcvs list-commands)"
	json help
}

@test "dump-dps" {
	switch_up 1
	json dump-dps
	assert_jq '.datapaths | all(.[]; type == "string")'
	assert_jq ".datapaths | index(\"$DP\") != null"
}

# The lines of show that every datapath has, made from JSON.
show_text() {
	jq -r '.datapaths[] |
		"tcvs@\(.name):",
		"  lookups: hit:\(.hit) missed:\(.missed) lost:\(.lost)",
		"  flows: \(.flows)",
		"  masks: hit:\(.mask_hit) total:\(.masks) hit/pkt:",
		(.ports[] | "  port \(.number): \(.name) (\(if .type == "internal" then "internal, " else "" end)\(.attached))")' <<<"$1"
}

@test "show" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 4 ">h2" "$FRAME" 4 h2 "$FRAME" 2
	json show "$DP"
	assert_jq '[.datapaths[0] | .hit, .missed, .lost, .flows, .mask_hit, .masks, .forwarded, .dropped, .copies,
		.copies_dropped, .max_flows, .max_masks | type] | unique == ["number"]'
	assert_jq '.datapaths[0] | .hit == 4 and .missed == 2 and .lost == 2 and .flows == 1 and .masks == 1'
	assert_jq '.datapaths[0].mask_hit_per_packet | type == "number"'
	assert_jq '.datapaths[0].ports | map(.number) == [0, 1, 2]'
	assert_jq '.datapaths[0].ports | map(.type) == ["internal", "system", "system"]'
	assert_jq '.datapaths[0].ports | all(.[]; (.ifindex | type == "number") and .others_before == 0 and .others_after == 0)'
	assert_equal "$(show_text "$output")" \
		"$(tcvs show "$DP" | grep -E '^(tcvs@|  (lookups|flows|masks|port))' | sed -E 's,(hit/pkt:).*,\1,')"
}

@test "show -s: the ports' counters are those of the devices" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 4 ">h2" "$FRAME" 4
	json show -s "$DP"
	assert_jq '.datapaths[0].ports[1] | .rx_packets == 4 and .rx_errors == 0 and .collisions == 0'
	assert_jq ".datapaths[0].ports[2] | .tx_packets == 4 and .tx_bytes == 4 * $(size "$FRAME")"
	assert_equal "$(jq -r '.datapaths[0].ports[1] | "    RX packets:\(.rx_packets) errors:\(.rx_errors) " +
		"dropped:\(.rx_dropped) overruns:\(.rx_over_errors) frame:\(.rx_frame_errors)"' <<<"$output")" \
		"$(tcvs show -s "$DP" | sed -n '/port 1:/,/RX packets/p' | tail -1)"
}

@test "show of a port that is gone, and of several datapaths" {
	switch_up 2
	on_exit tcvs del-dp "${DP}2"
	tcvs add-dp "${DP}2"
	in_ns sw ip link del "$(dev p2)"
	json show "$DP" "${DP}2"
	assert_jq '.datapaths | length == 2'
	assert_jq '.datapaths[0].ports[2] | .number == 2 and .attached == "gone"'
	tcvs del-dp "${DP}2"
}

@test "drops" {
	switch_up 2
	json drops "$DP"
	assert_jq '.drops == []'
	flow_add "$IP" 2,9
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" drop
	exchange h2 "$FRAME" 2
	json drops "$DP"
	assert_jq '.drops | all(.[]; (.port | type == "number") and (.reason | type == "string") and (.count | type == "number"))'
	assert_jq '.drops | map(select(.port == 9 and .reason == "no_port") | .count) == [3]'
	assert_equal "$(jq -r '.drops[] | "port \(.port): \(.reason):\(.count)"' <<<"$output")" "$(tcvs drops "$DP")"
}

@test "dump-flows: keys, masks and actions have types" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "$TCP" 1,1,1,1,1,1,1
	flow_add "$TAGGED" drop
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	json dump-flows "$DP"
	assert_jq '.flows | length == 3'
	assert_jq '.flows | all(.[]; (.ufid | test("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")) and
		([.packets, .bytes, .page, .slot | type] | unique == ["number"]))'
	assert_jq ".flows[0] | .packets == 3 and .bytes == 3 * $(size "$FRAME") and (.used | type == \"number\" and . < 60)"
	assert_jq '.flows[0].match | .in_port == 1 and .eth_type == 2048 and
		.ipv4.dst == {"value": "10.0.0.0", "mask": "255.0.0.0"}'
	assert_jq '.flows[0].actions == [{"output": 2}]'
	assert_jq '.flows[1] | .packets == 0 and .used == null and .actions == [range(7) | {"output": 1}]'
	assert_jq '.flows[1].match | .eth.src == "02:00:00:00:00:01" and .eth_type == 34525 and .tcp.dst == 80 and
		.ipv6 == {"dst": {"value": "fc00::", "mask": "fe00::"}, "proto": 6, "frag": "no"}'
	assert_jq '.flows[2].actions == []'
	assert_jq '.flows[2].match | .eth_type == 33024 and .vlan.vid == 5 and .encap.eth_type == 2054 and .encap.arp.op == 1'
}

# flow_numbers: packets, bytes and actions of each flow, from text and from JSON
flow_numbers_text() {
	tcvs dump-flows -m "$DP" |
		sed -E 's/^ufid:([^,]*), .*, packets:([0-9]+), bytes:([0-9]+), .*page:([0-9]+), slot:([0-9]+),.*actions:(.*)$/\1 \2 \3 \4 \5 \6/'
}

flow_numbers_json() {
	tcvs -j dump-flows "$DP" | jq -r '.flows[] | "\(.ufid) \(.packets) \(.bytes) \(.page) \(.slot) \(
		if .actions == [] then "drop" else [.actions[].output] | join(",") end)"'
}

@test "dump-flows: text and JSON have the same flows in the same order" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "$TCP" 1,1,1,1,1,1,1
	flow_add "$TAGGED" drop
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_equal "$(flow_numbers_json)" "$(flow_numbers_text)"
}

@test "TCP flags seen are in JSON as in text" {
	local flow="in_port(1),eth(),eth_type(0x0800),ipv4(proto=6,frag=no),tcp()" frame

	switch_up 2
	frame=$(ether 0800 "$(ipv4 06 0a000001 0a000002 "$(tcp 1 80 018)")")
	flow_add "$flow" 2
	exchange h1 "$frame" 1 ">h2" "$frame" 1
	json dump-flows "$DP"
	assert_jq ".flows[0].flags == \"$(flow_line "$flow" | sed -nE 's/.*flags:([^,]*).*/\1/p')\""
}

@test "get-flow gives the object that dump-flows gives" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "$TCP" 1
	json get-flow "$DP" "$IP"
	assert_jq '.ufid | type == "string"'
	assert_equal "$(jq -S . <<<"$output")" "$(tcvs -j dump-flows "$DP" | jq -S '.flows[0]')"
	json get-flow "$DP" "ufid:$(jq -r .ufid <<<"$output")"
	assert_jq '.match.in_port == 1'
}

@test "mod-flow -s and del-flow -s give the counters" {
	switch_up 2
	flow_add "$IP" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	json mod-flow -s "$DP" "$IP" 2
	assert_jq '.packets == 3 and (.used | type == "number")'
	json del-flow -s "$DP" "$IP"
	assert_jq ".packets == 3 and .bytes == 3 * $(size "$FRAME")"
}

@test "dump-masks" {
	switch_up 2
	flow_add "$IP" 2
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=11.1.0.0/255.255.0.0,proto=17,frag=no),udp(dst=9)" 2
	flow_add "$TCP" 1
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	json dump-masks "$DP"
	assert_jq '.classes | map(.class) | index("ipv4/udp") != null and index("ipv6/tcp") != null'
	assert_jq '[.classes[].masks[] | .id, .position, .flows, .hits | type] | unique == ["number"]'
	assert_jq '.classes | all(.[]; [.masks[].position] == [range(.masks | length)])'
	assert_jq '[.classes[] | select(.class == "ipv4/udp").masks[].hits] | add == 3'
	assert_equal "$(jq -r '.classes[] | "\(.class):",
		(.masks[] | "  \(.position): id:\(.id), flows:\(.flows), hits:\(.hits) fields:\(.fields)")' <<<"$output")" \
		"$(tcvs dump-masks "$DP" | sed -E 's/(hits:[0-9]+).*(fields:)/\1 \2/')"
}

@test "bulk commands: what was done" {
	switch_up 2
	printf '%s\n' "$IP 2" "$TCP 1" "modify $IP 1" "delete $TCP" >"$BATS_TEST_TMPDIR/flows"
	json add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	assert_jq '.failed == [] and .added == 2 and .modified == 1 and .deleted == 1 and (has("error") | not)'
	echo "$IP" >"$BATS_TEST_TMPDIR/flows"
	json del-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	assert_jq '.failed == [] and .deleted == 1'
}

@test "bulk commands: each line that failed, and the error" {
	switch_up 2
	printf '%s\n' "$IP 2" "nonsense 1" "" "# comment" "$IP 2" "$TCP 1" >"$BATS_TEST_TMPDIR/flows"
	json_error '2 lines failed, 2 were applied' add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	assert_jq '.added == 2 and (.failed | map(.line) == [2, 5]) and (.failed | all(.[]; .error | type == "string"))'
	assert_jq '.failed[0].error | test("nonsense")'
	assert_jq '.failed[1].error | test("File exists")'
	json_error 'no/such' add-flows "$DP" "$BATS_TEST_TMPDIR/no/such"
}

@test "errors of every command, with nothing else in the object" {
	local words

	switch_up 1
	for words in "add-dp $DP" "del-dp ${DP}x" "show ${DP}x" "drops ${DP}x" "dump-flows ${DP}x" "dump-masks ${DP}x" \
		"add-if $DP nosuch" "add-if ${DP}x lo" "del-if $DP nosuch" "set-if $DP nosuch" "get-flow $DP $IP" \
		"del-flow $DP $IP" "mod-flow $DP $IP 1" "add-flow $DP $IP nosuch" "add-flow $DP nosuch 1" \
		"add-flows ${DP}x /dev/null" "mod-flows ${DP}x /dev/null" "del-flows ${DP}x" "frobnicate" "add-flow" \
		"dump-dps a" "--netns ${TAG}x show" "add-dp a/b" "get-flow $DP ufid:1"; do
		# shellcheck disable=SC2086
		json_error '.' $words
		assert_jq 'keys == ["error"]'
	done
	json_error 'missing command'
	json_error '--nonsense' --nonsense
}

@test "the error's text is the one that goes to stderr without -j" {
	local words

	switch_up 1
	for words in "add-dp $DP" "show ${DP}x" "add-flow $DP $IP nosuch" "add-if $DP nosuch" "frobnicate"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr tcvs $words
		# shellcheck disable=SC2086
		assert_equal "tcvsctl: $(tcvs -j $words | jq -r .error)" "$stderr"
	done
}

@test "quotes, backslashes and bytes that are no UTF-8 in a refused text are still JSON" {
	local text

	switch_up 1
	for text in 'a"b' 'a\b' $'a\tb' $'a\xffb' $'\xc3\xa9'; do
		json_error '' add-flow "$DP" "$IP" "$text"
		json_error '' add-flow "$DP" "$text" 1
		json_error '' show "$text"
		json_error '' add-if "$DP" "$text"
		json_error '' "$text"
	done
}

@test "an option may stand before or after the command" {
	switch_up 1
	json show "$DP"
	run -0 tcvs show "$DP" -j
	assert_jq '.datapaths[0].flows == 0'
	run -0 tcvs show --json "$DP"
	assert_jq '.datapaths[0].flows == 0'
}

@test "a failed write of the output is an error" {
	[[ -c /dev/full ]] || skip "no /dev/full"
	switch_up 1
	run -1 sh -c "nsenter --net=/run/netns/$SW '$TCVSCTL' -j show $DP >/dev/full"
	assert_output --partial "tcvsctl:"
	run -1 sh -c "nsenter --net=/run/netns/$SW '$TCVSCTL' show $DP >/dev/full"
	assert_output --partial "tcvsctl:"
}
