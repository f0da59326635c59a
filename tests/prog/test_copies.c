// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outputs with rewrites between them: each copy is the frame as it was at that moment, whoever else holds it.
 */
#include <linux/pkt_cls.h>
#include <string.h>

#include "records.h"
#include "seal.h"
#include "wire.h"

static struct frame with_dst(struct frame f, __u8 mac)
{
	memcpy(f.byte, "\x02\0\0\0\0", 5);
	f.byte[5] = mac;
	return f;
}

/* C08: 2,pedit,3; 50 times, with a capture on the ingress device, which shares the frame with the program. */
static void test_output_pedit_output(void **state)
{
	struct world *w = *state;
	struct frame f = with_dst(with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP), udp(9, 13)), 5), 2);
	struct frame edited = with_dst(f, 0xfe), got;
	__u32 slot = add_list_for_port(w, 1,
				       LIST(output(2), pedit(),
					    steps_end(write_words(PEDIT_ETH, 2, 0x02000000, 0x00fe0000, 0)),
					    write_masks(0, 0, 0x0000ffff, 0), last(3)));
	CLEANUP_FD int capture = wire_open(w->port[1].ifindex);

	for (int i = 0; i < 50; i++)
		send_frame(w, 1, &f);
	assert_heard_times(w, 2, &f, 50);
	assert_heard_times(w, 3, &edited, 50);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(wire_receive(capture, &got, 1000), 0);
		assert_int_equal(got.len, f.len);
		assert_memory_equal(got.byte, f.byte, f.len);
	}
	assert_int_equal(packets(w, slot), 50);
	assert_counted(w, .hit = 50, .mask_hit = 50, .forwarded = 50, .copies = 50);
}

/* All kinds of writes, and headers that are not in the linear part. */
static void test_many_moments(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 9), tcp(1000, 80, 0)), 1000);
	struct frame ttl = f, src, tag, bytes_changed;

	ttl.byte[22] = 7;
	ttl = resummed(ttl);
	src = ttl;
	memcpy(src.byte + 26, "\x0a\x01\x02\x03", 4);
	src = resummed(src);
	tag = src;
	memmove(tag.byte + 16, tag.byte + 12, tag.len - 12);
	memcpy(tag.byte + 12, "\x81\x00\x00\x05", 4);
	tag.len += 4;
	bytes_changed = src;
	memcpy(bytes_changed.byte + 514, "abcd", 4); /* payload */
	add_list_for_port(w, 1,
			  LIST(output(2), set_byte(SET_IPV4_TTL, 7, 0xff), output(2),
			       set_word(SET_IPV4_SRC, 0x0a010203, ~0U), output(2), push_vlan(ETH_P_8021Q, 5), output(2),
			       pop_vlan(), pedit(), steps_end(write_words(PEDIT_NETWORK, 1, 0x61626364, 0, 0)),
			       write_masks(500, 0, 0, 0), output(2), csum(CSUM_TCP), last(2)));
	for (int split = 0; split < 2; split++) {
		if (split)
			send_split(w, 1, &f);
		else
			send_frame(w, 1, &f);
		assert_heard(w, 2, f, ttl, src, tag, bytes_changed, resummed(bytes_changed));
	}
}

/* A copy that a socket holds unread while the frame is written to. */
static void test_held_copies(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .hlimit = 9), udp(1, 2)), 77);
	struct frame want[FLOW_ACTIONS_MAX / 4];
	struct flow_action list[FLOW_ACTIONS_MAX];
	__u32 n = 0, count = 100;

	for (__u32 i = 0; i < count; i++) {
		want[i] = f;
		want[i].byte[14 + 7] = i + 10;
		list[n++] = set_byte(SET_IPV6_HLIMIT, i + 10, 0xff);
		list[n++] = i + 1 < count ? output(2) : last(2);
	}
	add_list_for_port(w, 1, list, n);
	send_frame(w, 1, &f);
	assert_heard_frames(w, 2, want, count);
}

/* The longest list that there is, of records that write. */
static void test_longest_list(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1, 2)), 20), want = f;
	struct flow_action list[FLOW_ACTIONS_MAX];

	list[0] = pedit();
	for (__u32 i = 1; i < FLOW_ACTIONS_MAX - 1; i++)
		list[i] = add_key(PEDIT_IP4, 8, 0x01000000, 0x00ffffff);
	list[FLOW_ACTIONS_MAX - 2] = steps_end(list[FLOW_ACTIONS_MAX - 2]);
	list[FLOW_ACTIONS_MAX - 1] = last(2);
	add_list_for_port(w, 1, list, FLOW_ACTIONS_MAX);
	send_frame(w, 1, &f);
	want.byte[22] = (__u8)(64 + FLOW_ACTIONS_MAX - 2);
	assert_heard(w, 2, want);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1);
}

/* A list that ends without an output. */
static void test_no_output(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1, 2)), 20);

	add_list_for_port(w, 1, LIST(set_byte(SET_IPV4_TTL, 7, 0xff)));
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_int_equal(drops(w, 1, DROP_NO_ACTION), 1);
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
		test(test_output_pedit_output), test(test_many_moments), test(test_held_copies),
		test(test_longest_list),	test(test_no_output),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
