// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames whose headers are not in the linear part, as senders with rings of pages make them: the same keys, statistics
 * and outputs as of frames in one piece.
 */
#include <linux/pkt_cls.h>

#include "flow_table.h"
#include "key_check.h"

static const __u8 mac[] = { 1, 2, 3, 4, 5, 6 };

/* First in one piece, then in two. */
static void assert_same_key(struct world *w, struct frame f)
{
	struct flow_key k;

	run_frame(w, 1, &f);
	k = cpu_state_read(w).key;
	poison_key(w);
	send_split(w, 1, &f);
	assert_heard(w, 2, f);
	assert_key_is(w, &k, "in two pieces");
}

static void assert_same_keys(struct world *w, struct frame f)
{
	assert_same_key(w, f);
	assert_same_key(w, frame_padded(f, 1400));
	for (__u32 len = ETH_HLEN + 1; len < f.len; len++)
		assert_same_key(w, frame_cut(f, len));
}

static void test_ip(void **state)
{
	add_flow(*state, "in_port(1)", "2");
	assert_same_keys(*state,
			 FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 3, .options = "\1\1\1\1", .option_words = 1),
			       tcp_with_offset(1, 2, TCP_SYN, 7)));
	assert_same_keys(*state, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_ICMP), icmp(8, 1)));
	assert_same_keys(*state, FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .label = 7), udp(1, 2)));
}

static void test_chains(void **state)
{
	add_flow(*state, "in_port(1)", "2");
	assert_same_keys(*state, FRAME(eth(ETH_P_IPV6), ipv6(0), ip6_option(51, 1), ip6_auth(44, 4),
				       ip6_fragment(IPPROTO_ICMPV6, IPV6_MF), nd(135, 0), nd_option(1, 1, mac),
				       nd_option(2, 1, mac)));
}

static void test_others(void **state)
{
	add_flow(*state, "in_port(1)", "2");
	assert_same_keys(*state, FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4)));
	assert_same_keys(*state, FRAME(eth(ETH_P_MPLS_UC), mpls(1, 2, 0, 3), mpls(4, 5, 0, 6), mpls(7, 0, 1, 8)));
	assert_same_keys(*state, FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(0, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)));
}

/* The second tag is in the bytes, and not in the linear part. */
static void test_two_tags(void **state)
{
	add_flow(*state,
		 "in_port(1),eth(),eth_type(0x88a8),vlan(vid=1),encap(eth_type(0x8100),vlan(vid=2),"
		 "encap(eth_type(0x0800),ipv4(proto=17),udp(dst=2)))",
		 "2");
	assert_same_key(*state, FRAME(eth(ETH_P_8021AD), vlan(0x2001, ETH_P_8021Q), vlan(0x4002, ETH_P_IP),
				      ipv4(IPPROTO_UDP), udp(1, 2)));
}

static void test_statistics(void **state)
{
	struct world *w = *state;
	struct frame f = frame_padded(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, TCP_SYN)), 1400);
	__u32 slot = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6),tcp(dst=2)", "3,2");
	struct flow_counts c;

	send_split(w, 1, &f);
	assert_heard(w, 2, f);
	assert_heard(w, 3, f);
	flow_counts(w->dp, slot, &c);
	assert_int_equal(c.packets, 1);
	assert_int_equal(c.bytes, 1400);
	assert_int_equal(c.tcp_flags, TCP_SYN);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies = 1);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_ip), test(test_chains), test(test_others), test(test_two_tags), test(test_statistics),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
