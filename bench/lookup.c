// SPDX-License-Identifier: GPL-2.0-only
#include "lookup.h"

#include <errno.h>
#include <stdio.h>

#include <linux/pkt_cls.h>

#include "masks.h"
#include "reorder.h"
#include "rig.h"
#include "stats.h"
#include "util.h"

static const unsigned int mask_counts[LOOKUP_CASES] = { 1, 4, 16, 64, 256, 1024 };

enum {
	OF_1,
	OF_4,
	OF_16,
	OF_64,
	OF_256,
	OF_1024,
	FRAMES_TO_REORDER = 2000,
};

static struct job *add_job(struct jobs *jobs, const struct options *o, struct dp *dp, __u32 ifindex, const char *what)
{
	struct job *j = jobs_add(jobs, what, dp->prog_fd, TC_ACT_REDIRECT, o->repeat);

	j->ifindex = ifindex;
	j->info = dp->info;
	j->filter = dp->info->filter;
	return j;
}

/* Sends two frames through, and looks whether both tried that many masks together. */
static int check_tries(struct dp *dp, struct job *j, unsigned int expected, struct error *e)
{
	struct dp_counters before, after;
	__u64 hits, tried;
	int err = stats_counters(dp, &before, e);

	dp->info->filter = j->filter;
	dp->info->cache_size = j->cache_size;
	if (!err)
		err = job_run(j, 2, e);
	if (!err)
		err = stats_counters(dp, &after, e);
	if (err)
		return err;
	hits = after.hit - before.hit;
	tried = after.mask_hit - before.mask_hit;
	if (hits != 2 || tried != expected)
		return error_set(e, EPROTO, "%s: two frames made %llu hits and tried %llu masks", j->what, hits, tried);
	return 0;
}

/* One datapath, in which the mask is the last one and stays there. */
static int add_last(struct lookup_case *c, unsigned int n, struct jobs *jobs, const struct options *o, struct error *e)
{
	const char *place = n > 1 ? "last" : "first", *s = n > 1 ? "s" : "";
	char name[16], what[48];
	__u32 ifindex;
	int err;

	snprintf(name, sizeof(name), "last%u", n);
	err = rig_add_own_datapath(name, &c->dp, &ifindex, e);
	if (!err)
		err = masks_add(c->dp, n, e);
	if (err)
		return err;
	rig_release(c->dp);
	snprintf(what, sizeof(what), "hit in the %s of %u mask%s", place, n, s);
	c->filter = add_job(jobs, o, c->dp, ifindex, what);
	snprintf(what, sizeof(what), "hit in the %s of %u mask%s, no filter", place, n, s);
	c->no_filter = add_job(jobs, o, c->dp, ifindex, what);
	c->no_filter->filter = 0;
	/* Long enough with fewer repeats. */
	if (n > 16)
		c->filter->repeat = c->no_filter->repeat = o->repeat / n * 16;
	err = check_tries(c->dp, c->filter, 2 * n, e);
	if (!err)
		err = check_tries(c->dp, c->no_filter, 2 * n, e);
	if (err || (n != 1 && n != 256))
		return err;
	snprintf(what, sizeof(what), "hit in the %s of %u mask%s, cached", place, n, s);
	c->cached = add_job(jobs, o, c->dp, ifindex, what);
	c->cached->cache_size = CACHE_DEFAULT;
	return check_tries(c->dp, c->cached, n + 1, e);
}

/* Another one, which got its order by a rebalance. */
static int add_first(struct lookup_case *c, unsigned int n, struct jobs *jobs, const struct options *o, struct error *e)
{
	char name[16], what[48];
	struct reorder moved;
	__u32 ifindex;
	int err;

	snprintf(name, sizeof(name), "first%u", n);
	snprintf(what, sizeof(what), "the same of %u, after a rebalance", n);
	err = rig_add_own_datapath(name, &c->reordered, &ifindex, e);
	if (!err)
		err = masks_add(c->reordered, n, e);
	if (err)
		return err;
	c->reordered->info->cache_size = 0;
	c->first = add_job(jobs, o, c->reordered, ifindex, what);
	err = job_run(c->first, FRAMES_TO_REORDER, e);
	if (!err)
		err = reorder_masks(c->reordered, &moved, e);
	rig_release(c->reordered);
	return err ? err : check_tries(c->reordered, c->first, 2, e);
}

int lookup_add(struct lookup *l, struct jobs *jobs, const struct options *o, struct error *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < LOOKUP_CASES; i++) {
		err = add_last(&l->of[i], mask_counts[i], jobs, o, e);
		if (!err && mask_counts[i] > 1)
			err = add_first(&l->of[i], mask_counts[i], jobs, o, e);
	}
	return err;
}

void lookup_free(struct lookup *l)
{
	for (unsigned int i = 0; i < LOOKUP_CASES; i++) {
		dp_close(&l->of[i].dp);
		dp_close(&l->of[i].reordered);
	}
}

/* From the last of so many masks to the last of more. */
static void report_further_mask(struct report *r, const char *what, const struct job *few, const struct job *many,
				double masks, double limit)
{
	struct samples each = {};
	struct figure *f;

	for (unsigned int i = 0; i < few->ns.count; i++)
		samples_add(&each, (many->ns.value[i] - few->ns.value[i]) / masks);
	f = report_time(r, what, &each);
	f->ns = (samples_quantile(&many->ns, 0) - samples_quantile(&few->ns, 0)) / masks;
	f->value = f->ns / r->r_ns;
	if (limit)
		figure_at_most(f, limit);
}

void lookup_report(const struct lookup *l, struct report *r)
{
	const struct lookup_case *c = l->of;

	for (unsigned int i = 0; i < LOOKUP_CASES; i++) {
		struct figure *f = report_time(r, c[i].filter->what, &c[i].filter->ns);

		if (i == OF_1)
			figure_at_most(f, 5);
		report_time(r, c[i].no_filter->what, &c[i].no_filter->ns);
		if (c[i].first)
			report_time(r, c[i].first->what, &c[i].first->ns);
		if (c[i].cached)
			report_time(r, c[i].cached->what, &c[i].cached->ns);
	}
	report_further_mask(r, "each further mask, to 256", c[OF_1].filter, c[OF_256].filter, 255, 0.65);
	report_further_mask(r, "each further mask, 256 to 1024", c[OF_256].filter, c[OF_1024].filter, 768, 0.65);
	report_further_mask(r, "each further mask, to 256, no filter", c[OF_1].no_filter, c[OF_256].no_filter, 255,
			    1.1);
	report_further_mask(r, "each further mask, 256 to 1024, no filter", c[OF_256].no_filter, c[OF_1024].no_filter,
			    768, 0);
	figure_at_most(report_best_ratio(r, "cached, of 256 masks to of 1", &c[OF_256].cached->ns, &c[OF_1].cached->ns),
		       1.2);
	figure_at_least(report_best_ratio(r, "last of 64 masks, before a rebalance to after", &c[OF_64].filter->ns,
					  &c[OF_64].first->ns),
			8);
}
