// SPDX-License-Identifier: GPL-2.0-only
/*
 * When is a new order worth a swap?
 *
 * Sorting always finds some mask that was hit more often than one in front of it, if only by chance; traffic that is
 * spread evenly would get another order each period.  What counts is how many tries a new order would have saved.  With
 * N hits spread evenly over n masks, chance alone makes sorting seem to save about 0.28 n sqrt(n N) tries, the spread of
 * a Poisson count sorted; twice that is taken for a change of traffic.
 *
 * Example: 64 masks, a million hits.  Evenly spread, sorting seems to save 143000 of 32.5 million tries; the bound is
 * 256000.  A favourite with half of the hits that stands last saves 31 million.
 */
#include "rebalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
	__u64 hits;
	__u32 position; /* before */
};

/* Two comparisons and no difference: that would not fit an int, which is where the kernel's version goes wrong. */
static int by_hits(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

static bool worth_it(const struct rebalance_gain *gain, __u32 n)
{
	return gain->before - gain->after > 0.5 * n * sqrt(n * gain->hits);
}

bool rebalance_array(struct mask_array *array, const __u64 *hits, struct rebalance_gain *gain)
{
	struct ranked rank[MASKS_MAX];
	struct mask *sorted;

	memset(gain, 0, sizeof(*gain));
	for (__u32 i = 0; i < array->count; i++) {
		rank[i] = (struct ranked){ .hits = hits[array->mask[i].id], .position = i };
		gain->hits += rank[i].hits;
		gain->before += (double)rank[i].hits * (i + 1);
	}
	qsort(rank, array->count, sizeof(rank[0]), by_hits);
	for (__u32 i = 0; i < array->count; i++)
		gain->after += (double)rank[i].hits * (i + 1);
	if (!worth_it(gain, array->count))
		return false;
	sorted = calloc(array->count, sizeof(*sorted));
	if (!sorted)
		return false;
	for (__u32 i = 0; i < array->count; i++)
		sorted[i] = array->mask[rank[i].position];
	memcpy(array->mask, sorted, array->count * sizeof(*sorted));
	free(sorted);
	return true;
}
