// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which flows overlap: the scan and the index against the definition, while flows come, go and change.  The datapath is
 * one in memory; the seeds are fixed, so that a failure comes back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "mask_table.h"
#include "match_text.h"
#include "overlap.h"
#include "overlap_filter.h"
#include "overlap_index.h"
#include "overlap_set.h"
#include "slots.h"
#include "util.h"

enum {
	PAGES = 2,
	PAGES_ALL = ACTION_PAGES_MAX + PAGES,
	PLENTY = 1 << 30,
};

static struct datapath info;
static struct mask_info masks[MASKS_MAX];
static struct slot_page flow_slots[PAGES];
static struct flow flow_pages[PAGES][PAGE_SLOTS];
static struct flow_action action_page[PAGE_SLOTS];
static void *pages[2][PAGES_ALL];
static struct dp dp;

static int empty_table(void **state)
{
	(void)state;
	memset(masks, 0, sizeof(masks));
	memset(flow_slots, 0, sizeof(flow_slots));
	info = (struct datapath){ .max_flows = (PAGES - 1) * PAGE_SLOTS, .flow_page_count = PAGES };
	dp = (struct dp){ .info = &info, .masks = masks, .flow_slots = flow_slots };
	memset(dp.map_fd, 0xff, sizeof(dp.map_fd));
	for (int i = 0; i < PAGES; i++)
		pages[0][i] = flow_pages[i];
	pages[1][0] = action_page;
	dp.pages[DP_FLOW_PAGES] = pages[0];
	dp.pages[DP_ACTION_PAGES] = pages[1];
	return 0;
}

static void parse(const char *text, struct match *m)
{
	struct error e = { "" };

	if (match_parse(text, NULL, m, &e))
		fail_msg("'%s': %s", text, e.text);
}

static struct action_list actions(const char *text)
{
	struct error e = { "" };
	struct action_list list;

	if (actions_parse(text, NULL, &list, &e))
		fail_msg("'%s': %s", text, e.text);
	return list;
}

/* Lists that do not fit the entry have a place of their own: the 16 records from 16 * slot on, in a page of this test. */
static void put_actions(__u32 slot, const struct action_list *list)
{
	struct flow *flow = dp_flow(&dp, slot);

	flow->action_count = list->count;
	flow->actions = list->count > FLOW_ACTIONS_INLINE ? 16 * (slot % 256) : ACTIONS_INLINE;
	memcpy(dp_actions(&dp, flow), list->action, (list->count + 1) * sizeof(list->action[0]));
}

static __u32 put_flow(const struct match *m, const struct action_list *list)
{
	__u32 id = mask_find(masks, MASKS_MAX, &m->mask), slot = slots_claim(flow_slots, PAGES, 1, 0);

	if (id == MASK_NONE)
		id = mask_claim(masks, MASKS_MAX, &m->mask, 0);
	assert_int_not_equal(id, MASK_NONE);
	assert_int_not_equal(slot, SLOT_NONE);
	mask_ref(&masks[id], 1);
	*dp_flow(&dp, slot) = (struct flow){ .mask_id = id };
	key_apply_mask(&dp_flow(&dp, slot)->key, &m->key, &m->mask);
	put_actions(slot, list);
	overlap_added(&dp, slot);
	return slot;
}

static void delete_flow(__u32 slot)
{
	struct flow *flow = dp_flow(&dp, slot);

	overlap_removed(&dp, slot);
	mask_unref(&masks[flow->mask_id], 1);
	masks_reclaim(masks, MASKS_MAX);
	memset(flow, 0xff, sizeof(*flow));
	slots_set(flow_slots, slot, 1, SLOT_FREE);
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

static void assert_overlap(const char *a, const char *b, bool overlap)
{
	struct action_list one = actions("1"), two = actions("2");
	struct error e = { "" };
	struct match x, y;

	parse(a, &x);
	parse(b, &y);
	assert_int_equal(overlap_keys(&x.key, &x.mask, &y.key, &y.mask), overlap);
	for (int i = 0; i < 2; i++) {
		empty_table(NULL);
		put_flow(i ? &x : &y, &one);
		assert_int_equal(overlap_check_new(&dp, i ? &y : &x, &two, &e), overlap ? -EEXIST : 0);
		assert_int_equal(overlap_check_new(&dp, i ? &y : &x, &one, &e), 0);
	}
}

static void overlap_is_a_packet_that_fits_both(void **state)
{
	(void)state;
	assert_overlap("in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/24)",
		       "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.2)", true);
	assert_overlap("in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/24)",
		       "in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.1.2)", false);
	assert_overlap("in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/24)",
		       "in_port(2),eth(),eth_type(0x0800),ipv4(dst=10.0.0.2)", false);
	assert_overlap("eth_type(0x0800),ipv4(src=10.0.0.1)", "eth_type(0x0800),ipv4(dst=10.0.0.2)", true);
	assert_overlap("in_port(1),eth()", "in_port(1),eth(src=00:00:00:00:00:01)", true);
	/* A field report: Open vSwitch once refused the second. */
	assert_overlap("eth_type(0x0800),ipv4(src=10.0.0.1/192.0.0.0,dst=10.0.0.2/192.0.0.0)",
		       "eth_type(0x0800),ipv4(src=200.0.0.1/128.0.0.0,dst=200.0.0.2/128.0.0.0)", false);
	/* Tags are always exact. */
	assert_overlap("in_port(1),eth()", "in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800))",
		       false);
	assert_overlap("eth_type(0x8100),vlan(vid=2/0x2),encap(eth_type(0x0800))",
		       "eth_type(0x8100),vlan(vid=3/0x5),encap(eth_type(0x0800))", true);
	assert_overlap("eth_type(0x8100),vlan(vid=2/0x3),encap(eth_type(0x0800))",
		       "eth_type(0x8100),vlan(vid=3/0x5),encap(eth_type(0x0800))", false);
}

static void the_other_flow_is_named(void **state)
{
	struct action_list two = actions("2"), three = actions("1,3");
	struct error e = { "" };
	struct match wide, narrow;

	(void)state;
	parse("in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/24)", &wide);
	parse("in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.2)", &narrow);
	put_flow(&wide, &three);
	assert_int_equal(overlap_check_new(&dp, &narrow, &two, &e), -EEXIST);
	assert_string_equal(
		e.text,
		"updating flow table (File exists): overlaps flow in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.255.255.0), actions:1,3; delete that one, or take both with --overlap");
}

static void a_flow_with_a_long_text_is_named_by_its_ufid(void **state)
{
	struct action_list two = actions("2");
	struct error e = { "" };
	struct match m, all = {};
	char text[5 * FLOW_ACTIONS_MAX];
	int len = 0;

	(void)state;
	for (int i = 0; i < FLOW_ACTIONS_MAX; i++)
		len += snprintf(text + len, sizeof(text) - len, "%d,", 101);
	parse("in_port(1),eth()", &m);
	struct action_list many = actions(text);

	action_page[0] = many.action[0];
	dp_flow(&dp, put_flow(&m, &many))->ufid[15] = 0x7f;
	assert_int_equal(overlap_check_new(&dp, &all, &two, &e), -EEXIST);
	assert_non_null(strstr(e.text, "overlaps flow ufid:00000000-0000-0000-0000-00000000007f; delete that one"));
}

static void a_change_to_what_a_flow_has_is_no_conflict(void **state)
{
	struct action_list one = actions("1"), two = actions("2");
	struct error e = { "" };
	struct match wide, narrow;
	__u32 slot;

	(void)state;
	parse("in_port(1),eth()", &wide);
	parse("in_port(1),eth(src=00:00:00:00:00:01)", &narrow);
	put_flow(&wide, &one);
	slot = put_flow(&narrow, &one);
	assert_int_equal(overlap_check_change(&dp, slot, &two, &e), -EEXIST);
	put_actions(slot, &two);
	assert_int_equal(overlap_check_change(&dp, slot, &two, &e), 0);
	assert_int_equal(overlap_check_change(&dp, slot, &one, &e), 0);
}

/* --- against the definition --------------------------------------------------------------------------------------- */

/* Masks of all kinds; the numbers in keys are small, so that many flows overlap and many do not. */
static const char *const forms[] = {
	"in_port(%u),eth()",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(dst=10.0.%u.0/24)",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(dst=10.0.%u.%u)",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(src=10.%u.0.0/16,dst=10.0.%u.0/255.255.6.0)",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(src=10.%u.%u.%u)",
	"in_port(%u),eth(src=00:00:00:00:%02x:%02x/00:00:00:00:05:03),eth_type(0x0800),ipv4()",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(dst=10.0.%u.%u,proto=17,frag=no),udp(dst=%u/0x6)",
	"in_port(%u),eth(),eth_type(0x0800),ipv4(dst=10.0.%u.0/23,proto=6,frag=no),tcp(src=%u),tcp_flags(%u/0x2)",
	"in_port(%u),eth(),eth_type(0x86dd),ipv6(src=fe80::%x,dst=fe80::%x/ffff::3,label=%u/0x5)",
	"in_port(%u),eth(),eth_type(0x86dd),ipv6(src=fe80::%x/ffff::1,hlimit=%u)",
	"in_port(%u),eth(),eth_type(0x8100),vlan(vid=%u),encap(eth_type(0x0800),ipv4(dst=10.0.%u.0/24))",
	"in_port(%u),eth(),eth_type(0x8100),vlan(vid=%u/0x5,pcp=5),encap(eth_type(0x0800),ipv4())",
	"in_port(%u),eth(),eth_type(0x8100),vlan(vid=%u),encap(eth_type(0x8100),vlan(vid=%u/0x3),encap(eth_type(0x0800)))",
	"in_port(%u),eth(dst=00:00:00:00:00:%02x),eth_type(0x0806),arp(tip=10.0.%u.%u/255.255.0.5)",
	"in_port(%u),skb_mark(%u/0x6),eth()",
	"skb_priority(%u),in_port(1),eth(dst=00:00:00:00:%02x:%02x/00:00:00:00:03:ff)",
	"eth(src=00:00:00:00:00:%02x),eth_type(0x0800),ipv4(dst=10.0.%u.%u)",
	"eth(),eth_type(0x0800),ipv4(tos=%u/0x3)",
};

static void random_match(unsigned int kinds, unsigned int *seed, struct match *m)
{
	unsigned int n = 1 + rand_r(seed) % 6, i, value[4];
	char text[200];

	for (i = 0; i < ARRAY_SIZE(value); i++)
		value[i] = rand_r(seed) % (2 << n);
	value[0] %= 3;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), forms[rand_r(seed) % kinds], value[0], value[1], value[2], value[3]);
#pragma GCC diagnostic pop
	parse(text, m);
}

struct play {
	unsigned int kinds; /* of masks */
	unsigned int lists; /* of actions */
	size_t room;
	unsigned int steps;
	unsigned int deletes; /* of ten steps */
	unsigned int most;    /* flows */
};

static struct action_list random_actions(const struct play *p, unsigned int *seed)
{
	static const char *const lists[] = { "1", "2", "1,2", "drop", "1,2,3,1,2,3,1,2,3" };

	return actions(lists[rand_r(seed) % p->lists]);
}

static bool equal_lists(const struct flow_action *a, const struct flow_action *b)
{
	for (; a->type == b->type; a++, b++) {
		if (a->type == ACTION_END)
			return true;
		if (a->port != b->port)
			return false;
	}
	return false;
}

/* Some bit that both masks have and the keys differ in keeps flows apart. */
static bool meet(const struct match *m, const struct flow *flow)
{
	const __u8 *a = (const __u8 *)&m->key, *am = (const __u8 *)&m->mask;
	const __u8 *b = (const __u8 *)&flow->key, *bm = (const __u8 *)&masks[flow->mask_id].mask.key;

	for (size_t bit = 0; bit < 8 * sizeof(m->key); bit++) {
		__u8 one = 1 << bit % 8;
		size_t i = bit / 8;

		if (am[i] & one && bm[i] & one && (a[i] & one) != (b[i] & one))
			return false;
	}
	return true;
}

static bool in_conflict(const struct match *m, const struct action_list *list, __u32 slot)
{
	struct flow *flow = dp_flow(&dp, slot);

	return slot_state(flow_slots, slot) == SLOT_USED && !equal_lists(dp_actions(&dp, flow), list->action) &&
	       memcmp(&masks[flow->mask_id].mask.key, &m->mask, sizeof(m->mask)) && meet(m, flow);
}

static bool any_conflict(const struct match *m, const struct action_list *list)
{
	for (__u32 slot = 0; slot < PAGES * PAGE_SLOTS; slot++)
		if (in_conflict(m, list, slot))
			return true;
	return false;
}

static __u32 same_flow(const struct match *m)
{
	for (__u32 slot = 0; slot < PAGES * PAGE_SLOTS; slot++) {
		const struct flow *flow = dp_flow(&dp, slot);

		if (slot_state(flow_slots, slot) == SLOT_USED && !memcmp(&flow->key, &m->key, sizeof(m->key)) &&
		    !memcmp(&masks[flow->mask_id].mask.key, &m->mask, sizeof(m->mask)))
			return slot;
	}
	return SLOT_NONE;
}

/* The index of the test stands beside the one that the checks make for themselves. */
static struct overlap_index *side_index;

static void check_answers(const struct match *m, const struct action_list *list, __u32 slot)
{
	bool expected = any_conflict(m, list);
	struct overlap *kept = dp.overlap;
	struct error e = { "" };
	__u32 found = overlap_index_find(side_index, &m->key, &m->mask, mask_find(dp.masks, MASKS_MAX, &m->mask),
					 list->action);

	assert_int_equal(found != SLOT_NONE, expected);
	if (found != SLOT_NONE)
		assert_true(in_conflict(m, list, found));
	for (int scan = 0; scan < 2; scan++) {
		if (scan)
			dp.overlap = NULL;
		if (slot == SLOT_NONE)
			assert_int_equal(overlap_check_new(&dp, m, list, &e), expected ? -EEXIST : 0);
		else if (!equal_lists(dp_actions(&dp, dp_flow(&dp, slot)), list->action))
			assert_int_equal(overlap_check_change(&dp, slot, list, &e), expected ? -EEXIST : 0);
	}
	dp.overlap = kept;
}

static void change(__u32 slot, const struct action_list *list)
{
	overlap_index_remove(side_index, &dp, slot);
	put_actions(slot, list);
	overlap_changed(&dp, slot);
	assert_int_equal(overlap_index_add(side_index, &dp, slot), 0);
}

static __u32 random_slot(unsigned int *seed)
{
	__u32 slot = rand_r(seed) % 512;

	while (slot > 0 && slot_state(flow_slots, slot) != SLOT_USED)
		slot--;
	return slot_state(flow_slots, slot) == SLOT_USED ? slot : SLOT_NONE;
}

/* Conflicts are taken now and then, as with --overlap. */
static void play_step(const struct play *p, unsigned int *flows, unsigned int *seed)
{
	struct action_list list = random_actions(p, seed);
	struct match m;
	__u32 slot;

	if (*flows >= p->most || (unsigned int)rand_r(seed) % 10 < p->deletes) {
		slot = random_slot(seed);
		if (slot == SLOT_NONE)
			return;
		overlap_index_remove(side_index, &dp, slot);
		delete_flow(slot);
		--*flows;
		return;
	}
	random_match(p->kinds, seed, &m);
	slot = same_flow(&m);
	check_answers(&m, &list, slot);
	if (any_conflict(&m, &list) && rand_r(seed) % 4)
		return;
	if (slot != SLOT_NONE) {
		change(slot, &list);
		return;
	}
	slot = put_flow(&m, &list);
	assert_int_equal(overlap_index_add(side_index, &dp, slot), 0);
	++*flows;
}

static void play(const struct play *p, unsigned int seed)
{
	unsigned int flows = 0;

	empty_table(NULL);
	memset(action_page, 0, sizeof(action_page));
	side_index = overlap_index_make(&dp, p->room);
	assert_non_null(side_index);
	overlap_begin(&dp);
	for (unsigned int i = 0; i < p->steps; i++)
		play_step(p, &flows, &seed);
	overlap_end(&dp);
	overlap_index_free(side_index);
}

static void flows_of_all_kinds_come_and_go(void **state)
{
	(void)state;
	play(&(struct play){ .kinds = ARRAY_SIZE(forms),
			     .lists = 5,
			     .room = PLENTY,
			     .steps = 4000,
			     .deletes = 3,
			     .most = 250 },
	     1);
	play(&(struct play){ .kinds = ARRAY_SIZE(forms),
			     .lists = 3,
			     .room = PLENTY,
			     .steps = 4000,
			     .deletes = 1,
			     .most = 200 },
	     2);
}

static void few_actions_make_large_groups(void **state)
{
	(void)state;
	play(&(struct play){ .kinds = 6, .lists = 2, .room = PLENTY, .steps = 6000, .deletes = 4, .most = 240 }, 3);
	play(&(struct play){ .kinds = 5, .lists = 5, .room = PLENTY, .steps = 6000, .deletes = 2, .most = 240 }, 4);
}

static void masks_come_and_go(void **state)
{
	(void)state;
	play(&(struct play){ .kinds = ARRAY_SIZE(forms),
			     .lists = 4,
			     .room = PLENTY,
			     .steps = 4000,
			     .deletes = 5,
			     .most = 40 },
	     5);
}

/* In the middle of things, too. */
static void without_room_the_answers_are_the_same(void **state)
{
	(void)state;
	for (size_t room = 0; room < 8; room++)
		play(
			&(struct play){
				.kinds = 8, .lists = 3, .room = room * 1500, .steps = 1500, .deletes = 2, .most = 240 },
			6 + room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(overlap_is_a_packet_that_fits_both, empty_table),
		cmocka_unit_test_setup(the_other_flow_is_named, empty_table),
		cmocka_unit_test_setup(a_flow_with_a_long_text_is_named_by_its_ufid, empty_table),
		cmocka_unit_test_setup(a_change_to_what_a_flow_has_is_no_conflict, empty_table),
		cmocka_unit_test(flows_of_all_kinds_come_and_go),
		cmocka_unit_test(few_actions_make_large_groups),
		cmocka_unit_test(masks_come_and_go),
		cmocka_unit_test(without_room_the_answers_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
