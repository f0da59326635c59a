# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What both ways of booting share: the job that the guest is given, and the end of one that failed.

GUEST=$TOP/vmtest/guest

# make_job DIR: guest/session and, for it to read, what is to be done
make_job() {
	mkdir -p "$1"
	cp "$GUEST/session" "$1/session"
	printf '%s=%q\n' COMMAND "$COMMAND" DIRECTORY "$TOP" MODULES "$KERNEL_DIR/lib/modules/$KERNEL_RELEASE" \
		SHELL_AFTER "$SHELL_AFTER" TTY_SIZE "$(stty size 2>/dev/null)" TERM "${TERM:-dumb}" >"$1/job"
}

# die_with_console REASON: keeps $JOB/console
die_with_console() {
	local log

	mkdir -p "$CACHE/log"
	log=$(mktemp "$CACHE/log/$KERNEL_RELEASE.XXXXXX")
	tr -d '\r' <"$JOB/console" >"$log"
	die "kernel $KERNEL_RELEASE: $1; console log: $log"
}
