#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of commands at random instants, a thousand times in all.  Meanwhile frames of established flows are forwarded;
# of these not one may be lost.  KILLS_PERCENT=N makes more or less of it, KILL_SEED=N repeats a run's choices.

load lib/common

KILLS_PERCENT=${KILLS_PERCENT:-100}
ESTABLISHED="in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.1"
COUNTED=()
TRACER=$TOP/build/tests/tools/kill_at_call

# established_up OPTIONS: ports 1 to 4; flows from port 1 to 2, 3 and 4, and their frames in file traffic
established_up() {
	local i

	switch_up 4 "$1"
	for i in 2 3 4; do
		flow_add "$ESTABLISHED.$i)" "$i"
		echo "$(ether 0800 "$(ipv4 11 0a000001 0a00010$i "$(udp 1000 9 5a5a5a5a5a5a)")") $(dev "h$i")"
	done >"$BATS_TEST_TMPDIR/traffic"
}

traffic_start() {
	local i

	for i in 2 3 4; do
		COUNTED[i]=$(flow_stat "$ESTABLISHED.$i)" packets)
	done
	rm -f "$BATS_TEST_TMPDIR/counts"
	nsenter --net="/run/netns/$(ns far)" /usr/bin/python3 "$TOOLS/steady_traffic.py" --send "$(dev h1)" \
		"$BATS_TEST_TMPDIR/traffic" >"$BATS_TEST_TMPDIR/counts" 3>&- &
	TRAFFIC=$!
	on_exit end_process "$TRAFFIC"
	wait_for grep -q ready "$BATS_TEST_TMPDIR/counts"
}

count_of() {
	sed 1d "$BATS_TEST_TMPDIR/counts" | jq -c "$1"
}

# Every frame that was sent was counted by its flow and came out, and no other.
traffic_stop() {
	local i

	kill "$TRAFFIC"
	wait "$TRAFFIC"
	assert [ "$(count_of '.sent | add')" -gt 1000 ]
	assert_equal "received $(count_of .received)" "received $(count_of .sent)"
	assert_equal "strays $(count_of .strays)" "strays 0"
	for i in 2 3 4; do
		assert_equal "flow $i: $(($(flow_stat "$ESTABLISHED.$i)" packets) - COUNTED[i]))" \
			"flow $i: $(count_of ".sent[$((i - 2))]")"
	done
}

# kill_commands KILLS WHAT DP ARGS...
kill_commands() {
	local seed=()

	[[ -z ${KILL_SEED-} ]] || seed=(--seed "$KILL_SEED")
	in_ns sw /usr/bin/python3 "$TOOLS/kill_commands.py" --ctl "$TCVSCTL" --tracer "$TRACER" \
		"${seed[@]}" --kills $(($1 * KILLS_PERCENT / 100)) "${@:2}" >"$BATS_TEST_TMPDIR/kills" || {
		cat "$BATS_TEST_TMPDIR/kills"
		return 1
	}
	sed 's/^/# /' "$BATS_TEST_TMPDIR/kills" >&3
}

# Flow number N as text, its masks of three kinds; no two overlap, nor does any with an established one.
flow_text() {
	local in="in_port(1),eth(),eth_type(0x0800)"

	case $(($1 % 3)) in
	0) echo "$in,ipv4(dst=10.0.0.$1)" ;;
	1) echo "$in,ipv4(src=10.0.0.1,dst=10.0.0.$1)" ;;
	2) echo "$in,ipv4(dst=10.0.0.$1,proto=17,frag=no),udp(dst=$1)" ;;
	esac
}

# IPv4 and UDP in one go: hundreds of frames are made.
flow_frame() {
	printf '%s%s0800450000240001000040110000%s%s%02x%04x%04x00100000%s\n' "$MAC_TWO" "$MAC_ONE" 0a000001 0a0000 "$1" \
		1000 "$1" 0102030405060708
}

# flows_written N: keys of flows 1..N as dump-flows prints them, to file flows; none of them is there afterwards
flows_written() {
	local i

	for ((i = 1; i <= $1; i++)); do
		echo "$(flow_text "$i") 2"
	done >"$BATS_TEST_TMPDIR/adds"
	tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/adds"
	dump | grep -vF "$ESTABLISHED" | sed 's/, packets:.*//' >"$BATS_TEST_TMPDIR/flows"
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/flows")" "$1"
	tcvs del-flows "$DP" "$BATS_TEST_TMPDIR/flows"
}

# A frame of each flow goes where the dump says, and nowhere if there is no such flow.
frames_do_as_dumped() {
	local args=() number=0 key port frame
	declare -A outputs=()

	while IFS=$'\t' read -r key port; do
		outputs[$key]=$port
	done < <(dump | sed -E 's/, packets:.*actions:/\t/; s/drop$//')
	while read -r key; do
		number=$((number + 1))
		frame=$(flow_frame "$number")
		args+=(h1 "$frame" 1)
		# Split at blanks, on purpose; nothing for a flow that is not there.
		port=${outputs[$key]-}
		for port in ${port//,/ }; do
			args+=(">h$port" "$frame" 1)
		done
	done <"$BATS_TEST_TMPDIR/flows"
	exchange "${args[@]}"
}

datapath_field() {
	"$BPFTOOL" -j map lookup pinned "$PINS/datapath" key 0 0 0 0 | jq -r ".formatted.value.$1"
}

# slots_used flow|action: in the first page
slots_used() {
	"$BPFTOOL" -j map lookup pinned "$PINS/$1_slots" key 0 0 0 0 |
		jq '[.formatted.value.state[] | select(. == 1)] | length'
}

# A list of more than five actions stands in an action page, with one record for its end; mod-flow puts all lists there.
no_slot_is_lost() {
	assert_equal "flow slots used: $(slots_used flow)" "flow slots used: $(dump | wc -l)"
	assert_equal "flow pages: $(datapath_field flow_page_count)" "flow pages: 1"
	assert [ "$(datapath_field action_page_count)" -le 1 ]
	assert_equal "action slots used: $(slots_used action)" "action slots used: $(action_records)"
}

# Lists in action pages, as the flow entries name them.
action_records() {
	local page

	page=$("$BPFTOOL" -j map show pinned "$PINS/flow_page_0" | jq .id)
	"$BPFTOOL" -j map dump id "$page" >"$BATS_TEST_TMPDIR/entries"
	"$BPFTOOL" -j map lookup pinned "$PINS/flow_slots" key 0 0 0 0 |
		jq --slurpfile entries "$BATS_TEST_TMPDIR/entries" '[.formatted.value.state | to_entries[] | select(.value == 1)
			| $entries[0][.key].formatted.value | select(.actions != 4294967295) | .action_count + 1] | add // 0'
}

# full_set: after del-flows the whole table can be filled to its limit, out of the page that it had
full_set() {
	local i

	tcvs del-flows "$DP"
	for ((i = 0; i < 4096; i++)); do
		echo "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.9.$((i / 256)).$((i % 256))) 2"
	done >"$BATS_TEST_TMPDIR/full"
	tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/full"
	assert_equal "$(show_value flows)" 4096
	no_slot_is_lost
}

@test "add-flow, mod-flow, del-flow and readers are killed" {
	established_up ,max_flows=4096
	flows_written 24
	for _ in 1 2 3; do
		traffic_start
		kill_commands 125 flows "$DP" "$BATS_TEST_TMPDIR/flows"
		traffic_stop
		frames_do_as_dumped
		no_slot_is_lost
	done
	full_set
}

@test "add-flows, mod-flows and del-flows with a file are killed" {
	established_up ,max_flows=4096
	flows_written 60
	for _ in 1 2; do
		traffic_start
		kill_commands 110 bulk "$DP" "$BATS_TEST_TMPDIR/flows"
		traffic_stop
		frames_do_as_dumped
		no_slot_is_lost
	done
	full_set
}

@test "del-flows without a file is killed" {
	switch_up 3
	flows_written 100
	kill_commands 30 all "$DP" "$BATS_TEST_TMPDIR/flows"
	frames_do_as_dumped
	no_slot_is_lost
}

# pins: without those of pages, which come as they are needed
pins() {
	find "$PINS" -type f | grep -v _page_ | sort
}

# A device that nobody else uses, and one that is promiscuous and has a filter of the user's.
ports_are_killed() {
	local before i

	established_up "$1"
	veth p5 h5 far
	veth p6 h6 far
	in_ns sw ip link set "$(dev p6)" promisc on
	in_ns sw tc qdisc add dev "$(dev p6)" clsact
	in_ns sw tc filter add dev "$(dev p6)" ingress pref 9 protocol all u32 match u32 0xfeedbee5 0xffffffff flowid 1:1
	before=$(pins)
	traffic_start
	kill_commands 85 ports "$DP" "$(dev p5)" "$(dev p6)"
	traffic_stop
	assert_equal "$(pins)" "$before"
	for i in 5 6; do
		exchange "h$i" "$(flow_frame 1)" 1
		tcvs add-if "$DP" "$(dev "p$i"),port_no=$i"
		flow_add "in_port($i),eth(),eth_type(0x0800),ipv4()" 2
		exchange "h$i" "$(flow_frame 1)" 1 ">h2" "$(flow_frame 1)" 1
	done
}

@test "add-if and del-if are killed" {
	ports_are_killed ""
}

@test "add-if and del-if are killed, with clsact" {
	ports_are_killed ,attach=clsact
}

@test "add-dp and del-dp are killed beside a datapath that forwards" {
	local other=${DP}2

	established_up ""
	veth p5 h5 far
	veth p6 h6 far
	on_exit rm -rf "${PINS}2" "${PINS%/*}/%$other"
	on_exit tcvs del-dp "$other"
	traffic_start
	kill_commands 205 datapaths "$other" "$(dev p5)" "$(dev p6)"
	traffic_stop
}

# stops_of COMMAND...: how many stops its system calls have; it runs to its end
stops_of() {
	in_ns sw "$TRACER" 1000000 "$BATS_TEST_TMPDIR/stops" "$TCVSCTL" "$@" >&2
	cat "$BATS_TEST_TMPDIR/stops"
}

# killed_at STOP COMMAND...
killed_at() {
	local rc=0

	in_ns sw "$TRACER" "$1" "$BATS_TEST_TMPDIR/stops" "$TCVSCTL" "${@:2}" >/dev/null 2>&1 || rc=$?
	assert_equal "$rc" 137
}

@test "del-dp is killed while it takes its pins away: all commands know that the datapath is gone" {
	local stops stop said

	ns_add sw
	on_exit dp_remove
	tcvs add-dp "$DP"
	stops=$(stops_of del-dp "$DP")
	for ((stop = stops; stop > stops - 160; stop -= 4)); do
		tcvs add-dp "$DP"
		killed_at "$stop" del-dp "$DP"
		if ((stop % 8 == 0)); then
			said=$(tcvs show "$DP" 2>&1 || true)
			[[ $said == *"No such device"* ]] || fail "stop $stop, show: $said"
		fi
	done
}

@test "add-dp is killed before its datapath has a name: the next command on that name takes the pins away" {
	local stops stop left=0

	ns_add sw
	on_exit rm -rf "${PINS%/*}/%$DP"
	on_exit dp_remove
	stops=$(stops_of add-dp "$DP")
	tcvs del-dp "$DP"
	for ((stop = stops / 2; stop < stops; stop += stops / 40)); do
		killed_at "$stop" add-dp "$DP"
		[[ ! -e ${PINS%/*}/%$DP ]] || left=$((left + 1))
		wait_for swept
	done
	assert [ "$left" -ge 1 ]
}

# By the next command, or by one after it: while others make datapaths or add ports on this host, nobody sweeps.
swept() {
	tcvs del-dp "$DP" || true
	[[ -z $(ls -d "$PINS" "${PINS%/*}/%$DP" 2>/dev/null) ]]
}
