// SPDX-License-Identifier: GPL-2.0-only
#include "flow_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "action_check.h"
#include "filter.h"
#include "flow_bulk.h"
#include "flow_hash.h"
#include "mask_table.h"
#include "overlap.h"
#include "slots.h"
#include "stats.h"
#include "ufid_index.h"
#include "util.h"

/* A mask gets another seed when two of its flows collide; so often in a row can only be a fault of ours. */
#define RESEEDS_MAX 16

static __u64 mask_hash(const struct mask *mask, const struct flow_key *key)
{
	return flow_hash((const __u64 *)key, (const __u64 *)&mask->key, mask->words, mask->seed);
}

/* Early in boot it could block; never short for so few bytes otherwise (getrandom(2)). */
static __u64 random_seed(void)
{
	__u64 seed;

	while (getrandom(&seed, sizeof(seed), 0) < 0)
		;
	return seed;
}

static bool slot_by_hash(struct dp *dp, __u64 hash, __u32 *slot)
{
	if (flow_bulk_ready(dp))
		return !flow_bulk_find(dp, hash, slot);
	return !bpf_map_lookup_elem(dp->map_fd[DP_MAP_FLOWS], &hash, slot);
}

static bool same_flow(const struct flow *flow, __u32 mask_id, const struct flow_key *masked)
{
	return flow && flow->mask_id == mask_id && !memcmp(&flow->key, masked, sizeof(*masked));
}

/* *mask_id is that of the match's mask, or MASK_NONE, whether there is a flow or not. */
static int find_with_mask(struct dp *dp, const struct match *match, __u32 *mask_id, __u32 *slot)
{
	struct flow_key masked;

	*mask_id = MASK_NONE;
	if (match->has_ufid && !match->present)
		return ufid_find(dp, match->ufid, slot);
	/* What cannot be matched is not installed. */
	if (match->foreign)
		return -ENOENT;
	*mask_id = flow_bulk_mask(dp, &match->mask);
	if (*mask_id == MASK_NONE)
		return -ENOENT;
	key_apply_mask(&masked, &match->key, &match->mask);
	if (!slot_by_hash(dp, mask_hash(&dp->masks[*mask_id].mask, &masked), slot))
		return -ENOENT;
	return same_flow(dp_flow(dp, *slot), *mask_id, &masked) ? 0 : -ENOENT;
}

int flow_find(struct dp *dp, const struct match *match, __u32 *slot)
{
	__u32 mask_id;

	return find_with_mask(dp, match, &mask_id, slot);
}

__u32 flow_prefetch(struct dp *dp, const struct match *match)
{
	__u32 id;

	if (!flow_bulk_has_index(dp) || !match->present)
		return MASK_NONE;
	id = flow_bulk_mask(dp, &match->mask);
	if (id != MASK_NONE)
		flow_bulk_prefetch(dp, mask_hash(&dp->masks[id].mask, &match->key));
	overlap_prefetch(dp, &match->key);
	return id;
}

/*
 * Files all flows of a mask under a new seed.  The old elements stay until the mask arrays with the new seed are in
 * place, so that no packet misses; a kill at any point leaves both or one, and dp_repair() knows which is right.
 * -EAGAIN: a collision under the new seed, too.
 */
static int reseed_mask(struct dp *dp, struct mask_info *info, struct error *e)
{
	struct mask mask = info->mask;
	int fd = dp->map_fd[DP_MAP_FLOWS], err = 0;
	__u32 slot, end = SLOT_NONE;

	err = filter_reserve(dp, info->flows, e);
	if (err)
		return err;
	mask.seed = random_seed();
	for (slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		struct flow *flow = dp_flow(dp, slot);
		__u64 hash = mask_hash(&mask, &flow->key);

		if (flow->mask_id != mask.id)
			continue;
		err = filter_add(dp, hash, e);
		if (!err && bpf_map_update_elem(fd, &hash, &slot, BPF_NOEXIST))
			err = errno == EEXIST
				      ? -EAGAIN
				      : error_set(e, errno, "flow table of %s: no room to file a mask anew (%s)",
						  dp->name, strerror(errno));
		if (err) {
			end = slot;
			break;
		}
	}
	if (!err) {
		info->mask.seed = mask.seed;
		for (__u32 class = 0; class < PACKET_CLASSES_END; class ++)
			dp->stale_classes |= !!info->class_flows[class] << class;
		err = dp_commit(dp, e);
		/* Some classes have the new seed, some the old one: both elements are needed until a repair has made it one. */
		if (err)
			return err;
	}
	/* Take out what does not count: the old elements, or the new ones if we could not go through with it. */
	for (slot = flow_next(dp, 0); slot != end && slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		struct flow *flow = dp_flow(dp, slot);
		__u64 fresh = mask_hash(&mask, &flow->key);

		if (flow->mask_id != mask.id)
			continue;
		bpf_map_delete_elem(fd, err ? &fresh : &flow->hash);
		if (!err)
			flow->hash = fresh;
	}
	return err;
}

/* What a kind of slots needs to be claimed. */
struct slot_kind {
	struct slot_page *pages;
	const __u32 *page_count;
	int (*add_page)(struct dp *dp, struct error *e);
};

/* n free slots in a row.  What waits is reused before the table grows: a grace period costs a millisecond, a page more. */
static int claim_slots(struct dp *dp, const struct slot_kind *kind, __u32 n, __u32 from, __u32 *slot, struct error *e)
{
	int err = 0;

	*slot = slots_claim(kind->pages, *kind->page_count, n, from);
	if (*slot == SLOT_NONE && dp->info->retired) {
		err = dp_reclaim(dp, e);
		if (!err)
			*slot = slots_claim(kind->pages, *kind->page_count, n, 0);
	}
	if (!err && *slot == SLOT_NONE) {
		err = kind->add_page(dp, e);
		if (!err)
			*slot = slots_claim(kind->pages, *kind->page_count, n, 0);
	}
	return err;
}

static int claim_flow_slot(struct dp *dp, __u32 *slot, struct error *e)
{
	const struct slot_kind kind = { dp->flow_slots, &dp->info->flow_page_count, dp_add_flow_page };
	int err;

	if (dp->info->flows >= dp->info->max_flows)
		return error_set(
			e, ENOSPC,
			"flow table of %s is full (No space left on device): %u flows, the limit is max_flows=%u of add-dp",
			dp->name, dp->info->flows, dp->info->max_flows);
	err = claim_slots(dp, &kind, 1, dp->slot_hint, slot, e);
	if (!err)
		dp->slot_hint = *slot;
	return err;
}

static int claim_action_slots(struct dp *dp, __u32 n, __u32 *slot, struct error *e)
{
	const struct slot_kind kind = { dp->action_slots, &dp->info->action_page_count, dp_add_action_page };

	return claim_slots(dp, &kind, n, 0, slot, e);
}

/* Writes a list into the action pages; *where is what flow->actions will be. */
static int write_actions(struct dp *dp, const struct action_list *list, __u32 *where, struct error *e)
{
	struct flow_action *page;
	int err = claim_action_slots(dp, list->count + 1, where, e);

	if (err)
		return err;
	page = dp_page(dp, DP_ACTION_PAGES, *where >> PAGE_SHIFT);
	if (!page)
		return error_set(e, ENOMEM, "action page of %s cannot be mapped", dp->name);
	memcpy(&page[*where & (PAGE_SLOTS - 1)], list->action, (list->count + 1) * sizeof(list->action[0]));
	return 0;
}

static void retire_actions(struct dp *dp, __u32 where, __u32 count)
{
	if (where == ACTIONS_INLINE)
		return;
	slots_set(dp->action_slots, where, count + 1, SLOT_RETIRED);
	dp->info->retired++;
}

static void free_flow_slot(struct dp *dp, __u32 slot, enum slot_state state)
{
	if (state == SLOT_FREE && slot < dp->slot_hint)
		dp->slot_hint = slot;
	slots_set(dp->flow_slots, slot, 1, state);
	if (state == SLOT_RETIRED)
		dp->info->retired++;
}

static int claim_mask(struct dp *dp, const struct flow_key *mask, __u32 *id, struct error *e)
{
	int err;

	*id = mask_claim(dp->masks, MASKS_MAX, mask, random_seed());
	if (*id == MASK_NONE) {
		err = dp_reclaim(dp, e);
		if (err)
			return err;
		*id = mask_claim(dp->masks, MASKS_MAX, mask, random_seed());
	}
	if (*id == MASK_NONE)
		return error_set(e, ENOSPC, "mask table of %s is full", dp->name);
	/* The counters of an id are never reset: what its last owner left does not count for this one. */
	err = stats_mask_hits(dp, *id, &dp->masks[*id].born);
	dp->masks[*id].base = dp->masks[*id].born;
	dp->masks[*id].since_ns = clock_ns(CLOCK_MONOTONIC);
	return err ? error_set(e, -err, "mask hits of %s: cannot be read (%s)", dp->name, strerror(-err)) : 0;
}

/*
 * A sender of crafted packets makes whoever answers them add mask after mask, and each costs every packet of its class a
 * try (tuple space explosion).  So these have limits of their own, for all and for each port.
 */
static int check_reactive(struct dp *dp, __u32 port_no, struct error *e)
{
	const struct datapath *info = dp->info;

	if (mask_count_reactive(dp->masks, MASKS_MAX) >= info->max_reactive_masks)
		return error_set(
			e, ENOSPC,
			"reactive flows of %s have %u masks already (No space left on device): the limit is max_reactive_masks=%u of add-dp",
			dp->name, info->max_reactive_masks, info->max_reactive_masks);
	if (mask_count_port(dp->masks, MASKS_MAX, port_no) >= info->max_port_masks)
		return error_set(
			e, ENOSPC,
			"reactive flows of port %u have %u masks already (No space left on device): the limit is max_port_masks=%u of add-dp",
			port_no, info->max_port_masks, info->max_port_masks);
	return 0;
}

/* Makes the mask if it is new: *id is MASK_NONE.  The caller counts the flow in with mask_ref(). */
static int get_mask(struct dp *dp, const struct match *match, __u32 *id, struct error *e)
{
	__u32 port_no = match->mask.in_port ? match->key.in_port : PORT_NONE;
	bool reactive = dp->origin == FLOW_REACTIVE;
	int err = 0;

	if (*id != MASK_NONE)
		return 0;
	if (mask_count(dp->masks, MASKS_MAX) >= dp->info->max_masks)
		return error_set(
			e, ENOSPC,
			"mask table of %s is full (No space left on device): %u masks, the limit is max_masks=%u of add-dp",
			dp->name, dp->info->max_masks, dp->info->max_masks);
	if (reactive)
		err = check_reactive(dp, port_no, e);
	if (!err)
		err = claim_mask(dp, &match->mask, id, e);
	if (!err && reactive)
		dp->masks[*id].reactive_port = port_no + 1;
	return err;
}

/*
 * Fills the entry in a slot that no table names.  A CPU's cache may still name it, so it is dead until it is whole;
 * mask_id, stored last, brings it to life.
 */
static int write_flow(struct dp *dp, __u32 slot, __u32 mask_id, const struct match *match,
		      const struct action_list *list, struct error *e)
{
	struct flow *flow = dp_flow(dp, slot), fresh = { .mask_id = FLOW_DEAD, .actions = ACTIONS_INLINE };
	int err = 0;

	if (list->count > FLOW_ACTIONS_INLINE)
		err = write_actions(dp, list, &fresh.actions, e);
	if (err)
		return err;
	fresh.action_count = list->count;
	fresh.origin = dp->origin;
	key_apply_mask(&fresh.key, &match->key, &match->mask);
	if (fresh.actions == ACTIONS_INLINE)
		memcpy(fresh.inline_actions, list->action, (list->count + 1) * sizeof(list->action[0]));
	if (match->has_ufid)
		memcpy(fresh.ufid, match->ufid, sizeof(fresh.ufid));
	else
		flow_bulk_ufid(dp, fresh.ufid);
	fresh.hash = mask_hash(&dp->masks[mask_id].mask, &fresh.key);
	flow_clear_counts(dp, slot);
	__atomic_store_n(&flow->mask_id, FLOW_DEAD, __ATOMIC_RELEASE);
	*flow = fresh;
	__atomic_store_n(&flow->mask_id, mask_id, __ATOMIC_RELEASE);
	return 0;
}

/* Makes the flow findable.  Another flow under the same hash costs the mask a new seed. */
static int publish_flow(struct dp *dp, __u32 slot, struct mask_info *mask, struct error *e)
{
	struct flow *flow = dp_flow(dp, slot);

	for (int i = 0; i < RESEEDS_MAX; i++) {
		__u32 other;
		int err;

		if (i)
			flow->hash = mask_hash(&mask->mask, &flow->key);
		if (flow_bulk_has_index(dp) && flow_bulk_find(dp, flow->hash, &other))
			return flow_bulk_publish(dp, slot, e);
		/* What it collides with has to be in the map to be found there. */
		err = flow_bulk_flush(dp, e);
		if (!err)
			err = filter_add(dp, flow->hash, e);
		if (err)
			return err;
		flow_bulk_forget(dp);
		if (!bpf_map_update_elem(dp->map_fd[DP_MAP_FLOWS], &flow->hash, &slot, BPF_NOEXIST))
			return 0;
		if (errno != EEXIST)
			return error_set(e, errno, "flow table of %s: no room (%s)", dp->name, strerror(errno));
		/* Our own slot is in use already, but not published: keep reseed_mask from filing it. */
		slots_set(dp->flow_slots, slot, 1, SLOT_RETIRED);
		err = reseed_mask(dp, mask, e);
		slots_set(dp->flow_slots, slot, 1, SLOT_USED);
		if (err && err != -EAGAIN)
			return err;
	}
	return error_set(e, EAGAIN, "flow table of %s: hashes collide under %d seeds", dp->name, RESEEDS_MAX);
}

/* Here, since every flow and every change comes by here. */
static int check_actions(const struct match *match, const struct action_list *list, struct error *e)
{
	int err = actions_check(match, list, e);

	return err ? error_prefix(e, err, "updating flow table (%s)", strerror(-err)) : 0;
}

int flow_add(struct dp *dp, const struct match *match, const struct action_list *list, struct error *e)
{
	__u32 slot = SLOT_NONE, other, mask_id = MASK_NONE, classes;
	int err;

	if (!find_with_mask(dp, match, &mask_id, &other) || (match->has_ufid && !ufid_find(dp, match->ufid, &other)))
		return error_set(
			e, EEXIST,
			"updating flow table (File exists): a flow with this %s is there already; mod-flow changes its actions",
			flow_find(dp, match, &other) ? "UFID" : "key and mask");
	err = check_actions(match, list, e);
	if (!err)
		err = claim_flow_slot(dp, &slot, e);
	if (err)
		return err;
	err = get_mask(dp, match, &mask_id, e);
	if (!err)
		err = write_flow(dp, slot, mask_id, match, list, e);
	if (err) {
		free_flow_slot(dp, slot, SLOT_FREE);
		return err;
	}
	classes = match_classes(&match->key, &match->mask);
	dp->stale_classes |= mask_ref(&dp->masks[mask_id], classes);
	err = publish_flow(dp, slot, &dp->masks[mask_id], e);
	if (err) {
		dp->stale_classes |= mask_unref(&dp->masks[mask_id], classes);
		__atomic_store_n(&dp_flow(dp, slot)->mask_id, FLOW_DEAD, __ATOMIC_RELEASE);
		retire_actions(dp, dp_flow(dp, slot)->actions, list->count);
		free_flow_slot(dp, slot, SLOT_RETIRED);
		return err;
	}
	if (dp->origin != FLOW_REACTIVE)
		dp->masks[mask_id].reactive_port = 0; /* a person wants it */
	dp->info->flows++;
	overlap_added(dp, slot);
	ufid_added(dp, slot);
	return 0;
}

int flow_set_actions(struct dp *dp, __u32 slot, const struct action_list *list, struct error *e)
{
	struct flow *flow = dp_flow(dp, slot);
	__u32 where, old = flow->actions, old_count = flow->action_count;
	struct match match;
	int err;

	flow_match(dp, flow, &match);
	err = check_actions(&match, list, e);
	if (!err)
		err = write_actions(dp, list, &where, e);
	if (err)
		return err;
	/* The list is whole before it can be seen; packets run the old one or the new one. */
	__atomic_store_n(&flow->actions, where, __ATOMIC_RELEASE);
	flow->action_count = list->count;
	retire_actions(dp, old, old_count);
	overlap_changed(dp, slot);
	return 0;
}

void flow_delete(struct dp *dp, __u32 slot)
{
	struct flow *flow = dp_flow(dp, slot);
	struct mask_info *mask;
	struct error ignored;

	/* A flow that could not be published is deleted by that. */
	if (flow_bulk_flush(dp, &ignored) && flow->mask_id == FLOW_DEAD)
		return;
	mask = &dp->masks[flow->mask_id];
	overlap_removed(dp, slot);
	/* First of all out of the caches' reach.  Killed right here, the next command finds a dead flow and takes it out. */
	__atomic_store_n(&flow->mask_id, FLOW_DEAD, __ATOMIC_RELEASE);
	bpf_map_delete_elem(dp->map_fd[DP_MAP_FLOWS], &flow->hash);
	dp->stale_classes |= mask_unref(mask, match_classes(&flow->key, &mask->mask.key));
	dp->info->retired += mask->retired;
	retire_actions(dp, flow->actions, flow->action_count);
	free_flow_slot(dp, slot, SLOT_RETIRED);
	dp->info->flows--;
}

void flow_counts(struct dp *dp, __u32 slot, struct flow_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (__u32 cpu = 0; cpu < dp->info->cpu_ids; cpu++) {
		const struct flow_stats *s = dp_flow_stats(dp, slot, cpu);

		if (!s)
			return;
		counts->packets += s->packets;
		counts->bytes += s->bytes;
		counts->tcp_flags |= s->tcp_flags;
		counts->overlimits += s->overlimits;
		if (s->used_ns > counts->used_ns)
			counts->used_ns = s->used_ns;
	}
}

void flow_clear_counts(struct dp *dp, __u32 slot)
{
	for (__u32 cpu = 0; cpu < dp->info->cpu_ids; cpu++)
		memset(dp_flow_stats(dp, slot, cpu), 0, sizeof(struct flow_stats));
}

void flow_match(struct dp *dp, const struct flow *flow, struct match *match)
{
	memset(match, 0, sizeof(*match));
	match->key = flow->key;
	match->mask = dp->masks[flow->mask_id].mask.key;
	memcpy(match->ufid, flow->ufid, sizeof(match->ufid));
	match->has_ufid = true;
}

__u32 flow_next(struct dp *dp, __u32 slot)
{
	__u32 end = dp->info->flow_page_count * PAGE_SLOTS;

	while (slot < end) {
		const __u8 *state = dp->flow_slots[slot >> PAGE_SHIFT].state, *at;
		__u32 i = slot & (PAGE_SLOTS - 1);

		at = memchr(state + i, SLOT_USED, PAGE_SLOTS - i);
		if (at)
			return (slot & ~(PAGE_SLOTS - 1U)) + (at - state);
		slot = (slot | (PAGE_SLOTS - 1)) + 1;
	}
	return SLOT_NONE;
}
