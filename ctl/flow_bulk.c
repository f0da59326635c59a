// SPDX-License-Identifier: GPL-2.0-only
#include "flow_bulk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "filter.h"
#include "flow_hash.h"
#include "flow_table.h"
#include "mask_table.h"
#include "slots.h"
#include "util.h"

enum {
	LOOKUPS_MIN = 32,      /* before there is an index */
	FLOWS_PER_LOOKUP = 64, /* a look-up in the map costs as much as so many flows in making the index */
	SIZE_MIN = 1024,
	QUEUE = 4096,
	MASK_HINTS = 1024,
	PREFETCH = 16, /* words of the filter ahead */
};

/* Open addressing by the hash's low bits, which are as random as the others. */
struct index {
	__u32 size; /* a power of two */
	__u32 used;
	struct place {
		__u32 slot_plus_one; /* 0 = empty */
		__u32 tag;	     /* the hash's upper half, so that other flows need not be looked at */
	} place[];
};

struct flow_bulk {
	struct index *index;
	__u32 lookups;
	__u32 queued;
	__u64 hash[QUEUE];
	__u32 slot[QUEUE];
	__u16 mask_hint[MASK_HINTS]; /* mask ids by a hash of the mask: guesses */
	__u32 last_mask;	     /* that was found, and is mostly asked for again at once */
	__u64 ufid[2];		     /* where UFIDs began */
	__u64 ufids;
};

void flow_bulk_begin(struct dp *dp)
{
	dp->bulk = calloc(1, sizeof(*dp->bulk));
}

void flow_bulk_forget(struct dp *dp)
{
	if (dp->bulk)
		free(TAKE_PTR(dp->bulk->index));
}

int flow_bulk_end(struct dp *dp, struct error *e)
{
	int err = flow_bulk_flush(dp, e);

	flow_bulk_forget(dp);
	free(TAKE_PTR(dp->bulk));
	return err;
}

static void put(struct dp *dp, struct index *index, __u32 slot)
{
	__u64 hash = dp_flow(dp, slot)->hash;
	__u32 i = hash & (index->size - 1);

	while (index->place[i].slot_plus_one)
		i = (i + 1) & (index->size - 1);
	index->place[i] = (struct place){ .slot_plus_one = slot + 1, .tag = hash >> 32 };
	index->used++;
}

static struct index *build(struct dp *dp)
{
	struct index *index;
	__u32 size = SIZE_MIN, flows = dp->info->flows + 1;

	while (size < 4 * flows || size < 2 * (flows + dp->expected))
		size *= 2;
	index = calloc(1, sizeof(*index) + size * sizeof(index->place[0]));
	if (!index)
		return NULL;
	prefer_huge_pages(index, size * sizeof(index->place[0]));
	index->size = size;
	for (__u32 slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1))
		put(dp, index, slot);
	return index;
}

bool flow_bulk_ready(struct dp *dp)
{
	struct flow_bulk *b = dp->bulk;

	if (!b)
		return false;
	if (!b->index && ++b->lookups > LOOKUPS_MIN + dp->info->flows / FLOWS_PER_LOOKUP)
		b->index = build(dp);
	return b->index;
}

int flow_bulk_find(struct dp *dp, __u64 hash, __u32 *slot)
{
	const struct index *index = dp->bulk->index;

	for (__u32 i = hash & (index->size - 1); index->place[i].slot_plus_one; i = (i + 1) & (index->size - 1)) {
		if (index->place[i].tag != hash >> 32)
			continue;
		*slot = index->place[i].slot_plus_one - 1;
		/* A deleted flow's slot may be free, or have another flow by now. */
		if (slot_state(dp->flow_slots, *slot) == SLOT_USED && dp_flow(dp, *slot)->hash == hash)
			return 0;
	}
	return -ENOENT;
}

void flow_bulk_prefetch(const struct dp *dp, __u64 hash)
{
	const struct index *index = dp->bulk->index;

	__builtin_prefetch(&index->place[hash & (index->size - 1)], 1);
}

bool flow_bulk_has_index(const struct dp *dp)
{
	return dp->bulk && dp->bulk->index;
}

/* What is in the queue is found only by an index; without memory for a larger one, things go on one by one. */
static int publish_alone(struct dp *dp, __u32 slot, struct error *e)
{
	int err = flow_bulk_flush(dp, e);

	if (!err)
		err = filter_add(dp, dp_flow(dp, slot)->hash, e);
	if (!err && bpf_map_update_elem(dp->map_fd[DP_MAP_FLOWS], &dp_flow(dp, slot)->hash, &slot, BPF_NOEXIST))
		err = error_set(e, errno, "flow table of %s: no room (%s)", dp->name, strerror(errno));
	return err;
}

int flow_bulk_publish(struct dp *dp, __u32 slot, struct error *e)
{
	struct flow_bulk *b = dp->bulk;
	int err = 0;

	if (b->queued == QUEUE || !filter_has_room(dp, b->queued + 1))
		err = flow_bulk_flush(dp, e);
	/* For all that may come, if any makes it necessary: each time costs a grace period. */
	if (!err && !filter_has_room(dp, 1))
		err = filter_rebuild(dp, 1 + dp->expected / 2, e);
	if (err)
		return err;
	if (2 * b->index->used < b->index->size) {
		put(dp, b->index, slot);
	} else {
		free(b->index);
		b->index = build(dp);
	}
	if (!b->index)
		return publish_alone(dp, slot, e);
	b->hash[b->queued] = dp_flow(dp, slot)->hash;
	b->slot[b->queued++] = slot;
	return 0;
}

/* Those that the batch did not take; one that is refused alone, too, is taken out of all tables. */
static int publish_rest(struct dp *dp, __u32 from, __u32 to, struct error *e)
{
	struct flow_bulk *b = dp->bulk;
	int err = 0;

	for (__u32 i = from; i < to; i++) {
		if (!bpf_map_update_elem(dp->map_fd[DP_MAP_FLOWS], &b->hash[i], &b->slot[i], BPF_ANY))
			continue;
		err = error_set(e, errno, "flow table of %s: no room (%s)", dp->name, strerror(errno));
		flow_delete(dp, b->slot[i]);
	}
	return err;
}

int flow_bulk_flush(struct dp *dp, struct error *e)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	struct flow_bulk *b = dp->bulk;
	__u32 queued = b ? b->queued : 0, done = queued;

	if (!queued)
		return 0;
	b->queued = 0;
	/* All in a row, so that the words come from memory side by side; before packets can find the flows. */
	for (__u32 i = 0; i < queued; i++)
		filter_set(dp, b->hash[i], b->hash[i + PREFETCH < queued ? i + PREFETCH : i]);
	if (!bpf_map_update_batch(dp->map_fd[DP_MAP_FLOWS], b->hash, b->slot, &done, &opts))
		return 0;
	return publish_rest(dp, done < queued ? done : 0, queued, e);
}

__u32 flow_bulk_mask(struct dp *dp, const struct flow_key *mask)
{
	struct flow_bulk *b = dp->bulk;
	__u16 *hint;
	__u32 id;

	if (!b)
		return mask_find(dp->masks, MASKS_MAX, mask);
	if (mask_is(&dp->masks[b->last_mask], mask))
		return b->last_mask;
	hint = &b->mask_hint[flow_hash((const __u64 *)mask, (const __u64 *)mask, KEY_WORDS, 0) % MASK_HINTS];
	id = *hint;
	if (!mask_is(&dp->masks[id], mask))
		id = mask_find(dp->masks, MASKS_MAX, mask);
	if (id != MASK_NONE)
		b->last_mask = *hint = id;
	return id;
}

void flow_bulk_hint(struct dp *dp, __u32 mask_id)
{
	if (dp->bulk && mask_id != MASK_NONE)
		dp->bulk->last_mask = mask_id;
}

/* Early in boot it could block; never short for so few bytes otherwise (getrandom(2)). */
static void draw(void *out, size_t size)
{
	while (getrandom(out, size, 0) < 0)
		;
}

/* One to one, so that numbers which differ stay different; the finish of MurmurHash3. */
static __u64 scatter(__u64 x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

void flow_bulk_ufid(struct dp *dp, __u8 ufid[16])
{
	struct flow_bulk *b = dp->bulk;
	__u64 half[2];

	if (!b) {
		draw(ufid, 16);
		return;
	}
	if (!b->ufids++)
		draw(b->ufid, sizeof(b->ufid));
	half[0] = scatter(b->ufid[0] + b->ufids);
	half[1] = scatter(b->ufid[1] + b->ufids);
	memcpy(ufid, half, sizeof(half));
}
