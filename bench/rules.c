// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hits should order the masks?  Each rule orders them by one period of traffic; what its order costs in the next
 * one is counted: masks tried for each packet that walks, and for each packet if the cache were gone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "bench.h"
#include "order.h"
#include "rebalance.h"
#include "rig.h"
#include "stats.h"
#include "util.h"

enum {
	PASSES = 4, /* of all frames, a period */
	PERIODS = 2,
};

/* A mask's score: its walked hits, and so many of the cached ones count as one. */
static const struct rule {
	const char *name;
	unsigned int cached_per_walked; /* 0: they do not count */
} rules[] = { { "as inserted", 0 }, { "all", 1 }, { "1/4", 4 }, { "1/16", 16 }, { "1/64", 64 }, { "walked", 0 } };

static const __u32 cache_sizes[] = { 256, 4096 };

static int count_period(struct dp *dp, struct job *j, const struct mix *m, struct bench_mix_bpf *program, __u64 seed,
			struct mask_hits *hits, struct error *e)
{
	CLEANUP_FREE struct mask_hits *before = calloc(MASKS_MAX, sizeof(*before));
	int err = before ? stats_all_mask_hits(dp, before) : -ENOMEM;

	if (err)
		return error_set(e, -err, "mask hits cannot be read (%s)", strerror(-err));
	for (unsigned int i = 0; !err && i < PASSES; i++) {
		err = mix_draw(m, program, seed * PASSES + i, e);
		if (!err)
			err = job_run(j, j->repeat, e);
	}
	if (err)
		return err;
	err = stats_all_mask_hits(dp, hits);
	for (unsigned int id = 0; id < MASKS_MAX; id++) {
		hits[id].all -= before[id].all;
		hits[id].walked -= before[id].walked;
	}
	return err ? error_set(e, -err, "mask hits cannot be read (%s)", strerror(-err)) : 0;
}

/* Hits of the next period by the order of the array. */
static void add_figures(struct report *r, const char *what, const struct mask_array *array,
			const struct mask_hits *hits)
{
	double all = 0, all_tried = 0, walked = 0, walked_tried = 0;
	char text[96];
	struct figure *f;

	for (unsigned int i = 0; i < array->count; i++) {
		const struct mask_hits *h = &hits[array->mask[i].id];

		all += h->all;
		walked += h->walked;
		all_tried += (double)h->all * (i + 1);
		walked_tried += (double)h->walked * (i + 1);
	}
	f = report_add(r, what);
	f->value = walked_tried / walked;
	f->unit = "masks";
	snprintf(text, sizeof(text), "%s, cache gone", what);
	f = report_add(r, text);
	f->value = all_tried / all;
	f->unit = "masks";
}

static int report_rules(struct report *r, struct dp *dp, const char *what, struct mask_hits hits[PERIODS][MASKS_MAX],
			struct error *e)
{
	CLEANUP_FREE struct mask_array *array = malloc(sizeof(*array));
	__u64 scores[MASKS_MAX];

	for (unsigned int n = 0; n < ARRAY_SIZE(rules); n++) {
		unsigned int parts = rules[n].cached_per_walked;
		struct rebalance_gain gain;
		char text[64];

		if (!array || dp_mask_array(dp, CLASS_IPV4_UDP, array))
			return error_set(e, ENOMEM, "masks cannot be read");
		for (unsigned int id = 0; id < MASKS_MAX; id++) {
			const struct mask_hits *h = &hits[0][id];

			scores[id] = h->walked + (parts ? (h->all - h->walked) / parts : 0);
		}
		if (n)
			rebalance_array(array, scores, &gain);
		snprintf(text, sizeof(text), "%s, %s", what, rules[n].name);
		add_figures(r, text, array, hits[1]);
	}
	return 0;
}

static int try_rules(struct report *r, const struct mix *m, const char *traffic, __u32 cache_size, __u32 frames,
		     struct error *e)
{
	CLEANUP_FREE struct mask_hits(*hits)[MASKS_MAX] = calloc(PERIODS, sizeof(*hits));
	struct bench_mix_bpf *program = NULL;
	struct dp *dp = NULL;
	char name[16], what[32];
	struct jobs jobs = {};
	__u32 ifindex;
	int err;

	snprintf(name, sizeof(name), "r%.4s%u", traffic, cache_size);
	snprintf(what, sizeof(what), "%s, cache of %u", traffic, cache_size);
	err = hits ? rig_add_own_datapath(name, &dp, &ifindex, e) : error_set(e, ENOMEM, "out of memory");
	if (!err)
		err = mix_add_flows(m, dp, e);
	if (!err)
		err = mix_load(m, dp->prog_fd, frames, &program, e);
	if (!err) {
		struct job *j = jobs_add(&jobs, what, bpf_program__fd(program->progs.mix), TC_ACT_REDIRECT, frames);

		j->ifindex = ifindex;
		dp->info->cache_size = cache_size;
		err = job_run(j, frames, e);
		for (unsigned int i = 0; !err && i < PERIODS; i++)
			err = count_period(dp, j, m, program, 1 + i, hits[i], e);
	}
	if (!err)
		err = report_rules(r, dp, what, hits, e);
	bench_mix_bpf__destroy(program);
	dp_close(&dp);
	return err;
}

/* Half of all frames are of four flows in four masks, and the other masks share the rest. */
static void make_elephants(struct mix *m)
{
	order_make_mix(m, ORDER_EVEN);
	for (unsigned int i = 0; i < 4; i++)
		m->weight[i] = MIX_FLOWS_MAX / 4;
	for (unsigned int i = 4; i < m->flow_count; i++)
		m->mask_of[i] = 4 + i % (MIX_MASKS_MAX - 4);
	for (unsigned int i = 0; i < 4; i++)
		m->mask_of[i] = i;
	mix_hot_masks_last(m);
}

int bench_rules(const struct options *o, struct report *r, struct error *e)
{
	CLEANUP_FREE struct mix *m = malloc(sizeof(*m));
	int err = m ? 0 : error_set(e, ENOMEM, "out of memory");

	for (unsigned int t = 0; !err && t <= ORDER_TRAFFICS; t++) {
		if (t < ORDER_TRAFFICS)
			order_make_mix(m, t);
		else
			make_elephants(m);
		for (unsigned int i = 0; !err && i < ARRAY_SIZE(cache_sizes); i++)
			err = try_rules(r, m, t < ORDER_TRAFFICS ? order_traffic_names[t] : "elephants", cache_sizes[i],
					o->frames, e);
	}
	return err;
}
