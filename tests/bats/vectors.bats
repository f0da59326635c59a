#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Texts of Open vSwitch, by the hundred, and what it and its kernel datapath make of them.  Every row that is skipped, or
# that tcvs takes otherwise, is named with its reason; the last line says how many of how many hold.

load lib/common

# vectors COMMAND...
vectors() {
	run "$@"
	# shellcheck disable=SC2154 # set by run
	printf '# %s\n' "${lines[@]}" >&3
	assert_success
}

# texts KIND FILE
texts() {
	vectors /usr/bin/python3 "$TOOLS/text_vectors.py" "$1" "$TCVSCTL" "$TOP/tests/data/$2.tsv"
}

@test "keys: read, printed, and checked as the kernel does" {
	texts keys odp_keys
}

@test "flows with actions: the verdicts of a kernel" {
	texts accept accept
}

@test "quirks of the parsers" {
	texts quirks cli_quirks
}

@test "sequences of commands on a datapath" {
	switch_up 2
	vectors nsenter --net="/run/netns/$SW" /usr/bin/python3 "$TOOLS/sequence_vectors.py" "$TCVSCTL" "$DP" \
		"$TOP/tests/data/accept_seq.tsv"
}
