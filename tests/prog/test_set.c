// SPDX-License-Identifier: GPL-2.0-only
/*
 * set(): what leaves is the frame that a sender would have made with the new value, sums included; and the key is the one
 * that this frame has.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"

static const __u8 all_ones[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const __u8 mac_new[6] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

enum place {
	AT_L2,
	AT_L3,
	AT_L4,
};

/* A record, and the bytes that it is to leave in the frame. */
struct change {
	struct flow_action a;
	enum place place;
	__u32 offset;
	__u32 len;
	__u8 byte[12];
};

static struct change change(struct flow_action a, enum place place, __u32 offset, __u32 len, const void *data)
{
	struct change c = { .a = a, .place = place, .offset = offset, .len = len };

	memcpy(c.byte, data, len);
	return c;
}

static struct frame changed(struct frame f, const struct change *c)
{
	struct layout l;
	__u32 at;

	frame_layout(&f, &l);
	at = c->place == AT_L2 ? 0 : c->place == AT_L3 ? l.l3 : l.l4;
	memcpy(f.byte + at + c->offset, c->byte, c->len);
	return resummed(f);
}

/* With the key that the program leaves, the one that it finds in what left. */
static void assert_key_follows(struct world *w, const struct frame *out)
{
	struct flow_key key = cpu_state_read(w).key;

	poison_key(w);
	assert_int_equal(run_frame(w, 3, out), TC_ACT_SHOT);
	key.in_port = 3;
	assert_key_is(w, &key, "after the actions");
}

static void check_change(struct world *w, __u32 slot, const struct frame *f, const struct change *c)
{
	struct frame want = changed(*f, c);

	set_list(w, slot, LIST(c->a, output(2), last(2)));
	assert_true(sums_are_right(f));
	assert_true(sums_are_right(&want));
	assert_becomes(w, f, &want);
	assert_int_equal(cpu_state_read(w).headers.key_stale, 0);
	assert_key_follows(w, &want);
	/* Once more, on what has it already. */
	assert_becomes(w, &want, &want);
}

/* Untagged, with one tag and with two; the outer one is in metadata. */
static void check_tagged(struct world *w, __u32 slot, struct frame f, const struct change *c)
{
	static const __u8 tags[] = { 0x88, 0xa8, 0xb0, 0x0a, 0x81, 0x00, 0x00, 0x14 };

	check_change(w, slot, &f, c);
	for (__u32 from = 4; from <= 4; from -= 4) {
		struct frame tagged = f;
		__u32 len = sizeof(tags) - from;

		memcpy(tagged.byte + 12, tags + from, len);
		memcpy(tagged.byte + 12 + len, f.byte + 12, f.len - 12);
		tagged.len += len;
		check_change(w, slot, &tagged, c);
	}
}

/* In payloads of each remainder, one of them shorter than what a cable carries. */
static void check_lengths(struct world *w, __u32 slot, struct frame f, const struct change *c)
{
	static const __u32 lengths[] = { 0, 1, 2, 3, 517, 1400 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		check_tagged(w, slot, with_payload(f, lengths[i]), c);
}

/* --- Ethernet and metadata -------------------------------------------------------------------------------------- */

static void test_eth(void **state)
{
	static const __u8 mask[6] = { 0, 0xff, 0x0f, 0, 0, 0xf0 }, bits[6] = { 0, 0x11, 0x02, 0, 0, 0x50 };
	static const __u8 both[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	struct frame arp_frame = FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4)), short_frame = FRAME(eth(0x88cc));
	struct frame ip = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, 53));
	const struct change changes[] = {
		change(set_macs(both, both + 6), AT_L2, 0, 12, both),
		change(set_mac(SET_ETH_DST, mac_new, all_ones), AT_L2, 0, 6, mac_new),
		change(set_mac(SET_ETH_SRC, mac_new, all_ones), AT_L2, 6, 6, mac_new),
		change(set_mac(SET_ETH_DST, bits, mask), AT_L2, 0, 6, "\x06\x11\x02\x00\x0b\x5b"),
		change(set_mac(SET_ETH_SRC, bits, mask), AT_L2, 6, 6, "\x02\x11\x02\x00\x0a\x5a"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		check_tagged(w, slot, arp_frame, &changes[i]);
		check_tagged(w, slot, frame_padded(short_frame, 60), &changes[i]);
		check_lengths(w, slot, ip, &changes[i]);
	}
}

static void test_priority_and_mark(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, 53)), 9);

	add_list_for_port(w, 1,
			  LIST(set_host(SET_PRIORITY, 0x12345678, ~0U), set_host(SET_MARK, 0x00ab0000, 0x00ff0000),
			       output(2), last(2)));
	w->mark = 0x11111111;
	w->priority = 7;
	assert_becomes(w, &f, &f);
	assert_int_equal(w->ctx.priority, 0x12345678);
	assert_int_equal(w->ctx.mark, 0x11ab1111);
	w->mark = w->ctx.mark;
	w->priority = w->ctx.priority;
	assert_key_follows(w, &f);
}

/* --- IP --------------------------------------------------------------------------------------------------------- */

static void test_ipv4(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	const struct frame frames[] = {
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .tos = 3, .ttl = 64), tcp(1000, 80, TCP_SYN)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .tos = 2, .ttl = 1), udp(1000, 53)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_ICMP, .ttl = 255), icmp(8, 0)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP, .ttl = 9), sctp(1000, 2000)),
		FRAME(eth(ETH_P_IP),
		      ipv4(IPPROTO_TCP, .frag = IPV4_DF, .options = "\x94\x04\x00\x00\x01\x01\x01\x00",
			   .option_words = 2),
		      tcp(1000, 80, 0)),
		FRAME(eth(ETH_P_IP), ipv4(200, .ttl = 9), zeros(20)),
	};
	const struct change changes[] = {
		change(set_word(SET_IPV4_SRC, 0x0a010203, ~0U), AT_L3, 12, 4, "\x0a\x01\x02\x03"),
		change(set_word(SET_IPV4_DST, 0x0a010203, ~0U), AT_L3, 16, 4, "\x0a\x01\x02\x03"),
		change(set_word(SET_IPV4_SRC, 0x00ff0f00, 0x00ffff00), AT_L3, 12, 4, "\xc0\xff\x0f\x01"),
		change(set_word(SET_IPV4_DST, 0, ~0U), AT_L3, 16, 4, "\0\0\0\0"),
		change(set_byte(SET_IPV4_TTL, 0, 0xff), AT_L3, 8, 1, "\0"),
		change(set_byte(SET_IPV4_TTL, 255, 0xff), AT_L3, 8, 1, "\xff"),
		change(set_byte(SET_IPV4_TOS, 0xb9, 0xff), AT_L3, 1, 1, "\xb9"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		for (size_t k = 0; k < ARRAY_SIZE(changes); k++)
			check_lengths(w, slot, frames[i], &changes[k]);
}

static void test_ipv6(void **state)
{
	static const __u8 dst[] = { 0xfd, 0x01, 0x02, 0x03 };
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	const struct frame frames[] = {
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP, .tclass = 3, .hlimit = 64), tcp(1000, 80, TCP_SYN)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .label = 0xabcde), udp(1000, 53)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), icmp(128, 0)),
		FRAME(eth(ETH_P_IPV6), ipv6(0), ip6_option(60, 0), ip6_option(IPPROTO_TCP, 1), tcp(1000, 80, 0)),
		FRAME(eth(ETH_P_IPV6), ipv6(43), ip6_routing(IPPROTO_UDP, 1), udp(1000, 53)),
		FRAME(eth(ETH_P_IPV6), ipv6(43), ip6_routing(IPPROTO_UDP, 0), udp(1000, 53)),
		FRAME(eth(ETH_P_IPV6), ipv6(60), ip6_option(43, 0), ip6_routing(IPPROTO_TCP, 2), tcp(1000, 80, 0)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_SCTP), sctp(1000, 2000)),
	};
	const struct change changes[] = {
		change(set_part(SET_IPV6_SRC, 0, 0xfd010203, ~0U), AT_L3, 8, 4, dst),
		change(set_part(SET_IPV6_SRC, 2, 0x00ff0000, 0x00ff0000), AT_L3, 16, 4, "\x04\xff\x06\x07"),
		change(set_part(SET_IPV6_DST, 0, 0xfd010203, ~0U), AT_L3, 24, 4, dst),
		change(set_part(SET_IPV6_DST, 3, 0xfd010203, ~0U), AT_L3, 36, 4, dst),
		change(set_byte(SET_IPV6_HLIMIT, 1, 0xff), AT_L3, 7, 1, "\x01"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		for (size_t k = 0; k < ARRAY_SIZE(changes); k++)
			check_lengths(w, slot, frames[i], &changes[k]);
}

/* Version, class and label share a word. */
static void test_ipv6_first_word(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .tclass = 0xa5, .label = 0xabcde), udp(1000, 53));
	const struct change changes[] = {
		change(set_byte(SET_IPV6_TCLASS, 0x5a, 0xff), AT_L3, 0, 4, "\x65\xaa\xbc\xde"),
		change(set_byte(SET_IPV6_TCLASS, 0xb8, 0xfc), AT_L3, 0, 4, "\x6b\x9a\xbc\xde"),
		change(set_word(SET_IPV6_LABEL, 0x12345, 0xfffff), AT_L3, 0, 4, "\x6a\x51\x23\x45"),
		change(set_word(SET_IPV6_LABEL, 0x00040, 0x000f0), AT_L3, 0, 4, "\x6a\x5a\xbc\x4e"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		check_lengths(w, slot, f, &changes[i]);
}

/* A DSCP write keeps congestion marks. */
static void test_ecn_stays(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));

	for (__u8 ecn = 0; ecn < 4; ecn++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .tos = 0x28 | ecn), tcp(1000, 80, 0));
		__u8 tos = 0xb8 | ecn;
		struct change c = change(set_byte(SET_IPV4_TOS, 0xb8, 0xfc), AT_L3, 1, 1, &tos);

		check_tagged(w, slot, with_payload(f, 4), &c);
	}
}

/* --- ports ------------------------------------------------------------------------------------------------------ */

static void check_ports(struct world *w, __u32 slot, __u8 proto, struct layer l4, enum set_field src,
			enum set_field dst)
{
	const struct frame frames[] = {
		FRAME(eth(ETH_P_IP), ipv4(proto), l4),
		FRAME(eth(ETH_P_IP), ipv4(proto, .options = "\x94\x04\x00\x00", .option_words = 1), l4),
		FRAME(eth(ETH_P_IPV6), ipv6(proto), l4),
		FRAME(eth(ETH_P_IPV6), ipv6(60), ip6_option(proto, 2), l4),
	};
	const struct change changes[] = {
		change(set_half(src, 258, 0xffff), AT_L4, 0, 2, "\x01\x02"),
		change(set_half(dst, 258, 0xffff), AT_L4, 2, 2, "\x01\x02"),
		change(set_half(src, 0x0500, 0x0f00), AT_L4, 0, 2, "\x05\xe8"), /* 1000 is 0x03e8 */
		change(set_half(dst, 0, 0xffff), AT_L4, 2, 2, "\x00\x00"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		for (size_t k = 0; k < ARRAY_SIZE(changes); k++)
			check_lengths(w, slot, frames[i], &changes[k]);
}

static void test_ports(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));

	check_ports(w, slot, IPPROTO_TCP, tcp(1000, 80, TCP_ACK), SET_TCP_SRC, SET_TCP_DST);
	check_ports(w, slot, IPPROTO_UDP, udp(1000, 80), SET_UDP_SRC, SET_UDP_DST);
	check_ports(w, slot, IPPROTO_SCTP, sctp(1000, 80), SET_SCTP_SRC, SET_SCTP_DST);
}

/* What pads a short frame is not in an SCTP packet's checksum. */
static void test_sctp_padded(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	struct change c = change(set_half(SET_SCTP_DST, 258, 0xffff), AT_L4, 2, 2, "\x01\x02");
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1, 2)), 4);
	struct frame six = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_SCTP), sctp(1, 2)), 1);

	f = frame_padded(f, 60);
	six = frame_padded(six, 90);
	check_change(w, slot, &f, &c);
	check_change(w, slot, &six, &c);
}

/* A sum that is wrong stays wrong by as much: a receiver still sees that the packet was damaged. */
static void test_wrong_sums_stay_wrong(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2)));
	const struct flow_action a[] = { set_half(SET_SCTP_SRC, 258, 0xffff), set_half(SET_TCP_SRC, 258, 0xffff) };
	const __u32 sum_at[] = { 8, 16 };
	struct frame f[] = {
		with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1000, 80)), 33),
		with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1000, 80, 0)), 33),
	};

	for (int i = 0; i < 2; i++) {
		struct change c = change(a[i], AT_L4, 0, 2, "\x01\x02");
		struct frame want = changed(f[i], &c);
		__u32 at = 34 + sum_at[i];

		f[i].byte[at] ^= 0x40;
		set_list(w, slot, LIST(c.a, output(2), last(2)));
		assert_int_equal(run_frame(w, 1, &f[i]), TC_ACT_REDIRECT);
		if (!i) {
			want.byte[at] ^= 0x40;
		} else {
			struct frame flipped = f[i], right = f[i];
			__u16 off;

			right.byte[at] ^= 0x40;
			off = ones_sum(flipped.byte + at, 2, (__u16)~get16(right.byte + at));
			put_be16(want.byte + at, ones_sum(want.byte + at, 2, off));
		}
		assert_heard(w, 2, want);
	}
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_eth),	  test(test_priority_and_mark), test(test_ipv4),
		test(test_ipv6),  test(test_ipv6_first_word),	test(test_ecn_stays),
		test(test_ports), test(test_sctp_padded),	test(test_wrong_sums_stay_wrong),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
