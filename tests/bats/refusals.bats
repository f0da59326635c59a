#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Each refusal: exit status 1, one line on stderr, nothing on stdout, nothing changed.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"

@test "not root" {
	switch_up 2
	flow_add "$FLOW" 2
	cp "$TCVSCTL" "$BATS_TEST_TMPDIR/tcvsctl"
	# The build directory, and bats' own, may be closed to others.
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/tcvsctl"
	before=$(state)
	for words in "add-dp ${DP}2" "show $DP" "dump-dps" "del-flows $DP" "del-dp $DP"; do
		# shellcheck disable=SC2086
		run --separate-stderr as_nobody $words
		assert_one_line_refusal 'root|CAP_|permi'
	done
	assert_equal "$(state)" "$before"
}

# The program comes in by a descriptor, so that no directory on the way to it need be open to others.
as_nobody() {
	exec 9<"$BATS_TEST_TMPDIR/tcvsctl"
	nsenter --net="/run/netns/$SW" setpriv --reuid 65534 --regid 65534 --clear-groups /proc/self/fd/9 "$@"
}

@test "a datapath that exists" {
	switch_up 2
	flow_add "$FLOW" 2
	assert_refused "File exists.*$DP" add-dp "$DP"
}

@test "a datapath whose device name is taken" {
	ns_add sw
	in_ns sw ip link add "$DP" type veth peer name "$(dev y)"
	assert_refused "$DP" add-dp "$DP"
	in_ns sw ip link show "$DP"
	assert_equal "$(ls "$PINS" 2>/dev/null)" ""
}

@test "a datapath name that is too long, empty or no name for a device" {
	ns_add sw
	for name in abcdefghijklmnop "" . .. a/b "a b"; do
		assert_refused '' add-dp "$name"
	done
	assert_refused '15' add-dp abcdefghijklmnop
}

@test "a datapath that does not exist" {
	ns_add sw
	for words in "show $DP" "del-dp $DP" "del-flows $DP" "dump-flows $DP" "dump-masks $DP" "add-if $DP lo" \
		"add-flow $DP $FLOW 2" "mod-flow $DP $FLOW 2" "del-flow $DP $FLOW"; do
		# shellcheck disable=SC2086
		assert_refused "$DP" $words
	done
}

@test "a device that does not exist" {
	switch_up 1
	assert_refused "$(dev p9)" add-if "$DP" "$(dev p9)"
	assert_refused "$(dev p9)" del-if "$DP" "$(dev p9)"
}

@test "the loopback device" {
	switch_up 1
	assert_refused "lo" add-if "$DP" lo
}

@test "a device that is a port already, here or of another datapath" {
	switch_up 2
	on_exit tcvs del-dp "${DP}2"
	tcvs add-dp "${DP}2"
	assert_refused "$(dev p1)" add-if "$DP" "$(dev p1)"
	assert_refused "$(dev p1).*$DP|$DP.*$(dev p1)" add-if "${DP}2" "$(dev p1)"
	assert_refused "$DP" add-if "${DP}2" "$DP"
	tcvs del-if "$DP" "$(dev p1)"
	tcvs add-if "${DP}2" "$(dev p1)"
	tcvs del-dp "${DP}2"
}

@test "a full flow table: the limit is named, what was there works on" {
	local i

	switch_up 2 ,max_flows=3
	for i in 1 2 3; do
		flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=$i)" 2
	done
	assert_refused '3' add-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=4)" 2
	assert_refused '3' mod-flow --may-create "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=4)" 2
	exchange h1 "$(udp_frame 3)" 2 ">h2" "$(udp_frame 3)" 2
	tcvs del-flow "$DP" "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=1)"
	flow_add "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=4)" 2
}

@test "a full mask table: the limit is named, flows of a known mask are taken" {
	local in="in_port(1),eth(),eth_type(0x0800)"

	switch_up 2 ,max_masks=2
	flow_add "$in,ipv4(dst=10.0.0.0/255.0.0.0)" 2
	flow_add "$in,ipv4(dst=11.1.0.0/255.255.0.0)" 2
	assert_refused '2' add-flow "$DP" "$in,ipv4(dst=12.1.1.0/255.255.255.0)" 2
	flow_add "$in,ipv4(dst=13.0.0.0/255.0.0.0)" 2
	tcvs del-flow "$DP" "$in,ipv4(dst=11.1.0.0/255.255.0.0)"
	flow_add "$in,ipv4(dst=12.1.1.0/255.255.255.0)" 2
}

@test "limits that are none" {
	ns_add sw
	for option in max_flows=0 max_flows=x max_flows=-1 max_flows=99999999999 max_masks=0 max_masks=1025 foo=1; do
		assert_refused "${option%=*}" add-dp "$DP,$option"
	done
}

# In a mount namespace of its own, which holds no bpffs any more: what is mounted there ends with it.
add_dp_without_bpffs() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	nsenter --net="/run/netns/$SW" unshare -m sh -c '
		for at in /sys/fs/bpf /run/tcvs/*; do
			while umount "$at" 2>/dev/null; do :; done
		done
		"$1" add-dp "$2"' sh "$TCVSCTL" "$DP"
}

@test "no bpffs: it is mounted, or the refusal names it" {
	ns_add sw
	run --separate-stderr add_dp_without_bpffs
	if ((status)); then
		assert_one_line_refusal 'bpf'
	else
		assert_equal "$output$stderr" ""
	fi
}

@test "pins of another version" {
	switch_up 2
	flow_add "$FLOW" 2
	set_abi 0x7b
	on_exit set_abi "$ABI"
	for words in "show $DP" "dump-flows $DP" "del-flows $DP" "add-flow $DP $FLOW 2" "add-if $DP lo"; do
		# shellcheck disable=SC2086
		run --separate-stderr tcvs $words
		assert_one_line_refusal '123.*version|version.*123'
	done
	set_abi "$ABI"
	assert_equal "$(dump | wc -l)" 1
}

# set_abi BYTE: the first byte of the datapath's record; the one before is left in ABI
set_abi() {
	local bytes

	mapfile -t bytes < <("$BPFTOOL" -j map lookup pinned "$PINS/datapath" key 0 0 0 0 | jq -r '.value[]')
	ABI=${bytes[0]}
	bytes[0]=$1
	"$BPFTOOL" map update pinned "$PINS/datapath" key 0 0 0 0 value "${bytes[@]}"
}

@test "commands that are none, and wrong numbers of arguments" {
	switch_up 1
	assert_refused "unknown command 'frobnicate'" frobnicate
	assert_refused 'missing command name'
	assert_refused "'add-dp' command requires at least 1 argument" add-dp
	assert_refused "'del-dp' command requires at least 1 argument" del-dp
	assert_refused "'del-dp' command takes at most 1 argument" del-dp a b
	assert_refused "'add-if' command requires at least 2 arguments" add-if "$DP"
	assert_refused "'add-flow' command requires at least 2 arguments" add-flow "$FLOW"
	assert_refused "'add-flow' command takes at most 3 arguments" add-flow a b c d
	assert_refused "'del-flow' command requires at least 1 argument" del-flow
	assert_refused "'dump-dps' command takes at most 0 arguments" dump-dps a
	assert_refused "nonsense" --nonsense show
}

@test "help and version go to stdout and succeed" {
	ns_add sw
	for word in help --help version --version; do
		run --separate-stderr tcvs "$word"
		assert_success
		assert [ -n "$output" ]
		assert_equal "$stderr" ""
	done
}

@test "add-if goes on with the other devices after a refused one" {
	switch_up 1
	veth p2 h2 far
	run --separate-stderr tcvs add-if "$DP" "$(dev p9)" "$(dev p2)"
	assert_failure 1
	run tcvs show "$DP"
	assert_output --partial "  port 2: $(dev p2)"
}
