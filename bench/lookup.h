/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The datapath by test run, with a hit in the last of so many masks: with the filter and without, with the mask cache, and
 * when one rebalance has put the mask first.
 */
#pragma once

#include "bench.h"

enum {
	LOOKUP_CASES = 6,
};

struct lookup_case {
	struct dp *dp, *reordered;
	struct job *filter, *no_filter, *cached, *first;
};

struct lookup {
	struct lookup_case of[LOOKUP_CASES];
};

int lookup_add(struct lookup *l, struct jobs *jobs, const struct options *o, struct error *e);
void lookup_report(const struct lookup *l, struct report *r);
void lookup_free(struct lookup *l);
