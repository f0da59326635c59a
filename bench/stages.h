/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One output by test run, cut off behind each stage: answered by the cache, and by the first mask with the cache off.
 */
#pragma once

#include "bench.h"

enum {
	STAGES = 5, /* port, key, lookup, count, actions */
};

struct stages_case {
	struct dp *dp;
	struct bench_stages_bpf *program;
	struct job *up_to[STAGES];
};

struct stages {
	struct stages_case cached, walked;
};

int stages_add(struct stages *s, struct jobs *jobs, const struct options *o, struct error *e);
void stages_report(const struct stages *s, struct report *r);
void stages_free(struct stages *s);
