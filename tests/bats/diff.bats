#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Random flows and frames, side by side with the userspace datapath of Open vSwitch.

load lib/common

DIFF=$TOP/tests/diff/run
# A flow, and a frame whose tag has the bit that Open vSwitch loses.
MATCH='in_port(2),eth(),eth_type(0x8100),vlan(vid=2),encap(eth_type(0x88b6))'

@test "flows and frames at random: tcvs and the userspace datapath do the same" {
	run "$DIFF" --peer userspace --seed 7 --pairs 3000
	grep "^#" <<<"$output" >&3 || true
	assert_success
}

@test "what differs is told, with the bytes: a known deviation, taken for a fault" {
	run "$DIFF" --peer userspace --strict --flow "$MATCH" 3 --frame 2 "$(tagged "$(tag 1002)" 88b6 0000)"
	assert_failure
	assert_output --partial "port 3, tcvs: 0200000000020200000000018100100288b60000"
	assert_output --partial "port 3, peer: 0200000000020200000000018100000288b60000"
}
