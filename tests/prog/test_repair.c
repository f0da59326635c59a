// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a killed writer can leave, and what the next one makes of it.
 *
 * Nothing is killed here: the tables are brought into the state in which a kill at that point would have left them, and
 * the datapath is let go without a word.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

#include "action_text.h"
#include "filter.h"
#include "flow_table.h"
#include "harness.h"
#include "mask_table.h"
#include "session.h"
#include "slots.h"
#include "table_check.h"

#define UDP_FLOW "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),"

enum {
	FLOWS = 8,
};

/* Each test starts with these, udp(dst=0) to udp(dst=7), every other one with a long list. */
static void add_flows(struct world *w)
{
	char text[128];

	for (__u32 i = 0; i < FLOWS; i++) {
		snprintf(text, sizeof(text), UDP_FLOW "udp(dst=%u)", i);
		add_flow_uncommitted(w, text, i % 2 ? "2,2,2,2,2,2,2" : "2");
	}
	commit(w);
	assert_tables(w, FLOWS, 1);
}

static __u32 flow_to(struct world *w, __u32 port)
{
	char text[128];

	snprintf(text, sizeof(text), UDP_FLOW "udp(dst=%u)", port);
	return find_flow(w, text);
}

static int udp_run(struct world *w, __u16 port)
{
	struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, port));

	return run_frame(w, 1, &f);
}

/* The flows from..FLOWS-1 forward, and their copies are as many as they were told. */
static void assert_forwarding(struct world *w, __u32 from)
{
	struct frame f;

	for (__u32 i = from; i < FLOWS; i++) {
		f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, i));
		assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
		assert_heard_times(w, 2, &f, i % 2 ? 6 : 0);
	}
}

/* Forwarding goes on as it is, then the next command finds the mark. */
static void kill_and_reopen(struct world *w)
{
	w->dp->info->dirty = DP_WRITING;
	w->dp->writing = false;
	dp_close(&w->dp);
	assert_ok(session_open("dp0", DP_WRITE, &w->dp, e));
	assert_true(w->dp->was_dirty);
}

/* Whoever opens it then has nothing to repair. */
static void assert_clean(struct world *w)
{
	dp_close(&w->dp);
	assert_ok(session_open("dp0", DP_WRITE, &w->dp, e));
	assert_false(w->dp->was_dirty);
}

static __u64 *stale_hash(struct world *w, __u32 slot)
{
	return &dp_flow(w->dp, slot)->hash;
}

/* --- additions -------------------------------------------------------------------------------------------------- */

static void test_nothing_done(void **state)
{
	struct world *w = *state;

	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* Slots are taken, the entry is written, nobody can reach it. */
static void test_entry_not_published(void **state)
{
	struct world *w = *state;
	__u32 slot = slots_claim(w->dp->flow_slots, w->dp->info->flow_page_count, 1, 0);
	__u32 actions = slots_claim(w->dp->action_slots, w->dp->info->action_page_count, 9, 0);

	*dp_flow(w->dp, slot) = *dp_flow(w->dp, flow_to(w, 1));
	dp_flow(w->dp, slot)->actions = actions;
	w->dp->masks[dp_flow(w->dp, slot)->mask_id].flows++;
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_int_equal(slot_state(w->dp->flow_slots, slot), SLOT_RETIRED);
	assert_int_equal(slot_state(w->dp->action_slots, actions), SLOT_RETIRED);
	assert_forwarding(w, 0);
	/* Nothing is lost for good. */
	assert_ok(dp_reclaim(w->dp, e));
	assert_int_equal(slot_state(w->dp->flow_slots, slot), SLOT_FREE);
	assert_int_equal(slot_state(w->dp->action_slots, actions + 8), SLOT_FREE);
	assert_clean(w);
}

/*
 * A CPU's cache still names the slot of a flow that was deleted, and a new flow was just being written there.  No table
 * has it, so it must not get packets either.
 */
static void test_entry_that_a_cache_names(void **state)
{
	struct world *w = *state;
	__u32 slot = add_flow(w, UDP_FLOW "udp(dst=100)", "2");
	struct flow old = *dp_flow(w->dp, slot);

	w->dp->info->cache_size = CACHE_DEFAULT;
	assert_int_equal(udp_run(w, 100), TC_ACT_REDIRECT);
	flow_delete(w->dp, slot);
	assert_ok(dp_reclaim(w->dp, e));
	assert_int_equal(slots_claim(w->dp->flow_slots, w->dp->info->flow_page_count, 1, 0), slot);
	*dp_flow(w->dp, slot) = old;
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_int_equal(udp_run(w, 100), TC_ACT_SHOT);
}

/* Published, and no class knows its mask. */
static void test_mask_not_in_its_classes(void **state)
{
	struct world *w = *state;

	add_flow_uncommitted(w, UDP_FLOW "udp(src=1000)", "2");
	add_flow_uncommitted(w, "in_port(2)", "2");
	w->dp->info->flows = 0; /* the count was not written either */
	assert_int_equal(udp_run(w, 999), TC_ACT_SHOT);
	kill_and_reopen(w);
	assert_tables(w, FLOWS + 2, 3);
	assert_int_equal(udp_run(w, 999), TC_ACT_REDIRECT);
	assert_clean(w);
}

static void test_mask_claimed_only(void **state)
{
	struct world *w = *state;
	struct flow_key key = { .in_port = 0xffff };

	assert_int_not_equal(mask_claim(w->dp->masks, MASKS_MAX, &key, 1), MASK_NONE);
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
}

/* --- a new seed ------------------------------------------------------------------------------------------------- */

/* Files the flow of a slot under the hash of another seed. */
static __u64 file_under(struct world *w, __u32 slot, __u64 seed)
{
	struct flow *flow = dp_flow(w->dp, slot);
	struct mask *mask = &w->dp->masks[flow->mask_id].mask;
	__u64 old_seed = mask->seed, hash;

	mask->seed = seed;
	hash = hash_of(w, flow->mask_id, &flow->key);
	mask->seed = old_seed;
	assert_ok(filter_add(w->dp, hash, e));
	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &slot, BPF_NOEXIST), 0);
	return hash;
}

/* Some flows are filed under a seed that never came to count. */
static void test_seed_half_distributed(void **state)
{
	struct world *w = *state;

	for (__u32 i = 0; i < FLOWS / 2; i++)
		file_under(w, flow_to(w, i), 4711);
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* All are, and the record has the seed, but the classes still have the old one. */
static void test_seed_not_in_the_classes(void **state)
{
	struct world *w = *state;
	struct mask_info *mask = &w->dp->masks[dp_flow(w->dp, flow_to(w, 0))->mask_id];

	for (__u32 i = 0; i < FLOWS; i++)
		file_under(w, flow_to(w, i), 4711);
	mask->mask.seed = 4711;
	assert_forwarding(w, 0);
	kill_and_reopen(w);
	assert_int_equal(w->dp->masks[mask->mask.id].mask.seed, 4711);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* The classes have it, and some of the old elements are gone. */
static void test_old_seed_half_removed(void **state)
{
	struct world *w = *state;
	__u32 slots[FLOWS], id = dp_flow(w->dp, flow_to(w, 0))->mask_id;
	__u64 fresh[FLOWS];

	for (__u32 i = 0; i < FLOWS; i++) {
		slots[i] = flow_to(w, i);
		fresh[i] = file_under(w, slots[i], 4711);
	}
	w->dp->masks[id].mask.seed = 4711;
	w->dp->stale_classes = 1 << CLASS_IPV4_UDP;
	commit(w);
	for (__u32 i = 0; i < FLOWS / 2; i++) {
		assert_int_equal(bpf_map_delete_elem(w->dp->map_fd[DP_MAP_FLOWS], stale_hash(w, slots[i])), 0);
		/* The last of them had no time to note its new hash. */
		if (i < FLOWS / 2 - 1)
			*stale_hash(w, slots[i]) = fresh[i];
	}
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* --- deletions -------------------------------------------------------------------------------------------------- */

static void test_deleted_but_counted(void **state)
{
	struct world *w = *state;
	__u32 even = flow_to(w, 0), odd = flow_to(w, 1);

	assert_int_equal(bpf_map_delete_elem(w->dp->map_fd[DP_MAP_FLOWS], stale_hash(w, even)), 0);
	assert_int_equal(bpf_map_delete_elem(w->dp->map_fd[DP_MAP_FLOWS], stale_hash(w, odd)), 0);
	kill_and_reopen(w);
	assert_tables(w, FLOWS - 2, 1);
	assert_int_equal(slot_state(w->dp->flow_slots, even), SLOT_RETIRED);
	assert_int_equal(udp_run(w, 0), TC_ACT_SHOT);
	assert_int_equal(udp_run(w, 1), TC_ACT_SHOT);
	assert_forwarding(w, 2);
	assert_clean(w);
}

/* Dead, so that no cache finds it, and still in the table. */
static void test_dead_but_in_the_table(void **state)
{
	struct world *w = *state;
	__u32 slot = flow_to(w, 0);

	dp_flow(w->dp, slot)->mask_id = FLOW_DEAD;
	assert_int_equal(udp_run(w, 0), TC_ACT_SHOT);
	kill_and_reopen(w);
	assert_tables(w, FLOWS - 1, 1);
	assert_int_equal(slot_state(w->dp->flow_slots, slot), SLOT_RETIRED);
	assert_int_equal(udp_run(w, 0), TC_ACT_SHOT);
	assert_forwarding(w, 1);
	assert_clean(w);
}

/* The last flow of a mask: the class array is as it was. */
static void test_deleted_with_its_mask(void **state)
{
	struct world *w = *state;
	__u32 slot = add_flow(w, UDP_FLOW "udp(src=1)", "2"), id = dp_flow(w->dp, slot)->mask_id;

	flow_delete(w->dp, slot);
	assert_true(mask_position(w, CLASS_IPV4_UDP, id) >= 0);
	kill_and_reopen(w);
	assert_int_equal(mask_position(w, CLASS_IPV4_UDP, id), -1);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* --- actions ---------------------------------------------------------------------------------------------------- */

/* A list is written; the flow still has its old one. */
static void test_actions_not_switched(void **state)
{
	struct world *w = *state;
	__u32 actions = slots_claim(w->dp->action_slots, w->dp->info->action_page_count, 100, 0);

	kill_and_reopen(w);
	assert_int_equal(slot_state(w->dp->action_slots, actions), SLOT_RETIRED);
	assert_int_equal(slot_state(w->dp->action_slots, actions + 99), SLOT_RETIRED);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
}

static void set_actions(struct world *w, __u32 slot, const char *text)
{
	CLEANUP_FREE struct action_list *list = calloc(1, sizeof(*list));

	assert_ok(actions_parse(text, NULL, list, e));
	assert_ok(flow_set_actions(w->dp, slot, list, e));
}

/* The list is switched; the count next to it is the old list's, and nothing of the old one is given back. */
static void test_actions_switched_only(void **state)
{
	struct world *w = *state;
	__u32 shorter = flow_to(w, 1), longer = flow_to(w, 0), old = dp_flow(w->dp, shorter)->actions;

	set_actions(w, shorter, "2");
	dp_flow(w->dp, shorter)->action_count = 7;
	slots_set(w->dp->action_slots, old, 8, SLOT_USED);
	set_actions(w, longer, "2,2,2,2,2,2,2,2,2");
	dp_flow(w->dp, longer)->action_count = 1;
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_int_equal(slot_state(w->dp->action_slots, old), SLOT_RETIRED);
	/* What others write now does not reach into a list that is in use. */
	assert_ok(dp_reclaim(w->dp, e));
	add_flow(w, UDP_FLOW "udp(dst=100)", "3,3,3,3,3,3,3,3,3,3,3,3");
	assert_forwarding(w, 2);
	assert_int_equal(udp_run(w, 0), TC_ACT_REDIRECT);
	assert_silent(w, 3);
}

/* --- counts ----------------------------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
	struct world *w = *state;
	struct mask_info *mask = &w->dp->masks[dp_flow(w->dp, flow_to(w, 0))->mask_id];

	w->dp->info->flows = 4711;
	w->dp->info->retired = 0;
	mask->flows = 1;
	mask->class_flows[CLASS_IPV4_UDP] = 3;
	mask->class_flows[CLASS_ARP] = 1;
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* Elements that name what is not there. */
static void test_foreign_elements(void **state)
{
	struct world *w = *state;
	__u64 hash = 1;
	__u32 beyond = 0xffffff, taken = flow_to(w, 0);

	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &beyond, BPF_NOEXIST), 0);
	hash = 2;
	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &taken, BPF_NOEXIST), 0);
	kill_and_reopen(w);
	assert_tables(w, FLOWS, 1);
	assert_forwarding(w, 0);
	assert_clean(w);
}

/* A reader repairs, too, and leaves no mark. */
static void test_reader_repairs(void **state)
{
	struct world *w = *state;

	w->dp->info->flows = 4711;
	w->dp->writing = false;
	dp_close(&w->dp);
	assert_ok(session_open("dp0", DP_READ, &w->dp, e));
	assert_tables(w, FLOWS, 1);
	assert_clean(w);
}

static int make(void **state)
{
	int err = world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });

	if (!err)
		add_flows(*state);
	return err;
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_nothing_done),
		test(test_entry_not_published),
		test(test_entry_that_a_cache_names),
		test(test_mask_not_in_its_classes),
		test(test_mask_claimed_only),
		test(test_seed_half_distributed),
		test(test_seed_not_in_the_classes),
		test(test_old_seed_half_removed),
		test(test_deleted_but_counted),
		test(test_dead_but_in_the_table),
		test(test_deleted_with_its_mask),
		test(test_actions_not_switched),
		test(test_actions_switched_only),
		test(test_counts),
		test(test_foreign_elements),
		test(test_reader_repairs),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
