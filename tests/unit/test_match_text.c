// SPDX-License-Identifier: GPL-2.0-only
/* Matches: text to key and mask, and back. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "field.h"
#include "match_check.h"
#include "match_text.h"
#include "util.h"

#define ETH_IP "eth(),eth_type(0x0800),"

static int number_of(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	if (strcmp(name, "eth1"))
		return -ENOENT;
	*port = 1;
	return 0;
}

static const char *name_of(void *ctx, __u32 port)
{
	(void)ctx;
	return port == 1 ? "eth1" : NULL;
}

static const struct port_names names = { .number = number_of, .name = name_of };
static const struct match_style plain, more = { .more = true }, by_name = { .names = &names };

static void parse(const char *text, struct match *m)
{
	match_parsed(text, &names, m);
}

static void assert_all_read_back(const struct match *m)
{
	assert_match_reads_back(m, &names, &plain);
	assert_match_reads_back(m, &names, &more);
	assert_match_reads_back(m, &names, &by_name);
}

/* What Open vSwitch takes, and what it prints for it; NULL: the same. */
static const char *const taken[][2] = {
	{ "eth()", NULL },
	{ "in_port(1),eth()", NULL },
	{ "in_port(0x1),eth()", "in_port(1),eth()" },
	{ "in_port(eth1),eth()", "in_port(1),eth()" },
	{ "in_port(1),,eth()", "in_port(1),eth()" },
	{ ", in_port(1) , eth() ,", "in_port(1),eth()" },
	{ "in_port(1)eth()", "in_port(1),eth()" },
	{ "in_port(1)\n\teth()", "in_port(1),eth()" },
	{ "eth(),in_port(1)", "in_port(1),eth()" },
	{ "in_port(1/0xff),eth()", "in_port(1),eth()" },
	{ "in_port(1/0xffff0000),eth()", "eth()" },
	{ "in_port(1/0),eth()", "eth()" },
	{ "in_port(1)", "in_port(1),eth()" },
	{ "recirc_id(5),eth()", "recirc_id(0x5),eth()" },
	{ "skb_mark(0x1234/0xfff0),in_port(1),eth()", "in_port(1),skb_mark(0x1230/0xfff0),eth()" },
	{ "recirc_id(0),dp_hash(0),skb_priority(0),in_port(1),skb_mark(0),eth()", NULL },
	{ "recirc_id(0/0),dp_hash(0/0),skb_priority(0/0),in_port(1),skb_mark(0/0),eth()", "in_port(1),eth()" },
	{ "dp_hash(0x5/0xf),skb_priority(0xffffffff),eth()", NULL },
	{ "eth(src=0:1:2:3:4:5)", "eth(src=00:01:02:03:04:05)" },
	{ "eth(dst=00:00:00:00:00:02,src=00:00:00:00:00:01)", "eth(src=00:00:00:00:00:01,dst=00:00:00:00:00:02)" },
	{ "eth(src=00:00:00:00:00:01, dst=00:00:00:00:00:02)", "eth(src=00:00:00:00:00:01,dst=00:00:00:00:00:02)" },
	{ "eth(src=02:00:00:00:00:01/ff:ff:ff:00:00:00)", "eth(src=02:00:00:00:00:00/ff:ff:ff:00:00:00)" },
	{ "eth(src=00:00:00:00:00:01/ff:ff:ff:ff:ff:ff)", "eth(src=00:00:00:00:00:01)" },
	{ "eth(),eth_type(0x800)", "eth(),eth_type(0x0800)" },
	{ "eth(),eth_type(2048)", "eth(),eth_type(0x0800)" },
	{ "eth(),eth_type(0x1234/0xfff0)", "eth(),eth_type(0x1234)" },
	{ "eth(),eth_type(0/0x0000)", "eth()" },
	{ "eth(),eth_type(0x0000/0x0000)", "eth()" },
	{ "eth(),eth_type(0x0004)", NULL },
	{ ETH_IP "ipv4()", "eth(),eth_type(0x0800)" },
	{ ETH_IP "ipv4(src=10.0.0.1/24)", ETH_IP "ipv4(src=10.0.0.0/255.255.255.0)" },
	{ ETH_IP "ipv4(src=10.0.0.1/0)", "eth(),eth_type(0x0800)" },
	{ ETH_IP "ipv4(src=10.0.0.1/32)", ETH_IP "ipv4(src=10.0.0.1)" },
	{ ETH_IP "ipv4(src=10.0.0.1/1)", ETH_IP "ipv4(src=0.0.0.0/128.0.0.0)" },
	{ ETH_IP "ipv4(src=1.2.3.4/255.0.255.0)", ETH_IP "ipv4(src=1.0.3.0/255.0.255.0)" },
	{ ETH_IP "ipv4(frag=no)", NULL },
	{ ETH_IP "ipv4(frag=1)", ETH_IP "ipv4(frag=first)" },
	{ ETH_IP "ipv4(frag=2)", ETH_IP "ipv4(frag=later)" },
	{ ETH_IP "ipv4(tos=1/0xff)", ETH_IP "ipv4(tos=0x1)" },
	{ ETH_IP "ipv4(tos=0x10/0xfc,ttl=64,frag=no)", NULL },
	{ ETH_IP "ipv4(src=35.8.2.41,dst=172.16.0.20,proto=5,tos=0x80,ttl=128,frag=no)", NULL },
	{ ETH_IP "ipv4(proto=5/0xf0,tos=0,ttl=128/0xf0)", ETH_IP "ipv4(proto=0/0xf0,tos=0,ttl=128/0xf0)" },
	{ ETH_IP "ipv4(proto=6)", NULL },
	{ ETH_IP "ipv4(proto=6),tcp(src=4096/0xf000,dst=80)", NULL },
	{ ETH_IP "ipv4(proto=6),tcp(src=80/0xffff)", ETH_IP "ipv4(proto=6),tcp(src=80)" },
	{ ETH_IP "ipv4(proto=6),tcp(),tcp_flags(0/0)", ETH_IP "ipv4(proto=6)" },
	{ ETH_IP "ipv4(proto=6/0),tcp(),tcp_flags(0/0)", "eth(),eth_type(0x0800)" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(syn|ack)", NULL },
	{ ETH_IP "ipv4(proto=6),tcp_flags(+syn-ack)", NULL },
	{ ETH_IP "ipv4(proto=6),tcp_flags(-ack+syn)", ETH_IP "ipv4(proto=6),tcp_flags(+syn-ack)" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(0x2/0xff)",
	  ETH_IP "ipv4(proto=6),tcp_flags(-fin+syn-rst-psh-ack-urg-ece-cwr)" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(0x12)", ETH_IP "ipv4(proto=6),tcp_flags(syn|ack)" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(0)", NULL },
	{ ETH_IP "ipv4(proto=6),tcp_flags(2/0xffff)", ETH_IP "ipv4(proto=6),tcp_flags(syn)" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(fin|[800])", NULL },
	{ ETH_IP "ipv4(proto=6),tcp_flags(+ns-[200])", NULL },
	{ ETH_IP "ipv4(proto=17,frag=no),udp(),tcp_flags(0/0)", ETH_IP "ipv4(proto=17,frag=no)" },
	{ ETH_IP "ipv4(proto=17,frag=later),udp()", ETH_IP "ipv4(proto=17,frag=later)" },
	{ ETH_IP "ipv4(proto=17,frag=first),udp(src=81,dst=6632/0xff00)",
	  ETH_IP "ipv4(proto=17,frag=first),udp(src=81,dst=6400/0xff00)" },
	{ ETH_IP "ipv4(proto=132),sctp(dst=4443)", NULL },
	{ ETH_IP "ipv4(proto=1),icmp(type=8/0xff)", ETH_IP "ipv4(proto=1),icmp(type=8)" },
	{ ETH_IP "ipv4(proto=1),icmp(type=1/0xf0,code=2)", ETH_IP "ipv4(proto=1),icmp(type=0/0xf0,code=2)" },
	{ "eth(),eth_type(0x86dd),ipv6(src=::1,dst=::2,label=0,proto=10,tclass=0x70,hlimit=128,frag=no)", NULL },
	{ "eth(),eth_type(0x86dd),ipv6(dst=fc00::/fe00::,label=0xfffff)", NULL },
	{ "eth(),eth_type(0x86dd),ipv6(src=::1/64)", "eth(),eth_type(0x86dd),ipv6(src=::/ffff:ffff:ffff:ffff::)" },
	{ "eth(),eth_type(0x86dd),ipv6(src=::1/::255,label=0xf0/0xf0)", "eth(),eth_type(0x86dd),"
									"ipv6(src=::1/::255,label=0xf0/0xf0)" },
	{ "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=128/0xf8)", NULL },
	{ "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=135,code=0),nd(target=::3/::250,"
	  "sll=00:05:06:07:08:09/ff:ff:ff:ff:ff:00)",
	  "eth(),eth_type(0x86dd),ipv6(proto=58),"
	  "icmpv6(type=135,code=0),nd(target=::/::250,sll=00:05:06:07:08:00/ff:ff:ff:ff:ff:00)" },
	{ "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=128,code=0),nd()",
	  "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=128,code=0)" },
	{ "eth(),eth_type(0x86dd),ipv6(),key32(00 00/00 00)", "eth(),eth_type(0x86dd)" },
	{ "eth(),eth_type(0x0806),arp()", "eth(),eth_type(0x0806)" },
	{ "eth(),eth_type(0x806),arp(sip=1.2.3.4,tip=5.6.7.8,op=1,sha=00:0f:10:11:12:13)",
	  "eth(),eth_type(0x0806),arp(sip=1.2.3.4,tip=5.6.7.8,op=1,sha=00:0f:10:11:12:13)" },
	{ "eth(),eth_type(0x0806),arp(op=1/0xff)", "eth(),eth_type(0x0806),arp(op=1)" },
	{ "eth(),eth_type(0x0806),arp(op=1/0xffff)", "eth(),eth_type(0x0806),arp(op=1)" },
	{ "eth(),eth_type(0x0806),arp(op=1/0xf00)", "eth(),eth_type(0x0806)" },
	{ "eth(),eth_type(0x8035),arp(op=3)", NULL },
	{ "eth(),eth_type(0x8847),mpls(label=100,tc=7,ttl=64,bos=1)", NULL },
	{ "eth(),eth_type(0x8848),mpls(label=1048575/0xffff0,bos=0)",
	  "eth(),eth_type(0x8848),mpls(label=1048560/0xffff0,bos=0)" },
	{ "eth(),eth_type(0x8847),mpls(label=1,tc=0,ttl=64,bos=0,label=2,tc=0,ttl=64,bos=0,label=3,tc=0,ttl=64,"
	  "bos=1)",
	  NULL },
	{ "eth(),eth_type(0x8847),mpls(label=5/0,tc=1/0,label=2)", "eth(),eth_type(0x8847),"
								   "mpls(label=0/0,label=2)" },
	{ "eth(),eth_type(0x8847),mpls(bos=0,bos=1)", "eth(),eth_type(0x8847),mpls(label=0/0,bos=0,label=0/0,bos=1)" },
	{ "eth(),eth_type(0x8100),vlan(vid=99,pcp=7),encap(eth_type(0x1234))", NULL },
	{ "eth(),eth_type(0x8100),vlan(vid=1,pcp=0,cfi=1),encap(eth_type(0x0800))",
	  "eth(),eth_type(0x8100),vlan(vid=1,pcp=0),encap(eth_type(0x0800))" },
	{ "eth(),eth_type(0x8100),vlan(vid=10/0xf),encap(eth_type(0x0800),ipv4())",
	  "eth(),eth_type(0x8100),vlan(vid=10/0xf),encap(eth_type(0x0800))" },
	{ "eth(),eth_type(0x8100),vlan(),encap(eth_type(0x0800),ipv4(ttl=1))", NULL },
	{ "eth(),eth_type(0x8100),vlan(tci=0x1005/0x1fff),encap(eth_type(0x0800))",
	  "eth(),eth_type(0x8100),vlan(vid=5),encap(eth_type(0x0800))" },
	{ "encap(ipv4(proto=6),eth_type(0x0800),tcp(dst=80)),vlan(pcp=3),eth_type(0x88a8),eth()",
	  "eth(),eth_type(0x88a8),vlan(pcp=3),encap(eth_type(0x0800),ipv4(proto=6),tcp(dst=80))" },
	{ "eth(),eth_type(0x88a8),vlan(vid=10),encap(eth_type(0x8100),vlan(vid=20,pcp=1/0x3),encap(eth_type(0x0800),"
	  "ipv4(frag=no)))",
	  NULL },
	{ "eth(),eth_type(0x8100),vlan(),encap(eth_type(0x8100),vlan(),encap(eth_type(0x8100)))", NULL },
	{ "ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),tunnel(),packet_type(ns=0,id=0),eth()", "eth()" },
	{ "ct_tuple4(src=0.0.0.0/0.0.0.0,dst=0.0.0.0/0.0.0.0,proto=0/0,tp_src=0/0,tp_dst=0/0),nsh(),eth()", "eth()" },
	{ "ct_tuple6(src=::/::),tunnel(tun_id=0x5/0),eth()", "eth()" },
	{ "ufid:01234567-89ab-cdef-0123-456789abcdef,in_port(1),eth()", "in_port(1),eth()" },
	{ "ufid:01234567-89ab-cdef-0123-456789ABCDEF, in_port(1),eth()", "in_port(1),eth()" },
};

static void matches_are_read_and_printed(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		CLEANUP_FREE char *text = NULL;
		struct match m;

		parse(taken[i][0], &m);
		text = match_printed(&m, &plain);
		assert_string_equal(text, taken[i][1] ? taken[i][1] : taken[i][0]);
		assert_all_read_back(&m);
	}
}

static const char *const refused[][2] = {
	{ "", "flow: is empty" },
	{ " , ", "flow: is empty" },
	{ "eth", "eth: '(' has to follow" },
	{ "in_port(1),eth( )", "eth: unknown field ' '" },
	{ "in_port(1),eth(),eth_type(0x0800),ipv4() extra", "flow: unknown attribute 'extra'" },
	{ "eth()x", "flow: unknown attribute 'x'" },
	{ "eth();in_port(1)", "flow: unexpected ';in_port(1)'" },
	{ "eth())", "flow: unexpected ')'" },
	{ "foo(1),eth()", "flow: unknown attribute 'foo'" },
	{ "eth(,eth_type(0x0800),ipv4()", "eth: '(' is never closed" },
	{ "eth(", "eth: '(' is never closed" },
	{ "in_port(1),in_port(2),eth()", "in_port: is given twice" },
	{ ETH_IP "ipv4(),ipv4()", "ipv4: is given twice" },
	{ ETH_IP "ipv4(ttl=1,ttl=2)", "ipv4: ttl is given twice" },
	{ ETH_IP "ipv4(foo=1)", "ipv4: unknown field 'foo'" },
	{ ETH_IP "ipv4(ttl)", "ipv4 ttl: a value is missing" },
	{ ETH_IP "ipv4(ttl=1,)", "ipv4: unknown field ''" },
	{ ETH_IP "ipv4(,ttl=1)", "ipv4: unknown field ''" },
	{ "in_port(),eth()", "in_port: a value is missing" },
	{ "in_port(-1),eth()", "in_port: '-1' is not a port" },
	{ "in_port(010),eth()", "in_port: '010' could be octal" },
	{ "in_port(65535),eth()", "in_port: 65535 is out of range, 0 to 65534" },
	{ "in_port(70000),eth()", "in_port: 70000 is out of range" },
	{ "in_port(4294967297),eth()", "in_port: 4294967297 is out of range" },
	{ "in_port(eth9),eth()", "in_port: 'eth9' is not a port" },
	{ "skb_mark(0x100000000),eth()", "skb_mark: 0x100000000 is out of range" },
	{ "eth(src=aa-bb-cc-dd-ee-ff)", "eth src: 'aa-bb-cc-dd-ee-ff' is not a MAC address" },
	{ "eth(src=00:00:00:00:00:01/24)", "eth src mask: '24' is not a MAC address" },
	{ "eth(),eth_type(0x10800)", "eth_type: 0x10800 is out of range" },
	{ "eth(),eth_type(0x05ff)", "eth_type: 0x05ff is no type" },
	{ "eth(),eth_type(0)", "eth_type: 0x0000 is no type" },
	{ ETH_IP "ipv4(dst=10.0.0.256)", "ipv4 dst: '10.0.0.256' is not an IPv4 address" },
	{ ETH_IP "ipv4(dst=10.0.0.1/33)", "ipv4 dst mask: 33 is out of range, 0 to 32" },
	{ ETH_IP "ipv4(dst=10.0.0.1/)", "ipv4 dst mask: '' is not an IPv4 address or a prefix length" },
	{ ETH_IP "ipv4(ttl=300)", "ipv4 ttl: 300 is out of range, 0 to 255" },
	{ ETH_IP "ipv4(ttl=1/0x100)", "ipv4 ttl mask: 0x100 is out of range" },
	{ ETH_IP "ipv4(ttl=1/2/3)", "ipv4 ttl mask: '2/3' is not a number" },
	{ ETH_IP "ipv4(frag=maybe)", "ipv4 frag: 'maybe' is not no, first or later" },
	{ ETH_IP "ipv4(frag=no/1)", "ipv4 frag: takes no mask, '1'" },
	{ ETH_IP "ipv4(frag=no/0)", "ipv4 frag: takes no mask, '0'" },
	{ "recirc_id(0x5/0xf),eth()", "recirc_id mask: 0xf is possible only as 0xffffffff or 0" },
	{ ETH_IP "ipv4(proto=6),tcp(dst=65536)", "tcp dst: 65536 is out of range, 0 to 65535" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(+foo)", "tcp_flags: '+foo' is not like" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(+syn-syn)", "tcp_flags: '+syn-syn' is not like" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(+)", "tcp_flags: '+' is not like" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(syn|)", "tcp_flags: 'syn|' is not like" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(syn/syn)", "tcp_flags: 'syn/...' is not like" },
	{ ETH_IP "ipv4(proto=6),tcp_flags(0x1000)", "tcp_flags: 0x1000 is out of range" },
	{ ETH_IP "ipv4(proto=1),icmp(type=256)", "icmp type: 256 is out of range" },
	{ "eth(),eth_type(0x86dd),ipv6(label=0x100000)", "ipv6 label: 0x100000 is out of range" },
	{ "eth(),eth_type(0x86dd),ipv6(src=::1/129)", "ipv6 src mask: 129 is out of range" },
	{ "eth(),eth_type(0x86dd),ipv6(src=::g)", "ipv6 src: '::g' is not an IPv6 address" },
	{ "eth(),eth_type(0x0806),arp(op=256)", "arp op: 256 is out of range" },
	{ "eth(),eth_type(0x0806),arp(op=request)", "arp op: 'request' is not a number" },
	{ "eth(),eth_type(0x8847),mpls(label=1048576)", "mpls label: 1048576 is out of range" },
	{ "eth(),eth_type(0x8847),mpls(label=1,label=2,label=3,label=4)", "mpls: more than 3 labels" },

	{ "eth(),eth_type(0x8100),vlan(vid=4096),encap(eth_type(0x0800))",
	  "vlan vid: 4096 is out of range, 0 to 4095" },
	{ "eth(),eth_type(0x8100),vlan(pcp=8),encap(eth_type(0x0800))", "vlan pcp: 8 is out of range" },
	{ "eth(),eth_type(0x8100),vlan(vid=1,cfi=0),encap(eth_type(0x0800))", "vlan: cfi=0 would mean" },
	{ "eth(),eth_type(0x8100),vlan(tci=0x5),encap(eth_type(0x0800))", "vlan: cfi=0 would mean" },
	{ "eth(),eth_type(0x8100),vlan(vid=1,tci=0x1001),encap(eth_type(0x0800))", "vlan: tci repeats bits of vid" },
	{ "eth(),eth_type(0x8100),vlan(vid=10)", "eth_type: 0x8100 needs vlan() and encap()" },
	{ "eth(),eth_type(0x88a8),encap(eth_type(0x0800))", "eth_type: 0x88a8 needs vlan() and encap()" },
	{ "eth(),eth_type(0x8100)", "eth_type: 0x8100 needs vlan() and encap()" },
	{ "eth(),eth_type(0x8100/0),ipv4()", "eth_type: the type of a tag, 0x8100, has to be exact" },
	{ "eth(),eth_type(0x8100/0xff00),vlan(vid=10),encap(eth_type(0x0800))",
	  "eth_type: the type of a tag, 0x8100, has to be exact" },
	{ "eth(),vlan(vid=10),encap(eth_type(0x0800))", "vlan: needs eth_type(0x8100) or eth_type(0x88a8)" },
	{ ETH_IP "vlan()", "vlan: needs eth_type(0x8100) or eth_type(0x88a8)" },
	{ ETH_IP "encap(eth_type(0x0800))", "encap: needs eth_type(0x8100) or eth_type(0x88a8)" },
	{ "eth(),eth_type(0x8100),vlan(vid=99),encap()", "encap: nothing in it is matched" },
	{ "eth(),eth_type(0x8100),vlan(vid=99),encap(eth_type(0x0800/0))", "encap: nothing in it is matched" },
	{ "eth(),eth_type(0x8100),vlan(),ipv4(ttl=1),encap(eth_type(0x0800))", "ipv4: needs eth_type(0x0800)" },
	{ "eth(),eth_type(0x8100),vlan(),encap(in_port(1),eth_type(0x0800))", "in_port: has to stand outside encap()" },
	{ "eth(),eth_type(0x8100),vlan(),encap(eth(),eth_type(0x0800))", "eth: has to stand outside encap()" },
	{ "eth(),eth_type(0x8100),vlan(vid=1),encap(eth_type(0x8100),vlan(vid=2),encap(eth_type(0x8100),vlan(vid=3),"
	  "encap(eth_type(0x0800))))",
	  "encap: more than 2 tags" },
	{ "eth(),eth_type(0x8100),vlan(vid=1),encap(eth_type(0x8100),vlan(vid=2),encap(eth_type(0x8100),vlan(vid=3)))",
	  "vlan: more than 2 tags" },
	{ "encap(encap(encap(encap())))", "encap: more than 2 tags" },

	{ "eth(),ipv4()", "ipv4: needs eth_type(0x0800) beside it" },
	{ "eth(),ipv4(ttl=1)", "ipv4: needs eth_type(0x0800) beside it, exact" },
	{ ETH_IP "ipv6()", "ipv6: needs eth_type(0x86dd)" },
	{ ETH_IP "ipv4(),arp()", "arp: needs eth_type(0x0806) or eth_type(0x8035)" },
	{ "eth(),eth_type(0x0800/0),ipv4(tos=4)", "ipv4: needs eth_type(0x0800) beside it, exact" },
	{ ETH_IP "mpls(label=1)", "mpls: needs eth_type(0x8847) or eth_type(0x8848)" },
	{ ETH_IP "tcp(dst=1)", "tcp: needs proto=6 in ipv4() or ipv6(), exact" },
	{ ETH_IP "ipv4(),tcp()", "tcp: needs proto=6 in ipv4() or ipv6()" },
	{ ETH_IP "ipv4(proto=6),udp(dst=1)", "udp: needs proto=17" },
	{ ETH_IP "ipv4(proto=6/0xfe),tcp(dst=1)", "tcp: needs proto=6 in ipv4() or ipv6(), exact" },
	{ ETH_IP "ipv4(proto=17),tcp_flags(+syn)", "tcp_flags: needs proto=6" },
	{ ETH_IP "ipv4(proto=17,frag=later),udp(dst=1)", "udp: frag=later has no such header" },
	{ ETH_IP "ipv4(proto=58),icmpv6(type=1)", "icmpv6: needs eth_type(0x86dd)" },
	{ "eth(),eth_type(0x86dd),ipv6(proto=1),icmp(type=1)", "icmp: needs eth_type(0x0800)" },
	{ "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=135/0xf0),nd(target=::1)",
	  "nd: needs icmpv6(type=135) or icmpv6(type=136), exact" },
	{ "eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=128),nd(target=::1)", "nd: needs icmpv6(type=135)" },

	{ "ufid:0123,eth()", "ufid: '0123' is not like" },
	{ "eth(),ufid:01234567-89ab-cdef-0123-456789abcdef", "flow: unknown attribute 'ufid'" },
};

static void what_is_wrong_is_named(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error e = { "" };
		struct match m;

		if (match_parse(refused[i][0], &names, &m, &e) >= 0)
			fail_msg("'%s' was taken", refused[i][0]);
		if (!strstr(e.text, refused[i][1]))
			fail_msg("'%s': %s", refused[i][0], e.text);
		if (strchr(e.text, '\n'))
			fail_msg("'%s': more than a line", refused[i][0]);
	}
}

static void keys_and_masks_are_exact(void **state)
{
	static const __u8 src[4] = { 10, 1, 0, 0 }, src_mask[4] = { 255, 255, 0, 0 };
	struct flow_key key = { 0 }, mask = { 0 };
	struct match m;

	(void)state;
	parse("in_port(3),eth(),eth_type(0x0800),ipv4(src=10.1.2.3/16,proto=17,tos=0x13/0xfc,frag=first),udp(dst=53)",
	      &m);
	key.in_port = 3;
	mask.in_port = 0xffff;
	key.eth_type_be = htons(0x0800);
	mask.eth_type_be = 0xffff;
	mask.vlan_tci_be = 0xffff;
	memcpy(key.ipv4.src, src, 4);
	memcpy(mask.ipv4.src, src_mask, 4);
	key.ip_proto = 17;
	mask.ip_proto = 0xff;
	key.ip_tos = 0x10;
	mask.ip_tos = 0xfc;
	key.ip_frag = IP_FRAG_FIRST;
	mask.ip_frag = 0xff;
	key.tp_dst_be = htons(53);
	mask.tp_dst_be = 0xffff;
	assert_memory_equal(&m.key, &key, sizeof(key));
	assert_memory_equal(&m.mask, &mask, sizeof(mask));
	assert_false(m.has_ufid);
	assert_int_equal(m.present, 1ull << ATTR_IN_PORT | 1ull << ATTR_ETH | 1ull << ATTR_ETH_TYPE |
					    1ull << ATTR_IPV4 | 1ull << ATTR_UDP);
}

static void tags_are_always_exact(void **state)
{
	struct match m;

	(void)state;
	parse("eth()", &m);
	assert_int_equal(m.key.vlan_tci_be, 0);
	assert_int_equal(m.mask.vlan_tci_be, 0xffff);
	assert_int_equal(m.mask.eth_type_be, 0);

	parse("eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800))", &m);
	assert_int_equal(m.key.vlan_tpid_be, htons(0x8100));
	assert_int_equal(m.mask.vlan_tpid_be, 0xffff);
	assert_int_equal(m.key.vlan_tci_be, htons(VLAN_TAG_PRESENT | 10));
	assert_int_equal(m.mask.vlan_tci_be, htons(VLAN_TAG_PRESENT | 0xfff));
	assert_int_equal(m.key.cvlan_tci_be, 0);
	assert_int_equal(m.mask.cvlan_tci_be, 0xffff);
	assert_int_equal(m.mask.cvlan_tpid_be, 0);
	assert_int_equal(m.key.eth_type_be, htons(0x0800));

	parse("eth(),eth_type(0x88a8),vlan(),encap(eth_type(0x8100),vlan(pcp=5),encap(eth_type(0x86dd)))", &m);
	assert_int_equal(m.key.vlan_tpid_be, htons(0x88a8));
	assert_int_equal(m.key.vlan_tci_be, htons(VLAN_TAG_PRESENT));
	assert_int_equal(m.mask.vlan_tci_be, htons(VLAN_TAG_PRESENT));
	assert_int_equal(m.key.cvlan_tpid_be, htons(0x8100));
	assert_int_equal(m.mask.cvlan_tpid_be, 0xffff);
	assert_int_equal(m.key.cvlan_tci_be, htons(5 << 13 | VLAN_TAG_PRESENT));
	assert_int_equal(m.mask.cvlan_tci_be, htons(7 << 13 | VLAN_TAG_PRESENT));
	assert_int_equal(m.key.eth_type_be, htons(0x86dd));
}

static void fields_that_share_members_keep_apart(void **state)
{
	struct match m;

	(void)state;
	parse("eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=136,code=1/0x3)", &m);
	assert_int_equal(m.key.tp_src_be, htons(136));
	assert_int_equal(m.mask.tp_src_be, 0xffff);
	assert_int_equal(m.key.tp_dst_be, htons(1));
	assert_int_equal(m.mask.tp_dst_be, htons(3));

	parse("eth(),eth_type(0x8847),mpls(label=0x12345,tc=5,ttl=6,bos=0,label=1,bos=1)", &m);
	assert_int_equal(m.key.mpls_lse_be[0], htonl(0x12345a06));
	assert_int_equal(m.mask.mpls_lse_be[0], 0xffffffff);
	assert_int_equal(m.key.mpls_lse_be[1], htonl(0x00001100));
	assert_int_equal(m.mask.mpls_lse_be[1], htonl(0xfffff100));
	assert_int_equal(m.mask.mpls_lse_be[2], 0);

	parse("eth(),eth_type(0x86dd),ipv6(label=0x12345,proto=6),tcp_flags(syn)", &m);
	assert_int_equal(m.key.ipv6_label_be, htonl(0x12345));
	assert_int_equal(m.mask.ipv6_label_be, htonl(0xfffff));
	assert_int_equal(m.key.tcp_flags_be, htons(2));
	assert_int_equal(m.mask.tcp_flags_be, htons(0xfff));
}

static void a_ufid_may_stand_alone(void **state)
{
	struct match m;

	(void)state;
	parse("ufid:01234567-89ab-cdef-0123-456789abcdef", &m);
	assert_true(m.has_ufid);
	assert_int_equal(m.ufid[0], 0x01);
	assert_int_equal(m.ufid[15], 0xef);
	assert_int_equal(m.present, 0);
	parse("ufid:01234567-89ab-cdef-0123-456789abcdef,eth()", &m);
	assert_true(m.has_ufid);
	assert_int_equal(m.present, 1ull << ATTR_ETH);
}

static void more_shows_what_applies(void **state)
{
	static const char *const rows[][2] = {
		{ "in_port(2),eth()",
		  "recirc_id(0/0),dp_hash(0/0),skb_priority(0/0),in_port(2),skb_mark(0/0),"
		  "eth(src=00:00:00:00:00:00/00:00:00:00:00:00,dst=00:00:00:00:00:00/00:00:00:00:00:00),"
		  "eth_type(0x0000/0x0000)" },
		{ "eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),ipv4(proto=6,tos=0x4/0xfc),tcp(dst=80)",
		  "recirc_id(0/0),dp_hash(0/0),skb_priority(0/0),in_port(0/0),skb_mark(0/0),"
		  "eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),"
		  "ipv4(src=0.0.0.0/0.0.0.0,dst=0.0.0.0/0.0.0.0,proto=6,tos=0x4/0xfc,ttl=0/0),tcp(src=0/0,dst=80),"
		  "tcp_flags(0/0)" },
		{ "recirc_id(0),dp_hash(0),skb_priority(0),in_port(2),skb_mark(0),"
		  "eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x8100),vlan(),encap(eth_type(0x86dd),"
		  "ipv6(proto=58,frag=no),icmpv6(type=135))",
		  "recirc_id(0),dp_hash(0),skb_priority(0),in_port(2),skb_mark(0),"
		  "eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x8100),vlan(vid=0/0,pcp=0/0),"
		  "encap(eth_type(0x86dd),ipv6(src=::/::,dst=::/::,label=0/0,proto=58,tclass=0/0,hlimit=0/0,frag=no),"
		  "icmpv6(type=135,code=0/0),nd(target=::/::,sll=00:00:00:00:00:00/00:00:00:00:00:00,"
		  "tll=00:00:00:00:00:00/00:00:00:00:00:00))" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP_FREE char *text = NULL;
		struct match m;

		parse(rows[i][0], &m);
		text = match_printed(&m, &more);
		assert_string_equal(text, rows[i][1]);
	}
}

static void names_are_printed_on_request(void **state)
{
	CLEANUP_FREE char *known = NULL, *unknown = NULL;
	struct match m;

	(void)state;
	parse("in_port(1),eth()", &m);
	known = match_printed(&m, &by_name);
	assert_string_equal(known, "in_port(eth1),eth()");
	parse("in_port(2),eth()", &m);
	unknown = match_printed(&m, &by_name);
	assert_string_equal(unknown, "in_port(2),eth()");
}

static void json_has_typed_values(void **state)
{
	static const char *const rows[][2] = {
		{ "in_port(1),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:00/ff:00:00:00:00:00)",
		  "{'in_port':1,'eth':{'src':'02:00:00:00:00:01',"
		  "'dst':{'value':'02:00:00:00:00:00','mask':'ff:00:00:00:00:00'}}}" },
		{ ETH_IP "ipv4(dst=10.0.0.0/8,proto=6,tos=4/0xfc,frag=no),tcp(dst=80),tcp_flags(+syn-ack)",
		  "{'eth':{},'eth_type':2048,'ipv4':{'dst':{'value':'10.0.0.0','mask':'255.0.0.0'},'proto':6,"
		  "'tos':{'value':4,'mask':252},'frag':'no'},'tcp':{'dst':80},'tcp_flags':'+syn-ack'}" },
		{ "eth(),eth_type(0x8100),vlan(vid=5),encap(eth_type(0x8847),mpls(label=1,bos=0,label=2))",
		  "{'eth':{},'eth_type':33024,'vlan':{'vid':5},'encap':{'eth_type':34887,"
		  "'mpls':[{'label':1,'bos':0},{'label':2}]}}" },
	};
	size_t i, c;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP_FREE char *text = NULL;
		struct match m;
		json_t *json;

		parse(rows[i][0], &m);
		json = match_json(&m);
		text = json_dumps(json, JSON_COMPACT);
		json_decref(json);
		for (c = 0; text[c]; c++) {
			if (text[c] == '"')
				text[c] = '\'';
		}
		assert_string_equal(text, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_are_read_and_printed),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(keys_and_masks_are_exact),
		cmocka_unit_test(tags_are_always_exact),
		cmocka_unit_test(fields_that_share_members_keep_apart),
		cmocka_unit_test(a_ufid_may_stand_alone),
		cmocka_unit_test(more_shows_what_applies),
		cmocka_unit_test(names_are_printed_on_request),
		cmocka_unit_test(json_has_typed_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
