# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What every end-to-end test loads: one switch namespace, a namespace for each host, one datapath; all named from the
# test, so that tests do not meet each other, and all registered for removal when they are made.

export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

LIB_DIR=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
TOP=$(cd "$LIB_DIR/../../.." && pwd)
TOOLS=$TOP/tests/tools
TCVSCTL=${TCVSCTL:-$TOP/build/tcvsctl}
BPFTOOL=$("$TOOLS/find-bpftool" || echo bpftool)
export TOP TOOLS TCVSCTL BPFTOOL PYTHONDONTWRITEBYTECODE=1

load lib/cleanup
load lib/net
load lib/tcvs
load lib/hex
load lib/hosts

setup() {
	((EUID == 0)) || skip "needs root"
	[[ -x $TCVSCTL ]] || fail "$TCVSCTL is not there: run make first"
	names_init
	remove_leftovers
}

teardown() {
	run_cleanups
}
