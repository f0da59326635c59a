// SPDX-License-Identifier: GPL-2.0-only
/* Keys of IPv6: chains of extension headers, fragments, neighbour discovery. */
#include <string.h>

#include "key_check.h"

enum {
	HOP_BY_HOP = 0,
	ROUTING = 43,
	FRAGMENT = 44,
	ESP = 50,
	AUTH = 51,
	NO_NEXT = 59,
	DEST = 60,
	MOBILITY = 135,
	HIP = 139,
	SHIM6 = 140,

	L4_AT = 54, /* without extension headers */
	CHAIN_MAX = 12,

	ROUTER_SOLICIT = 133,
	SOLICIT = 135,
	ADVERT = 136,
	SLL = 1,
	TLL = 2,
	MTU = 5,
};

#define IP6(proto, ...) KEY(ETH_P_IPV6, IPV6_ADDRESSES, .ip_proto = proto, ##__VA_ARGS__)

static struct flow_key with_ports(struct flow_key k, __u16 src, __u16 dst)
{
	k.tp_src_be = htons(src);
	k.tp_dst_be = htons(dst);
	return k;
}

/* --- the fixed header ------------------------------------------------------------------------------------------- */

static void test_ipv6_tcp(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP, .tclass = 0xb9, .hlimit = 64, .label = 0xf1234),
			       tcp(1234, 80, TCP_ALL_FLAGS));
	struct flow_key ip = IP6(IPPROTO_TCP, .ip_tos = 0xb9, .ip_ttl = 64, .ipv6_label_be = htonl(0xf1234));
	struct flow_key all = with_ports(ip, 1234, 80);

	all.tcp_flags_be = htons(0xfff);
	assert_key(*state, f, all);
	assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, ip }, { 74, all }));
}

static void test_ipv6_protocols(void **state)
{
	struct {
		struct layer header;
		__u8 proto;
		__u16 src, dst;
	} c[] = {
		{ udp(1000, 53), IPPROTO_UDP, 1000, 53 }, { sctp(2905, 36412), IPPROTO_SCTP, 2905, 36412 },
		{ icmp(128, 0), IPPROTO_ICMPV6, 128, 0 }, { icmp(1, 4), IPPROTO_ICMPV6, 1, 4 },
		{ icmp(8, 0), IPPROTO_ICMP, 0, 0 }, /* of the other IP version */
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(c[i].proto), c[i].header);
		struct flow_key ip = IP6(c[i].proto);
		struct flow_key all = with_ports(ip, c[i].src, c[i].dst);

		assert_key(*state, f, all);
		assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, ip }, { f.len, all }));
	}
}

/* Class and label share a word of the packet; each bit by itself. */
static void test_ipv6_fields(void **state)
{
	for (int bit = 0; bit < 28; bit++) {
		__u8 tclass = bit < 8 ? 1 << bit : 0;
		__u32 label = bit < 8 ? 0 : 1U << (bit - 8);
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(NO_NEXT, .tclass = tclass, .label = label), zeros(8));

		assert_key(*state, f, IP6(NO_NEXT, .ip_tos = tclass, .ipv6_label_be = htonl(label)));
	}
}

static void test_ipv6_lengths_that_lie(void **state)
{
	static const __u16 lengths[] = { 0, 1, 7, 8, 0xffff };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .payload_length = lengths[i]), udp(1, 2));
		struct flow_key k = with_ports(IP6(IPPROTO_UDP), 1, 2);

		assert_key(*state, f, k);
	}
}

/* --- extension headers ------------------------------------------------------------------------------------------ */

/* Not walked, whatever their first bytes look like. */
static void test_unknown_next_headers(void **state)
{
	static const __u8 next[] = { IPPROTO_GRE, IPPROTO_IPIP, IPPROTO_IPV6, ESP, NO_NEXT,
				     MOBILITY,	  HIP,		SHIM6,	      255, 253 };

	for (size_t i = 0; i < sizeof(next); i++) {
		struct frame direct = FRAME(eth(ETH_P_IPV6), ipv6(next[i]), ip6_option(IPPROTO_UDP, 0), udp(53, 53));
		struct frame behind = FRAME(eth(ETH_P_IPV6), ipv6(DEST), ip6_option(next[i], 0),
					    ip6_option(IPPROTO_UDP, 0), udp(53, 53));

		assert_key(*state, direct, IP6(next[i]));
		assert_key(*state, behind, IP6(next[i]));
	}
}

static void test_one_extension_header(void **state)
{
	struct {
		struct layer header;
		__u8 type;
	} c[] = {
		{ ip6_option(IPPROTO_UDP, 0), HOP_BY_HOP }, { ip6_option(IPPROTO_UDP, 1), HOP_BY_HOP },
		{ ip6_option(IPPROTO_UDP, 6), HOP_BY_HOP }, { ip6_option(IPPROTO_UDP, 0), ROUTING },
		{ ip6_option(IPPROTO_UDP, 5), ROUTING },    { ip6_option(IPPROTO_UDP, 0), DEST },
		{ ip6_option(IPPROTO_UDP, 3), DEST },	    { ip6_auth(IPPROTO_UDP, 0), AUTH },
		{ ip6_auth(IPPROTO_UDP, 1), AUTH },	    { ip6_auth(IPPROTO_UDP, 4), AUTH },
		{ ip6_auth(IPPROTO_UDP, 12), AUTH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(c[i].type, .hlimit = 9), c[i].header, udp(1000, 53));
		struct flow_key none = IP6(NO_NEXT, .ip_ttl = 9), ip = IP6(IPPROTO_UDP, .ip_ttl = 9);
		struct flow_key all = with_ports(ip, 1000, 53);

		assert_key(*state, f, all);
		/* Two bytes tell where the chain goes on, even if that is outside the frame. */
		assert_cuts(*state, f,
			    STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, none }, { L4_AT + 2, ip }, { f.len, all }));
	}
}

/* Each header's length by its own kind's rule, not by the next one's. */
static void test_chain(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(HOP_BY_HOP), ip6_option(AUTH, 1), ip6_auth(DEST, 4),
			       ip6_option(ROUTING, 2), ip6_option(FRAGMENT, 0), ip6_fragment(AUTH, 0),
			       ip6_auth(IPPROTO_TCP, 1), tcp(1000, 53, TCP_ACK));
	struct flow_key none = IP6(NO_NEXT), first = IP6(NO_NEXT, .ip_frag = IP_FRAG_FIRST),
			ip = IP6(IPPROTO_TCP, .ip_frag = IP_FRAG_FIRST), all = with_ports(ip, 1000, 53);
	__u32 fragment = L4_AT + 16 + 24 + 24 + 8, auth = fragment + 8;

	all.tcp_flags_be = htons(TCP_ACK);
	assert_key(*state, f, all);
	assert_cuts(*state, f,
		    STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, none }, { fragment + 2, first }, { auth + 2, ip },
			  { f.len, all }));
}

static void test_longest_chain(void **state)
{
	struct layer l[CHAIN_MAX + 4] = { eth(ETH_P_IPV6), ipv6(DEST) };
	struct flow_key all = with_ports(IP6(IPPROTO_UDP), 1000, 53);
	struct frame f;

	for (int n = 1; n <= CHAIN_MAX + 1; n++) {
		l[n + 1] = ip6_option(IPPROTO_UDP, 0);
		l[n + 2] = udp(1000, 53);
		f = frame_of(l, n + 3);
		assert_key(*state, f, n <= CHAIN_MAX ? all : IP6(NO_NEXT));
		l[n + 1] = ip6_option(DEST, 0);
	}
}

/* A header that says it ends outside the frame: what follows is known, its ports are not there. */
static void test_extension_header_too_long(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(DEST), bytes("\x11\xff", 2), zeros(40));
	struct frame chain = FRAME(eth(ETH_P_IPV6), ipv6(DEST), bytes("\x3c\xff", 2), zeros(40));

	assert_key(*state, f, IP6(IPPROTO_UDP));
	assert_key(*state, chain, IP6(NO_NEXT));
}

/* --- fragments -------------------------------------------------------------------------------------------------- */

static void test_ipv6_fragments(void **state)
{
	static const __u16 firsts[] = { 0, IPV6_MF, 6, 7 }, laters[] = { 8, 8 | IPV6_MF, 0xfff8, 0x8000, 0xffff };
	struct flow_key first = with_ports(IP6(IPPROTO_UDP, .ip_frag = IP_FRAG_FIRST), 1000, 53);

	for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(FRAGMENT), ip6_fragment(IPPROTO_UDP, firsts[i]),
				       udp(1000, 53));

		assert_key(*state, f, first);
	}
	for (size_t i = 0; i < ARRAY_SIZE(laters); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(FRAGMENT), ip6_fragment(IPPROTO_UDP, laters[i]),
				       udp(1000, 53));
		struct frame behind = FRAME(eth(ETH_P_IPV6), ipv6(HOP_BY_HOP), ip6_option(FRAGMENT, 0),
					    ip6_fragment(DEST, laters[i]), ip6_option(IPPROTO_UDP, 0), udp(1000, 53));

		assert_key(*state, f, IP6(FRAGMENT, .ip_frag = IP_FRAG_LATER));
		assert_key(*state, behind, IP6(FRAGMENT, .ip_frag = IP_FRAG_LATER));
	}
}

/* The header's first two bytes tell that it is a fragment; which one, the next two. */
static void test_ipv6_fragment_cuts(void **state)
{
	struct frame first = FRAME(eth(ETH_P_IPV6), ipv6(FRAGMENT), ip6_fragment(IPPROTO_ICMPV6, IPV6_MF),
				   icmp(128, 0));
	struct frame later = FRAME(eth(ETH_P_IPV6), ipv6(FRAGMENT), ip6_fragment(IPPROTO_ICMPV6, 80), icmp(128, 0));
	struct flow_key none = IP6(NO_NEXT), some = IP6(NO_NEXT, .ip_frag = IP_FRAG_FIRST);
	struct flow_key ip = IP6(IPPROTO_ICMPV6, .ip_frag = IP_FRAG_FIRST), all = with_ports(ip, 128, 0);

	assert_cuts(*state, first,
		    STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, none }, { L4_AT + 2, some }, { L4_AT + 4, ip },
			  { L4_AT + 16, all }));
	assert_cuts(*state, later,
		    STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, none }, { L4_AT + 2, some },
			  { L4_AT + 4, IP6(FRAGMENT, .ip_frag = IP_FRAG_LATER) }));
}

/* --- neighbour discovery ---------------------------------------------------------------------------------------- */

static const __u8 lla[] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6 }, llb[] = { 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6 };

static struct flow_key nd_key(__u8 type, const __u8 *sll, const __u8 *tll)
{
	struct flow_key k = with_ports(IP6(IPPROTO_ICMPV6, .nd_target = IPV6_T), type, 0);

	if (sll)
		memcpy(k.nd_sll, sll, 6);
	if (tll)
		memcpy(k.nd_tll, tll, 6);
	return k;
}

/* Each option counts when it is whole. */
static void test_nd(void **state)
{
	static const __u8 types[] = { SOLICIT, ADVERT };

	for (size_t t = 0; t < sizeof(types); t++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(types[t], 0), nd_option(SLL, 1, lla),
				       nd_option(TLL, 1, llb));
		struct flow_key ip = IP6(IPPROTO_ICMPV6);

		assert_key(*state, f, nd_key(types[t], lla, llb));
		assert_cuts(*state, f,
			    STEPS({ 0, KEY(ETH_P_IPV6) }, { L4_AT, ip }, { L4_AT + 8, with_ports(ip, types[t], 0) },
				  { L4_AT + 24, nd_key(types[t], NULL, NULL) },
				  { L4_AT + 32, nd_key(types[t], lla, NULL) },
				  { L4_AT + 40, nd_key(types[t], lla, llb) }));
	}
}

struct nd_case {
	const char *what;
	struct layer option[3];
	const __u8 *sll, *tll;
	bool empty; /* all three are zero */
};

static void test_nd_options(void **state)
{
	const struct nd_case c[] = {
		{ "the other order", { nd_option(TLL, 1, llb), nd_option(SLL, 1, lla) }, lla, llb, false },
		{ "one kind only", { nd_option(TLL, 1, llb) }, NULL, llb, false },
		{ "another kind between",
		  { nd_option(SLL, 1, lla), nd_option(MTU, 3, llb), nd_option(TLL, 1, llb) },
		  lla,
		  llb,
		  false },
		{ "too long for an address", { nd_option(SLL, 2, lla), nd_option(TLL, 1, llb) }, NULL, llb, false },
		{ "length 0 ends the walk",
		  { nd_option(SLL, 1, lla), nd_option(TLL, 0, llb), nd_option(TLL, 1, llb) },
		  lla,
		  NULL,
		  false },
		{ "length 0 first", { nd_option(SLL, 0, lla), nd_option(TLL, 1, llb) }, NULL, NULL, false },
		{ "out of the frame", { nd_option(SLL, 1, lla), bytes("\x05\x20\0\0\0\0\0\0", 8) }, lla, NULL, false },
		{ "twice", { nd_option(SLL, 1, lla), nd_option(SLL, 1, llb) }, NULL, NULL, true },
		{ "twice the same", { nd_option(TLL, 1, llb), nd_option(TLL, 1, llb) }, NULL, NULL, true },
		{ "twice, not in a row",
		  { nd_option(TLL, 1, llb), nd_option(SLL, 1, lla), nd_option(TLL, 1, lla) },
		  NULL,
		  NULL,
		  true },
		{ "seven bytes more", { nd_option(SLL, 1, lla), zeros(7) }, lla, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(SOLICIT, 0), c[i].option[0],
				       c[i].option[1], c[i].option[2]);
		struct flow_key k = nd_key(SOLICIT, c[i].sll, c[i].tll);

		print_message("# option: %s\n", c[i].what);
		if (c[i].empty)
			memset(k.nd_target, 0, sizeof(k.nd_target));
		assert_key(*state, f, k);
	}
}

/* Behind extension headers and in a first fragment, too. */
static void test_nd_behind_headers(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(HOP_BY_HOP), ip6_option(FRAGMENT, 0),
			       ip6_fragment(IPPROTO_ICMPV6, 0), nd(ADVERT, 0), nd_option(TLL, 1, lla));
	struct flow_key k = nd_key(ADVERT, NULL, lla);

	k.ip_frag = IP_FRAG_FIRST;
	assert_key(*state, f, k);
}

/* Another type or code has no target, and the walk is bounded. */
static void test_not_nd(void **state)
{
	struct layer l[22] = { eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(SOLICIT, 0) };
	struct frame code = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(SOLICIT, 1), nd_option(SLL, 1, lla));
	struct frame router = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(ROUTER_SOLICIT, 0), zeros(8));
	struct flow_key k;
	struct frame f;

	k = with_ports(IP6(IPPROTO_ICMPV6), SOLICIT, 1);
	assert_key(*state, code, k);
	k = with_ports(IP6(IPPROTO_ICMPV6), ROUTER_SOLICIT, 0);
	assert_key(*state, router, k);
	for (int i = 3; i < 22; i++)
		l[i] = nd_option(MTU, 1, lla);
	l[18] = nd_option(SLL, 1, lla); /* the 16th */
	l[19] = nd_option(TLL, 1, llb);
	f = frame_of(l, 22);
	k = nd_key(SOLICIT, lla, NULL);
	assert_key(*state, f, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv6_tcp),
		cmocka_unit_test(test_ipv6_protocols),
		cmocka_unit_test(test_ipv6_fields),
		cmocka_unit_test(test_ipv6_lengths_that_lie),
		cmocka_unit_test(test_unknown_next_headers),
		cmocka_unit_test(test_one_extension_header),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_longest_chain),
		cmocka_unit_test(test_extension_header_too_long),
		cmocka_unit_test(test_ipv6_fragments),
		cmocka_unit_test(test_ipv6_fragment_cuts),
		cmocka_unit_test(test_nd),
		cmocka_unit_test(test_nd_options),
		cmocka_unit_test(test_nd_behind_headers),
		cmocka_unit_test(test_not_nd),
	};

	return cmocka_run_group_tests(tests, key_world, key_world_end);
}
