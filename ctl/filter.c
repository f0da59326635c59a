// SPDX-License-Identifier: GPL-2.0-only
#include "filter.h"

#include <string.h>

#include "flow_hash.h"
#include "flow_table.h"
#include "slots.h"

#define WORD_BITS 64

static __u32 words_in_use(const struct datapath *info)
{
	return info->filter ? (__u32)info->filter + 1 : 0;
}

static void set_bits(struct dp *dp, __u64 filter, __u64 hash)
{
	__u64 *word = &dp->filter[filter_word(hash, filter)];

	/* One 64-bit store: a packet may read it at any moment. */
	__atomic_store_n(word, *word | filter_bits(hash), __ATOMIC_RELAXED);
}

bool filter_has_room(const struct dp *dp, __u32 n)
{
	const struct datapath *info = dp->info;
	__u32 words = words_in_use(info);

	return !words || words == info->filter_words_max ||
	       info->filter_flows + n <= words * (WORD_BITS / FILTER_BITS_PER_FLOW);
}

int filter_reserve(struct dp *dp, __u32 n, struct error *e)
{
	return filter_has_room(dp, n) ? 0 : filter_rebuild(dp, n, e);
}

void filter_set(struct dp *dp, __u64 hash, __u64 later)
{
	struct datapath *info = dp->info;

	if (!info->filter)
		return;
	__builtin_prefetch(&dp->filter[filter_word(later, info->filter)], 1);
	set_bits(dp, info->filter, hash);
	info->filter_flows++;
}

int filter_add(struct dp *dp, __u64 hash, struct error *e)
{
	int err = filter_reserve(dp, 1, e);

	if (!err)
		filter_set(dp, hash, hash);
	return err;
}

int filter_rebuild(struct dp *dp, __u32 more, struct error *e)
{
	struct datapath *info = dp->info;
	/* Room for twice as many, so that a growing table does not come back at once. */
	__u32 words = dp_filter_words(2 * (info->flows + more)), base = info->filter >> 32 ? 0 : info->filter_words_max;
	__u64 fresh;
	int err;

	if (words > info->filter_words_max)
		words = info->filter_words_max;
	/* The last reader of the other place may have started before the last change. */
	err = dp_grace_period(dp, e);
	if (err)
		return err;
	fresh = (__u64)base << 32 | (words - 1);
	memset(&dp->filter[base], 0, words * sizeof(*dp->filter));
	info->filter_flows = 0;
	for (__u32 slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		set_bits(dp, fresh, dp_flow(dp, slot)->hash);
		info->filter_flows++;
	}
	__atomic_store_n(&info->filter, fresh, __ATOMIC_RELEASE);
	return 0;
}

bool filter_is_stale(const struct dp *dp)
{
	return dp->info->filter && dp->info->filter_flows > 2 * dp->info->flows + FILTER_WORDS_MIN;
}
