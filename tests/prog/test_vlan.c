// SPDX-License-Identifier: GPL-2.0-only
/*
 * push_vlan and pop_vlan: frames as they leave, tags put back in; and what the next record then finds.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"

static struct frame plain(void)
{
	return with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1000, 53)), 11);
}

/* The frame with a tag more, the outermost. */
static struct frame tagged(struct frame f, __u16 tpid, __u16 tci)
{
	memmove(f.byte + 16, f.byte + 12, f.len - 12);
	put_be16(f.byte + 12, tpid);
	put_be16(f.byte + 14, tci);
	f.len += 4;
	return f;
}

static void assert_key_follows(struct world *w, const struct frame *out)
{
	struct flow_key key = cpu_state_read(w).key;

	assert_int_equal(cpu_state_read(w).headers.key_stale, 0);
	poison_key(w);
	assert_int_equal(run_frame(w, 3, out), TC_ACT_SHOT);
	key.in_port = 3;
	assert_key_is(w, &key, "after the actions");
}

/* The exact TCI leaves, but for the bit that says "there is a tag". */
static void test_push(void **state)
{
	static const __u16 tcis[] = { 1, 10, 2047, 4095, 7 << 13 | 1, 7 << 13 | 4095, 0 };
	static const __u16 tpids[] = { ETH_P_8021Q, ETH_P_8021AD };
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	struct frame f = plain(), one = tagged(f, ETH_P_8021Q, 0xb005), want;

	for (size_t t = 0; t < ARRAY_SIZE(tpids); t++) {
		for (size_t i = 0; i < ARRAY_SIZE(tcis); i++) {
			set_list(w, slot, LIST(push_vlan(tpids[t], tcis[i]), output(2), last(2)));
			want = tagged(f, tpids[t], tcis[i]);
			assert_becomes(w, &f, &want);
			assert_key_follows(w, &want);
			want = tagged(one, tpids[t], tcis[i]);
			assert_becomes(w, &one, &want);
			assert_key_follows(w, &want);
		}
	}
}

static void test_pop(void **state)
{
	struct world *w = *state;
	struct frame f = plain(), one = tagged(f, ETH_P_8021Q, 0xb005), two = tagged(one, ETH_P_8021AD, 0x2007);
	struct frame three = tagged(two, ETH_P_8021AD, 0x3001);

	add_list_for_port(w, 1, LIST(pop_vlan(), output(2), last(2)));
	assert_becomes(w, &f, &f); /* nothing to pop is no failure, as in the kernel's datapath */
	assert_becomes(w, &one, &f);
	assert_key_follows(w, &f);
	assert_becomes(w, &two, &one);
	assert_key_follows(w, &one);
	assert_becomes(w, &three, &two);
	assert_int_equal(cpu_state_read(w).headers.key_stale, 1);
	assert_counted(w, .hit = 4, .mask_hit = 6, .forwarded = 4, .copies = 4, .missed = 2, .lost = 2);
}

/* Tags that stand in the bytes, as a test run leaves them. */
static void test_pop_from_bytes(void **state)
{
	struct world *w = *state;
	struct frame f = plain(), one = tagged(f, ETH_P_8021Q, 0xb005), two = tagged(one, ETH_P_8021AD, 0x2007);

	add_list_for_port(w, 1, LIST(pop_vlan(), set_byte(SET_IPV4_TTL, 63, 0xff), output(2), last(2)));
	f.byte[14 + 8] = 63;
	f = resummed(f);
	assert_int_equal(run_inline(w, 1, &one), TC_ACT_REDIRECT);
	assert_heard(w, 2, f);
	one.byte[18 + 8] = 63;
	one = resummed(one);
	assert_int_equal(run_inline(w, 1, &two), TC_ACT_REDIRECT);
	assert_heard(w, 2, one);
	assert_key_follows(w, &one);
}

/* A third tag, and a fourth: what is written behind them lands where it should. */
static void test_many_tags(void **state)
{
	struct world *w = *state;
	struct frame f = plain(), want = f;

	add_list_for_port(w, 1,
			  LIST(push_vlan(ETH_P_8021Q, 1), push_vlan(ETH_P_8021AD, 2), push_vlan(ETH_P_8021AD, 3),
			       push_vlan(ETH_P_8021Q, 4), set_byte(SET_IPV4_TTL, 9, 0xff), output(2), pop_vlan(),
			       pop_vlan(), set_half(SET_UDP_DST, 99, 0xffff), output(2), pop_vlan(), pop_vlan(),
			       pop_vlan(), set_word(SET_IPV4_SRC, 0x01020304, ~0U), output(2), last(2)));
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	want.byte[14 + 8] = 9;
	want = resummed(want);
	f = want;
	put_be16(f.byte + 34 + 2, 99);
	f = resummed(f);
	want = tagged(tagged(tagged(tagged(want, ETH_P_8021Q, 1), ETH_P_8021AD, 2), ETH_P_8021AD, 3), ETH_P_8021Q, 4);
	struct frame two = tagged(tagged(f, ETH_P_8021Q, 1), ETH_P_8021AD, 2);

	memcpy(f.byte + 26, "\1\2\3\4", 4);
	f = resummed(f);
	assert_heard(w, 2, want, two, f);
	assert_int_equal(cpu_state_read(w).headers.key_stale, 1);
}

/* Tags go, tags come, and the key is right where two are enough. */
static void test_swap(void **state)
{
	struct world *w = *state;
	struct frame f = tagged(tagged(plain(), ETH_P_8021Q, 5), ETH_P_8021AD, 6);
	struct frame want = tagged(tagged(plain(), ETH_P_8021Q, 5), ETH_P_8021Q, 7);

	add_list_for_port(w, 1, LIST(pop_vlan(), push_vlan(ETH_P_8021Q, 7), output(2), last(2)));
	assert_becomes(w, &f, &want);
	assert_key_follows(w, &want);
}

/* The second tag is cut: the frame cannot be made one with one tag. */
static void test_cut_tag(void **state)
{
	struct world *w = *state;
	struct frame f = frame_cut(tagged(tagged(plain(), ETH_P_8021Q, 5), ETH_P_8021AD, 6), 19);

	add_list_for_port(w, 1, LIST(pop_vlan(), last(2)));
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_int_equal(drops(w, 1, DROP_VLAN), 1);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_push),      test(test_pop),  test(test_pop_from_bytes),
		test(test_many_tags), test(test_swap), test(test_cut_tag),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
