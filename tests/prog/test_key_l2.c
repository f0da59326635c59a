// SPDX-License-Identifier: GPL-2.0-only
/* Keys of tags, of IEEE 802.3 frames and of MPLS. */
#include <string.h>

#include "key_check.h"

#define TAG(tci, tpid)	.vlan_tci_be = htons((tci) | VLAN_TAG_PRESENT), .vlan_tpid_be = htons(tpid)
#define CTAG(tci, tpid) .cvlan_tci_be = htons((tci) | VLAN_TAG_PRESENT), .cvlan_tpid_be = htons(tpid)

/* --- tags ------------------------------------------------------------------------------------------------------- */

static void test_one_tag(void **state)
{
	static const __u16 tpids[] = { ETH_P_8021Q, ETH_P_8021AD };
	/* A priority tag; DEI, which a key does not tell; all bits. */
	static const __u16 tcis[] = { 10, 0xa00a, 0, 0xe000, 0x1000, 0x0fff, 0xffff };

	for (size_t t = 0; t < ARRAY_SIZE(tpids); t++) {
		for (size_t i = 0; i < ARRAY_SIZE(tcis); i++) {
			struct frame f = FRAME(eth(tpids[t]), vlan(tcis[i], ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));
			struct flow_key tag = KEY(ETH_P_IP, TAG(tcis[i], tpids[t])),
					ip = KEY(ETH_P_IP, TAG(tcis[i], tpids[t]), IPV4_ADDRESSES,
						 .ip_proto = IPPROTO_UDP),
					all = ip;

			all.tp_src_be = htons(1);
			all.tp_dst_be = htons(2);
			assert_key(*state, f, all);
			assert_cuts(*state, f, STEPS({ 0, KEY(tpids[t]) }, { 18, tag }, { 38, ip }, { 46, all }));
		}
	}
}

static void test_two_tags(void **state)
{
	static const __u16 tpids[][2] = {
		{ ETH_P_8021AD, ETH_P_8021Q },
		{ ETH_P_8021Q, ETH_P_8021Q },
		{ ETH_P_8021AD, ETH_P_8021AD },
		{ ETH_P_8021Q, ETH_P_8021AD },
	};

	for (size_t t = 0; t < ARRAY_SIZE(tpids); t++) {
		__u16 outer = tpids[t][0], inner = tpids[t][1];
		struct frame f = FRAME(eth(outer), vlan(0x600a, inner), vlan(0xb014, ETH_P_IP), ipv4(IPPROTO_TCP),
				       tcp(7, 8, TCP_FIN));
		/* Cut inside the inner tag, its TPID is what the outer one carries. */
		struct flow_key one = KEY(inner, TAG(0x600a, outer)),
				two = KEY(ETH_P_IP, TAG(0x600a, outer), CTAG(0xb014, inner)), ip = two, all;

		memcpy(ip.ipv4.src, (const __u8[]){ IPV4_A }, 4);
		memcpy(ip.ipv4.dst, (const __u8[]){ IPV4_B }, 4);
		ip.ip_proto = IPPROTO_TCP;
		all = ip;
		all.tp_src_be = htons(7);
		all.tp_dst_be = htons(8);
		all.tcp_flags_be = htons(TCP_FIN);
		assert_key(*state, f, all);
		assert_cuts(*state, f, STEPS({ 0, KEY(outer) }, { 18, one }, { 22, two }, { 42, ip }, { 62, all }));
	}
}

static void test_inner_priority_tag(void **state)
{
	struct frame f = FRAME(eth(ETH_P_8021AD), vlan(0, ETH_P_8021Q), vlan(0, 0x1234), zeros(2));

	assert_key(*state, f, KEY(0x1234, TAG(0, ETH_P_8021AD), CTAG(0, ETH_P_8021Q)));
}

/* The third one's TPID is the type, and nothing behind it is looked at. */
static void test_third_tag(void **state)
{
	static const __u16 tpids[] = { ETH_P_8021Q, ETH_P_8021AD };

	for (size_t t = 0; t < ARRAY_SIZE(tpids); t++) {
		struct frame f = FRAME(eth(ETH_P_8021AD), vlan(1, ETH_P_8021Q), vlan(2, tpids[t]), vlan(3, ETH_P_IP),
				       ipv4(IPPROTO_UDP), udp(1, 2));
		struct flow_key one = KEY(ETH_P_8021Q, TAG(1, ETH_P_8021AD)),
				all = KEY(tpids[t], TAG(1, ETH_P_8021AD), CTAG(2, ETH_P_8021Q));

		assert_key(*state, f, all);
		assert_cuts(*state, f, STEPS({ 0, KEY(ETH_P_8021AD) }, { 18, one }, { 22, all }));
	}
}

static void test_tagged_others(void **state)
{
	struct frame snapped = FRAME(eth(ETH_P_8021Q), vlan(5, 28), llc(0xaa, 0xaa, 3), snap(0, ETH_P_IP),
				     ipv4(IPPROTO_GRE));
	struct frame llc_only = FRAME(eth(ETH_P_8021Q), vlan(5, 3), llc(0x42, 0x42, 3), zeros(40));
	struct frame labelled = FRAME(eth(ETH_P_8021AD), vlan(5, ETH_P_8021Q), vlan(6, ETH_P_MPLS_UC),
				      mpls(16, 0, MPLS_BOTTOM, 64));
	struct flow_key k = KEY(ETH_P_MPLS_UC, TAG(5, ETH_P_8021AD), CTAG(6, ETH_P_8021Q));

	assert_key(*state, snapped, KEY(ETH_P_IP, TAG(5, ETH_P_8021Q), IPV4_ADDRESSES, .ip_proto = IPPROTO_GRE));
	assert_key(*state, llc_only, KEY(ETH_TYPE_802_2, TAG(5, ETH_P_8021Q)));
	k.mpls_lse_be[0] = htonl(16 << 12 | 1 << 8 | 64);
	assert_key(*state, labelled, k);
}

/* --- IEEE 802.3 ------------------------------------------------------------------------------------------------- */

static void test_802_2(void **state)
{
	static const __u16 lengths[] = { 0, 3, 38, 1500, 0x05ff };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct frame f = FRAME(eth(lengths[i]), llc(0x42, 0x42, 3), zeros(35));

		assert_key(*state, f, KEY(ETH_TYPE_802_2));
		assert_cuts(*state, f, STEPS({ 0, KEY(ETH_TYPE_802_2) }));
	}
}

static void test_types(void **state)
{
	/* The least type there is; ones that no parser knows. */
	static const __u16 types[] = { 0x0600, 0x0801, 0x88cc, 0x894f, 0xffff };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct frame f = FRAME(eth(types[i]), ipv4(IPPROTO_UDP), udp(1, 2));

		assert_key(*state, f, KEY(types[i]));
	}
}

static void test_snap(void **state)
{
	struct frame f = FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(0, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));
	struct flow_key ip = KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = IPPROTO_UDP), all = ip;

	all.tp_src_be = htons(1);
	all.tp_dst_be = htons(2);
	assert_key(*state, f, all);
	assert_cuts(*state, f, STEPS({ 0, KEY(ETH_TYPE_802_2) }, { 22, KEY(ETH_P_IP) }, { 42, ip }, { 50, all }));
}

/* What looks like SNAP and does not name a type is 802.2. */
static void test_not_snap(void **state)
{
	static const __u32 ouis[] = { 1, 0x100, 0x10000, 0x00000c, 0xf80000, 0xffffff };
	struct flow_key k = KEY(ETH_TYPE_802_2);

	for (size_t i = 0; i < ARRAY_SIZE(ouis); i++) {
		struct frame f = FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(ouis[i], ETH_P_IP), ipv4(IPPROTO_UDP),
				       udp(1, 2));

		assert_key(*state, f, k);
	}
	assert_key(*state, FRAME(eth(50), llc(0xaa, 0xab, 3), snap(0, ETH_P_IP), ipv4(IPPROTO_UDP)), k);
	assert_key(*state, FRAME(eth(50), llc(0xab, 0xaa, 3), snap(0, ETH_P_IP), ipv4(IPPROTO_UDP)), k);
	assert_key(*state, FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(0, 0x05ff), zeros(40)), k);
	assert_key(*state, FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(0, 0x0600), zeros(40)), KEY(0x0600));
	/* The control field does not count, as in Open vSwitch. */
	assert_key(*state, FRAME(eth(50), llc(0xaa, 0xaa, 0), snap(0, ETH_P_IP), ipv4(IPPROTO_GRE)),
		   KEY(ETH_P_IP, IPV4_ADDRESSES, .ip_proto = IPPROTO_GRE));
}

/* SNAP that names a tag: only tags in front of a type are tags. */
static void test_tag_behind_snap(void **state)
{
	struct frame f = FRAME(eth(50), llc(0xaa, 0xaa, 3), snap(0, ETH_P_8021Q), vlan(1, ETH_P_IP), ipv4(IPPROTO_UDP));

	assert_key(*state, f, KEY(ETH_P_8021Q));
}

/* --- MPLS ------------------------------------------------------------------------------------------------------- */

#define LSE(i, bottom) htonl((0x10000 + (i)) << 12 | (i) << 9 | (bottom) << 8 | (0x40 + (i)))

/* Three of them count, and each that is whole. */
static void test_mpls(void **state)
{
	static const __u16 types[] = { ETH_P_MPLS_UC, ETH_P_MPLS_MC };

	for (__u32 n = 1; n <= 5; n++) {
		for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
			struct layer label[6];
			struct step steps[4] = { { 0, KEY(types[t]) } };
			struct frame f;

			label[0] = eth(types[t]);
			for (__u32 i = 0; i < n; i++)
				label[i + 1] = mpls(0x10000 + i, i, i == n - 1, 0x40 + i);
			f = frame_of(label, n + 1);
			f = frame_padded(f, f.len + 20);
			for (__u32 i = 0; i < 3; i++) {
				steps[i + 1] = steps[i];
				steps[i + 1].len = ETH_HLEN + 4 * (i + 1);
				if (i < n)
					steps[i + 1].key.mpls_lse_be[i] = LSE(i, i == n - 1);
			}
			assert_key(*state, f, steps[3].key);
			assert_cuts(*state, f, steps, 4);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_tag),
		cmocka_unit_test(test_two_tags),
		cmocka_unit_test(test_inner_priority_tag),
		cmocka_unit_test(test_third_tag),
		cmocka_unit_test(test_tagged_others),
		cmocka_unit_test(test_802_2),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_snap),
		cmocka_unit_test(test_not_snap),
		cmocka_unit_test(test_tag_behind_snap),
		cmocka_unit_test(test_mpls),
	};

	return cmocka_run_group_tests(tests, key_world, key_world_end);
}
