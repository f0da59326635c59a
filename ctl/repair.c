// SPDX-License-Identifier: GPL-2.0-only
#include "repair.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "flow_hash.h"
#include "mask_table.h"
#include "slots.h"
#include "util.h"

/* What was reachable is found out by walking flows; whatever is used now and was not found is unreachable. */
static void retire_all(struct slot_page *pages, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		for (__u32 j = 0; j < PAGE_SLOTS; j++)
			if (pages[i].state[j] == SLOT_USED)
				pages[i].state[j] = SLOT_RETIRED;
}

static void forget_mask_users(struct dp *dp)
{
	for (__u32 id = 0; id < MASKS_MAX; id++) {
		struct mask_info *info = &dp->masks[id];

		if (info->flows)
			info->retired = 1;
		info->flows = 0;
		memset(info->class_flows, 0, sizeof(info->class_flows));
	}
}

static __u32 count_actions(const struct flow_action *a)
{
	__u32 n = 0;

	while (a && n < FLOW_ACTIONS_MAX && a[n].type != ACTION_END)
		n++;
	return n;
}

/* An entry that was alive before it was published, or still is: a CPU's cache may name its slot. */
static void kill_unreachable(struct dp *dp)
{
	for (__u32 slot = 0; slot < dp->info->flow_page_count * PAGE_SLOTS; slot++)
		if (slot_state(dp->flow_slots, slot) == SLOT_RETIRED)
			__atomic_store_n(&dp_flow(dp, slot)->mask_id, FLOW_DEAD, __ATOMIC_RELEASE);
}

static void take_flow(struct dp *dp, struct flow *flow, __u32 slot)
{
	struct mask_info *mask = &dp->masks[flow->mask_id];

	slots_set(dp->flow_slots, slot, 1, SLOT_USED);
	/* The list says itself where it ends; the count may be the one of the list before. */
	flow->action_count = count_actions(dp_actions(dp, flow));
	if (flow->actions != ACTIONS_INLINE)
		slots_set(dp->action_slots, flow->actions, flow->action_count + 1, SLOT_USED);
	mask->retired = 0;
	mask_ref(mask, match_classes(&flow->key, &mask->mask.key));
	dp->info->flows++;
}

/* A list of hashes that grows. */
struct hashes {
	__u64 *hash;
	size_t count;
};

static int hashes_add(struct hashes *h, __u64 hash)
{
	__u64 *grown;

	if (h->count % 1024 == 0) {
		grown = realloc(h->hash, (h->count + 1024) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		h->hash = grown;
	}
	h->hash[h->count++] = hash;
	return 0;
}

/*
 * One element of flows.  A new seed may have been half distributed: the element under the mask's present seed is the
 * right one and is put in if missing; the others go when the mask arrays have been swapped.
 */
static int repair_flow(struct dp *dp, __u64 hash, struct hashes *stale)
{
	struct mask_info *mask;
	struct flow *flow;
	__u64 right;
	__u32 slot;

	if (bpf_map_lookup_elem(dp->map_fd[DP_MAP_FLOWS], &hash, &slot))
		return errno == ENOENT ? 0 : -errno;
	flow = slot < dp->info->flow_page_count * PAGE_SLOTS ? dp_flow(dp, slot) : NULL;
	if (!flow || flow->mask_id >= MASKS_MAX)
		return hashes_add(stale, hash);
	mask = &dp->masks[flow->mask_id];
	right = flow_hash((__u64 *)&flow->key, (__u64 *)&mask->mask.key, mask->mask.words, mask->mask.seed);
	flow->hash = right;
	if (right != hash) {
		if (bpf_map_update_elem(dp->map_fd[DP_MAP_FLOWS], &right, &slot, BPF_NOEXIST) && errno != EEXIST)
			return -errno;
		if (hashes_add(stale, hash))
			return -ENOMEM;
	}
	if (slot_state(dp->flow_slots, slot) != SLOT_USED)
		take_flow(dp, flow, slot);
	return 0;
}

static int repair_flows(struct dp *dp, struct hashes *stale)
{
	int fd = dp->map_fd[DP_MAP_FLOWS], err = 0;
	struct hashes all = {};
	__u64 hash, *prev = NULL;

	while (!err && !bpf_map_get_next_key(fd, prev, &hash)) {
		err = hashes_add(&all, hash);
		prev = all.hash + all.count - 1;
	}
	/* Only this errno says that there are no more; what is not seen here would be taken for unreachable. */
	if (!err && errno != ENOENT)
		err = -errno;
	for (size_t i = 0; !err && i < all.count; i++)
		err = repair_flow(dp, all.hash[i], stale);
	free(all.hash);
	return err;
}

int repair_tables(struct dp *dp, struct error *e)
{
	struct hashes stale = {};
	int err;

	retire_all(dp->flow_slots, dp->info->flow_page_count);
	retire_all(dp->action_slots, dp->info->action_page_count);
	forget_mask_users(dp);
	dp->info->flows = 0;
	dp->info->retired = 1;
	err = repair_flows(dp, &stale);
	if (!err)
		kill_unreachable(dp);
	if (err) {
		error_set(e, -err, "datapath %s: repair after a killed command failed (%s)", dp->name, strerror(-err));
	} else {
		dp->stale_classes = (1U << PACKET_CLASSES_END) - 1;
		err = dp_commit(dp, e);
	}
	if (!err && dp->info->filter)
		err = filter_rebuild(dp, 0, e);
	for (size_t i = 0; !err && i < stale.count; i++)
		bpf_map_delete_elem(dp->map_fd[DP_MAP_FLOWS], &stale.hash[i]);
	free(stale.hash);
	return err;
}
