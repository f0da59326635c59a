// SPDX-License-Identifier: GPL-2.0-only
/*
 * set() where there is little to keep right, or nothing: no UDP checksum, fragments, headers that are cut or lie.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"

static __u32 any_flow(struct world *w)
{
	return add_list_for_port(w, 1, LIST(last(2)));
}

static void give(struct world *w, __u32 slot, struct flow_action a)
{
	set_list(w, slot, LIST(a, output(2), last(2)));
}

static struct flow_action to_99(void)
{
	return set_word(SET_IPV4_DST, 0x0a000063, ~0U);
}

static struct frame with_dst(struct frame f, const void *dst)
{
	memcpy(f.byte + 30, dst, 4);
	return f;
}

/* The IP header's sum and nothing else. */
static struct frame header_summed(struct frame f)
{
	put_be16(f.byte + 24, 0);
	put_be16(f.byte + 24, ~ones_sum(f.byte + 14, (f.byte[14] & 0xf) * 4, 0));
	return f;
}

/* --- UDP -------------------------------------------------------------------------------------------------------- */

static void test_udp_without_checksum(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1, 2)), 5), want;
	struct frame six = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1, 2)), 5);

	put_be16(f.byte + 34 + 6, 0);
	want = resummed(with_dst(f, "\x0a\0\0\x63"));
	assert_int_equal(get16(want.byte + 40), 0);
	give(w, slot, to_99());
	assert_becomes(w, &f, &want);
	want = f;
	put_be16(want.byte + 34, 99);
	give(w, slot, set_half(SET_UDP_SRC, 99, 0xffff));
	assert_becomes(w, &f, &want);
	/* IPv6 has to have one, and a frame without is not made one that has. */
	put_be16(six.byte + 54 + 6, 0);
	want = six;
	memcpy(want.byte + 38, "\x0a\0\0\x63", 4);
	give(w, slot, set_part(SET_IPV6_DST, 0, 0x0a000063, ~0U));
	assert_becomes(w, &six, &want);
}

/* A sum of zero is sent as ffff; by an address, and by a port. */
static void test_udp_sum_of_zero(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w), ffff = 0;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)), 4);

	for (__u32 port = 1; port < 0x10000; port += 7) {
		struct frame want = f;

		put_be16(want.byte + 34, port);
		want = resummed(want);
		if (get16(want.byte + 40) != 0xffff)
			continue;
		give(w, slot, set_half(SET_UDP_SRC, port, 0xffff));
		assert_becomes(w, &f, &want);
		ffff++;
	}
	for (__u32 host = 0; host < 0x10000; host++) {
		__u8 dst[] = { 10, 0, host >> 8, host };
		struct frame want = resummed(with_dst(f, dst));

		if (get16(want.byte + 40) != 0xffff)
			continue;
		give(w, slot, set_word(SET_IPV4_DST, 0x0a000000 | host, ~0U));
		assert_becomes(w, &f, &want);
		ffff++;
	}
	assert_true(ffff >= 1);
}

/* --- fragments -------------------------------------------------------------------------------------------------- */

static void test_fragments(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	/* The sum of the whole datagram stands in the first fragment, and changes by the address all the same. */
	struct frame first = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .frag = IPV4_MF), udp(1, 2)), 16);
	struct frame later = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .frag = 100)), 33), want;

	want = resummed(with_dst(first, "\x0a\0\0\x63"));
	give(w, slot, to_99());
	assert_becomes(w, &first, &want);
	want = header_summed(with_dst(later, "\x0a\0\0\x63"));
	assert_becomes(w, &later, &want);
	give(w, slot, set_half(SET_UDP_DST, 99, 0xffff));
	assert_becomes(w, &later, &later);
	assert_counted(w, .hit = 3, .mask_hit = 3, .forwarded = 3, .copies = 3, .sets_skipped = 1);
}

static void test_ipv6_fragments(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame first = with_payload(
		FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(IPPROTO_TCP, IPV6_MF), tcp(1, 2, 0)), 16);
	struct frame later = with_payload(
		FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(IPPROTO_TCP, 80 | IPV6_MF), tcp(1, 2, 0)), 16);
	struct frame want = first;

	memcpy(want.byte + 22, "\xfd\1\2\3", 4);
	want = resummed(want);
	give(w, slot, set_part(SET_IPV6_SRC, 0, 0xfd010203, ~0U));
	assert_becomes(w, &first, &want);
	want = later;
	memcpy(want.byte + 22, "\xfd\1\2\3", 4);
	assert_becomes(w, &later, &want);
	give(w, slot, set_half(SET_TCP_DST, 99, 0xffff));
	assert_becomes(w, &later, &later);
	assert_counted(w, .hit = 3, .mask_hit = 3, .forwarded = 3, .copies = 3, .sets_skipped = 1);
}

/* --- headers that are not there --------------------------------------------------------------------------------- */

/* Unchanged, counted, forwarded. */
static void check_skipped(struct world *w, __u32 slot, struct frame f, struct flow_action a)
{
	give(w, slot, a);
	assert_becomes(w, &f, &f);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies = 1, .sets_skipped = 1);
}

static void test_cut_headers(void **state)
{
	static const struct {
		__u8 proto;
		__u32 whole; /* bytes that the field's header has */
		enum set_field field;
	} l4[] = {
		{ IPPROTO_TCP, 20, SET_TCP_SRC },
		{ IPPROTO_UDP, 8, SET_UDP_DST },
		{ IPPROTO_SCTP, 12, SET_SCTP_DST },
	};
	struct world *w = *state;
	__u32 slot = any_flow(w);

	for (size_t i = 0; i < ARRAY_SIZE(l4); i++) {
		for (__u32 len = 0; len < l4[i].whole; len++) {
			struct flow_action a = set_half(l4[i].field, 99, 0xffff);

			check_skipped(w, slot, FRAME(eth(ETH_P_IP), ipv4(l4[i].proto), zeros(len)), a);
			check_skipped(w, slot, FRAME(eth(ETH_P_IPV6), ipv6(l4[i].proto), zeros(len)), a);
		}
	}
	for (__u32 len = 2; len < 20; len += 3) /* below two bytes behind the type a test run pads */
		check_skipped(w, slot, frame_cut(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP)), ETH_HLEN + len), to_99());
	for (__u32 len = 2; len < 40; len += 3)
		check_skipped(w, slot, frame_cut(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP)), ETH_HLEN + len),
			      set_byte(SET_IPV6_HLIMIT, 9, 0xff));
}

/* An address is written, and there is no L4 sum to keep. */
static void test_address_before_cut_header(void **state)
{
	static const __u8 protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP };
	struct world *w = *state;
	__u32 slot = any_flow(w);

	give(w, slot, to_99());
	for (size_t i = 0; i < sizeof(protos); i++) {
		struct frame f = sealed(FRAME(eth(ETH_P_IP), ipv4(protos[i]), zeros(7)));
		struct frame want = header_summed(with_dst(f, "\x0a\0\0\x63"));

		assert_becomes(w, &f, &want);
	}
	assert_counted(w, .hit = 3, .mask_hit = 3, .forwarded = 3, .copies = 3);
}

/* A CRC is over what there is, whatever the IP header says beyond that. */
static void test_sctp_longer_than_frame(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = sealed(with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1000, 80)), 4));
	struct frame want = sealed(with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1000, 99)), 4));

	give(w, slot, set_half(SET_SCTP_DST, 99, 0xffff));
	f.byte[ETH_HLEN + 3] += 9;
	want.byte[ETH_HLEN + 3] += 9;
	assert_becomes(w, &f, &want);
}

static void test_other_headers(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame lies = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ihl = 4), tcp(1, 2, 0));
	struct frame longer = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ihl = 15), tcp(1, 2, 0));
	struct frame chain = FRAME(eth(ETH_P_IPV6), ipv6(0), bytes("\x06\x05", 2), zeros(20));
	struct frame udp_frame = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));
	struct frame arp_frame = FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4));

	check_skipped(w, slot, lies, to_99());
	check_skipped(w, slot, longer, to_99());
	check_skipped(w, slot, lies, set_half(SET_TCP_SRC, 99, 0xffff));
	check_skipped(w, slot, chain, set_half(SET_TCP_SRC, 99, 0xffff));
	check_skipped(w, slot, udp_frame, set_half(SET_TCP_SRC, 99, 0xffff));
	check_skipped(w, slot, udp_frame, set_byte(SET_IPV6_HLIMIT, 9, 0xff));
	check_skipped(w, slot, arp_frame, to_99());
	check_skipped(w, slot,
		      FRAME(eth(ETH_P_8021Q), vlan(1, ETH_P_8021Q), vlan(2, ETH_P_8021Q), vlan(3, ETH_P_IP),
			    ipv4(IPPROTO_TCP), tcp(1, 2, 0)),
		      to_99());
}

/* IP behind LLC and SNAP is IP. */
static void test_snap(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = FRAME(eth(8 + 20 + 20), llc(0xaa, 0xaa, 3), snap(0, ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 3),
			       tcp(1, 2, 0));
	struct frame want = f;

	put_be16(f.byte + 22 + 10, 0x1234);
	put_be16(want.byte + 22 + 10, ones_sum((const __u8[]){ 0x12, 0x34, 2, 0 }, 4, 0));
	want.byte[22 + 8] = 1;
	give(w, slot, set_byte(SET_IPV4_TTL, 1, 0xff));
	assert_becomes(w, &f, &want);
}

/* --- F20: what is shared ---------------------------------------------------------------------------------------- */

/* Headers outside the linear part, in memory that the sender shares with us. */
static void test_split_frame(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 64), tcp(1, 2, 0)), 1300), want;

	set_list(w, slot, LIST(output(3), to_99(), set_half(SET_TCP_DST, 99, 0xffff), last(2)));
	want = with_dst(f, "\x0a\0\0\x63");
	put_be16(want.byte + 36, 99);
	want = resummed(want);
	send_split(w, 1, &f);
	assert_heard(w, 3, f);
	assert_heard(w, 2, want);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_udp_without_checksum),
		test(test_udp_sum_of_zero),
		test(test_fragments),
		test(test_ipv6_fragments),
		test(test_cut_headers),
		test(test_address_before_cut_header),
		test(test_sctp_longer_than_frame),
		test(test_other_headers),
		test(test_snap),
		test(test_split_frame),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
