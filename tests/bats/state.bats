#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The state lives in pinned maps: readable by bpftool, usable by every command without a daemon, gone with the datapath.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"
FRAME=$(udp_frame 9 10)
MAPS="datapath ports if_port port_info mask_info mask_hits flows flow_slots action_slots cpu_state drops"
# Maps of maps: libbpf gives them no types of their own, their inner maps have them.
OUTER_MAPS="masks flow_pages action_pages stats_pages"

map_dump() {
	"$BPFTOOL" -j map dump pinned "$PINS/$1"
}

# no_process: nothing of ours runs between commands
no_process() {
	local pid

	for pid in /proc/[0-9]*; do
		if [[ $(readlink "$pid/exe") == "$TCVSCTL" && $(readlink "$pid/ns/net") == "$(netns_of_switch)" ]]; then
			return 1
		fi
	done
}

netns_of_switch() {
	in_ns sw readlink /proc/self/ns/net
}

@test "commands need no daemon and forwarding needs no process" {
	switch_up 2
	flow_add "$FLOW" 2
	no_process
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_flow "$FLOW" 3 $((3 * $(size "$FRAME")))
	no_process
}

# inner_maps NAME: their ids; bpftool has no types for these values and prints four bytes
inner_maps() {
	local bytes

	map_dump "$1" | jq -r '.[].value | reverse | map(ltrimstr("0x")) | join("")' | while read -r bytes; do
		echo $((16#$bytes))
	done
}

inner_map() {
	inner_maps "$1" | head -1
}

@test "every table is pinned and its key and value have types" {
	local map

	switch_up 2
	flow_add "$FLOW" 2,2,2,2,2,2,2,2
	for map in $MAPS; do
		"$BPFTOOL" -j map show pinned "$PINS/$map" | jq -e 'has("btf_id")' || fail "$map has no BTF"
	done
	for map in $OUTER_MAPS; do
		"$BPFTOOL" -j map show id "$(inner_map "$map")" | jq -e 'has("btf_id")' || fail "$map: no BTF inside"
	done
}

@test "bpftool shows the fields by name" {
	local name

	switch_up 2
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	run map_dump datapath
	for name in abi name max_flows max_masks; do
		assert_output --partial "\"$name\":"
	done
	run map_dump port_info
	for name in ifindex attach set_promisc; do
		assert_output --partial "\"$name\":"
	done
	run map_dump cpu_state
	for name in count hit missed forwarded; do
		assert_output --partial "\"$name\":"
	done
	run "$BPFTOOL" -j map lookup id "$(inner_map flow_pages)" key 0 0 0 0
	for name in mask_id in_port eth_type_be ip_proto ufid; do
		assert_output --partial "\"$name\":"
	done
}

# counter NAME: summed over CPUs
counter() {
	map_dump cpu_state | jq --arg name "$1" '[.[].formatted.values[].value.count[$name]] | add'
}

@test "the counters add up: received = hits + misses + drops before, hits = forwarded + dropped, misses = lost" {
	switch_up 4
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=1)" 2,3,9,4
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=2)" drop
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=3)" 2,9
	exchange h1 "$(udp_frame 1)" 10 h1 "$(udp_frame 2)" 20 h1 "$(udp_frame 3)" 30 h1 "$(udp_frame 4)" 40 \
		">h2" "$(udp_frame 1)" 10 ">h3" "$(udp_frame 1)" 10 ">h4" "$(udp_frame 1)" 10 ">h2" "$(udp_frame 3)" 30
	assert_equal "hit $(counter hit) missed $(counter missed) lost $(counter lost)" "hit 60 missed 40 lost 40"
	assert_equal "forwarded $(counter forwarded) dropped $(counter dropped)" "forwarded 10 dropped 50"
	assert_equal "copies $(counter copies) dropped $(counter copies_dropped)" "copies 50 dropped 10"
	assert_equal "$(show_value hit) $(show_value missed) $(show_value lost)" "60 40 40"
	assert_drops 9 no_port 40
	assert_drops 1 no_action 20
}

@test "dump-dps names the datapath as tcvs@NAME" {
	switch_up 1
	run --separate-stderr tcvs dump-dps
	assert_success
	assert_line "tcvs@$DP"
	tcvs del-dp "$DP"
	run tcvs dump-dps
	refute_output --partial "tcvs@$DP"
}

@test "show names every datapath, or those asked for" {
	switch_up 1
	on_exit tcvs del-dp "${DP}2"
	tcvs add-dp "${DP}2"
	run tcvs show
	assert_line "tcvs@$DP:"
	assert_line "tcvs@${DP}2:"
	run tcvs show "${DP}2"
	assert_line "tcvs@${DP}2:"
	refute_line "tcvs@$DP:"
	tcvs del-dp "${DP}2"
}

@test "show -s prints the ports' counters" {
	switch_up 2
	flow_add "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	run tcvs show -s "$DP"
	assert_line --regexp '^    RX packets:3 errors:0 dropped:0 overruns:0 frame:0$'
	assert_line --regexp '^    TX packets:3 errors:0 dropped:0 aborted:0 carrier:0$'
	assert_line --regexp "^    RX bytes:$((3 * $(size "$FRAME")))"
}

# ids_of_datapath: "map N" and "prog N" for everything that the pins lead to
ids_of_datapath() {
	local pin map prog

	for pin in "$PINS"/* "$PINS"/*/*; do
		[[ -f $pin ]] || continue
		map=$("$BPFTOOL" -j map show pinned "$pin" 2>/dev/null | jq -r '.id // empty')
		if [[ -n $map ]]; then
			echo "map $map"
			if [[ " $OUTER_MAPS " == *" ${pin##*/} "* ]]; then
				inner_maps "${pin##*/}" | sed 's/^/map /'
			fi
			continue
		fi
		prog=$("$BPFTOOL" -j prog show pinned "$pin" 2>/dev/null | jq -r '.id // empty')
		[[ -z $prog ]] || echo "prog $prog"
		prog=$("$BPFTOOL" -j link show pinned "$pin" 2>/dev/null | jq -r '.prog_id // empty')
		[[ -z $prog ]] || echo "prog $prog"
	done | sort -u
}

# with_maps_of_programs: also what programs hold without a pin (.rodata and the like)
with_maps_of_programs() {
	local kind id

	while read -r kind id; do
		echo "$kind $id"
		if [[ $kind == prog ]]; then
			"$BPFTOOL" -j prog show id "$id" | jq -r '.map_ids[]? | "map \(.)"'
		fi
	done | sort -u
}

all_gone() {
	local kind id

	while read -r kind id; do
		if "$BPFTOOL" "$kind" show id "$id" >/dev/null 2>&1; then
			echo "$kind $id is still there"
			return 1
		fi
	done <"$BATS_TEST_TMPDIR/ids"
}

leaves_nothing() {
	local devices

	switch_up 2 "$1"
	devices=$(in_ns sw ls /proc/sys/net/ipv4/conf | grep -v "^$DP")
	for mask in 255.0.0.0 255.255.0.0 255.255.255.0; do
		flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/$mask)" 2,2,2,2,2,2,2,2
	done
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 8
	ids_of_datapath | with_maps_of_programs >"$BATS_TEST_TMPDIR/ids"
	assert [ "$(grep -c map "$BATS_TEST_TMPDIR/ids")" -gt 15 ]
	assert [ "$(grep -c prog "$BATS_TEST_TMPDIR/ids")" -ge 1 ]
	tcvs del-dp "$DP"
	assert [ ! -e "$PINS" ]
	assert_equal "$(in_ns sw ip -j link show | jq -r '.[].ifname' | sort)" \
		"$(in_ns sw ip -j link show | jq -r '.[].ifname' | sort | grep -E "^(lo|$TAG""p[12])$")"
	assert_equal "$(in_ns sw tc qdisc show | grep -c clsact || true)" 0
	assert_equal "$(ingress_filters p1)$(ingress_filters p2)" ""
	# The kernel frees programs and maps after a grace period.
	wait_for all_gone
}

@test "del-dp leaves no pin, program, map, device or filter" {
	leaves_nothing ""
}

@test "del-dp leaves nothing with clsact either" {
	leaves_nothing ,attach=clsact
}

@test "del-dp works with ports whose devices are gone" {
	switch_up 2
	ids_of_datapath | with_maps_of_programs >"$BATS_TEST_TMPDIR/ids"
	in_ns sw ip link del "$(dev p2)"
	tcvs del-dp "$DP"
	assert [ ! -e "$PINS" ]
	wait_for all_gone
}

@test "a datapath made, filled and removed thirty times leaves nothing" {
	local i

	ns_add sw
	ns_add far
	veth p1 h1 far
	veth p2 h2 far
	on_exit dp_remove
	for ((i = 0; i < 30; i++)); do
		tcvs add-dp "$DP" "$(dev p1)" "$(dev p2)"
		flow_add "$FLOW" 2
		tcvs del-dp "$DP"
	done
	assert [ ! -e "$PINS" ]
	assert_equal "$(in_ns sw ip -j link show | jq length)" 3
}

@test "flows survive a rename and the removal of another port" {
	switch_up 3
	flow_add "$FLOW" 2
	tcvs del-if "$DP" "$(dev p3)"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 2
}
