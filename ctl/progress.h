/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far long work is: one line on a terminal, written over and over, and gone when the work has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out; /* NULL: nobody is to see it */
	const char *what;
	uint64_t total;
	uint64_t steps; /* since the clock was last read */
	uint64_t next_ns;
	bool shown;
};

/* From now on, for somebody at a terminal; not if quiet.  A second passes before anything is shown. */
void progress_begin(struct progress *p, const char *what, bool quiet);

/* So much of p->total is done. */
void progress_step(struct progress *p, uint64_t done);

/* Takes the line away, for another to be printed in its place, or for good. */
void progress_clear(struct progress *p);

/* progress_step() at a given time (CLOCK_MONOTONIC). */
void progress_at(struct progress *p, uint64_t done, uint64_t now_ns);
