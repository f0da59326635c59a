#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Flows are deleted, inserted and modified as fast as one CPU can while the other one sends.  Each frame carries the
# number of its flow, so a packet that ran the actions of another flow is seen by the port it leaves by.

load lib/common

SECONDS_OF_CHURN=${SECONDS_OF_CHURN:-30}
# Every pair of the output ports: the two versions of a flow.  Between any two flows at least one port differs.
PAIRS=("2 3" "2 4" "2 5" "3 4" "3 5" "4 5")

# frame_to LAST-OCTET DPORT: the marker is appended by the sender
frame_to() {
	ether 0800 "45000020000100004011""0000""0a000001""0a0000$(printf %02x "$1")$(printf '%04x%04x' 1000 "$2")000c0000"
}

# Flow texts by kind and number.  Deleted ones have masks of their own in turn, so that mask arrays change as well.
stable() {
	echo "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.$1)"
}

modified() {
	echo "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.$((100 + $1)))"
}

churned() {
	case $(($1 % 3)) in
	0) echo "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.$((200 + $1)))" ;;
	1) echo "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.$((200 + $1)),proto=17,frag=no),udp(dst=$1)" ;;
	2) echo "in_port(1),eth(),eth_type(0x0800),ipv4(src=10.0.0.1,dst=10.0.0.$((200 + $1)))" ;;
	esac
}

# pin CPU COMMAND...: on a machine with one CPU everything shares it
pin() {
	if (($(nproc) > 1)); then
		taskset -c "$1" "${@:2}"
	else
		"${@:2}"
	fi
}

make_flows() {
	local i a b

	for i in 2 3 4 5; do
		flow_add "$(stable "$i")" "$i"
		echo "$(frame_to "$i" 9) $(dev "h$i")"
	done
	for i in "${!PAIRS[@]}"; do
		read -r a b <<<"${PAIRS[i]}"
		flow_add "$(modified "$i")" "$a"
		echo "$(frame_to $((100 + i)) 9) $(dev "h$a"),$(dev "h$b")"
	done
	for i in "${!PAIRS[@]}"; do
		read -r a b <<<"${PAIRS[i]}"
		flow_add "$(churned "$i")" "$a"
		echo "$(frame_to $((200 + i)) "$i") $(dev "h$a"),$(dev "h$b")"
	done
}

# churn FILE: until FILE is gone; each command must succeed; prints how many ran
churn() {
	local i a b round=0 count=0 versions

	while [[ -e $1 ]]; do
		for i in "${!PAIRS[@]}"; do
			read -r a b <<<"${PAIRS[i]}"
			# Short lists stand in the flow's entry, long ones elsewhere.
			versions=("$a" "$b" "$a,$b,$a,$b,$a,$b,$a,$b" "$b,$b,$b,$b,$b,$b,$b" drop)
			"$TCVSCTL" del-flow "$DP" "$(churned "$i")" || return 1
			"$TCVSCTL" add-flow "$DP" "$(churned "$i")" "${versions[round % 5]}" || return 1
			"$TCVSCTL" mod-flow "$DP" "$(modified "$i")" "${versions[(round + i) % 5]}" || return 1
			count=$((count + 3))
		done
		round=$((round + 1))
	done
	echo "$count"
}
export -f churn churned modified

churn_in_switch() {
	local declared

	declared=$(declare -p PAIRS)
	pin 0 nsenter --net="/run/netns/$SW" bash -c "$declared; churn $BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/count"
}

sent() {
	jq ".sent[$1]" "$BATS_TEST_TMPDIR/result"
}

@test "$SECONDS_OF_CHURN s of churn: no frame leaves by a wrong port, no established flow misses" {
	local watch=() i number=0 churner

	switch_up 5
	for i in 1 2 3 4 5; do
		watch+=("$(dev "h$i")")
	done
	make_flows >"$BATS_TEST_TMPDIR/flows"
	touch "$BATS_TEST_TMPDIR/go"
	on_exit rm -f "$BATS_TEST_TMPDIR/go"
	churn_in_switch 3>&- &
	churner=$!
	pin 1 nsenter --net="/run/netns/$(ns far)" /usr/bin/python3 "$TOOLS/marked_traffic.py" \
		--time "$SECONDS_OF_CHURN" --send "$(dev h1)" --watch "${watch[@]}" -- "$BATS_TEST_TMPDIR/flows" \
		>"$BATS_TEST_TMPDIR/result"
	rm "$BATS_TEST_TMPDIR/go"
	wait "$churner" || fail "a command failed"

	echo "commands: $(<"$BATS_TEST_TMPDIR/count"), $(jq -c 'del(.wrong)' "$BATS_TEST_TMPDIR/result")"
	assert_equal "$(jq -r '.wrong[]' "$BATS_TEST_TMPDIR/result")" ""
	assert_equal "$(jq .wrong_count "$BATS_TEST_TMPDIR/result")" 0
	assert [ "$(jq .received "$BATS_TEST_TMPDIR/result")" -gt 10000 ]
	assert [ "$(<"$BATS_TEST_TMPDIR/count")" -gt 100 ]
	for i in 2 3 4 5; do
		assert_equal "stable $i: $(flow_stat "$(stable "$i")" packets)" "stable $i: $(sent $number)"
		number=$((number + 1))
	done
	for i in "${!PAIRS[@]}"; do
		assert_equal "modified $i: $(flow_stat "$(modified "$i")" packets)" "modified $i: $(sent $number)"
		number=$((number + 1))
	done
	assert_equal $(($(show_value hit) + $(show_value missed))) "$(jq '.sent | add' "$BATS_TEST_TMPDIR/result")"
}
