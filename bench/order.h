/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 64 masks in the order of insertion, and in the order that one rebalance gives them, under traffic of 10000 flows.
 */
#pragma once

#include "bench.h"
#include "mix.h"

enum order_traffic {
	ORDER_ZIPF,  /* flows and masks: Zipf's law with s = 1.1; a mask has as many flows as it has traffic */
	ORDER_DEALT, /* flows: Zipf's law; dealt out to the masks in turn */
	ORDER_EVEN,  /* flows and masks: all the same */
	ORDER_TRAFFICS,
};

enum {
	ORDER_CACHES = 3,
	ORDER_CASES = ORDER_TRAFFICS * ORDER_CACHES * 2, /* before and after */
};

struct order_case {
	struct dp *dp;
	struct bench_mix_bpf *program;
	struct job *job;
	double tried; /* masks for a frame */
};

struct order {
	struct bench_mix_bpf *bare_program;
	struct job *bare;
	struct order_case of[ORDER_TRAFFICS][ORDER_CACHES][2];
};

extern const char *const order_traffic_names[ORDER_TRAFFICS];

void order_make_mix(struct mix *m, enum order_traffic traffic);

/* bare_fd: a program that only redirects. */
int order_add(struct order *d, struct jobs *jobs, const struct options *o, int bare_fd, struct error *e);
void order_report(const struct order *d, struct report *r);
void order_free(struct order *d);
