// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hash: no structure of keys may collide whatever the seed is, or a new seed would not help.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flow_hash.h"

static __u64 all_ones[KEY_WORDS];

static int by_value(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static size_t collisions(__u64 *hashes, size_t n)
{
	size_t same = 0;

	qsort(hashes, n, sizeof(*hashes), by_value);
	for (size_t i = 1; i < n; i++)
		same += hashes[i] == hashes[i - 1];
	return same;
}

/* All keys that differ from one by one or two bits, in the first words. */
static size_t two_bit_collisions(__u32 words, __u64 seed)
{
	__u32 bits = words * 64;
	size_t n = 0, same;
	__u64 *hashes = malloc((bits * (bits + 1) / 2 + 1) * sizeof(*hashes));
	__u64 key[KEY_WORDS] = { 0x0123456789abcdef };

	assert_non_null(hashes);
	hashes[n++] = flow_hash(key, all_ones, words, seed);
	for (__u32 i = 0; i < bits; i++) {
		key[i / 64] ^= 1ULL << i % 64;
		hashes[n++] = flow_hash(key, all_ones, words, seed);
		for (__u32 j = i + 1; j < bits; j++) {
			key[j / 64] ^= 1ULL << j % 64;
			hashes[n++] = flow_hash(key, all_ones, words, seed);
			key[j / 64] ^= 1ULL << j % 64;
		}
		key[i / 64] ^= 1ULL << i % 64;
	}
	same = collisions(hashes, n);
	free(hashes);
	return same;
}

static void keys_two_bits_apart_do_not_collide(void **state)
{
	(void)state;
	assert_int_equal(two_bit_collisions(KEY_WORDS_IPV4, 0x5eed), 0);
	assert_int_equal(two_bit_collisions(KEY_WORDS_IPV6, 0xfeedfacecafebeef), 0);
	assert_int_equal(two_bit_collisions(KEY_WORDS, 0), 0);
}

/* The top bits of all words at once: the weak spot of hashes that multiply. */
static void top_bits_do_not_cancel(void **state)
{
	__u64 hashes[1 << KEY_WORDS], key[KEY_WORDS];

	(void)state;
	for (__u32 set = 0; set < 1 << KEY_WORDS; set++) {
		for (__u32 i = 0; i < KEY_WORDS; i++)
			key[i] = (set >> i & 1ULL) << 63;
		hashes[set] = flow_hash(key, all_ones, KEY_WORDS, 42);
	}
	assert_int_equal(collisions(hashes, 1 << KEY_WORDS), 0);
}

static void seed_and_mask_count(void **state)
{
	__u64 key[KEY_WORDS] = { 1, 2, 3, 4, 5, 6, 7, 8 }, mask[KEY_WORDS] = { 1, 3, ~0ULL }, masked[KEY_WORDS];

	(void)state;
	for (int i = 0; i < KEY_WORDS; i++)
		masked[i] = key[i] & mask[i];
	assert_true(flow_hash(key, mask, KEY_WORDS, 7) == flow_hash(masked, mask, KEY_WORDS, 7));
	assert_true(flow_hash(key, mask, KEY_WORDS, 7) == flow_hash(masked, all_ones, KEY_WORDS, 7));
	assert_false(flow_hash(key, mask, KEY_WORDS, 7) == flow_hash(key, mask, KEY_WORDS, 8));
	assert_false(flow_hash(key, mask, KEY_WORDS, 7) == flow_hash(key, mask, KEY_WORDS_IPV6, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_two_bits_apart_do_not_collide),
		cmocka_unit_test(top_bits_do_not_cancel),
		cmocka_unit_test(seed_and_mask_count),
	};

	memset(all_ones, 0xff, sizeof(all_ones));
	return cmocka_run_group_tests_name("flow_hash", tests, NULL, NULL);
}
