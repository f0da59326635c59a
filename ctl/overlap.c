// SPDX-License-Identifier: GPL-2.0-only
#include "overlap.h"

#include <errno.h>
#include <string.h>

#include "flow_bulk.h"
#include "flow_table.h"
#include "mask_table.h"
#include "match_text.h"
#include "overlap_index.h"
#include "overlap_set.h"
#include "slots.h"
#include "util.h"

enum {
	/* An index costs as much as some scans. */
	SCANS_BEFORE_INDEX = 4,
	/* Of the machine's memory, for hash tables; flows of 64 masks take a kilobyte each if no bit is in all masks. */
	MEMORY_PARTS = 4,
	/* What a refusal has room for beside its own words. */
	FLOW_TEXT_SIZE = 360,
};

struct overlap {
	struct overlap_index *index; /* NULL = not worth it yet, or memory was short */
	unsigned int scans;
};

/* A flow as it is to be. */
struct contender {
	const struct flow_key *key;
	const struct flow_key *mask;
	const struct action_list *actions;
};

static bool has_actions(struct dp *dp, struct flow *flow, const struct action_list *list)
{
	return flow->action_count == list->count &&
	       !memcmp(dp_actions(dp, flow), list->action, list->count * sizeof(list->action[0]));
}

/* Flows of the contender's own mask are passed by: with another key they differ in a bit of it. */
static __u32 scan(struct dp *dp, const struct contender *c)
{
	__u32 own = mask_find(dp->masks, MASKS_MAX, c->mask), slot;

	for (slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		struct flow *flow = dp_flow(dp, slot);

		if (flow->mask_id != own &&
		    overlap_keys(c->key, c->mask, &flow->key, &dp->masks[flow->mask_id].mask.key) &&
		    !has_actions(dp, flow, c->actions))
			break;
	}
	return slot;
}

static size_t index_room(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (size_t)pages / MEMORY_PARTS * size : 0;
}

static __u32 find(struct dp *dp, const struct contender *c)
{
	struct overlap *o = dp->overlap;

	/* Made once: after that it is there, or memory was short. */
	if (o && ++o->scans == SCANS_BEFORE_INDEX)
		o->index = overlap_index_make(dp, index_room());
	if (!o || !o->index)
		return scan(dp, c);
	return overlap_index_find(o->index, c->key, c->mask, flow_bulk_mask(dp, c->mask), c->actions->action);
}

/* As dump-flows has it; a flow too long for a refusal goes by its UFID, which the commands take as well. */
static void flow_text(struct dp *dp, __u32 slot, char *text, size_t size)
{
	static const struct match_style plain;
	struct flow *flow = dp_flow(dp, slot);
	char uuid[UUID_TEXT_SIZE];
	struct match match;
	long len;
	FILE *out = fmemopen(text, size, "w");

	flow_match(dp, flow, &match);
	if (out) {
		match_print(out, &match, &plain);
		fputs(", actions:", out);
		actions_print(out, dp_actions(dp, flow), NULL);
		len = ftell(out);
		if (!fclose(out) && len > 0 && (size_t)len < size)
			return;
	}
	snprintf(text, size, "ufid:%s", uuid_format(flow->ufid, uuid));
}

static int refuse(struct dp *dp, __u32 other, struct error *e)
{
	char text[FLOW_TEXT_SIZE];

	flow_text(dp, other, text, sizeof(text));
	return error_set(
		e, EEXIST,
		"updating flow table (File exists): overlaps flow %s; delete that one, or take both with --overlap",
		text);
}

int overlap_check_new(struct dp *dp, const struct match *match, const struct action_list *actions, struct error *e)
{
	struct contender c = { .key = &match->key, .mask = &match->mask, .actions = actions };
	__u32 other = find(dp, &c), same;

	return other == SLOT_NONE || !flow_find(dp, match, &same) ? 0 : refuse(dp, other, e);
}

int overlap_check_change(struct dp *dp, __u32 slot, const struct action_list *actions, struct error *e)
{
	struct flow *flow = dp_flow(dp, slot);
	struct contender c = { &flow->key, &dp->masks[flow->mask_id].mask.key, actions };
	__u32 other = has_actions(dp, flow, actions) ? SLOT_NONE : find(dp, &c);

	return other == SLOT_NONE ? 0 : refuse(dp, other, e);
}

void overlap_begin(struct dp *dp)
{
	dp->overlap = calloc(1, sizeof(*dp->overlap));
}

static void drop_index(struct dp *dp)
{
	overlap_index_free(dp->overlap->index);
	dp->overlap->index = NULL;
}

void overlap_end(struct dp *dp)
{
	if (!dp || !dp->overlap)
		return;
	drop_index(dp);
	free(TAKE_PTR(dp->overlap));
}

static struct overlap_index *index_of(struct dp *dp)
{
	return dp->overlap ? dp->overlap->index : NULL;
}

void overlap_prefetch(struct dp *dp, const struct flow_key *key)
{
	if (index_of(dp))
		overlap_index_prefetch(dp->overlap->index, key);
}

void overlap_added(struct dp *dp, __u32 slot)
{
	if (index_of(dp) && overlap_index_add(dp->overlap->index, dp, slot))
		drop_index(dp);
}

void overlap_removed(struct dp *dp, __u32 slot)
{
	if (index_of(dp))
		overlap_index_remove(dp->overlap->index, dp, slot);
}

void overlap_changed(struct dp *dp, __u32 slot)
{
	overlap_removed(dp, slot);
	overlap_added(dp, slot);
}
