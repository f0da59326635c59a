// SPDX-License-Identifier: GPL-2.0-only
/*
 * pedit(), step by step: the words that act_pedit would write, and where it would stop.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"

enum {
	L3 = ETH_HLEN,
	L4 = ETH_HLEN + 20,
};

static struct frame udp_frame(void)
{
	return with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .tos = 3, .ttl = 1), udp(1000, 53)), 11);
}

static struct frame put(struct frame f, __u32 at, const void *data, __u32 len)
{
	memcpy(f.byte + at, data, len);
	return f;
}

static __u32 any_flow(struct world *w)
{
	return add_list_for_port(w, 1, LIST(last(2)));
}

/* One step of one record. */
static void give_key(struct world *w, __u32 slot, struct flow_action key)
{
	set_list(w, slot, LIST(pedit(), steps_end(key), output(2), last(2)));
}

static void give_write(struct world *w, __u32 slot, struct flow_action values, struct flow_action masks)
{
	set_list(w, slot, LIST(pedit(), steps_end(values), masks, output(2), last(2)));
}

/* The frame leaves like this, and so many pedits were broken off. */
static void check(struct world *w, __u32 slot, struct frame in, struct frame out, __u64 over)
{
	__u64 before = overlimits(w, slot);

	assert_becomes(w, &in, &out);
	assert_int_equal(overlimits(w, slot) - before, over);
}

/* --- what is written -------------------------------------------------------------------------------------------- */

static void test_words(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();

	/* Set, keep, and toggle: (current & mask) ^ value. */
	give_write(w, slot, write_words(PEDIT_ETH, 3, 0x02000000, 0x00010200, 0x00000002), write_masks(0, 0, 0, 0));
	check(w, slot, f, put(f, 0, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12), 0);
	give_write(w, slot, write_words(PEDIT_ETH, 1, 0x00fe0000, 0, 0), write_masks(4, 0x0000ffff, 0, 0));
	check(w, slot, f, put(f, 4, "\x00\xfe", 2), 0);
	give_write(w, slot, write_words(PEDIT_IP4, 2, 0xffffffff, 0x00ff0000, 0),
		   write_masks(12, 0xffffffff, 0xff00ffff, 0));
	check(w, slot, f, put(put(f, L3 + 12, "\x3f\xff\xfd\xfe", 4), L3 + 17, "\xff", 1), 0);
	give_write(w, slot, write_words(PEDIT_UDP, 1, 0x00000102, 0, 0), write_masks(0, 0xffff0000, 0, 0));
	check(w, slot, f, put(f, L4 + 2, "\x01\x02", 2), 0);
	/* The word in which the Ethernet header ends. */
	give_write(w, slot, write_words(PEDIT_ETH, 2, 0xaabbccdd, 0x88cc0000, 0), write_masks(8, 0, 0x0000ffff, 0));
	check(w, slot, f, put(f, 8, "\xaa\xbb\xcc\xdd\x88\xcc", 6), 0);
	give_write(w, slot, write_words(PEDIT_ETH, 1, 0x08004600, 0, 0), write_masks(12, 0, 0, 0));
	check(w, slot, f, put(f, L3, "\x46\x00", 2), 0);
	/* From before the IP header. */
	give_write(w, slot, write_words(PEDIT_NETWORK, 2, 0xaabbccdd, 0x11223344, 0), write_masks(-4, 0, 0, 0));
	check(w, slot, f, put(f, 10, "\xaa\xbb\xcc\xdd\x11\x22\x33\x44", 8), 0);
}

/* C06: bits outside the mask stay, and a sum does not carry into the next byte. */
static void test_bits_outside_the_mask(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();

	set_list(w, slot,
		 LIST(pedit(), write_words(PEDIT_IP4, 1, 0x00b80000, 0, 0), write_masks(0, 0xff03ffff, 0, 0),
		      steps_end(add_key(PEDIT_IP4, 8, 0xff000000, 0x00ffffff)), output(2), last(2)));
	check(w, slot, f, put(put(f, L3 + 1, "\xbb", 1), L3 + 8, "\x00", 1), 0);
	f.byte[L3 + 1] = 2;
	f.byte[L3 + 8] = 0;
	check(w, slot, f, put(put(f, L3 + 1, "\xba", 1), L3 + 8, "\xff", 1), 0);
}

/* Words are added up as numbers of a little-endian host: a carry goes to the byte behind, if the mask lets it. */
static void test_add(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();

	f = put(f, L4, "\x12\xff\xff\xff", 4);
	give_key(w, slot, add_key(PEDIT_UDP, 0, 0x00010000, 0x0000ffff)); /* sport + 1: no carry within the field */
	check(w, slot, f, put(f, L4, "\x12\x00", 2), 0);
	give_key(w, slot, add_key(PEDIT_UDP, 0, 0x01000000, 0));
	check(w, slot, f, put(f, L4, "\x13\xff\xff\xff", 4), 0);
	give_key(w, slot, add_key(PEDIT_UDP, 0, 0xff000000, 0));
	check(w, slot, f, put(f, L4, "\x11\x00\x00\x00", 4), 0);
	/* Where the mask keeps, the sum is not seen, and nothing is toggled. */
	give_key(w, slot, add_key(PEDIT_UDP, 0, 0x01010101, 0xff00ffff));
	check(w, slot, f, put(f, L4 + 1, "\x00", 1), 0);
}

/* Each key sees what those before it did. */
static void test_order(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();

	set_list(w, slot,
		 LIST(pedit(), write_words(PEDIT_IP4, 1, 0x09000000, 0, 0), write_masks(8, 0x00ffffff, 0, 0),
		      add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff), add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff),
		      steps_end(write_words(PEDIT_IP4, 1, 0xf0000000, 0, 0)), write_masks(8, ~0U, 0, 0), output(2),
		      last(2)));
	check(w, slot, f, put(f, L3 + 8, "\xfb", 1), 0);
}

/* Records that only show what was given are not executed. */
static void test_keys_for_text(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();
	struct flow_action head = pedit();

	head.pedit.keys = 3;
	set_list(w, slot,
		 LIST(head, at_key(PEDIT_ETH, 0, ~0U, 0, 0, 0, 0), at_key(PEDIT_ETH, 4, ~0U, 0, 0, 0, 0),
		      at_key(PEDIT_ETH, 8, ~0U, 0, 0, 0, 0),
		      steps_end(at_key(PEDIT_IP4, 8, 0x07000000, 0xffffff, 0, 0, 0)), output(2), last(2)));
	check(w, slot, f, put(f, L3 + 8, "\x07", 1), 0);
}

/* --- where ------------------------------------------------------------------------------------------------------ */

/* The third word behind the IP header, wherever that ends. */
static void test_at(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = udp_frame();
	struct frame options = with_payload(
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .options = "\x94\x04\0\0\1\1\1\0", .option_words = 2),
		      udp(1000, 53)),
		20);

	/* (byte 0 & 0x0f) << 2 cannot be said; (0x45 & 0x0f) >> 0 is 5, no multiple of 4; & 0x0c is 4. */
	give_key(w, slot, at_key(PEDIT_NETWORK, 4, 0xdeadbeef, 0, 0, 0x0c, 0));
	check(w, slot, f, put(f, L3 + 8, "\xde\xad\xbe\xef", 4), 0);
	give_key(w, slot, at_key(PEDIT_NETWORK, 16, 0xdeadbeef, 0, 0, 0xf0, 4)); /* version: 4 */
	check(w, slot, options, put(options, L3 + 20, "\xde\xad\xbe\xef", 4), 0);
	give_key(w, slot, at_key(PEDIT_NETWORK, 0, 0xdeadbeef, 0, 0, 0x0f, 0));
	check(w, slot, f, f, 1);
	/* A byte before the base, and bytes that are not there. */
	give_key(w, slot, at_key(PEDIT_NETWORK, -14, 0xdeadbeef, 0, -2, 0xff, 1)); /* 8 >> 1: -10 */
	check(w, slot, f, f, 1);
	give_key(w, slot, at_key(PEDIT_NETWORK, -12, 0xdeadbeef, 0, -2, 0xff, 1)); /* -8 */
	check(w, slot, f, put(f, L3 - 8, "\xde\xad\xbe\xef", 4), 0);
	give_key(w, slot, at_key(PEDIT_NETWORK, 0, 0xdeadbeef, 0, f.len - L3 - 1, 0x01, 7));
	check(w, slot, f, put(f, L3, "\xde\xad\xbe\xef", 4), 0);
	give_key(w, slot, at_key(PEDIT_NETWORK, 0, 0xdeadbeef, 0, f.len - L3, 0x01, 7));
	check(w, slot, f, f, 1);
	give_key(w, slot, at_key(PEDIT_NETWORK, 0, 0xdeadbeef, 0, -15, 0x01, 7));
	check(w, slot, f, f, 1);
}

/* Typed L4 keys follow the real header; others do not ask what the packet is. */
static void test_bases(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame options = with_payload(
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .options = "\x94\x04\0\0\1\1\1\0", .option_words = 2),
		      udp(1000, 53)),
		20);
	struct frame six = with_payload(
		FRAME(eth(ETH_P_IPV6), ipv6(0), ip6_option(60, 0), ip6_option(IPPROTO_TCP, 1), tcp(1000, 80, 0)), 5);
	struct frame arp_frame = FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4));
	struct frame two = with_payload(
		FRAME(eth(ETH_P_8021AD), vlan(1, ETH_P_8021Q), vlan(2, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, 53)), 4);

	give_write(w, slot, write_words(PEDIT_UDP, 1, 0x00000102, 0, 0), write_masks(0, 0xffff0000, 0, 0));
	check(w, slot, options, put(options, L4 + 8 + 2, "\x01\x02", 2), 0);
	check(w, slot, two, put(two, L4 + 8 + 2, "\x01\x02", 2), 0);
	give_write(w, slot, write_words(PEDIT_TCP, 1, 0x00000102, 0, 0), write_masks(0, 0xffff0000, 0, 0));
	check(w, slot, six, put(six, L3 + 40 + 24 + 2, "\x01\x02", 2), 0);
	give_write(w, slot, write_words(PEDIT_IP4, 1, 0x09000000, 0, 0), write_masks(8, 0x00ffffff, 0, 0));
	check(w, slot, arp_frame, put(arp_frame, L3 + 8, "\x09", 1), 0);
	check(w, slot, six, put(six, L3 + 8, "\x09", 1), 0);
	check(w, slot, two, put(two, L3 + 8 + 8, "\x09", 1), 0);
	give_write(w, slot, write_words(PEDIT_IP6, 1, 0x00000009, 0, 0), write_masks(4, 0xffffff00, 0, 0));
	check(w, slot, six, put(six, L3 + 7, "\x09", 1), 0);
	/* The outer tag is not in the bytes; the inner one is. */
	give_write(w, slot, write_words(PEDIT_ETH, 1, 0x00000fff, 0, 0), write_masks(12, 0xffff0000, 0, 0));
	check(w, slot, two, put(two, 18, "\x0f\xff", 2), 0);
}

/* No such L4 header. */
static void test_no_l4(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	const struct frame frames[] = {
		udp_frame(),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .frag = 1), zeros(40)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ihl = 4), tcp(1, 2, 0)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1, 2)),
		FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(IPPROTO_TCP, 8), tcp(1, 2, 0)),
		FRAME(eth(ETH_P_IPV6), ipv6(0), bytes("\x06\x40", 2), zeros(30)),
		FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), zeros(3)),
	};

	give_write(w, slot, write_words(PEDIT_TCP, 1, ~0U, 0, 0), write_masks(0, 0, 0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		check(w, slot, frames[i], frames[i], 1);
}

/* --- how far ---------------------------------------------------------------------------------------------------- */

/* C07: the keys before stay, those after are not done, what follows the pedit is. */
static void test_broken_off(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(9, 11)), 2);
	struct frame want = put(put(f, 0, "\x02\0\0\0\0\xfe", 6), L3 + 8, "\x05", 1);
	__u32 slot = any_flow(w);

	want = resummed(want);
	set_list(w, slot,
		 LIST(pedit(), write_words(PEDIT_ETH, 2, 0x02000000, 0x00fe0000, 0), write_masks(0, 0, 0x0000ffff, 0),
		      write_words(PEDIT_NETWORK, 1, 0x41414141, 0, 0), write_masks(28, 0, 0, 0),
		      add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff),
		      steps_end(write_words(PEDIT_ETH, 2, 0x00000200, 0x00aaaaaa, 0)), write_masks(4, 0xffff0000, 0, 0),
		      set_byte(SET_IPV4_TTL, 5, 0xff), pedit(), steps_end(write_words(PEDIT_ETH, 1, 0x99, 0, 0)),
		      write_masks(8, 0xffffff00, 0, 0), output(2), last(2)));
	want.byte[11] = 0x99;
	check(w, slot, f, want, 1);
	check(w, slot, f, want, 1);
	assert_int_equal(overlimits(w, slot), 2);
}

/* Words that follow each other are written up to the first that does not fit, at either end. */
static void test_words_at_the_ends(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = frame_padded(FRAME(eth(0x88cc)), 64);
	static const __u8 words[] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xb1, 0xb2, 0xb3, 0xb4, 0xc1, 0xc2, 0xc3, 0xc4 };

	for (__s16 offset = 44; offset <= 76; offset += 4) {
		__u32 fit = offset >= 64 ? 0 : (64 - offset) / 4;

		if (fit > 3)
			fit = 3;
		give_write(w, slot, write_words(PEDIT_ETH, 3, 0xa1a2a3a4, 0xb1b2b3b4, 0xc1c2c3c4),
			   write_masks(offset, 0, 0, 0));
		check(w, slot, f, put(f, fit ? offset : 0, fit ? words : f.byte, fit * 4), fit < 3);
	}
	for (__s16 offset = -20; offset < 0; offset += 4) {
		give_write(w, slot, write_words(PEDIT_ETH, 3, 0xa1a2a3a4, 0xb1b2b3b4, 0xc1c2c3c4),
			   write_masks(offset, 0, 0, 0));
		check(w, slot, f, f, 1);
		give_key(w, slot, add_key(PEDIT_ETH, offset, 1, 0));
		check(w, slot, f, f, 1);
	}
	for (__u32 len = 60; len <= 64; len++) {
		give_key(w, slot, add_key(PEDIT_ETH, 60, 0x01000000, 0));
		check(w, slot, frame_cut(f, len), len < 64 ? frame_cut(f, len) : put(f, 60, "\x3d", 1), len < 64);
	}
	give_write(w, slot, write_words(PEDIT_ETH, 1, 1, 0, 0), write_masks(0x7ffc, 0, 0, 0));
	check(w, slot, f, f, 1);
	give_write(w, slot, write_words(PEDIT_NETWORK, 1, 1, 0, 0), write_masks(-0x8000, 0, 0, 0));
	check(w, slot, f, f, 1);
}

/* After a push and a pop. */
static void test_between_tags(void **state)
{
	struct world *w = *state;
	struct frame f = udp_frame(), one = FRAME(eth(ETH_P_8021Q), vlan(7, ETH_P_IP)), want;
	__u32 slot = any_flow(w);

	one = frame_padded(one, f.len + 4);
	memcpy(one.byte + 18, f.byte + 14, f.len - 14);
	set_list(w, slot,
		 LIST(push_vlan(ETH_P_8021Q, 9), pedit(), steps_end(add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff)),
		      pop_vlan(), pop_vlan(), pedit(), steps_end(add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff)),
		      output(2), last(2)));
	want = put(f, L3 + 8, "\x03", 1);
	check(w, slot, f, want, 0);
	check(w, slot, one, want, 0);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_words),	  test(test_bits_outside_the_mask),
		test(test_add),		  test(test_order),
		test(test_keys_for_text), test(test_at),
		test(test_bases),	  test(test_no_l4),
		test(test_broken_off),	  test(test_words_at_the_ends),
		test(test_between_tags),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
