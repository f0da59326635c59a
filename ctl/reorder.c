// SPDX-License-Identifier: GPL-2.0-only
#include "reorder.h"

#include <errno.h>
#include <string.h>

#include "filter.h"
#include "stats.h"
#include "util.h"

enum {
	/* A hit that tried masks says more about the order than so many that the cache answered. */
	CACHED_PER_WALKED = 16,
	/* A mask that is a moment old has had no time to show its rate: it counts as this part of a period old. */
	AGE_PARTS = 8,
};

/* Hits as they would have been in a whole period. */
static __u64 scaled(__u64 hits, __u64 age, __u64 period)
{
	if (age >= period)
		return hits;
	if (age < period / AGE_PARTS + 1)
		age = period / AGE_PARTS + 1;
	return (double)hits * period / age;
}

/* Closes a mask's period and returns what orders it. */
static __u64 close_period(struct mask_info *info, const struct mask_hits *sum, __u64 began, __u64 now)
{
	__u64 score, since = info->since_ns > began ? info->since_ns : began;

	info->period.all = sum->all - info->base.all;
	info->period.walked = sum->walked - info->base.walked;
	info->base = *sum;
	score = info->period.walked + (info->period.all - info->period.walked) / CACHED_PER_WALKED;
	return scaled(score, now - since, now - began);
}

static int read_scores(struct dp *dp, __u64 *scores, struct error *e)
{
	CLEANUP_FREE struct mask_hits *sums = calloc(MASKS_MAX, sizeof(*sums));
	__u64 now = clock_ns(CLOCK_MONOTONIC);
	int err = sums ? stats_all_mask_hits(dp, sums) : -ENOMEM;

	if (err)
		return error_set(e, -err, "mask hits of %s: cannot be read (%s)", dp->name, strerror(-err));
	for (__u32 id = 0; id < MASKS_MAX; id++)
		if (dp->masks[id].flows)
			scores[id] = close_period(&dp->masks[id], &sums[id], dp->info->period_ns, now);
	dp->info->period_ns = now;
	return 0;
}

int reorder_masks(struct dp *dp, struct reorder *r, struct error *e)
{
	CLEANUP_FREE struct mask_array *array = malloc(sizeof(*array));
	CLEANUP_FREE __u64 *scores = calloc(MASKS_MAX, sizeof(*scores));
	int err = array && scores ? read_scores(dp, scores, e) : error_set(e, ENOMEM, "out of memory");

	memset(r, 0, sizeof(*r));
	for (__u32 class = 0; !err && class < PACKET_CLASSES_END; class ++) {
		struct reorder_class *c = &r->class[class];

		err = dp_mask_array(dp, class, array);
		if (err)
			return error_set(e, -err, "masks of %s: cannot be read (%s)", dp->name, strerror(-err));
		c->masks = array->count;
		c->moved = rebalance_array(array, scores, &c->gain);
		if (c->moved)
			err = dp_swap_order(dp, class, array, e);
	}
	if (!err && filter_is_stale(dp))
		err = filter_rebuild(dp, 0, e);
	return err;
}
