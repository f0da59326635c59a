// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks: how many words they need, which packets they can match, when they come and go, and in which order they stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>

#include "mask_table.h"
#include "util.h"

static struct mask_info table[MASKS_MAX];

static int clear_table(void **state)
{
	(void)state;
	memset(table, 0, sizeof(table));
	return 0;
}

static struct flow_key mask_with_ttl(__u8 ttl)
{
	struct flow_key mask = { .eth_type_be = 0xffff, .ip_ttl = ttl };

	return mask;
}

static void words_end_where_fields_end(void **state)
{
	struct flow_key mask = {};

	(void)state;
	assert_int_equal(mask_words(&mask), KEY_WORDS_IPV4);
	mask.ipv4.dst[3] = 1;
	assert_int_equal(mask_words(&mask), KEY_WORDS_IPV4);
	mask.ipv6.src[15] = 1;
	assert_int_equal(mask_words(&mask), KEY_WORDS_IPV6);
	mask.skb_mark = 1;
	assert_int_equal(mask_words(&mask), KEY_WORDS);
	memset(&mask, 0, sizeof(mask));
	mask.nd_tll[5] = 1;
	assert_int_equal(mask_words(&mask), KEY_WORDS);
}

static __u32 classes(__u16 eth_type, __u8 proto, __u8 proto_mask)
{
	struct flow_key key = { .eth_type_be = htons(eth_type), .ip_proto = proto };
	struct flow_key mask = { .eth_type_be = eth_type ? 0xffff : 0, .ip_proto = proto_mask };

	return match_classes(&key, &mask);
}

#define BIT(class) (1U << CLASS_##class)

static void a_match_is_in_each_class_it_can_match(void **state)
{
	(void)state;
	assert_int_equal(classes(0, 0, 0), (1U << PACKET_CLASSES_END) - 1);
	assert_int_equal(classes(0x0800, 0, 0), BIT(IPV4) | BIT(IPV4_TCP) | BIT(IPV4_UDP));
	assert_int_equal(classes(0x0800, 6, 0xff), BIT(IPV4_TCP));
	assert_int_equal(classes(0x0800, 17, 0xff), BIT(IPV4_UDP));
	assert_int_equal(classes(0x0800, 1, 0xff), BIT(IPV4));
	assert_int_equal(classes(0x86dd, 58, 0xff), BIT(IPV6));
	assert_int_equal(classes(0x86dd, 6, 0xff), BIT(IPV6_TCP));
	assert_int_equal(classes(0x0806, 1, 0xff), BIT(ARP));
	assert_int_equal(classes(0x8847, 0, 0), BIT(MPLS));
	assert_int_equal(classes(0x8848, 0, 0), BIT(MPLS));
	assert_int_equal(classes(0x8035, 3, 0xff), BIT(OTHER));
	assert_int_equal(classes(0x0004, 0, 0), BIT(OTHER));
}

/* Against the definition: the classes of all protocols that fit. */
static void partial_protocols_by_exhaustion(void **state)
{
	(void)state;
	for (int m = 0; m < 256; m++) {
		for (int k = 0; k < 256; k++) {
			__u32 expected = 0;

			for (int p = 0; p < 256; p++)
				if ((p & m) == (k & m))
					expected |= p == 6 ? BIT(IPV4_TCP) : p == 17 ? BIT(IPV4_UDP) : BIT(IPV4);
			assert_int_equal(classes(0x0800, k, m), expected);
		}
	}
}

static void ids_are_stable_and_wait_before_reuse(void **state)
{
	struct flow_key a = mask_with_ttl(1), b = mask_with_ttl(2), c = mask_with_ttl(3);

	(void)state;
	assert_int_equal(mask_claim(table, 2, &a, 11), 0);
	assert_int_equal(mask_ref(&table[0], BIT(IPV4)), BIT(IPV4));
	assert_int_equal(mask_claim(table, 2, &b, 12), 1);
	assert_int_equal(mask_ref(&table[1], BIT(IPV4)), BIT(IPV4));
	assert_int_equal(mask_claim(table, 2, &c, 13), MASK_NONE);
	assert_int_equal(mask_unref(&table[0], BIT(IPV4)), BIT(IPV4));
	assert_int_equal(mask_find(table, 2, &a), MASK_NONE);
	assert_int_equal(mask_find(table, 2, &b), 1);
	assert_int_equal(mask_count(table, 2), 1);
	assert_int_equal(mask_claim(table, 2, &c, 13), MASK_NONE);
	masks_reclaim(table, 2);
	assert_int_equal(mask_claim(table, 2, &c, 13), 0);
	assert_int_equal(table[0].mask.seed, 13);
	assert_int_equal(table[1].mask.seed, 12);
}

static void a_mask_is_in_a_class_while_a_flow_of_it_is(void **state)
{
	struct flow_key a = mask_with_ttl(1);

	(void)state;
	mask_claim(table, 8, &a, 1);
	assert_int_equal(mask_ref(&table[0], BIT(IPV4) | BIT(IPV4_TCP)), BIT(IPV4) | BIT(IPV4_TCP));
	assert_int_equal(mask_ref(&table[0], BIT(IPV4_TCP) | BIT(IPV4_UDP)), BIT(IPV4_UDP));
	assert_int_equal(table[0].class_flows[CLASS_IPV4_TCP], 2);
	assert_int_equal(mask_unref(&table[0], BIT(IPV4) | BIT(IPV4_TCP)), BIT(IPV4));
	assert_int_equal(table[0].retired, 0);
	assert_int_equal(mask_unref(&table[0], BIT(IPV4_TCP) | BIT(IPV4_UDP)), BIT(IPV4_TCP) | BIT(IPV4_UDP));
	assert_int_equal(table[0].retired, 1);
}

static void arrays_keep_order_and_take_new_ones_last(void **state)
{
	struct mask_array *array = calloc(1, sizeof(*array));

	(void)state;
	assert_non_null(array);
	for (__u8 i = 0; i < 4; i++) {
		struct flow_key mask = mask_with_ttl(i + 1);

		mask_ref(&table[mask_claim(table, 8, &mask, 100 + i)], BIT(IPV4));
	}
	mask_array_update(array, CLASS_IPV4, table, 8);
	assert_int_equal(array->count, 4);
	/* Somebody has put 3 first; 1 goes, another comes in its id. */
	array->mask[0] = table[3].mask;
	array->mask[3] = table[0].mask;
	mask_unref(&table[1], BIT(IPV4));
	masks_reclaim(table, 8);
	table[2].mask.seed = 77;
	mask_array_update(array, CLASS_IPV4, table, 8);
	assert_int_equal(array->count, 3);
	assert_int_equal(array->mask[0].id, 3);
	assert_int_equal(array->mask[1].id, 2);
	assert_int_equal(array->mask[1].seed, 77);
	assert_int_equal(array->mask[2].id, 0);
	mask_array_update(array, CLASS_IPV6, table, 8);
	assert_int_equal(array->count, 0);
	free(array);
}

static void masking_is_word_by_word(void **state)
{
	struct flow_key key, mask = { .in_port = 0xffff, .ip_tos = 0xfc }, masked;

	(void)state;
	memset(&key, 0xff, sizeof(key));
	key_apply_mask(&masked, &key, &mask);
	assert_memory_equal(&masked, &mask, sizeof(mask));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_where_fields_end),
		cmocka_unit_test(a_match_is_in_each_class_it_can_match),
		cmocka_unit_test(partial_protocols_by_exhaustion),
		cmocka_unit_test_setup(ids_are_stable_and_wait_before_reuse, clear_table),
		cmocka_unit_test_setup(a_mask_is_in_a_class_while_a_flow_of_it_is, clear_table),
		cmocka_unit_test_setup(arrays_keep_order_and_take_new_ones_last, clear_table),
		cmocka_unit_test(masking_is_word_by_word),
	};

	return cmocka_run_group_tests_name("mask_table", tests, NULL, NULL);
}
