// SPDX-License-Identifier: GPL-2.0-only
#include "table_check.h"

#include <bpf/bpf.h>
#include <string.h>

#include "flow_hash.h"
#include "mask_table.h"
#include "slots.h"

__u64 hash_of(struct world *w, __u32 mask_id, const struct flow_key *masked)
{
	const struct mask *m = &w->dp->masks[mask_id].mask;

	return flow_hash((const __u64 *)masked, (const __u64 *)&m->key, m->words, m->seed);
}

int mask_position(struct world *w, enum packet_class class, __u32 id)
{
	CLEANUP_FREE struct mask_array *array = calloc(1, sizeof(*array));

	assert_int_equal(dp_mask_array(w->dp, class, array), 0);
	for (__u32 i = 0; i < array->count; i++)
		if (array->mask[i].id == id)
			return (int)i;
	return -1;
}

__u32 published(struct world *w)
{
	__u64 hash, *prev = NULL;
	__u32 n = 0;

	for (; !bpf_map_get_next_key(w->dp->map_fd[DP_MAP_FLOWS], prev, &hash); prev = &hash)
		n++;
	return n;
}

/* What the flows say about their masks and action slots. */
struct seen {
	__u32 mask_flows[MASKS_MAX];
	__u32 class_flows[MASKS_MAX][PACKET_CLASSES_END];
	__u32 action_slots;
};

/* A list that stands in the action pages: all of it is in use. */
static __u32 check_actions(struct world *w, struct flow *flow)
{
	struct flow_action *list = dp_actions(w->dp, flow);
	__u32 n = 0;

	assert_non_null(list);
	while (list[n].type != ACTION_END)
		n++;
	assert_int_equal(flow->action_count, n);
	if (flow->actions == ACTIONS_INLINE)
		return 0;
	for (__u32 i = 0; i <= n; i++)
		assert_int_equal(slot_state(w->dp->action_slots, flow->actions + i), SLOT_USED);
	return n + 1;
}

static void check_filter(struct world *w, __u64 hash)
{
	__u64 filter = w->dp->info->filter, bits = filter_bits(hash);

	if (filter)
		assert_int_equal(w->dp->filter[filter_word(hash, filter)] & bits, bits);
}

static void check_flow(struct world *w, __u64 hash, struct seen *seen)
{
	struct flow *flow;
	__u32 slot, classes;

	assert_int_equal(bpf_map_lookup_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &slot), 0);
	flow = dp_flow(w->dp, slot);
	assert_non_null(flow);
	assert_int_equal(slot_state(w->dp->flow_slots, slot), SLOT_USED);
	assert_int_equal(flow->hash, hash);
	assert_int_equal(hash_of(w, flow->mask_id, &flow->key), hash);
	check_filter(w, hash);
	seen->action_slots += check_actions(w, flow);
	seen->mask_flows[flow->mask_id]++;
	classes = match_classes(&flow->key, &w->dp->masks[flow->mask_id].mask.key);
	for (__u32 c = 0; c < PACKET_CLASSES_END; c++)
		seen->class_flows[flow->mask_id][c] += classes >> c & 1;
}

static void check_class(struct world *w, enum packet_class class, const struct seen *seen)
{
	CLEANUP_FREE struct mask_array *array = calloc(1, sizeof(*array));
	__u32 expected = 0;

	assert_int_equal(dp_mask_array(w->dp, class, array), 0);
	for (__u32 id = 0; id < MASKS_MAX; id++)
		expected += !!seen->class_flows[id][class];
	assert_int_equal(array->count, expected);
	assert_int_equal(w->dp->info->first_mask[class], expected ? array->mask[0].id : MASK_NONE);
	for (__u32 i = 0; i < array->count; i++) {
		__u32 id = array->mask[i].id;

		assert_int_not_equal(seen->class_flows[id][class], 0);
		assert_memory_equal(&array->mask[i], &w->dp->masks[id].mask, sizeof(struct mask));
	}
}

void assert_tables(struct world *w, __u32 flows, __u32 masks)
{
	struct dp *dp = w->dp;
	CLEANUP_FREE struct seen *seen = calloc(1, sizeof(*seen));
	__u64 hash, *prev = NULL;
	__u32 used = 0;

	for (; !bpf_map_get_next_key(dp->map_fd[DP_MAP_FLOWS], prev, &hash); prev = &hash)
		check_flow(w, hash, seen);
	for (__u32 id = 0; id < MASKS_MAX; id++) {
		const struct mask_info *info = &dp->masks[id];

		used += !!info->flows;
		assert_int_equal(info->flows, seen->mask_flows[id]);
		assert_false(info->flows && info->retired);
		assert_memory_equal(info->class_flows, seen->class_flows[id], sizeof(info->class_flows));
	}
	for (__u32 class = 0; class < PACKET_CLASSES_END; class ++)
		check_class(w, class, seen);
	assert_int_equal(published(w), flows);
	assert_int_equal(dp->info->flows, flows);
	assert_int_equal(used, masks);
	assert_int_equal(slots_count(dp->flow_slots, dp->info->flow_page_count, SLOT_USED), flows);
	assert_int_equal(slots_count(dp->action_slots, dp->info->action_page_count, SLOT_USED), seen->action_slots);
}
