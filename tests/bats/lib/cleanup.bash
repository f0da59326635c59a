# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What is made is registered for removal before it is made; teardown runs the list backwards, also after a failure.

# on_exit COMMAND...: failures of the command are no failures of the test, since a test may have removed it itself.
on_exit() {
	printf '%q ' "$@" >>"$BATS_TEST_TMPDIR/cleanups"
	printf '\n' >>"$BATS_TEST_TMPDIR/cleanups"
}

run_cleanups() {
	local line lines=()

	[[ -f $BATS_TEST_TMPDIR/cleanups ]] || return 0
	mapfile -t lines <"$BATS_TEST_TMPDIR/cleanups"
	rm -f "$BATS_TEST_TMPDIR/cleanups"
	while ((${#lines[@]})); do
		line=${lines[-1]}
		unset 'lines[-1]'
		eval "$line" >/dev/null 2>&1 || true
	done
}

# background NS COMMAND...: starts it in a namespace, its process id in $BACKGROUND, and ends it with the test at the
# latest.  nsenter becomes the command, so that the id is the command's own, not that of a shell around it.
background() {
	nsenter --net="/run/netns/$(ns "$1")" "${@:2}" 3>&- &
	BACKGROUND=$!
	on_exit end_process "$BACKGROUND"
}

end_process() {
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# wait_for COMMAND...: until it succeeds, ten seconds at most.
wait_for() {
	local i

	for ((i = 0; i < 200; i++)); do
		if "$@" >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.05
	done
	fail "after 10 s still not true: $*"
}
