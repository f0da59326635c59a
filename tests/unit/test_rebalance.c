// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of masks: by hits, whatever their size; stable; and not moved by chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rebalance.h"
#include "util.h"

static struct mask_array array;
static __u64 hits[MASKS_MAX];
static struct rebalance_gain gain;

/* n masks with ids 0, 1, ... in this order. */
static void masks_in_order(__u32 n)
{
	memset(&array, 0, sizeof(array));
	memset(hits, 0, sizeof(hits));
	array.count = n;
	for (__u32 i = 0; i < n; i++) {
		array.mask[i].id = i;
		array.mask[i].seed = 1000 + i;
	}
}

static void check_order(const __u32 *ids, __u32 n)
{
	for (__u32 i = 0; i < n; i++) {
		assert_int_equal(array.mask[i].id, ids[i]);
		assert_int_equal(array.mask[i].seed, 1000 + ids[i]);
	}
}

static void most_hits_first(void **state)
{
	(void)state;
	masks_in_order(4);
	hits[1] = 1000;
	hits[3] = 100000;
	assert_true(rebalance_array(&array, hits, &gain));
	check_order((__u32[]){ 3, 1, 0, 2 }, 4);
	assert_true(gain.hits == 101000);
	assert_true(gain.before == 402000);
	assert_true(gain.after == 102000);
	assert_false(rebalance_array(&array, hits, &gain));
}

/* Differences that an int cannot hold, or that look negative in one. */
static void large_differences_sort_right(void **state)
{
	static const __u64 counts[] = { 0, 1ULL << 31, (1ULL << 32) + 1, 1ULL << 56, (1ULL << 31) + 5 };

	(void)state;
	masks_in_order(ARRAY_SIZE(counts));
	memcpy(hits, counts, sizeof(counts));
	assert_true(rebalance_array(&array, hits, &gain));
	check_order((__u32[]){ 3, 2, 4, 1, 0 }, 5);
}

static void above_two_to_the_63(void **state)
{
	(void)state;
	masks_in_order(2);
	hits[0] = 5;
	hits[1] = (1ULL << 63) + 6;
	assert_true(rebalance_array(&array, hits, &gain));
	check_order((__u32[]){ 1, 0 }, 2);
}

static void equals_keep_their_order(void **state)
{
	(void)state;
	masks_in_order(6);
	for (int i = 0; i < 5; i++)
		hits[i] = 700;
	assert_false(rebalance_array(&array, hits, &gain));
	hits[5] = 1000000;
	assert_true(rebalance_array(&array, hits, &gain));
	check_order((__u32[]){ 5, 0, 1, 2, 3, 4 }, 6);
}

static void no_traffic_no_order(void **state)
{
	(void)state;
	masks_in_order(64);
	assert_false(rebalance_array(&array, hits, &gain));
	masks_in_order(0);
	assert_false(rebalance_array(&array, hits, &gain));
	masks_in_order(1);
	hits[0] = 9;
	assert_false(rebalance_array(&array, hits, &gain));
}

/* Evenly spread traffic, a fresh period each time: the order may move once in a while, not every time. */
static void even_traffic_does_not_flap(void **state)
{
	int moved = 0;

	(void)state;
	srandom(1);
	masks_in_order(64);
	for (int period = 0; period < 100; period++) {
		memset(hits, 0, sizeof(hits));
		for (int i = 0; i < 20000; i++)
			hits[random() % 64]++;
		moved += rebalance_array(&array, hits, &gain);
	}
	assert_in_range(moved, 0, 2);
}

/* A favourite that stands last is seen within one period, also when there is little traffic. */
static void a_new_favourite_is_seen(void **state)
{
	(void)state;
	srandom(2);
	for (int n = 2; n <= 1024; n *= 2) {
		masks_in_order(n);
		for (int i = 0; i < 8 * n; i++)
			hits[random() % n]++;
		hits[n - 1] += 8 * n;
		assert_true(rebalance_array(&array, hits, &gain));
		assert_int_equal(array.mask[0].id, n - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_hits_first),	   cmocka_unit_test(large_differences_sort_right),
		cmocka_unit_test(above_two_to_the_63),	   cmocka_unit_test(equals_keep_their_order),
		cmocka_unit_test(no_traffic_no_order),	   cmocka_unit_test(even_traffic_does_not_flap),
		cmocka_unit_test(a_new_favourite_is_seen),
	};

	return cmocka_run_group_tests_name("rebalance", tests, NULL, NULL);
}
