// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frame in, key out: every byte of it, for what a header says, what it lacks and what it lies about.  Tags, lengths and
 * what stands behind ICMPv6 are in test_key_l2.c and test_key_ipv6.c.
 */
#include <string.h>

#include "key_check.h"

#define L4_AT	       34
#define TCP_END	       54
#define IPV4_TTL       .ip_ttl = 64, .ip_tos = 0xb9
#define LOOKS_LIKE_UDP udp(53, 53)

/* --- IPv4 ------------------------------------------------------------------------------------------------------- */

static void test_ipv4_tcp(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .tos = 0xb9, .ttl = 64), tcp(1234, 80, TCP_ALL_FLAGS));
	struct flow_key ip = KEY(ETH_P_IP, IPV4_ADDRESSES, IPV4_TTL, .ip_proto = IPPROTO_TCP);
	struct flow_key all = ip;

	all.tp_src_be = htons(1234);
	all.tp_dst_be = htons(80);
	all.tcp_flags_be = htons(0xfff);
	assert_key(*state, f, all);
	assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IP) }, { L4_AT, ip }, { TCP_END, all }));
}

static void test_ipv4_protocols(void **state)
{
	struct {
		struct layer header;
		__u8 proto;
		__u16 src, dst;
	} c[] = {
		{ udp(1000, 53), IPPROTO_UDP, 1000, 53 },
		{ sctp(2905, 36412), IPPROTO_SCTP, 2905, 36412 },
		{ icmp(8, 0), IPPROTO_ICMP, 8, 0 },
		{ icmp(3, 4), IPPROTO_ICMP, 3, 4 },
		{ LOOKS_LIKE_UDP, IPPROTO_GRE, 0, 0 },
		{ LOOKS_LIKE_UDP, IPPROTO_IPIP, 0, 0 },
		{ LOOKS_LIKE_UDP, IPPROTO_ICMPV6, 0, 0 }, /* of the other IP version */
		{ LOOKS_LIKE_UDP, 44, 0, 0 },		  /* IPv6's fragment header is nothing here */
		{ LOOKS_LIKE_UDP, 255, 0, 0 },
		{ LOOKS_LIKE_UDP, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(c[i].proto, .tos = 0xb9, .ttl = 64), c[i].header);
		struct flow_key ip = KEY(ETH_P_IP, IPV4_ADDRESSES, IPV4_TTL, .ip_proto = c[i].proto), all = ip;

		all.tp_src_be = htons(c[i].src);
		all.tp_dst_be = htons(c[i].dst);
		assert_key(*state, f, all);
		assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IP) }, { L4_AT, ip }, { f.len, all }));
	}
}

static void test_ipv4_fields(void **state)
{
	static const __u8 values[] = { 0, 1, 2, 3, 0x7f, 0x80, 0xff };

	for (size_t i = 0; i < sizeof(values); i++) {
		__u8 v = values[i];
		struct frame tos = FRAME(eth(ETH_P_IP), ipv4(255, .tos = v));
		struct frame ttl = FRAME(eth(ETH_P_IP), ipv4(255, .ttl = v));

		assert_key(*state, tos, KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = 255, .ip_tos = v));
		assert_key(*state, ttl, KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = 255, .ip_ttl = v));
	}
}

/* The ports stand behind the options, wherever these end; a length that cannot be makes an empty IP key. */
static void test_ipv4_options(void **state)
{
	static const char alert[41] =
		"\x94\x04\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35"
		"\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35\x00\x35";

	for (__u8 words = 1; words <= 10; words++) {
		struct frame f = FRAME(
			eth(ETH_P_IP),
			ipv4(IPPROTO_UDP, .tos = 0xb9, .ttl = 64, .options = alert, .option_words = words), udp(9, 10));
		struct flow_key ip = KEY(ETH_P_IP, IPV4_ADDRESSES, IPV4_TTL, .ip_proto = IPPROTO_UDP), all = ip;
		__u32 end = L4_AT + 4 * words;

		all.tp_src_be = htons(9);
		all.tp_dst_be = htons(10);
		assert_key(*state, f, all);
		assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IP) }, { end, ip }, { end + 8, all }));
	}
	for (__u8 ihl = 1; ihl < 5; ihl++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64, .ihl = ihl), udp(9, 10));

		assert_key(*state, f, KEY(ETH_P_IP));
	}
}

static void test_ipv4_lengths_that_lie(void **state)
{
	static const __u16 lengths[] = { 0, 1, 19, 20, 27, 0xffff };
	struct flow_key all = KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = IPPROTO_UDP, .tp_src_be = htons(9),
				  .tp_dst_be = htons(10));

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .total_length = lengths[i]), udp(9, 10));

		assert_key(*state, f, all);
	}
}

static void test_ipv4_fragments(void **state)
{
	struct {
		__u16 frag;
		enum ip_frag kind;
	} c[] = {
		{ 0, IP_FRAG_NO },
		{ IPV4_DF, IP_FRAG_NO },
		{ IPV4_RESERVED, IP_FRAG_NO },
		{ IPV4_RESERVED | IPV4_DF, IP_FRAG_NO },
		{ IPV4_MF, IP_FRAG_FIRST },
		{ IPV4_MF | IPV4_DF | IPV4_RESERVED, IP_FRAG_FIRST },
		{ 1, IP_FRAG_LATER },
		{ 0x1fff, IP_FRAG_LATER },
		{ 0x1000, IP_FRAG_LATER },
		{ IPV4_MF | 185, IP_FRAG_LATER },
		{ IPV4_DF | 0x0020, IP_FRAG_LATER },
	};
	static const __u8 protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_SCTP };

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		for (size_t p = 0; p < sizeof(protocols); p++) {
			/* As TCP's, the bytes are a header, and ports for all others. */
			struct frame f = FRAME(eth(ETH_P_IP), ipv4(protocols[p], .frag = c[i].frag),
					       tcp(0x0800, 53, TCP_SYN));
			struct flow_key k = KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = protocols[p],
						.ip_frag = c[i].kind);

			if (c[i].kind != IP_FRAG_LATER) {
				k.tp_src_be = htons(protocols[p] == IPPROTO_ICMP ? 8 : 0x0800);
				k.tp_dst_be = htons(protocols[p] == IPPROTO_ICMP ? 0 : 53);
				k.tcp_flags_be = htons(protocols[p] == IPPROTO_TCP ? TCP_SYN : 0);
			}
			assert_key(*state, f, k);
		}
	}
}

static void test_tcp_flags(void **state)
{
	for (__u16 flags = 1; flags <= 0x800; flags <<= 1) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, flags));

		assert_key(*state, f,
			   KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = IPPROTO_TCP, .tp_src_be = htons(1),
			       .tp_dst_be = htons(2), .tcp_flags_be = htons(flags)));
	}
}

/* A data offset below 5, or one that leaves the frame: no ports, no flags. */
static void test_tcp_data_offset(void **state)
{
	struct flow_key ip = KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = IPPROTO_TCP), all = ip;

	all.tp_src_be = htons(1);
	all.tp_dst_be = htons(2);
	all.tcp_flags_be = htons(TCP_ACK);
	for (__u8 words = 0; words < 16; words++) {
		struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp_with_offset(1, 2, TCP_ACK, words));

		assert_key(*state, f, words < 5 ? ip : all);
		if (words > 5)
			assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IP) }, { L4_AT, ip }, { f.len, all }));
	}
}

/* --- ARP -------------------------------------------------------------------------------------------------------- */

static struct flow_key arp_key(__u16 type, __u8 op)
{
	struct flow_key k = KEY(type, .ip_proto = op);

	memset(k.l3_words, 0, sizeof(k.l3_words));
	memcpy(k.arp.sip, (const __u8[]){ IPV4_A }, 4);
	memcpy(k.arp.tip, (const __u8[]){ IPV4_B }, 4);
	memcpy(k.arp.sha, (const __u8[])MAC_A, 6);
	memcpy(k.arp.tha, (const __u8[])MAC_B, 6);
	return k;
}

static void test_arp(void **state)
{
	static const __u16 types[] = { ETH_P_ARP, ETH_P_RARP }, ops[] = { 0, 1, 2, 3, 255, 256, 257, 0xffff };

	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
			struct frame f = FRAME(eth(types[t]), arp(ops[i], ARP_FOR_IPV4));
			struct flow_key k = arp_key(types[t], ops[i] > 255 ? 0 : ops[i]);

			assert_key(*state, f, k);
			assert_cuts(*state, f, STEPS({ 0, KEY(types[t]) }, { f.len, k }));
		}
	}
}

/* For other hardware or protocols: the key of a frame without a header. */
static void test_arp_of_other_kinds(void **state)
{
	static const struct arp_fields kinds[] = {
		{ 0, ETH_P_IP, 6, 4 },	{ 6, ETH_P_IP, 6, 4 }, { 0x100, ETH_P_IP, 6, 4 }, { 1, ETH_P_IPV6, 6, 4 },
		{ 1, ETH_P_ARP, 6, 4 }, { 1, 0, 6, 4 },	       { 1, ETH_P_IP, 8, 4 },	  { 1, ETH_P_IP, 0, 4 },
		{ 1, ETH_P_IP, 6, 16 }, { 1, ETH_P_IP, 6, 0 }, { 1, ETH_P_IP, 4, 6 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct frame f = FRAME(eth(ETH_P_ARP), arp(1, kinds[i]));

		assert_key(*state, f, KEY(ETH_P_ARP));
	}
}

/* --- metadata --------------------------------------------------------------------------------------------------- */

static void test_metadata(void **state)
{
	struct world *w = *state;
	struct frame f = FRAME(eth(0x1234), zeros(4));

	w->mark = 0xdeadbeef;
	w->priority = 0x80000001;
	assert_key(w, f, KEY(0x1234, .skb_mark = 0xdeadbeef, .skb_priority = 0x80000001));
	w->mark = w->priority = 0;
	run_frame(w, 2, &f);
	assert_key_is(w, &KEY(0x1234, .in_port = 2), "port 2");
	run_frame(w, PORT_LOCAL, &f);
	assert_key_is(w, &KEY(0x1234, .in_port = PORT_LOCAL), "the local port");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4_tcp),
		cmocka_unit_test(test_ipv4_protocols),
		cmocka_unit_test(test_ipv4_fields),
		cmocka_unit_test(test_ipv4_options),
		cmocka_unit_test(test_ipv4_lengths_that_lie),
		cmocka_unit_test(test_ipv4_fragments),
		cmocka_unit_test(test_tcp_flags),
		cmocka_unit_test(test_tcp_data_offset),
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_arp_of_other_kinds),
		cmocka_unit_test(test_metadata),
	};

	return cmocka_run_group_tests(tests, key_world, key_world_end);
}
