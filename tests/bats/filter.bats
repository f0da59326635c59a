#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# dump-flows filter= and type=: the table of tests/data/flow_filters.txt in a real datapath, and what is refused.

load lib/common

DATA=$BATS_TEST_DIRNAME/../data/flow_filters.txt

# load_table base|vlan-base: its flows, each with an output of its own, so that a line says whose it is
load_table() {
	local name flow kinds=B

	[[ $1 == base ]] || kinds=BV
	tcvs del-flows "$DP"
	NAMES=()
	while IFS=$'\t' read -r name flow; do
		[[ $name =~ ^[$kinds][0-9]+$ ]] || continue
		NAMES+=("$name")
		tcvs add-flow --overlap "$DP" "$flow" "${#NAMES[@]}"
	done <"$DATA"
}

# shown ARGS...: the names of the flows that dump-flows shows, sorted, with commas; "none"
shown() {
	local output shown=

	while read -r output; do
		shown+="${NAMES[output - 1]}"$'\n'
	done < <(tcvs dump-flows "$DP" "$@" | sed 's/.*actions://')
	shown=$(sort <<<"${shown%$'\n'}" | paste -sd,)
	echo "${shown:-none}"
}

@test "the filters of the table show what a real kernel's datapath shows" {
	local kind filter table kernel rows=0 good=0 loaded=

	switch_up 1
	while IFS=$'\t' read -r kind filter table kernel _; do
		[[ $kind == F ]] || continue
		[[ $table == "$loaded" ]] || load_table "$table"
		loaded=$table
		rows=$((rows + 1))
		if [[ $(shown "filter=$filter") == "$kernel" ]]; then
			good=$((good + 1))
		else
			echo "$filter: $(shown "filter=$filter") instead of $kernel"
		fi
	done <"$DATA"
	echo "# filters: $good of $rows" >&3
	assert_equal "$good of $rows" "10 of 10"
}

@test "filter= goes with type=, with JSON, with port names, and with the datapath left out" {
	switch_up 2
	NAMES=(arp ip)
	flow_add "in_port(1),eth(),eth_type(0x0806),arp()" 1
	flow_add "in_port(2),eth(),eth_type(0x0800),ipv4()" 2
	assert_equal "$(shown)" "arp,ip"
	assert_equal "$(shown filter=)" "arp,ip"
	assert_equal "$(shown filter=arp type=ovs)" "arp"
	assert_equal "$(shown type=non-offloaded,tc filter=ip)" "ip"
	assert_equal "$(shown type=offloaded)" "none"
	assert_equal "$(shown "filter=in_port=$(dev p2)")" "ip"
	assert_equal "$(tcvs dump-flows filter=arp "$DP")" "$(tcvs dump-flows "$DP" filter=arp)"
	run -0 tcvs -j dump-flows "$DP" filter=ip
	assert_equal "$(jq -c '[.flows[].match.in_port]' <<<"$output")" "[2]"
	run -0 tcvs -j dump-flows "$DP" type=tc
	assert_equal "$(jq -c . <<<"$output")" '{"flows":[]}'
}

@test "words that are not known are refused by name" {
	switch_up 1
	assert_refused "unknown word 'tun_id'" dump-flows "$DP" filter=tun_id=5
	assert_refused "nw_src: needs ip" dump-flows "$DP" filter=nw_src=1.2.3.4
	assert_refused "type: 'hardware'" dump-flows "$DP" type=hardware
	assert_refused "unknown argument 'pmd=1'" dump-flows "$DP" pmd=1
	assert_refused "filter is given twice" dump-flows "$DP" filter=ip filter=arp
	assert_refused "more than one datapath" dump-flows "$DP" other filter=ip
}
