// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many flows in one command, with the index and the queue of flow_bulk.h: the tables are what they are without.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

#include "flow_bulk.h"
#include "flow_table.h"
#include "harness.h"
#include "match_text.h"
#include "table_check.h"

#define UDP_FLOW "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),"

static struct match match(const char *form, __u32 n)
{
	struct match m;
	struct error e = {};
	char text[128];

	snprintf(text, sizeof(text), UDP_FLOW "udp(%s=%u)", form, n);
	if (match_parse(text, NULL, &m, &e))
		fail_msg("'%s': %s", text, e.text);
	return m;
}

static int add(struct world *w, const char *form, __u32 n)
{
	static const struct action_list out = {
		.action = { { .type = ACTION_OUTPUT, .flags = ACTION_F_LAST, .port = 2 } }, .count = 1
	};
	struct match m = match(form, n);
	struct error e;

	return flow_add(w->dp, &m, &out, &e);
}

static __u32 find(struct world *w, const char *form, __u32 n)
{
	struct match m = match(form, n);
	__u32 slot;

	return flow_find(w->dp, &m, &slot) ? UINT32_MAX : slot;
}

static int end(struct world *w)
{
	struct error e;
	int err = flow_bulk_end(w->dp, &e);

	commit(w);
	return err;
}

/* More flows than the queue holds; each is refused a second time, some go and come again. */
static void test_mixture(void **state)
{
	static const char *const forms[] = { "src", "dst" };
	struct world *w = *state;

	flow_bulk_begin(w->dp);
	for (__u32 n = 1; n <= 5000; n++) {
		for (__u32 i = 0; i < 2; i++) {
			assert_int_equal(add(w, forms[i], n), 0);
			assert_int_equal(add(w, forms[i], n), -EEXIST);
		}
		if (n % 5 == 0)
			flow_delete(w->dp, find(w, "src", n));
		if (n % 10 == 0)
			assert_int_equal(add(w, "src", n), 0);
	}
	assert_true(flow_bulk_has_index(w->dp));
	assert_int_equal(end(w), 0);
	assert_tables(w, 9500, 2);
	for (__u32 n = 1; n <= 5000; n++) {
		assert_int_equal(find(w, "src", n) == UINT32_MAX, n % 10 == 5);
		assert_int_not_equal(find(w, "dst", n), UINT32_MAX);
	}
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(10, 9999)), find(w, "src", 10));
	assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(15, 9999)));
}

/* A command of a few flows makes no index of a large table. */
static void test_few(void **state)
{
	struct world *w = *state;

	flow_bulk_begin(w->dp);
	for (__u32 n = 1; n <= 3; n++)
		assert_int_equal(add(w, "src", n), 0);
	assert_false(flow_bulk_has_index(w->dp));
	assert_int_equal(end(w), 0);
	assert_tables(w, 3, 1);
}

/* Another flow has the hash of one that comes, in the index and in the map: the mask gets a new seed. */
static void test_collision(void **state)
{
	struct world *w = *state;
	struct match next = match("src", 200);
	struct mask_info *mask;
	__u64 hash, seed;
	__u32 other;

	flow_bulk_begin(w->dp);
	for (__u32 n = 1; n <= 100; n++)
		assert_int_equal(add(w, "src", n), 0);
	assert_int_equal(add(w, "dst", 7), 0);
	assert_true(flow_bulk_has_index(w->dp));
	other = find(w, "dst", 7);
	mask = &w->dp->masks[dp_flow(w->dp, find(w, "src", 1))->mask_id];
	seed = mask->mask.seed;
	hash = hash_of(w, mask->mask.id, &next.key);
	assert_int_equal(flow_bulk_flush(w->dp, &(struct error){}), 0);
	assert_int_equal(bpf_map_delete_elem(w->dp->map_fd[DP_MAP_FLOWS], &dp_flow(w->dp, other)->hash), 0);
	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &other, BPF_NOEXIST), 0);
	dp_flow(w->dp, other)->hash = hash;
	flow_bulk_forget(w->dp);
	assert_int_equal(add(w, "src", 200), 0);
	assert_int_not_equal(mask->mask.seed, seed);
	for (__u32 n = 101; n <= 150; n++)
		assert_int_equal(add(w, "src", n), 0);
	assert_int_equal(end(w), 0);
	for (__u32 n = 1; n <= 150; n++)
		assert_int_not_equal(find(w, "src", n), UINT32_MAX);
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(200, 9)), find(w, "src", 200));
	assert_int_equal(published(w), 152);
}

/* The map has room for twice the flows; strangers fill it up, and flows that find no place are deleted again. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	int fd = w->dp->map_fd[DP_MAP_FLOWS];
	__u32 nobody = UINT32_MAX, strangers = 2 * w->dp->info->max_flows - 60, taken;

	for (__u64 hash = 1; hash <= strangers; hash++)
		assert_int_equal(bpf_map_update_elem(fd, &hash, &nobody, BPF_NOEXIST), 0);
	flow_bulk_begin(w->dp);
	for (__u32 n = 1; n <= 100; n++)
		assert_int_equal(add(w, "src", n), 0);
	assert_int_equal(end(w), -E2BIG);
	taken = w->dp->info->flows;
	assert_int_equal(taken, published(w) - strangers);
	assert_in_range(taken, 50, 70); /* a full hash may give a few elements more, kept for each CPU */
	for (__u64 hash = 1; hash <= strangers; hash++)
		assert_int_equal(bpf_map_delete_elem(fd, &hash), 0);
	assert_tables(w, taken, 1);
}

static int make(void **state)
{
	return world_make(state, 2, &(struct dp_options){ .max_flows = 20000, .max_masks = MASKS_MAX });
}

static int make_small(void **state)
{
	return world_make(state, 2, &(struct dp_options){ .max_flows = 1000, .max_masks = MASKS_MAX });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mixture, make, world_end),
		cmocka_unit_test_setup_teardown(test_few, make, world_end),
		cmocka_unit_test_setup_teardown(test_collision, make, world_end),
		cmocka_unit_test_setup_teardown(test_no_room, make_small, world_end),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
