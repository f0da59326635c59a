#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The order of masks follows the traffic, and nobody notices.

load lib/common

SECONDS_OF_ORDER=${SECONDS_OF_ORDER:-60}

# masked FLOW-NUMBER: eight flows of one class, each with a mask of its own
masked() {
	echo "in_port(${2-1}),eth(),eth_type(0x0800),ipv4(dst=10.$1.0.0/255.255.0.$1,proto=17,frag=no)"
}

# frame_for FLOW-NUMBER: of its flow only
frame_for() {
	ether 0800 "$(ipv4 11 0a000001 "0a$(printf %02x "$1")0000" "$(udp 1000 9 5a5a5a5a)")"
}

# controller ARGS...: in the background, its lines in $BATS_TEST_TMPDIR/log
controller() {
	background sw "$TCVSCTL" run "$@" >"$BATS_TEST_TMPDIR/log" 2>&1
	wait_for test -s /run/tcvs/run-"$DP".lock
}

# position FLOW-NUMBER: of the flow's mask in its class
position() {
	tcvs -j dump-masks "$DP" | jq --arg net "255.255.0.$1," \
		'.classes[] | select(.class == "ipv4/udp") | .masks[] | select(.fields | contains($net)) | .position'
}

eight_masks() {
	local i

	switch_up 2 "${1-}"
	for i in 1 2 4 8 16 32 64 128; do
		flow_add "$(masked "$i")" 2
	done
	tcvs cache-set-size "$DP" masks-cache "${2-0}"
}

send() {
	exchange h1 "$(frame_for "$1")" "$2" ">h2" "$(frame_for "$1")" "$2"
}

at_position() {
	[[ $(position "$1") == "$2" ]]
}

@test "the busiest mask is first after a round, the next busiest after a change of traffic" {
	eight_masks
	assert_equal "$(position 128)" 7
	send 128 300
	send 16 60
	run tcvs rebalance "$DP"
	assert_line --partial "ipv4/udp: masks:8 reordered"
	assert_equal "$(position 128) $(position 16)" "0 1"
	send 8 300
	tcvs rebalance "$DP"
	assert_equal "$(position 8)" 0
	send 8 300
	run tcvs rebalance "$DP"
	assert_line --partial "ipv4/udp: masks:8 unchanged"
}

@test "in the order of hits the first mask answers: hit/pkt falls to 1" {
	local before after

	eight_masks
	send 128 200
	assert_equal "$(tcvs -j show "$DP" | jq '.datapaths[0].mask_hit')" 1600
	tcvs rebalance "$DP"
	before=$(tcvs -j show "$DP" | jq '.datapaths[0].mask_hit')
	send 128 200
	after=$(tcvs -j show "$DP" | jq '.datapaths[0].mask_hit')
	assert_equal $((after - before)) 200
}

@test "the controller follows the traffic within two periods, and says so" {
	eight_masks
	controller --interval 200ms "$DP"
	send 128 400
	wait_for at_position 128 0
	send 4 400
	wait_for at_position 4 0
	run cat "$BATS_TEST_TMPDIR/log"
	assert_line --regexp "^$DP: ipv4/udp: 8 masks reordered, tries per hit [0-9.]+ -> [0-9.]+$"
}

@test "a quiet controller says nothing and does the same" {
	eight_masks
	controller -q --interval 200ms "$DP"
	send 128 400
	wait_for at_position 128 0
	assert_equal "$(<"$BATS_TEST_TMPDIR/log")" ""
}

@test "traffic that is spread evenly does not move the order" {
	local i round

	eight_masks
	for round in 1 2 3; do
		for i in 1 2 4 8 16 32 64 128; do
			send "$i" $((40 + (i + round) % 5))
		done
		run tcvs rebalance "$DP"
		assert_line --partial "ipv4/udp: masks:8 unchanged"
	done
}

@test "a mask that comes late has a fair chance: no old hits count for it or against it" {
	eight_masks
	send 1 2000
	tcvs rebalance "$DP"
	tcvs del-flow "$DP" "$(masked 1)"
	# The id of the mask that went is given to the next one after a grace period; what it had counted stays behind.
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.1.0.0/255.255.0.0,ttl=64)" 2
	assert_equal "$(tcvs -j dump-masks "$DP" | jq '[.classes[].masks[].hits] | max')" 0
	send 1 300
	tcvs rebalance "$DP"
	assert_equal "$(tcvs -j dump-masks "$DP" |
		jq -r '.classes[] | select(.class == "ipv4/udp") | .masks[0] | .fields | contains("ttl")')" true
}

@test "a second controller is refused and names the first one; SIGTERM ends it cleanly" {
	local first

	eight_masks
	controller "$DP"
	first=$BACKGROUND
	run --separate-stderr tcvs run "$DP"
	assert_one_line_refusal "process $first"
	kill -TERM "$first"
	wait "$first"
	[[ ! -e /run/tcvs/run-$DP.lock ]]
	controller "$DP"
}

@test "a killed controller leaves nothing in the way of the next one" {
	eight_masks
	controller --interval 10ms "$DP"
	kill -KILL "$BACKGROUND"
	wait "$BACKGROUND" || true
	controller --interval 10ms "$DP"
	send 128 300
	wait_for at_position 128 0
}

@test "intervals: 10 ms at least, and a time" {
	run --separate-stderr "$TCVSCTL" run --interval 9ms nosuch
	assert_one_line_refusal "--interval 9ms: from 10ms"
	run --separate-stderr "$TCVSCTL" run --interval soon nosuch
	assert_one_line_refusal "--interval soon: a time is wanted"
}

@test "a controller of all datapaths takes up new ones, and survives their removal at any instant" {
	local i

	ns_add sw
	# A bpffs and a /run/tcvs of its own, so that no other datapath is looked after.
	cat >"$BATS_TEST_TMPDIR/inside" <<-'END'
		set -e
		mount -t bpf bpf /sys/fs/bpf
		mkdir -p /run/tcvs
		mount -t tmpfs tmpfs /run/tcvs
		"$TCVSCTL" run -q --interval 10ms &
		controller=$!
		for i in $(seq 1 25); do
			"$TCVSCTL" add-dp "$DP"
			"$TCVSCTL" add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(ttl=$i)" drop
			[ "$i" != 1 ] || { sleep 0.3; test -e "/run/tcvs/run-$DP.lock"; }
			"$TCVSCTL" del-dp "$DP"
		done
		sleep 0.3
		kill -0 "$controller"
		test ! -e "/run/tcvs/run-$DP.lock"
		kill -TERM "$controller"
		wait "$controller"
		test -z "$(ls /sys/fs/bpf/tcvs)"
	END
	run in_ns sw unshare -m bash "$BATS_TEST_TMPDIR/inside"
	assert_success
	assert_output ""
}

@test "datapaths of two namespaces have one controller, and a namespace can go while it runs" {
	eight_masks
	ns_add other
	on_exit "$TCVSCTL" del-dp "$TAG-x"
	in_ns other "$TCVSCTL" add-dp "$TAG-x"
	controller -q --interval 20ms "$DP" "$TAG-x"
	sleep 0.1
	ip netns del "$(ns other)"
	send 128 300
	wait_for at_position 128 0
	kill -0 "$BACKGROUND"
	"$TCVSCTL" del-dp "$TAG-x"
	refute [ -e "/sys/fs/bpf/tcvs/$TAG-x" ]
}

@test "cache-get-size and cache-set-size" {
	eight_masks "" 256
	run tcvs cache-get-size "$DP"
	assert_output "tcvs@$DP:
  caches:
    masks-cache: size:256"
	run tcvs cache-set-size "$DP" masks-cache 512
	assert_output "Setting cache size successful, new size 512"
	assert_refused "neither 0 nor a power of two up to 4096" cache-set-size "$DP" masks-cache 300
	assert_refused "size is malformed" cache-set-size "$DP" masks-cache many
	assert_refused 'Cache name "x" not found' cache-set-size "$DP" x 256
}

@test "a cached flow that is deleted is found no more, and its successor in the slot is not taken for it" {
	eight_masks "" 256
	send 128 50
	assert_equal "$(tcvs -j show "$DP" | jq '.datapaths[0].cache_hit > 40')" true
	tcvs del-flow "$DP" "$(masked 128)"
	exchange h1 "$(frame_for 128)" 3
	flow_add "$(masked 128)" 1
	exchange h1 "$(frame_for 128)" 3 ">h1" "$(frame_for 128)" 3
	tcvs mod-flow "$DP" "$(masked 128)" 2
	send 128 3
	assert_equal "$(show_value missed)" 3
}

# of_mask PORT TTL-BITS: flows with a mask each, of one port
of_mask() {
	echo "in_port($1),eth(),eth_type(0x0800),ipv4(ttl=$2/$2)"
}

@test "flows that answer packets have limits on their masks, for all and for each port; others do not" {
	local i

	switch_up 2 ",max_masks=20,max_reactive_masks=6,max_port_masks=4"
	for i in 1 2 3 4; do
		flow_add --reactive "$(of_mask 1 "$i")" drop
	done
	assert_refused "port 1 have 4 masks already.*max_port_masks=4" add-flow --reactive "$DP" "$(of_mask 1 5)" drop
	flow_add --reactive "$(of_mask 2 16)" drop
	flow_add --reactive "$(of_mask 2 32)" drop
	assert_refused "have 6 masks already.*max_reactive_masks=6" add-flow --reactive "$DP" "$(of_mask 2 64)" drop
	# A mask that is there costs nothing, and one that a person's flow uses is not the attacker's.
	flow_add --reactive "$(of_mask 2 4)" drop
	for i in 5 6 7 8; do
		flow_add "$(of_mask 1 "$i")" drop
	done
	tcvs del-flow "$DP" "$(of_mask 1 1)"
	printf '%s drop\n' "$(of_mask 1 9)" "$(of_mask 1 10)" >"$BATS_TEST_TMPDIR/file"
	run tcvs add-flows --reactive "$DP" "$BATS_TEST_TMPDIR/file"
	assert_failure 1
	assert_line --partial "line 2: reactive flows of"
	assert_equal "$(tcvs -m dump-flows "$DP" | grep -c origin:reactive)" 7
	run tcvs show -s "$DP"
	assert_line "  limits: flows:200000 masks:20 reactive masks:6 of one port:4"
}

@test "show warns when nine tenths of the masks are in use" {
	local i

	switch_up 1 ",max_masks=10"
	for i in 1 2 3 4 5 6 7 8; do
		flow_add "$(of_mask 1 "$i")" drop
	done
	run tcvs show "$DP"
	refute_line --partial "warning"
	flow_add "$(of_mask 1 9)" drop
	run tcvs show "$DP"
	assert_line --partial "warning: nine tenths of max_masks are in use"
}

# received N: frames that came in at the far end of port N, as the device counts them
received() {
	in_ns far ip -j -s link show dev "$(dev "h$1")" | jq '.[0].stats64.rx.packets'
}

@test "$SECONDS_OF_ORDER s with a new order every 10 ms: nothing is lost, doubled or sent astray" {
	local i number=0 sum total first shuffler

	switch_up 4
	tcvs cache-set-size "$DP" masks-cache 0
	for i in 1 2 4 8 16 32 64 128; do
		flow_add "$(masked "$i")" $((3 + number % 2))
		flow_add "$(masked "$i" 2)" $((3 + number % 2))
		echo "$(frame_for "$i") $(dev "h$((3 + number % 2))")" >>"$BATS_TEST_TMPDIR/flows"
		number=$((number + 1))
	done
	background sw "$TOP/build/tests/tools/shuffle_masks" "$DP" 10 >"$BATS_TEST_TMPDIR/swaps"
	shuffler=$BACKGROUND
	controller -q --interval 10ms "$DP"
	in_ns far /usr/bin/python3 "$TOOLS/marked_traffic.py" --time "$SECONDS_OF_ORDER" \
		--send "$(dev h1)" --watch "$(dev h3)" "$(dev h4)" -- "$BATS_TEST_TMPDIR/flows" >"$BATS_TEST_TMPDIR/one" 3>&- &
	first=$!
	in_ns far /usr/bin/python3 "$TOOLS/marked_traffic.py" --time "$SECONDS_OF_ORDER" \
		--send "$(dev h2)" --watch "$(dev h1)" -- "$BATS_TEST_TMPDIR/flows" >"$BATS_TEST_TMPDIR/two"
	wait "$first"
	kill -TERM "$shuffler"
	wait "$shuffler"
	total=$(($(jq '.sent | add' "$BATS_TEST_TMPDIR/one") + $(jq '.sent | add' "$BATS_TEST_TMPDIR/two")))
	sum=$(tcvs -j dump-flows "$DP" | jq '[.flows[].packets] | add')
	echo "sent $total, swaps $(<"$BATS_TEST_TMPDIR/swaps")"
	assert_equal "wrong $(jq .wrong_count "$BATS_TEST_TMPDIR/one")" "wrong 0"
	assert_equal "missed $(show_value missed) lost $(show_value lost) hit $(show_value hit)" "missed 0 lost 0 hit $total"
	assert_equal "flows $sum" "flows $total"
	assert_equal "forwarded $(tcvs -j show "$DP" | jq '.datapaths[0].forwarded')" "forwarded $total"
	assert_equal "received $(($(received 3) + $(received 4)))" "received $total"
	assert_equal "elsewhere $(received 1) $(received 2)" "elsewhere 0 0"
	assert [ "$(<"$BATS_TEST_TMPDIR/swaps")" -gt 10 ]
}
