// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a flow's text to a frame: for each field that the datapath matches, a flow that takes the frame, and one that is
 * off by a little and does not.
 */
#include <string.h>

#include "flow_table.h"
#include "harness.h"

#define ETH	"in_port(1),eth(),"
#define ETH_IP4 ETH "eth_type(0x0800),"
#define ETH_IP6 ETH "eth_type(0x86dd),"

/* Of one frame: the text that takes it, and the one that does not. */
struct pair {
	const char *hit;
	const char *miss;
};

static void assert_pairs(struct world *w, struct frame f, const struct pair *pair, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		__u32 slot;

		print_message("# %s\n", pair[i].hit);
		slot = add_flow(w, pair[i].hit, "2");
		assert_hit(w, f, slot);
		flow_delete(w->dp, slot);
		slot = add_flow(w, pair[i].miss, "2");
		assert_miss(w, f);
		flow_delete(w->dp, slot);
	}
	commit(w);
}

#define ASSERT_PAIRS(w, f, ...) \
	assert_pairs(w, f, (const struct pair[]){ __VA_ARGS__ }, ARRAY_SIZE(((const struct pair[]){ __VA_ARGS__ })))

static void test_metadata_and_ethernet(void **state)
{
	struct world *w = *state;

	w->mark = 0x12345678;
	w->priority = 0xfe;
	ASSERT_PAIRS(w, FRAME(eth(0x1234), zeros(4)), { "in_port(1),eth()", "in_port(2),eth()" },
		     { "in_port(1/0xff),eth()", "in_port(3/0x1),eth()" }, { "in_port(2/0),eth()", "in_port(0),eth()" },
		     { "recirc_id(0),eth()", "recirc_id(5),eth()" },
		     { "dp_hash(0x10/0xf),eth()", "dp_hash(0x1/0xf),eth()" },
		     { "skb_mark(0x12345678),eth()", "skb_mark(0x12345679),eth()" },
		     { "skb_mark(0x5600/0xff00),eth()", "skb_mark(0x5700/0xff00),eth()" },
		     { "skb_priority(0xfe),eth()", "skb_priority(0xff),eth()" },
		     { "skb_priority(0xff/0xf0),eth()", "skb_priority(0xef/0xf0),eth()" },
		     { "eth(src=02:00:00:00:0a:0a)", "eth(src=02:00:00:00:0a:0b)" },
		     { "eth(dst=06:00:00:00:0b:0b)", "eth(dst=02:00:00:00:0b:0b)" },
		     { "eth(dst=04:00:00:00:00:00/04:00:00:00:00:00)", "eth(src=04:00:00:00:00:00/04:00:00:00:00:00)" },
		     { "eth(),eth_type(0x1234)", "eth(),eth_type(0x1235)" },
		     { "eth(),eth_type(0x1234/0xff00)", "eth(),eth_type(0x1200/0xff00)" });
	w->mark = w->priority = 0;
}

#define TAG1 ETH "eth_type(0x88a8),"
#define TAG2 "encap(eth_type(0x8100),"

static void test_tags(void **state)
{
	struct frame f = FRAME(eth(ETH_P_8021AD), vlan(0x600a, ETH_P_8021Q), vlan(0xb014, ETH_P_IP), ipv4(IPPROTO_TCP),
			       tcp(7, 8, TCP_FIN));

	ASSERT_PAIRS(*state, f,
		     { TAG1 "vlan(),encap(eth_type(0x8100),vlan(),encap(eth_type(0x0800)))",
		       TAG1 "vlan(),encap(eth_type(0x8100),vlan(),encap(eth_type(0x86dd)))" },
		     { TAG1 "vlan(vid=10,pcp=3)," TAG2
			    "vlan(vid=20,pcp=5),encap(eth_type(0x0800),ipv4(proto=6),tcp(dst=8)))",
		       ETH "eth_type(0x8100),vlan(vid=10,pcp=3)," TAG2 "vlan(vid=20,pcp=5),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan(vid=10)," TAG2 "vlan(),encap(eth_type(0x0800)))",
		       TAG1 "vlan(vid=11)," TAG2 "vlan(),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan(vid=2/0x3)," TAG2 "vlan(),encap(eth_type(0x0800)))",
		       TAG1 "vlan(vid=1/0x3)," TAG2 "vlan(),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan(pcp=2/0x6)," TAG2 "vlan(),encap(eth_type(0x0800)))",
		       TAG1 "vlan(pcp=2)," TAG2 "vlan(),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan(tci=0x700a)," TAG2 "vlan(),encap(eth_type(0x0800)))",
		       TAG1 "vlan(tci=0x500a)," TAG2 "vlan(),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan()," TAG2 "vlan(vid=20),encap(eth_type(0x0800)))",
		       TAG1 "vlan()," TAG2 "vlan(vid=21),encap(eth_type(0x0800)))" },
		     { TAG1 "vlan()," TAG2 "vlan(pcp=5,cfi=1),encap(eth_type(0x0800)))",
		       TAG1 "vlan(),encap(eth_type(0x88a8),vlan(pcp=5),encap(eth_type(0x0800)))" });
}

#define MPLS ETH "eth_type(0x8847),"

static void test_label_stacks(void **state)
{
	struct frame f = FRAME(eth(ETH_P_MPLS_UC), mpls(100, 7, 0, 64), mpls(200, 1, 0, 32),
			       mpls(300, 2, MPLS_BOTTOM, 1));

	ASSERT_PAIRS(*state, f, { MPLS "mpls(label=100)", MPLS "mpls(label=101)" },
		     { MPLS "mpls(label=96/0xffff0,tc=6/0x6)", MPLS "mpls(label=96/0xffff0,tc=5/0x6)" },
		     { MPLS "mpls(ttl=64)", MPLS "mpls(ttl=63)" }, { MPLS "mpls(bos=0)", MPLS "mpls(bos=1)" },
		     { MPLS "mpls(label=100,tc=7,ttl=64,bos=0,label=200,tc=1,ttl=32,bos=0,label=300,tc=2,ttl=1,bos=1)",
		       MPLS
		       "mpls(label=100,tc=7,ttl=64,bos=0,label=200,tc=1,ttl=32,bos=0,label=300,tc=2,ttl=1,bos=0)" },
		     { MPLS "mpls(label=0/0,label=200)", MPLS "mpls(label=0/0,label=100)" },
		     { MPLS "mpls(label=0/0,label=0/0,label=0/0,ttl=1)", MPLS "mpls(label=0/0,label=0/0,ttl=1)" },
		     { MPLS "mpls()", ETH "eth_type(0x8848),mpls()" });
}

static void test_arp(void **state)
{
	struct frame f = FRAME(eth(ETH_P_RARP), arp(3, ARP_FOR_IPV4));

	ASSERT_PAIRS(*state, f, { ETH "eth_type(0x8035),arp()", ETH "eth_type(0x0806),arp()" },
		     { ETH "eth_type(0x8035),arp(sip=192.0.2.1)", ETH "eth_type(0x8035),arp(sip=192.0.2.2)" },
		     { ETH "eth_type(0x8035),arp(tip=198.51.0.0/16)", ETH "eth_type(0x8035),arp(tip=198.52.0.0/16)" },
		     { ETH "eth_type(0x8035),arp(op=3)", ETH "eth_type(0x8035),arp(op=1)" },
		     { ETH "eth_type(0x8035),arp(op=2/0xfffe)", ETH "eth_type(0x8035),arp(op=2)" },
		     { ETH "eth_type(0x8035),arp(sha=02:00:00:00:0a:0a)",
		       ETH "eth_type(0x8035),arp(sha=06:00:00:00:0a:0a)" },
		     { ETH "eth_type(0x8035),arp(tha=06:00:00:00:0b:0b)",
		       ETH "eth_type(0x8035),arp(tha=06:00:00:00:0b:0a)" });
}

static void test_ipv4(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .tos = 0xb9, .ttl = 64), tcp(1000, 80, TCP_SYN));

	ASSERT_PAIRS(*state, f, { ETH_IP4 "ipv4(src=192.0.2.1)", ETH_IP4 "ipv4(src=192.0.2.3)" },
		     { ETH_IP4 "ipv4(dst=198.0.100.0/255.0.255.0)", ETH_IP4 "ipv4(dst=198.0.101.0/255.0.255.0)" },
		     { ETH_IP4 "ipv4(proto=6)", ETH_IP4 "ipv4(proto=17)" },
		     { ETH_IP4 "ipv4(proto=4/0xfc)", ETH_IP4 "ipv4(proto=8/0xfc)" },
		     { ETH_IP4 "ipv4(tos=0xb8/0xfc)", ETH_IP4 "ipv4(tos=0xb8)" },
		     { ETH_IP4 "ipv4(ttl=64)", ETH_IP4 "ipv4(ttl=63)" },
		     { ETH_IP4 "ipv4(frag=no)", ETH_IP4 "ipv4(frag=first)" },
		     { ETH_IP4 "ipv4(proto=6),tcp(src=1000)", ETH_IP4 "ipv4(proto=6),tcp(dst=1000)" },
		     { ETH_IP4 "ipv4(proto=6),tcp(dst=64/0xffc0)", ETH_IP4 "ipv4(proto=6),tcp(dst=128/0xffc0)" },
		     { ETH_IP4 "ipv4(proto=6),tcp_flags(syn)", ETH_IP4 "ipv4(proto=6),tcp_flags(syn|ack)" },
		     { ETH_IP4 "ipv4(proto=6),tcp_flags(+syn-ack)", ETH_IP4 "ipv4(proto=6),tcp_flags(+syn+ack)" },
		     { ETH_IP4 "ipv4(proto=6),tcp_flags(0x2/0x7)", ETH_IP4 "ipv4(proto=6),tcp_flags(0)" });
	ASSERT_PAIRS(*state, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .frag = IPV4_MF), udp(53, 54)),
		     { ETH_IP4 "ipv4(proto=17,frag=first),udp(src=53,dst=54)", ETH_IP4 "ipv4(proto=17,frag=later)" });
	ASSERT_PAIRS(*state, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .frag = 8), zeros(8)),
		     { ETH_IP4 "ipv4(proto=17,frag=later)", ETH_IP4 "ipv4(proto=17,frag=no)" });
	ASSERT_PAIRS(*state, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(2905, 36412)),
		     { ETH_IP4 "ipv4(proto=132),sctp(src=2905,dst=36412)", ETH_IP4 "ipv4(proto=132),sctp(dst=2905)" });
	ASSERT_PAIRS(*state, FRAME(eth(ETH_P_IP), ipv4(IPPROTO_ICMP), icmp(3, 4)),
		     { ETH_IP4 "ipv4(proto=1),icmp(type=3,code=4)", ETH_IP4 "ipv4(proto=1),icmp(type=4,code=3)" },
		     { ETH_IP4 "ipv4(proto=1),icmp(type=2/0xfe)", ETH_IP4 "ipv4(proto=1),icmp(code=3/0x3)" });
}

static void test_ipv6(void **state)
{
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .tclass = 0x70, .hlimit = 128, .label = 0x12345),
			       udp(6630, 22));

	ASSERT_PAIRS(*state, f,
		     { ETH_IP6 "ipv6(src=2001:db8:1:203:405:607:809:aaa)",
		       ETH_IP6 "ipv6(src=2001:db8:1:203:405:607:809:aab)" },
		     { ETH_IP6 "ipv6(dst=2001::/fe00::)", ETH_IP6 "ipv6(dst=2201::/fe00::)" },
		     { ETH_IP6 "ipv6(dst=2001:db8::/32)", ETH_IP6 "ipv6(dst=2001:db9::/32)" },
		     { ETH_IP6 "ipv6(src=::a/::f)", ETH_IP6 "ipv6(dst=::a/::f)" },
		     { ETH_IP6 "ipv6(label=0x12345)", ETH_IP6 "ipv6(label=0x12344)" },
		     { ETH_IP6 "ipv6(label=0x40/0xf0)", ETH_IP6 "ipv6(label=0x50/0xf0)" },
		     { ETH_IP6 "ipv6(tclass=0x70)", ETH_IP6 "ipv6(tclass=0x71)" },
		     { ETH_IP6 "ipv6(hlimit=128/0xf0)", ETH_IP6 "ipv6(hlimit=64/0xf0)" },
		     { ETH_IP6 "ipv6(proto=17),udp(src=6630)", ETH_IP6 "ipv6(proto=17),udp(src=6631)" },
		     { ETH_IP6 "ipv6(proto=17,frag=no),udp(dst=22)", ETH_IP6 "ipv6(proto=17,frag=first),udp(dst=22)" });
}

static void test_neighbour_discovery(void **state)
{
	static const __u8 sll[] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6 },
			  tll[] = { 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6 };
	struct frame f = FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_ICMPV6), nd(136, 0), nd_option(1, 1, sll),
			       nd_option(2, 1, tll));

#define ND ETH_IP6 "ipv6(proto=58),icmpv6(type=136,code=0),"
	ASSERT_PAIRS(
		*state, f, { ND "nd()", ETH_IP6 "ipv6(proto=58),icmpv6(type=135,code=0),nd()" },
		{ ETH_IP6 "ipv6(proto=58),icmpv6(type=128/0xf0)",
		  ETH_IP6 "ipv6(proto=58),icmpv6(type=128/0xf8,code=1)" },
		{ ND "nd(target=fe80::102:304:506:7cc)", ND "nd(target=fe80::102:304:506:7cd)" },
		{ ND "nd(target=fe80::/10)", ND "nd(target=fec0::/10)" },
		{ ND "nd(sll=a1:a2:a3:a4:a5:a6)", ND "nd(tll=a1:a2:a3:a4:a5:a6)" },
		{ ND "nd(tll=b1:b2:b3:b4:b5:00/ff:ff:ff:ff:ff:00)", ND "nd(tll=b1:b2:b3:b4:b4:00/ff:ff:ff:ff:ff:00)" });
}

static int make(void **state)
{
	return world_make(state, 2, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_metadata_and_ethernet, make, world_end),
		cmocka_unit_test_setup_teardown(test_tags, make, world_end),
		cmocka_unit_test_setup_teardown(test_label_stacks, make, world_end),
		cmocka_unit_test_setup_teardown(test_arp, make, world_end),
		cmocka_unit_test_setup_teardown(test_ipv4, make, world_end),
		cmocka_unit_test_setup_teardown(test_ipv6, make, world_end),
		cmocka_unit_test_setup_teardown(test_neighbour_discovery, make, world_end),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
