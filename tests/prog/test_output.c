// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact frames that leave, by port; and every way in which a frame ends otherwise.
 *
 * A test run of a redirect tells only that the frame would be given away; copies are really sent.  So what the last
 * output does is seen with frames that come in by the wire.
 */
#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "action_text.h"
#include "attach.h"
#include "flow_table.h"
#include "harness.h"
#include "table_check.h"

static struct frame plain(void)
{
	return frame_padded(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1000, 53)), 77);
}

static struct action_list *actions(const char *text)
{
	struct action_list *list = calloc(1, sizeof(*list));

	assert_ok(actions_parse(text, NULL, list, e));
	return list;
}

/* Outputs in one list; more copies at once would overflow the receiver's backlog. */
enum {
	LONG_LIST = 128
};

/* PORT,PORT,...: so many outputs. */
static struct action_list *outputs(__u32 count, __u32 port)
{
	char text[LONG_LIST * 2];
	__u32 len = 0;

	for (__u32 i = 0; i < count; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%u", i ? "," : "", port);
	return actions(text);
}

/* --- what leaves ------------------------------------------------------------------------------------------------ */

static void test_one_output(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "2");
	send_frame(w, 1, &f);
	assert_heard(w, 2, f);
	assert_silent(w, 1);
	assert_silent(w, 3);
	assert_silent(w, PORT_LOCAL);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1);
	/* In a test run nothing is sent, and the frame is as it was. */
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	assert_int_equal(w->out.len, f.len);
	assert_memory_equal(w->out.byte, f.byte, f.len);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1);
	assert_silent(w, 2);
}

static void test_several_outputs(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "3,2,0,2,3");
	send_frame(w, 1, &f);
	assert_heard(w, 2, f, f);
	assert_heard(w, 3, f, f);
	assert_heard(w, PORT_LOCAL, f);
	assert_silent(w, 1);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies = 4);
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	assert_heard(w, 3, f);
	assert_heard(w, 2, f, f);
	assert_heard(w, PORT_LOCAL, f);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies = 4);
}

/* A flow that names the port a frame came from means it: no port is left out, as in the kernel's datapath. */
static void test_output_to_ingress(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "1,1");
	send_frame(w, 1, &f);
	assert_heard(w, 1, f, f);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies = 1);
}

static void test_local_port(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(0)", "2");
	add_flow(w, "in_port(2)", "0");
	send_frame(w, PORT_LOCAL, &f);
	assert_heard(w, 2, f);
	send_frame(w, 2, &f);
	assert_heard(w, PORT_LOCAL, f);
	assert_counted(w, .hit = 2, .mask_hit = 2, .forwarded = 2);
}

/* Flows for frames with one, two and more tags: how many there are is exact in each flow. */
static void add_tagged_flows(struct world *w, __u16 tpid, const char *actions)
{
	char text[200];

	snprintf(text, sizeof(text), "in_port(1),eth(),eth_type(0x%x),vlan(),encap(eth_type(0x0800),ipv4())", tpid);
	add_flow(w, text, actions);
	snprintf(text, sizeof(text),
		 "in_port(1),eth(),eth_type(0x%x),vlan(),encap(eth_type(0x%x),vlan(),encap(eth_type(0x0800),ipv4()))",
		 tpid, tpid);
	add_flow(w, text, actions);
	snprintf(text, sizeof(text),
		 "in_port(1),eth(),eth_type(0x%x),vlan(),encap(eth_type(0x%x),vlan(),encap(eth_type(0x%x)))", tpid,
		 tpid, tpid);
	add_flow(w, text, actions);
}

/* Tags leave as they came, all sixteen bits. */
static void test_tags(void **state)
{
	static const __u16 tcis[] = { 10, 0, 0xb00a, 0xffff };
	static const __u16 tpids[] = { ETH_P_8021Q, ETH_P_8021AD };
	struct world *w = *state;

	for (size_t t = 0; t < ARRAY_SIZE(tpids); t++) {
		add_tagged_flows(w, tpids[t], "3,2");
		for (size_t i = 0; i < ARRAY_SIZE(tcis); i++) {
			struct frame one = FRAME(eth(tpids[t]), vlan(tcis[i], ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));
			struct frame two = FRAME(eth(tpids[t]), vlan(tcis[i], tpids[t]), vlan(20, ETH_P_IP),
						 ipv4(IPPROTO_UDP), udp(1, 2));
			struct frame three = FRAME(eth(tpids[t]), vlan(tcis[i], tpids[t]), vlan(tcis[i], tpids[t]),
						   vlan(tcis[i], ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2));

			send_frame(w, 1, &one);
			send_frame(w, 1, &two);
			send_frame(w, 1, &three);
			assert_heard(w, 2, one, two, three);
			assert_heard(w, 3, one, two, three);
			run_frame(w, 1, &one);
			run_frame(w, 1, &two);
			run_frame(w, 1, &three);
			assert_heard(w, 3, one, two, three);
		}
	}
}

/* Frames with headers that lie or are cut are switched, unchanged. */
static void test_malformed_frames_leave(void **state)
{
	struct world *w = *state;
	struct frame cut = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP), bytes("\x01\x02\x03", 3));
	struct frame lies = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ihl = 2, .total_length = 0xffff), zeros(9));
	struct frame chain = FRAME(eth(ETH_P_IPV6), ipv6(0), bytes("\x00\xff", 2), zeros(6));
	struct frame tiny = FRAME(eth(0x88cc), bytes("x", 1));

	add_flow(w, "in_port(1)", "3,2");
	send_frame(w, 1, &cut);
	send_frame(w, 1, &lies);
	send_frame(w, 1, &chain);
	send_frame(w, 1, &tiny);
	assert_heard(w, 2, cut, lies, chain, tiny);
	assert_heard(w, 3, cut, lies, chain, tiny);
	assert_counted(w, .hit = 4, .mask_hit = 4, .forwarded = 4, .copies = 4);
}

/* --- long lists ------------------------------------------------------------------------------------------------- */

/* Those that fit into the entry, those that do not, and the longest. */
static void test_long_lists(void **state)
{
	static const __u32 counts[] = { 1, 4, 5, 6, 64, 127, 128 };
	struct world *w = *state;
	struct frame f = plain();
	__u32 slot = add_flow(w, "in_port(1)", "2");

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		CLEANUP_FREE struct action_list *list = outputs(counts[i], 2);

		assert_ok(flow_set_actions(w->dp, slot, list, e));
		assert_tables(w, 1, 1);
		send_frame(w, 1, &f);
		assert_heard_times(w, 2, &f, counts[i]);
		assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
		assert_heard_times(w, 2, &f, counts[i] - 1);
		assert_counted(w, .hit = 2, .mask_hit = 2, .forwarded = 2, .copies = 2 * (counts[i] - 1));
	}
	assert_int_equal(packets(w, slot), 2 * ARRAY_SIZE(counts));
}

/* As above, in flows that are added with their lists, which then lie side by side. */
static void test_long_lists_from_the_start(void **state)
{
	struct world *w = *state;
	struct frame f = plain();
	char port[TEST_PORTS_MAX][LONG_LIST * 2] = { "2,2,2,2,2", "2,2,2,2,2,2", "" };

	for (int i = 0; i < LONG_LIST; i++)
		strcat(port[2], i ? ",2" : "2");
	add_flow(w, "in_port(1)", port[0]);
	add_flow(w, "in_port(2)", port[1]);
	add_flow(w, "in_port(3)", port[2]);
	assert_tables(w, 3, 1);
	run_frame(w, 1, &f);
	assert_heard_times(w, 2, &f, 4);
	run_frame(w, 2, &f);
	assert_heard_times(w, 2, &f, 5);
	run_frame(w, 3, &f);
	assert_heard_times(w, 2, &f, LONG_LIST - 1);
	assert_counted(w, .hit = 3, .mask_hit = 3, .forwarded = 3, .copies = LONG_LIST + 8);
}

static void test_modified_actions(void **state)
{
	struct world *w = *state;
	struct frame f = plain();
	__u32 slot = add_flow(w, "in_port(1)", "2");
	CLEANUP_FREE struct action_list *three = actions("3"), *none = actions("drop"), *both = actions("2,3");

	send_frame(w, 1, &f);
	assert_heard(w, 2, f);
	assert_ok(flow_set_actions(w->dp, slot, three, e));
	send_frame(w, 1, &f);
	assert_heard(w, 3, f);
	assert_ok(flow_set_actions(w->dp, slot, none, e));
	send_frame(w, 1, &f);
	assert_ok(flow_set_actions(w->dp, slot, both, e));
	send_frame(w, 1, &f);
	assert_heard(w, 2, f);
	assert_heard(w, 3, f);
	assert_counted(w, .hit = 4, .mask_hit = 4, .forwarded = 3, .dropped = 1, .copies = 1);
	assert_int_equal(packets(w, slot), 4);
	assert_tables(w, 1, 1);
}

/* --- drops after lookup ----------------------------------------------------------------------------------------- */

static void test_no_action(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "drop");
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1);
	assert_int_equal(drops(w, 1, DROP_NO_ACTION), 1);
}

static void test_no_port(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "9,2,9");
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_heard(w, 2, f);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1, .copies = 1, .copies_dropped = 1);
	assert_int_equal(drops(w, 9, DROP_NO_PORT), 2);
	/* A number beyond the table. */
	add_flow(w, "in_port(2)", "65534");
	assert_int_equal(run_frame(w, 2, &f), TC_ACT_SHOT);
	assert_int_equal(drops(w, 65534, DROP_NO_PORT), 1);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1);
}

static void test_device_gone(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "3,2,3");
	assert_ok(link_del(w->peer[3].ifindex, e));
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_heard(w, 2, f);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1, .copies = 1, .copies_dropped = 1);
	assert_int_equal(drops(w, 3, DROP_NO_PORT), 2);
}

/* 1500 bytes behind the header pass, as of a device of that MTU; a tag in metadata is not counted. */
static void test_mtu(void **state)
{
	struct world *w = *state;
	struct frame fits = frame_padded(plain(), 1514),
		     tagged = frame_padded(FRAME(eth(ETH_P_8021Q), vlan(1, ETH_P_IP), ipv4(IPPROTO_UDP), udp(1, 2)),
					   1518);
	struct frame longer = frame_padded(plain(), 1515);

	add_flow(w, "in_port(1)", "3,2");
	add_tagged_flows(w, ETH_P_8021Q, "3,2");
	assert_int_equal(run_frame(w, 1, &fits), TC_ACT_REDIRECT);
	assert_int_equal(run_frame(w, 1, &tagged), TC_ACT_REDIRECT);
	assert_heard(w, 3, fits, tagged);
	assert_counted(w, .hit = 2, .mask_hit = 3, .forwarded = 2, .copies = 2);
	assert_int_equal(run_frame(w, 1, &longer), TC_ACT_SHOT);
	tagged = frame_padded(tagged, 1519);
	assert_int_equal(run_frame(w, 1, &tagged), TC_ACT_SHOT);
	assert_silent(w, 3);
	assert_counted(w, .hit = 2, .mask_hit = 3, .dropped = 2, .copies_dropped = 2);
	assert_int_equal(drops(w, 3, DROP_MTU), 2);
	assert_int_equal(drops(w, 2, DROP_MTU), 2);
	/* Of this moment. */
	assert_ok(link_set_mtu(w->port[3].ifindex, 1501, e));
	assert_int_equal(run_frame(w, 1, &longer), TC_ACT_SHOT);
	assert_counted(w, .hit = 1, .mask_hit = 1, .dropped = 1, .copies = 1);
}

/* What the kernel says of a device that is down, it says of copies only. */
static void test_port_down(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "3,2");
	assert_ok(link_set_up(w->port[3].ifindex, false, e));
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	assert_silent(w, 3);
	assert_counted(w, .hit = 1, .mask_hit = 1, .forwarded = 1, .copies_dropped = 1);
	assert_int_equal(drops(w, 3, DROP_TX_ERROR), 1);
}

/* --- drops before lookup ---------------------------------------------------------------------------------------- */

static void test_not_a_port(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "2");
	assert_int_equal(run_on_device(w, w->peer[1].ifindex, &f), TC_ACT_SHOT);
	assert_counted(w, .dropped = 1);
	assert_int_equal(drops(w, PORT_NONE, DROP_NOT_A_PORT), 1);
}

/* Devices of another namespace have the same numbers, and none is a port. */
static void test_foreign_namespace(void **state)
{
	CLEANUP_FD int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	struct world *w = *state;
	struct frame f = plain();
	struct link_info l = { 0 }, peer = { 0 };

	if (!attach_has_tcx())
		skip();
	add_flow(w, "in_port(1)", "2");
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	for (int i = 0; peer.ifindex < w->port[1].ifindex; i++) {
		char name[IFNAMSIZ];

		snprintf(name, sizeof(name), "v%d", i);
		assert_ok(link_add_veth(name, "w%d", &l, &peer, e));
		assert_ok(link_set_up(l.ifindex, true, e));
		assert_ok(link_set_up(peer.ifindex, true, e));
	}
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	assert_counted(w, .dropped = 1);
	assert_int_equal(drops(w, 1, DROP_FOREIGN_NETNS), 1);
}

static void test_nested(void **state)
{
	struct world *w = *state;
	struct frame f = plain();

	add_flow(w, "in_port(1)", "2");
	set_busy(w, true);
	poison_key(w);
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
	assert_counted(w, .dropped = 1);
	assert_int_equal(drops(w, 1, DROP_NESTED), 1);
	/* The key in use is untouched, and so is the mark of who uses it. */
	assert_int_equal(cpu_state_read(w).key.in_port, 0xffff);
	assert_int_equal(cpu_state_read(w).busy, 1);
	set_busy(w, false);
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	assert_int_equal(cpu_state_read(w).busy, 0);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_one_output),
		test(test_several_outputs),
		test(test_output_to_ingress),
		test(test_local_port),
		test(test_tags),
		test(test_malformed_frames_leave),
		test(test_long_lists),
		test(test_long_lists_from_the_start),
		test(test_modified_actions),
		test(test_no_action),
		test(test_no_port),
		test(test_device_gone),
		test(test_mtu),
		test(test_port_down),
		test(test_not_a_port),
		test(test_foreign_namespace),
		test(test_nested),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
