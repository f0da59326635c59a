// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mask cache answers faster and never otherwise; the filter keeps masks from the table and never a flow.
 */
#include <bpf/bpf.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

#include "action_text.h"
#include "filter.h"
#include "flow_table.h"
#include "harness.h"
#include "table_check.h"

#define UDP_FLOW "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),"

static struct frame udp_to(__u16 port)
{
	return FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1000, port));
}

/* Three masks of one class, the flow of the last one takes udp_to(3). */
static __u32 add_three_masks(struct world *w)
{
	add_flow(w, UDP_FLOW "udp(dst=1)", "2");
	add_flow(w, UDP_FLOW "udp(src=2)", "2");
	return add_flow(w, UDP_FLOW "udp(src=1000,dst=3)", "2");
}

/* --- the cache -------------------------------------------------------------------------------------------------- */

static void test_second_packet(void **state)
{
	struct world *w = *state;
	__u32 slot = add_three_masks(w);
	struct mask_hits hits;

	assert_hit(w, udp_to(3), slot);
	assert_counted(w, .hit = 1, .mask_hit = 3, .forwarded = 1);
	assert_hit(w, udp_to(3), slot);
	assert_counted(w, .hit = 1, .mask_hit = 1, .cache_hit = 1, .forwarded = 1);
	hits = mask_hits(w, slot);
	assert_int_equal(hits.all, 2);
	assert_int_equal(hits.walked, 1);
	/* A miss is not remembered. */
	assert_miss(w, udp_to(4));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = 3);
	assert_miss(w, udp_to(4));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = 3);
}

/* The packet looks the same to the cache; the flow's own mask tells the difference. */
static void test_hint_that_does_not_match(void **state)
{
	struct world *w = *state;
	__u32 syn = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6),tcp(),tcp_flags(+syn)", "2");
	__u32 marked = add_flow(w, "skb_mark(7),in_port(1),eth(),eth_type(0x0800),ipv4(proto=6),tcp(),tcp_flags(-syn)",
				"2");

	for (int i = 0; i < 3; i++) {
		w->mark = 0;
		assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, TCP_SYN)), syn);
		assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, TCP_ACK)));
		w->mark = 7;
		assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, TCP_ACK)), marked);
		w->mark = 6;
		assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, TCP_ACK)));
	}
	w->mark = 0;
}

static void test_deleted_flow_is_not_found(void **state)
{
	struct world *w = *state;
	struct frame f = udp_to(3);
	__u32 slot = add_three_masks(w);

	assert_hit(w, f, slot);
	assert_hit(w, f, slot);
	flow_delete(w->dp, slot);
	assert_miss(w, f);
	commit(w);
	assert_miss(w, f);
	assert_ok(dp_reclaim(w->dp, e));
	assert_miss(w, f);
	/* Another flow in that slot, with a mask of the same number. */
	assert_int_equal(add_flow(w, UDP_FLOW "udp(src=7,dst=7)", "3"), slot);
	assert_miss(w, f);
	assert_tables(w, 3, 3);
}

static void test_modified_flow(void **state)
{
	CLEANUP_FREE struct action_list *three = calloc(1, sizeof(*three));
	struct world *w = *state;
	struct frame f = udp_to(3);
	__u32 slot = add_three_masks(w);

	assert_ok(actions_parse("3,3", NULL, three, e));
	assert_hit(w, f, slot);
	assert_hit(w, f, slot);
	assert_ok(flow_set_actions(w->dp, slot, three, e));
	assert_hit(w, f, slot);
	assert_heard(w, 3, f);
	assert_counted(w, .hit = 3, .mask_hit = 5, .cache_hit = 2, .forwarded = 3, .copies = 1);
}

/* One entry for all: each packet pushes out the one before. */
static void test_cache_of_one(void **state)
{
	struct world *w = *state;
	__u32 slot = add_three_masks(w), other = add_flow(w, UDP_FLOW "udp(src=1000,dst=4)", "2");

	w->dp->info->cache_size = 1;
	for (int i = 0; i < 3; i++) {
		assert_hit(w, udp_to(3), slot);
		assert_hit(w, udp_to(4), other);
	}
	assert_counted(w, .hit = 6, .mask_hit = 18, .forwarded = 6);
	assert_hit(w, udp_to(4), other);
	assert_counted(w, .hit = 1, .mask_hit = 1, .cache_hit = 1, .forwarded = 1);
	w->dp->info->cache_size = 0;
	assert_hit(w, udp_to(4), other);
	assert_counted(w, .hit = 1, .mask_hit = 3, .forwarded = 1);
}

static void test_largest_cache(void **state)
{
	struct world *w = *state;
	__u32 slot = add_flow(w, UDP_FLOW "udp()", "2");

	w->dp->info->cache_size = CACHE_MAX;
	for (__u32 i = 0; i < 500; i++) {
		assert_hit(w, udp_to(i), slot);
		assert_hit(w, udp_to(i), slot);
	}
	assert_counted(w, .hit = 1000, .mask_hit = 1000, .cache_hit = 500, .forwarded = 1000);
}

/* --- the filter ------------------------------------------------------------------------------------------------- */

static void add_to(struct world *w, const char *field, __u32 from, __u32 to)
{
	char text[128];

	for (__u32 i = from; i < to; i++) {
		snprintf(text, sizeof(text), UDP_FLOW "udp(%s=%u)", field, i);
		add_flow_uncommitted(w, text, "2");
	}
	commit(w);
}

static void assert_all_found(struct world *w, __u32 count)
{
	for (__u32 i = 1; i < count; i++) {
		struct frame to = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(0, i));
		struct frame from = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(i, 0));

		assert_int_equal(run_frame(w, 1, &to), TC_ACT_REDIRECT);
		assert_int_equal(run_frame(w, 1, &from), TC_ACT_REDIRECT);
	}
}

/* Two masks, so that the filter is asked; each step makes it larger. */
static void test_filter_grows(void **state)
{
	static const __u32 steps[] = { 100, 300, 1000, 3000 };
	struct world *w = *state;
	__u32 done = 1;

	w->dp->info->cache_size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		add_to(w, "dst", done, steps[i]);
		add_to(w, "src", done, steps[i]);
		done = steps[i];
		assert_tables(w, 2 * (done - 1), 2);
		assert_all_found(w, done);
	}
}

static void test_filter_made_anew(void **state)
{
	struct world *w = *state;
	char text[128];

	w->dp->info->cache_size = 0;
	add_to(w, "dst", 1, 1000);
	add_to(w, "src", 1, 1000);
	for (__u32 i = 500; i < 1000; i++) {
		snprintf(text, sizeof(text), UDP_FLOW "udp(dst=%u)", i);
		flow_delete(w->dp, find_flow(w, text));
		snprintf(text, sizeof(text), UDP_FLOW "udp(src=%u)", i);
		flow_delete(w->dp, find_flow(w, text));
	}
	commit(w);
	for (int i = 0; i < 3; i++) {
		assert_ok(filter_rebuild(w->dp, 0, e));
		assert_tables(w, 998, 2);
		assert_all_found(w, 500);
	}
}

static int make(void **state)
{
	int err = world_make(state, 3, &(struct dp_options){ .max_flows = 10000, .max_masks = 16 });

	if (!err)
		((struct world *)*state)->dp->info->cache_size = CACHE_DEFAULT;
	return err;
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_second_packet),
		test(test_hint_that_does_not_match),
		test(test_deleted_flow_is_not_found),
		test(test_modified_flow),
		test(test_cache_of_one),
		test(test_largest_cache),
		test(test_filter_grows),
		test(test_filter_made_anew),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
