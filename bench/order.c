// SPDX-License-Identifier: GPL-2.0-only
#include "order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "reorder.h"
#include "rig.h"
#include "stats.h"
#include "util.h"

const char *const order_traffic_names[ORDER_TRAFFICS] = { "Zipf", "dealt", "even" };

static const __u32 cache_sizes[ORDER_CACHES] = { 0, 256, 4096 };
static const char *const when_names[] = { "before", "after" };

/* --- traffic ---------------------------------------------------------------------------------------------------- */

/* The mask of a flow: few masks have most flows. */
static unsigned int draw_mask(const double *sum, __u64 *seed)
{
	double at = mix_random(seed) * sum[MIX_MASKS_MAX - 1];
	unsigned int mask = 0;

	while (mask < MIX_MASKS_MAX - 1 && sum[mask] <= at)
		mask++;
	return mask;
}

void order_make_mix(struct mix *m, enum order_traffic traffic)
{
	double sum[MIX_MASKS_MAX];
	__u64 seed = MIX_SEED;

	for (unsigned int i = 0; i < MIX_MASKS_MAX; i++)
		sum[i] = pow(i + 1, -1.1) + (i ? sum[i - 1] : 0);
	m->flow_count = MIX_FLOWS_MAX;
	m->mask_count = MIX_MASKS_MAX;
	for (unsigned int i = 0; i < m->flow_count; i++) {
		m->weight[i] = traffic == ORDER_EVEN ? 1 : pow(i + 1, -1.1);
		/* The first flows make sure that there are all masks. */
		m->mask_of[i] = traffic == ORDER_ZIPF && i >= MIX_MASKS_MAX ? draw_mask(sum, &seed) : i % MIX_MASKS_MAX;
	}
	mix_hot_masks_last(m);
}

/* --- cases ------------------------------------------------------------------------------------------------------ */

/* A whole mix, and what it did to the counters. */
static int count_mix(struct order_case *c, struct error *e)
{
	struct dp_counters before, after;
	int err = stats_counters(c->dp, &before, e);

	if (!err)
		err = job_run(c->job, c->job->repeat, e);
	if (!err)
		err = stats_counters(c->dp, &after, e);
	if (err)
		return err;
	if (after.hit - before.hit != c->job->repeat)
		return error_set(e, EPROTO, "%s: %u frames made %llu hits", c->job->what, c->job->repeat,
				 after.hit - before.hit);
	c->tried = (double)(after.mask_hit - before.mask_hit) / c->job->repeat;
	return 0;
}

static int add_case(struct order_case *c, const struct mix *m, const char *name, const char *what, __u32 cache_size,
		    struct jobs *jobs, __u32 frames, struct error *e)
{
	__u32 ifindex;
	int err = rig_add_own_datapath(name, &c->dp, &ifindex, e);

	if (!err)
		err = mix_add_flows(m, c->dp, e);
	if (!err)
		err = mix_load(m, c->dp->prog_fd, frames, &c->program, e);
	if (err)
		return err;
	c->job = jobs_add(jobs, what, bpf_program__fd(c->program->progs.mix), TC_ACT_REDIRECT, frames);
	c->job->ifindex = ifindex;
	c->dp->info->cache_size = cache_size;
	/* Warms the cache, and gives the controller what to look at. */
	return job_run(c->job, frames, e);
}

static int add_pair(struct order *d, const struct mix *m, enum order_traffic t, unsigned int cache, struct jobs *jobs,
		    __u32 frames, struct error *e)
{
	int err = 0;

	for (unsigned int after = 0; !err && after < 2; after++) {
		struct order_case *c = &d->of[t][cache][after];
		char name[16], what[48];
		struct reorder moved;

		snprintf(name, sizeof(name), "o%u_%u_%u", t, cache, after);
		snprintf(what, sizeof(what), "%s, cache of %u, %s a rebalance", order_traffic_names[t],
			 cache_sizes[cache], when_names[after]);
		err = add_case(c, m, name, what, cache_sizes[cache], jobs, frames, e);
		if (!err && after)
			err = reorder_masks(c->dp, &moved, e);
		if (!err)
			err = count_mix(c, e);
		if (!err)
			rig_release(c->dp);
	}
	return err;
}

int order_add(struct order *d, struct jobs *jobs, const struct options *o, int bare_fd, struct error *e)
{
	CLEANUP_FREE struct mix *m = malloc(sizeof(*m));
	int err = m ? 0 : error_set(e, ENOMEM, "out of memory");

	for (unsigned int t = 0; !err && t < o->traffics; t++) {
		order_make_mix(m, t);
		for (unsigned int cache = 0; !err && cache < ORDER_CACHES; cache++)
			err = add_pair(d, m, t, cache, jobs, o->frames, e);
	}
	if (!err)
		err = mix_load(m, bare_fd, o->frames, &d->bare_program, e);
	if (!err)
		d->bare = jobs_add(jobs, "mixed frames, bare redirect", bpf_program__fd(d->bare_program->progs.mix),
				   TC_ACT_REDIRECT, o->frames);
	return err;
}

void order_free(struct order *d)
{
	struct order_case *c = &d->of[0][0][0];

	for (unsigned int i = 0; i < ORDER_CASES; i++) {
		bench_mix_bpf__destroy(c[i].program);
		dp_close(&c[i].dp);
	}
	bench_mix_bpf__destroy(d->bare_program);
}

/* Times, and in the place of R masks for a frame, which do not vary. */
void order_report(const struct order *d, struct report *r)
{
	const struct order_case(*zipf)[2] = d->of[ORDER_ZIPF];
	const struct order_case *c = &d->of[0][0][0];
	struct figure *f;

	report_time(r, d->bare->what, &d->bare->ns);
	for (unsigned int i = 0; i < ORDER_CASES; i++) {
		if (!c[i].job)
			continue;
		f = report_time(r, c[i].job->what, &c[i].job->ns);
		f->value = c[i].tried;
		f->unit = "masks";
	}
	f = report_add(r, "Zipf, masks for a frame, after a rebalance to before");
	f->value = zipf[0][1].tried / zipf[0][0].tried;
	f->unit = "x";
	figure_at_most(f, 1.0 / 3);
}
