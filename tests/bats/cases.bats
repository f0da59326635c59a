#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The cases of tests/data/cases, one test each; a case that waits for a feature is skipped and says for which.

load lib/common

# play NAME [OPTION]: on a fresh datapath
play() {
	local file=$TOP/tests/data/cases/$1.json ports=() i

	dp_remove 2>/dev/null || true
	for ((i = 1; i <= 3; i++)); do
		in_ns sw ip link del "$(dev "p$i")" 2>/dev/null || true
		veth "p$i" "h$i" far
		ports+=(--port "$(dev "p$i"):$(dev "h$i")")
	done
	in_ns far /usr/bin/python3 "$TOOLS/run_case.py" --switch "/run/netns/$SW" --ctl "$TCVSCTL" --dp "$DP" \
		"${ports[@]}" "${@:2}" "$file"
}

case_test() {
	local file=$TOP/tests/data/cases/$1.json reason

	reason=$(jq -r '.waits_for // empty' "$file")
	[[ -z $reason ]] || skip "$reason"
	ns_add sw
	ns_add far
	on_exit dp_remove
	play "$1"
	if [[ $(jq 'has("capture_ingress")' "$file") == true ]]; then
		play "$1" --capture-ingress
	fi
	if [[ $(jq 'has("also_swapped")' "$file") == true ]]; then
		play "$1" --swap
	fi
}

@test "C01: Tagged frames stay out of an untagged flow; a match on vid takes every priority" {
	case_test C01_vlan-metadata
}

@test "C02: A double-tagged frame matches by both tags, in their order" {
	case_test C02_qinq
}

@test "C03: A later fragment has no ports, and DF makes no fragment" {
	case_test C03_fragments
}

@test "C04: TCP cut off after the IPv4 header has ports 0 and is still forwarded" {
	case_test C04_malformed
}

@test "C05: IPv4 options shift the UDP header" {
	case_test C05_l4-offset
}

@test "C06: pedit leaves bits outside its mask alone, and add carries nothing into the next byte" {
	case_test C06_pedit-mask
}

@test "C07: A pedit window that reaches past the end writes nothing and ends the list" {
	case_test C07_pedit-bounds
}

@test "C08: With a rewrite between two outputs, the first gets the frame as it came" {
	case_test C08_multi-output
}

@test "C08a: Two outputs: each gets the frame as it came" {
	case_test C08a_two-outputs
}

@test "C09: The winner of two overlapping flows does not change with the mask order" {
	case_test C09_overlap-reorder
}

@test "C10: What dump-flows prints makes the same flows again; bad text is refused whole" {
	case_test C10_cli-roundtrip
}

@test "C11: Counts stay exact while masks are reordered, and the busiest mask comes first" {
	case_test C11_reorder-stats
}

@test "C12: Ports are renamed, go away, and live beside foreign filters" {
	case_test C12_lifecycle
}

@test "C13: An IPv4 address is rewritten and every checksum follows" {
	case_test C13_checksum
}
