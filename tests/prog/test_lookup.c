// SPDX-License-Identifier: GPL-2.0-only
/*
 * Key to flow: masks, classes, hashes; and what is counted on the way.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

#include "action_text.h"
#include "flow_table.h"
#include "harness.h"
#include "mask_table.h"
#include "match_text.h"
#include "table_check.h"

#define UDP_FLOW "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),"

static struct frame udp_to(__u16 port)
{
	return FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1000, port));
}

/* --- hits and misses -------------------------------------------------------------------------------------------- */

static void test_hit_and_miss(void **state)
{
	struct world *w = *state;
	struct frame f = udp_to(53);
	__u32 slot = add_flow(w, UDP_FLOW "udp(dst=53)", "2");

	assert_hit(w, f, slot);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1);
	assert_miss(w, udp_to(54));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = 1);
	/* No mask of its class, then another port. */
	assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1000, 53, 0)));
	assert_counted(w, .missed = 1, .lost = 1);
	assert_int_equal(run_frame(w, 2, &f), TC_ACT_SHOT);
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = 1);
	assert_int_equal(mask_hits(w, slot).all, 1);
	assert_tables(w, 1, 1);
}

/* A tag in metadata is no part of skb->len, and counts all the same. */
static void test_flow_statistics(void **state)
{
	struct world *w = *state;
	__u32 tagged = add_flow(w, "in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800),ipv4())",
				"2");
	__u32 plain = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4()", "2");
	struct flow_counts c;

	flow_counts(w->dp, tagged, &c);
	assert_int_equal(c.packets + c.bytes + c.used_ns + c.tcp_flags, 0);
	assert_hit(w, frame_padded(FRAME(eth(ETH_P_8021Q), vlan(10, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)), 64),
		   tagged);
	flow_counts(w->dp, tagged, &c);
	assert_int_equal(c.bytes, 64);
	assert_int_not_equal(c.used_ns, 0);
	assert_int_equal(c.tcp_flags, 0);
	for (__u16 flag = TCP_FIN; flag <= TCP_SYN; flag++)
		assert_hit(w, frame_padded(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, flag | 0x800)), 60),
			   plain);
	flow_counts(w->dp, plain, &c);
	assert_int_equal(c.packets, 2);
	assert_int_equal(c.bytes, 120);
	assert_int_equal(c.tcp_flags, 0x800 | TCP_SYN | TCP_FIN);
	flow_clear_counts(w->dp, plain);
	flow_counts(w->dp, plain, &c);
	assert_int_equal(c.packets + c.bytes + c.used_ns + c.tcp_flags, 0);
}

/* An untagged flow does not take tagged frames, nor the other way round. */
static void test_tags_are_exact(void **state)
{
	struct world *w = *state;
	struct frame one = FRAME(eth(ETH_P_8021Q), vlan(10, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));
	struct frame two = FRAME(eth(ETH_P_8021Q), vlan(10, ETH_P_8021Q), vlan(20, ETH_P_IP), ipv4(IPPROTO_UDP),
				 udp(1, 2));
	__u32 slot = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4()", "2");

	assert_hit(w, udp_to(1), slot);
	assert_miss(w, one);
	assert_miss(w, two);
	slot = add_flow(w, "in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800),ipv4())", "2");
	assert_hit(w, one, slot);
	assert_miss(w, two);
	slot = add_flow(w,
			"in_port(1),eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x8100),vlan(vid=20),"
			"encap(eth_type(0x0800),ipv4()))",
			"2");
	assert_hit(w, two, slot);
	assert_miss(w, FRAME(eth(ETH_P_8021Q), vlan(20, ETH_P_8021Q), vlan(10, ETH_P_IP), ipv4(IPPROTO_UDP)));
	/* PCP and DEI do not disturb a match on the VID. */
	assert_hit(w, FRAME(eth(ETH_P_8021Q), vlan(0xf00a, ETH_P_8021Q), vlan(0xb014, ETH_P_IP), ipv4(IPPROTO_UDP)),
		   slot);
}

/* --- masks ------------------------------------------------------------------------------------------------------ */

static void test_several_masks(void **state)
{
	struct world *w = *state;
	__u32 dst = add_flow(w, UDP_FLOW "udp(dst=1)", "2");
	__u32 src = add_flow(w, UDP_FLOW "udp(src=2)", "2");
	__u32 both = add_flow(w, UDP_FLOW "udp(src=3,dst=3)", "2");
	__u32 same = add_flow(w, UDP_FLOW "udp(src=4)", "2");

	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(9, 1)), dst);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1);
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(2, 9)), src);
	assert_counted(w, .hit = 1, .mask_hit = 2, .forwarded = 1);
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(4, 9)), same);
	assert_counted(w, .hit = 1, .mask_hit = 2, .forwarded = 1);
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(3, 3)), both);
	assert_counted(w, .hit = 1, .mask_hit = 3, .forwarded = 1);
	assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(9, 9)));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = 3);
	assert_int_equal(mask_hits(w, dst).all, 1);
	assert_int_equal(mask_hits(w, src).all, 2);
	assert_int_equal(mask_hits(w, both).all, 1);
	assert_tables(w, 4, 3);
}

/* A frame of each class. */
static struct frame frame_of_class(enum packet_class class)
{
	switch (class) {
	case CLASS_ARP:
		return FRAME(eth(ETH_P_ARP), arp(1, ARP_FOR_IPV4));
	case CLASS_IPV4:
		return FRAME(eth(ETH_P_IP), ipv4(IPPROTO_ICMP), icmp(8, 0));
	case CLASS_IPV4_TCP:
		return FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), tcp(1, 2, 0));
	case CLASS_IPV4_UDP:
		return udp_to(2);
	case CLASS_IPV6:
		return FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), icmp(128, 0));
	case CLASS_IPV6_TCP:
		return FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP), tcp(1, 2, 0));
	case CLASS_IPV6_UDP:
		return FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP), udp(1, 2));
	case CLASS_MPLS:
		return FRAME(eth(ETH_P_MPLS_UC), mpls(16, 0, MPLS_BOTTOM, 64));
	default:
		return FRAME(eth(0x88cc), zeros(20));
	}
}

#define CLASSES(...) classes_of((const enum packet_class[]){ __VA_ARGS__, PACKET_CLASSES_END })

static __u32 classes_of(const enum packet_class *c)
{
	__u32 classes = 0;

	for (; *c != PACKET_CLASSES_END; c++)
		classes |= 1U << *c;
	return classes;
}

/* The flow's mask is in exactly these classes, and their frames match: all of the others miss. */
static void assert_classes(struct world *w, const char *match, __u32 classes)
{
	__u32 slot = add_flow(w, match, "2"), id = dp_flow(w->dp, slot)->mask_id;

	for (__u32 c = 0; c < PACKET_CLASSES_END; c++) {
		assert_int_equal(mask_position(w, c, id) >= 0, classes >> c & 1);
		if (classes >> c & 1)
			assert_hit(w, frame_of_class(c), slot);
		else
			assert_miss(w, frame_of_class(c));
	}
	assert_tables(w, 1, 1);
	flow_delete(w->dp, slot);
	commit(w);
	assert_tables(w, 0, 0);
}

static void test_classes(void **state)
{
	struct world *w = *state;

	assert_classes(w, "in_port(1)", (1U << PACKET_CLASSES_END) - 1);
	assert_classes(w, "in_port(1),eth(src=02:00:00:00:0a:0a)", (1U << PACKET_CLASSES_END) - 1);
	assert_classes(w, "in_port(1),eth(),eth_type(0x0806),arp()", CLASSES(CLASS_ARP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x88cc)", CLASSES(CLASS_OTHER));
	assert_classes(w, "in_port(1),eth(),eth_type(0x8847),mpls(label=16)", CLASSES(CLASS_MPLS));
	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4()",
		       CLASSES(CLASS_IPV4, CLASS_IPV4_TCP, CLASS_IPV4_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6)", CLASSES(CLASS_IPV4_TCP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=1)", CLASSES(CLASS_IPV4));
	assert_classes(w, "in_port(1),eth(),eth_type(0x86dd),ipv6()",
		       CLASSES(CLASS_IPV6, CLASS_IPV6_TCP, CLASS_IPV6_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x86dd),ipv6(proto=17)", CLASSES(CLASS_IPV6_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x86dd),ipv6(proto=58)", CLASSES(CLASS_IPV6));
}

/*
 * A protocol in part.  1 = 00000001, 6 = 00000110, 17 = 00010001, 47 = 00101111, 58 = 00111010: the frames of the class
 * "other" have 1 and 58.
 */
static void test_partial_protocol(void **state)
{
	struct world *w = *state;

	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=1/0x01)", CLASSES(CLASS_IPV4, CLASS_IPV4_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=0/0x02)", CLASSES(CLASS_IPV4, CLASS_IPV4_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=0/0xe0)",
		       CLASSES(CLASS_IPV4, CLASS_IPV4_TCP, CLASS_IPV4_UDP));
	assert_classes(w, "in_port(1),eth(),eth_type(0x86dd),ipv6(proto=2/0x02)", CLASSES(CLASS_IPV6, CLASS_IPV6_TCP));
}

/* Prefixes of both addresses make as many masks as there can be; the port keeps the flows apart. */
static const char *many_masks(__u32 i, char *text, size_t size)
{
	snprintf(text, size,
		 "in_port(1),eth(),eth_type(0x0800),ipv4(src=192.0.2.1/%u,dst=198.51.100.2/%u,proto=17),udp(dst=%u)",
		 i / 32, i % 32, i);
	return text;
}

static void add_many_masks(struct world *w, __u32 from, __u32 to)
{
	char text[160];

	for (__u32 i = from; i < to; i++)
		add_flow_uncommitted(w, many_masks(i, text, sizeof(text)), "2");
	commit(w);
}

static void test_1024_masks(void **state)
{
	struct world *w = *state;
	struct action_list list = { .count = 0 };
	char text[160];
	struct match m;

	add_many_masks(w, 0, 65);
	assert_hit(w, udp_to(64), find_flow(w, many_masks(64, text, sizeof(text))));
	assert_counted(w, .hit = 1, .mask_hit = 65, .forwarded = 1);
	add_many_masks(w, 65, MASKS_MAX);
	for (__u32 i = 0; i < MASKS_MAX; i++) {
		assert_hit(w, udp_to(i), find_flow(w, many_masks(i, text, sizeof(text))));
		assert_counted(w, .hit = 1, .mask_hit = i + 1, .forwarded = 1);
	}
	assert_miss(w, udp_to(MASKS_MAX));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = MASKS_MAX);
	assert_tables(w, MASKS_MAX, MASKS_MAX);
	assert_ok(match_parse(many_masks(MASKS_MAX, text, sizeof(text)), NULL, &m, e));
	assert_refused(flow_add(w->dp, &m, &list, e), ENOSPC, "max_masks=1024");
	commit(w);
	assert_tables(w, MASKS_MAX, MASKS_MAX);
	/* Room is there again when a mask has gone, and the others stay where they are. */
	flow_delete(w->dp, find_flow(w, many_masks(500, text, sizeof(text))));
	commit(w);
	assert_miss(w, udp_to(500));
	assert_counted(w, .missed = 1, .lost = 1, .mask_hit = MASKS_MAX - 1);
	add_many_masks(w, MASKS_MAX, MASKS_MAX + 1);
	assert_hit(w, udp_to(MASKS_MAX), find_flow(w, many_masks(MASKS_MAX, text, sizeof(text))));
	assert_counted(w, .hit = 1, .mask_hit = MASKS_MAX, .forwarded = 1);
	assert_tables(w, MASKS_MAX, MASKS_MAX);
}

static void test_limits(void **state)
{
	struct world *w = *state;
	struct action_list list = { .count = 0 };
	struct match m;

	add_flow(w, UDP_FLOW "udp(dst=1)", "2");
	add_flow(w, UDP_FLOW "udp(src=1)", "2");
	assert_ok(match_parse(UDP_FLOW "udp(dst=1,src=1)", NULL, &m, e));
	assert_refused(flow_add(w->dp, &m, &list, e), ENOSPC, "max_masks=2");
	assert_tables(w, 2, 2);
	add_flow(w, UDP_FLOW "udp(dst=2)", "2");
	assert_ok(match_parse(UDP_FLOW "udp(dst=3)", NULL, &m, e));
	assert_refused(flow_add(w->dp, &m, &list, e), ENOSPC, "max_flows=3");
	assert_ok(match_parse(UDP_FLOW "udp(dst=2)", NULL, &m, e));
	assert_refused(flow_add(w->dp, &m, &list, e), EEXIST, "File exists");
	commit(w);
	assert_tables(w, 3, 2);
	assert_miss(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(9, 3)));
}

/*
 * While an order is replaced, the record names another first mask than the array has: all flows are found, and one mask
 * more is tried at most.
 */
static void test_first_mask_of_another_order(void **state)
{
	struct world *w = *state;
	__u32 slot[3] = { add_flow(w, UDP_FLOW "udp(dst=1)", "2"), add_flow(w, UDP_FLOW "udp(dst=0x200/0xff00)", "2"),
			  add_flow(w, UDP_FLOW "udp(dst=0x3000/0xf000)", "2") };
	struct mask_array *array = calloc(1, sizeof(*array));
	const __u16 port[3] = { 1, 0x201, 0x3001 };

	w->dp->info->cache_size = 0;
	assert_int_equal(dp_mask_array(w->dp, CLASS_IPV4_UDP, array), 0);
	for (int first = 0; first < 3; first++) {
		w->dp->info->first_mask[CLASS_IPV4_UDP] = array->mask[first].id;
		for (int i = 0; i < 3; i++) {
			__u64 tried = i == first ? 1 : first == 0 ? i + 1 : i + 2;

			assert_hit(w, udp_to(port[i]), slot[i]);
			assert_counted(w, .hit = 1, .mask_hit = tried, .forwarded = 1);
		}
		assert_miss(w, udp_to(0x4001));
		assert_counted(w, .missed = 1, .lost = 1, .mask_hit = first ? 4 : 3);
	}
	free(array);
}

/* --- deletion --------------------------------------------------------------------------------------------------- */

static void test_delete(void **state)
{
	struct world *w = *state;
	__u32 one = add_flow(w, UDP_FLOW "udp(dst=1)", "2"), two = add_flow(w, UDP_FLOW "udp(dst=2)", "2,3,2,3,2,3,2");
	__u32 id = dp_flow(w->dp, one)->mask_id;

	flow_delete(w->dp, one);
	/* Out of the table at once, without the swap. */
	assert_miss(w, udp_to(1));
	commit(w);
	assert_hit(w, udp_to(2), two);
	assert_int_equal(mask_position(w, CLASS_IPV4_UDP, id), 0);
	assert_tables(w, 1, 1);
	flow_delete(w->dp, two);
	commit(w);
	assert_int_equal(mask_position(w, CLASS_IPV4_UDP, id), -1);
	assert_tables(w, 0, 0);
	w->before = cpu_state_read(w).count;
	assert_miss(w, udp_to(2));
	assert_counted(w, .missed = 1, .lost = 1);
	/* It starts anew. */
	two = add_flow(w, UDP_FLOW "udp(dst=2)", "2");
	assert_int_equal(packets(w, two), 0);
	assert_hit(w, udp_to(2), two);
}

/* The mask's flows leave a class one by one; the mask leaves it with the last. */
static void test_leave_a_class(void **state)
{
	struct world *w = *state;
	__u32 tcp1 = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=6)", "2");
	__u32 tcp3 = add_flow(w, "in_port(3),eth(),eth_type(0x0800),ipv4(proto=6)", "2");
	__u32 udp1 = add_flow(w, "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17)", "2");
	__u32 id = dp_flow(w->dp, tcp1)->mask_id;

	assert_tables(w, 3, 1);
	flow_delete(w->dp, tcp1);
	commit(w);
	assert_int_equal(mask_position(w, CLASS_IPV4_TCP, id), 0);
	assert_tables(w, 2, 1);
	flow_delete(w->dp, tcp3);
	commit(w);
	assert_int_equal(mask_position(w, CLASS_IPV4_TCP, id), -1);
	assert_int_equal(mask_position(w, CLASS_IPV4_UDP, id), 0);
	assert_hit(w, udp_to(1), udp1);
	assert_tables(w, 1, 1);
}

/* --- hashes ----------------------------------------------------------------------------------------------------- */

/* The hash that a flow of an existing mask would get. */
static __u64 future_hash(struct world *w, __u32 mask_id, const char *text)
{
	struct flow_key masked;
	struct match m;

	assert_ok(match_parse(text, NULL, &m, e));
	assert_memory_equal(&m.mask, &w->dp->masks[mask_id].mask.key, sizeof(m.mask));
	key_apply_mask(&masked, &m.key, &m.mask);
	return hash_of(w, mask_id, &masked);
}

static void test_collision(void **state)
{
	struct world *w = *state;
	__u32 old = add_flow(w, UDP_FLOW "udp(dst=1)", "2"), other = add_flow(w, UDP_FLOW "udp(src=7)", "2"), fresh;
	struct mask_info *mask = &w->dp->masks[dp_flow(w->dp, old)->mask_id];
	__u64 hash = future_hash(w, mask->mask.id, UDP_FLOW "udp(dst=2)"), seed = mask->mask.seed;
	int fd = w->dp->map_fd[DP_MAP_FLOWS];

	/* Somebody else's flow under that hash: compared, and not taken. */
	assert_int_equal(bpf_map_update_elem(fd, &hash, &other, BPF_NOEXIST), 0);
	assert_miss(w, udp_to(2));
	assert_hit(w, udp_to(1), old);
	fresh = add_flow(w, UDP_FLOW "udp(dst=2)", "2");
	assert_int_not_equal(mask->mask.seed, seed);
	assert_hit(w, udp_to(1), old);
	assert_hit(w, udp_to(2), fresh);
	assert_hit(w, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(7, 9)), other);
	/* Only the intruder is left of what was under the old seed. */
	assert_int_equal(published(w), 4);
	assert_int_equal(bpf_map_delete_elem(fd, &hash), 0);
	assert_tables(w, 3, 2);
}

/*
 * Many flows follow to the new seed, and packets of all are found.  With a second mask in the class the filter stands
 * before them, and it has to grow on the way.
 */
static void test_collision_of_a_large_mask(void **state)
{
	struct world *w = *state;
	__u32 slot[200], mask_id;
	char text[128];
	__u64 hash;

	for (__u32 i = 0; i < ARRAY_SIZE(slot); i++) {
		snprintf(text, sizeof(text), UDP_FLOW "udp(dst=%u)", i);
		slot[i] = add_flow_uncommitted(w, text, "2");
	}
	add_flow_uncommitted(w, UDP_FLOW "udp(src=9)", "2");
	commit(w);
	mask_id = dp_flow(w->dp, slot[0])->mask_id;
	hash = future_hash(w, mask_id, UDP_FLOW "udp(dst=1000)");
	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash, &slot[0], BPF_NOEXIST), 0);
	assert_hit(w, udp_to(1000), add_flow(w, UDP_FLOW "udp(dst=1000)", "2"));
	for (__u32 i = 0; i < ARRAY_SIZE(slot); i++)
		assert_hit(w, udp_to(i), slot[i]);
	assert_int_equal(bpf_map_delete_elem(w->dp->map_fd[DP_MAP_FLOWS], &hash), 0);
	assert_tables(w, 202, 2);
}

/* --- fixtures --------------------------------------------------------------------------------------------------- */

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 2000, .max_masks = MASKS_MAX });
}

static int make_small(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 3, .max_masks = 2 });
}

#define test(name)	 cmocka_unit_test_setup_teardown(name, make, world_end)
#define small_test(name) cmocka_unit_test_setup_teardown(name, make_small, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_hit_and_miss),
		test(test_flow_statistics),
		test(test_tags_are_exact),
		test(test_several_masks),
		test(test_classes),
		test(test_partial_protocol),
		test(test_1024_masks),
		small_test(test_limits),
		test(test_delete),
		test(test_first_mask_of_another_order),
		test(test_leave_a_class),
		test(test_collision),
		test(test_collision_of_a_large_mask),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
