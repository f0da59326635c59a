#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Work on many flows that takes more than a second shows on a terminal how far it is, and nowhere else.

load lib/common

FILE=$BATS_TEST_TMPDIR/flows

# many_flows: 20000 lines, of one mask
many_flows() {
	local i

	for ((i = 1; i <= 20000; i++)); do
		echo "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),udp(src=$((i % 200)),dst=$((i / 200))) 1"
	done >"$FILE"
}

# terminal ARGS...: what a terminal gets from the command, whose input takes more than a second to come
terminal() {
	run in_ns sw "$TOOLS/on_terminal.py" "$TCVSCTL" "$@" <"$FILE"
}

@test "progress on a terminal: one line, taken away at the end; none with -q and -j, and none in a pipe" {
	switch_up 1
	many_flows
	terminal add-flows "$DP" -
	assert_success
	assert_regex "$output" '^.(\\r\\x1b\[K-: [0-9]+ of 20000)+\\r\\x1b\[K.$'
	tcvs del-flows "$DP"
	terminal -q add-flows "$DP" -
	assert_success
	assert_output "''"
	tcvs del-flows "$DP"
	terminal -j add-flows "$DP" -
	assert_success
	assert_output "''"
	tcvs del-flows "$DP"
	run --separate-stderr tcvs add-flows "$DP" - < <(sleep 1.2 && cat "$FILE")
	assert_success
	assert_equal "$output$stderr" ""
}

@test "a line that fails does not stand behind the progress" {
	switch_up 1
	many_flows
	echo nonsense >>"$FILE"
	terminal add-flows "$DP" -
	assert_failure 1
	assert_regex "$output" 'of 20001\\r\\x1b\[Ktcvsctl: line 20001: .*\\r\\ntcvsctl: 1 lines failed'
}
