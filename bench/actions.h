/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What actions cost over a plain output, by test run.
 *
 * A test run repeats with one frame, and a set that finds its value there writes nothing.  So lists write one value and
 * then another, and a tag that is pushed is popped again; the time of such a list is that of so many writes.
 */
#pragma once

#include "bench.h"

enum {
	ACTION_CASES = 16,
};

struct actions {
	struct dp *dp;
	struct job *job[ACTION_CASES];
};

int actions_add(struct actions *a, struct jobs *jobs, const struct options *o, struct error *e);
void actions_report(const struct actions *a, struct report *r);
void actions_free(struct actions *a);
