// SPDX-License-Identifier: GPL-2.0-only
/*
 * csum(): sums made anew, as act_csum does it.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"

static __u32 any_flow(struct world *w)
{
	return add_list_for_port(w, 1, LIST(last(2)));
}

static void give(struct world *w, __u32 slot, __u8 what)
{
	set_list(w, slot, LIST(csum(what), output(2), last(2)));
}

static __u32 ip_sum_at(const struct layout *l)
{
	return l->l3 + 10;
}

static __u32 l4_sum_at(const struct layout *l)
{
	return l->l4 + (l->proto == IPPROTO_TCP					 ? 16
			: l->proto == IPPROTO_UDP || l->proto == IPPROTO_UDPLITE ? 6
			: l->proto == IPPROTO_SCTP				 ? 8
										 : 2);
}

/* All sums of the frame spoiled. */
static struct frame spoiled(struct frame f)
{
	struct layout l;

	frame_layout(&f, &l);
	if (l.ipv4)
		f.byte[ip_sum_at(&l)] ^= 0x55;
	f.byte[l4_sum_at(&l)] ^= 0x55;
	f.byte[l4_sum_at(&l) + 1] ^= 0xaa;
	return f;
}

static struct layer udplite(__u16 coverage)
{
	struct layer l = udp(1000, 53);

	put_be16(l.byte + 4, coverage);
	put_be16(l.byte + 6, 1);
	return l;
}

struct kind {
	struct frame f;
	__u8 what;
};

static const __u32 lengths[] = { 0, 1, 2, 3, 4, 511, 512, 513, 1023, 1400 };

/* Only the sum that was asked for. */
static void check_kind(struct world *w, __u32 slot, const struct kind *k, __u32 len)
{
	struct frame right = with_payload(k->f, len), wrong = spoiled(right), half = wrong;
	struct layout l;

	frame_layout(&right, &l);
	give(w, slot, k->what | CSUM_IPV4);
	assert_becomes(w, &wrong, &right);
	assert_becomes(w, &right, &right);
	give(w, slot, k->what);
	memcpy(half.byte + l4_sum_at(&l), right.byte + l4_sum_at(&l), l.proto == IPPROTO_SCTP ? 4 : 2);
	assert_becomes(w, &wrong, &half);
	give(w, slot, (__u8)~k->what & 0x7e);
	assert_becomes(w, &wrong, &wrong);
	if (!l.ipv4)
		return;
	half = wrong;
	memcpy(half.byte + ip_sum_at(&l), right.byte + ip_sum_at(&l), 2);
	give(w, slot, CSUM_IPV4);
	assert_becomes(w, &wrong, &half);
}

static void test_kinds(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	const struct kind kinds[] = {
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1000, 80, 0)), CSUM_TCP },
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1000, 80)), CSUM_UDP },
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_ICMP), icmp(8, 0)), CSUM_ICMP },
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_IGMP), icmp(0x16, 0)), CSUM_IGMP },
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1000, 80)), CSUM_SCTP },
		{ FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .options = "\x94\x04\0\0\1\1\1\0", .option_words = 2),
			tcp(1000, 80, 0)),
		  CSUM_TCP },
		{ FRAME(eth(ETH_P_8021AD), vlan(1, ETH_P_8021Q), vlan(2, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)),
		  CSUM_UDP },
		{ FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP), tcp(1000, 80, 0)), CSUM_TCP },
		{ FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1000, 80)), CSUM_UDP },
		{ FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), icmp(128, 0)), CSUM_ICMP },
		{ FRAME(eth(ETH_P_IPV6), ipv6(0), ip6_option(60, 0), ip6_option(IPPROTO_SCTP, 1), sctp(1, 2)),
		  CSUM_SCTP },
		{ FRAME(eth(ETH_P_8021Q), vlan(2, ETH_P_IPV6), ipv6(60), ip6_option(IPPROTO_TCP, 0), tcp(1, 2, 0)),
		  CSUM_TCP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++)
			check_kind(w, slot, &kinds[i], lengths[k]);
}

/* What pads a short frame is not summed up. */
static void test_padded(void **state)
{
	struct world *w = *state;
	struct frame right = frame_padded(with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, 0)), 1), 70);
	struct frame wrong = spoiled(right),
		     crc = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1, 2)), 4);
	__u32 slot = any_flow(w);

	give(w, slot, CSUM_IPV4 | CSUM_TCP | CSUM_SCTP);
	assert_becomes(w, &wrong, &right);
	crc = frame_padded(crc, 60);
	wrong = spoiled(crc);
	assert_becomes(w, &wrong, &crc);
}

/* IPv4 may go without a sum; IPv6 gets one.  A length that is another than IP's loses it. */
static void test_udp(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)), 8), want;
	struct frame six = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1, 2)), 8);

	give(w, slot, CSUM_UDP);
	put_be16(f.byte + 40, 0);
	assert_becomes(w, &f, &f);
	want = six;
	put_be16(six.byte + 60, 0);
	assert_becomes(w, &six, &want);
	put_be16(f.byte + 38, 9);
	put_be16(f.byte + 40, 77);
	want = f;
	put_be16(want.byte + 40, 0);
	assert_becomes(w, &f, &want);
	/* A sum of zero is sent as ffff. */
	f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)), 8);
	put_be16(f.byte + 42, 0);
	put_be16(f.byte + 42, get16(resummed(f).byte + 40));
	want = resummed(f);
	assert_int_equal(get16(want.byte + 40), 0xffff);
	put_be16(f.byte + 40, 1);
	assert_becomes(w, &f, &want);
}

/* UDP-Lite covers what it says; act_csum puts that into the pseudo header, too. */
static void test_udplite(void **state)
{
	static const __u16 coverage[] = { 8, 12, 13, 0, 20, 21, 7 };
	struct world *w = *state;
	__u32 slot = any_flow(w);

	give(w, slot, CSUM_UDPLITE);
	for (size_t i = 0; i < ARRAY_SIZE(coverage); i++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDPLITE, .total_length = 40), udplite(coverage[i]),
				       bytes("abcdefghijkl", 12)),
			     want = f;
		__u32 sum = ones_sum(f.byte + 26, 8, IPPROTO_UDPLITE + coverage[i]);
		__u32 covered = coverage[i] ? coverage[i] : 20;

		put_be16(want.byte + 40, 0);
		if (covered >= 8 && covered <= 20)
			put_be16(want.byte + 40, ~ones_sum(want.byte + 34, covered, sum));
		assert_becomes(w, &f, &want);
	}
}

static void test_fragments(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame later = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .frag = 5)), 40);
	struct frame six = FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(IPPROTO_TCP, IPV6_MF), tcp(1, 2, 0));
	struct frame six_later = FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(IPPROTO_TCP, 8), tcp(1, 2, 0));
	struct frame wrong = later;

	give(w, slot, 0x7f);
	wrong.byte[24] ^= 1;
	assert_becomes(w, &wrong, &later);
	assert_becomes(w, &six, &six);
	assert_becomes(w, &six_later, &six_later);
}

/* Shorter than the headers say: act_csum drops these. */
static void test_cut(void **state)
{
	struct world *w = *state;
	__u32 slot = any_flow(w);
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, 0)), 30);
	struct frame six = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1, 2)), 30);
	struct frame tiny = sealed(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), zeros(12)));
	struct frame arp_frame = FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4));
	__u64 dropped = 0;

	give(w, slot, 0x7f);
	for (__u32 len = 16; len < f.len; len += 3) {
		struct frame cut = frame_cut(f, len);

		assert_int_equal(run_frame(w, 1, &cut), TC_ACT_SHOT);
		assert_int_equal(drops(w, 1, DROP_CSUM), ++dropped);
	}
	for (__u32 len = 55; len < six.len; len += 3) {
		struct frame cut = frame_cut(six, len);

		assert_int_equal(run_frame(w, 1, &cut), TC_ACT_SHOT);
		assert_int_equal(drops(w, 1, DROP_CSUM), ++dropped);
	}
	assert_int_equal(run_frame(w, 1, &tiny), TC_ACT_SHOT);
	assert_int_equal(drops(w, 1, DROP_CSUM), dropped + 1);
	assert_becomes(w, &arp_frame, &arp_frame);
}

/* A pedit, and the sums that it left behind. */
static void test_after_pedit(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 3), udp(1, 2)), 33), want = f;

	memcpy(want.byte + 26, "\x0a\x01\x02\x03", 4);
	put_be16(want.byte + 36, 258);
	want = resummed(want);
	add_list_for_port(w, 1,
			  LIST(pedit(), write_words(PEDIT_IP4, 1, 0x0a010203, 0, 0), write_masks(12, 0, 0, 0),
			       steps_end(write_words(PEDIT_UDP, 1, 258, 0, 0)), write_masks(0, 0xffff0000, 0, 0),
			       csum(CSUM_IPV4 | CSUM_UDP), output(2), last(2)));
	assert_becomes(w, &f, &want);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_kinds),     test(test_padded), test(test_udp),	 test(test_udplite),
		test(test_fragments), test(test_cut),	 test(test_after_pedit),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
