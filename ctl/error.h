/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why something was refused, in the user's words.  Leaves fill it in, the command prints it once.
 */
#pragma once

struct error {
	char text[512];
};

/* Puts the one line that the user reads into e and returns -errnum. */
int error_set(struct error *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "TEXT: " in front of what e says, and returns err as it is. */
int error_prefix(struct error *e, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
