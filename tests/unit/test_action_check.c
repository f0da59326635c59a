// SPDX-License-Identifier: GPL-2.0-only
/* Which actions a flow may have. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_check.h"
#include "error.h"
#include "list_check.h"
#include "match_check.h"
#include "util.h"

#define IP    "eth(),eth_type(0x0800),"
#define IPV6  "eth(),eth_type(0x86dd),"
#define FULL4 "set(ipv4(src=1.1.1.1,dst=2.2.2.2,proto=6,tos=0,ttl=64,frag=no)),2"

static int check(const char *flow, const char *actions, struct error *e)
{
	struct action_list l;
	struct match m;

	match_parsed(flow, NULL, &m);
	actions_parsed(actions, &l);
	return actions_check(&m, &l, e);
}

static void what_the_flow_allows_is_taken(void **state)
{
	static const char *const rows[][2] = {
		{ "eth()", "drop" },
		{ "eth()", "set(eth(src=00:00:00:00:00:01)),set(skb_priority(1)),set(skb_mark(1)),2" },
		{ "eth()", "push_vlan(vid=1),pop_vlan,pop_vlan,csum(ip,tcp),2" },
		{ IP "ipv4()", "set(ipv4(ttl=5)),2" },
		{ "eth(),eth_type(0x0800)", "set(ipv4(ttl=5)),2" },
		{ "eth(),eth_type(0x0800/0xff00)", "set(ipv4(ttl=5)),2" },
		{ IPV6 "ipv6()", "set(ipv6(hlimit=5)),2" },
		{ IP "ipv4(proto=6),tcp()", "set(tcp(src=80)),2" },
		{ IPV6 "ipv6(proto=17)", "set(udp(dst=80)),2" },
		{ IP "ipv4(proto=132)", "set(sctp(dst=80)),2" },
		/* tags do not hide what they carry */
		{ "eth(),eth_type(0x8100),vlan(vid=10),encap(eth_type(0x0800),ipv4())", "set(ipv4(ttl=5)),2" },
		{ "eth(),eth_type(0x88a8),vlan(),encap(eth_type(0x8100),vlan(),encap(eth_type(0x86dd),ipv6(proto=6)))",
		  "pop_vlan,set(tcp(dst=80)),2" },
		{ IP "ipv4()", "push_vlan(vid=1),push_vlan(tpid=0x88a8,vid=2),set(ipv4(ttl=5)),2" },
		{ IP "ipv4(proto=6,frag=no)", FULL4 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error e = { "" };

		if (check(rows[i][0], rows[i][1], &e))
			fail_msg("'%s' in '%s': %s", rows[i][1], rows[i][0], e.text);
	}
}

static void what_it_does_not_allow_is_refused(void **state)
{
	static const char *const rows[][3] = {
		{ "eth()", "set(ipv4(ttl=5)),2", "set: ipv4 needs a flow that matches eth_type(0x0800)" },
		{ "eth(),eth_type(0/0)", "set(ipv4()),2", "set: ipv4 needs a flow that matches eth_type(0x0800)" },
		{ IPV6 "ipv6()", "set(ipv4(ttl=5)),2", "set: ipv4 needs a flow that matches eth_type(0x0800)" },
		{ IP "ipv4()", "2,set(ipv6(hlimit=5)),2", "set: ipv6 needs a flow that matches eth_type(0x86dd)" },
		{ "eth(),eth_type(0x0806)", "set(tcp(src=1))", "eth_type(0x0800) or eth_type(0x86dd)" },
		{ IP "ipv4()", "set(tcp(src=80)),2", "set: tcp needs a flow that matches proto=6, exact" },
		{ IP "ipv4(proto=6/0),tcp()", "set(tcp(src=80)),2", "set: tcp needs a flow that matches proto=6" },
		{ IP "ipv4(proto=6/6)", "set(tcp(src=80)),2", "set: tcp needs a flow that matches proto=6, exact" },
		{ IP "ipv4(proto=6)", "set(udp(src=80)),2", "set: udp needs a flow that matches proto=17" },
		{ IPV6 "ipv6(proto=6)", "set(sctp(src=80)),2", "set: sctp needs a flow that matches proto=132" },
		/* what the second tag carries is not known */
		{ "eth(),eth_type(0x8100),vlan(),encap(eth_type(0x8100),vlan(),encap(eth_type(0x8100)))",
		  "pop_vlan,set(ipv4(ttl=5)),2", "set: ipv4 needs" },
		{ IP "ipv4(frag=no)", FULL4, "set: ipv4 proto=6 is not what the flow matches" },
		{ IP "ipv4(proto=17,frag=no)", FULL4, "set: ipv4 proto=6 is not what the flow matches" },
		{ IP "ipv4(proto=6,frag=later)", FULL4, "set: ipv4 frag is not what the flow matches" },
		/* the last one of several */
		{ IP "ipv4()", "set(ipv4(ttl=1,tos=4)),set(eth(src=00:00:00:00:00:01)),2,set(tcp(dst=1)),3",
		  "set: tcp needs" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error e = { "" };

		if (check(rows[i][0], rows[i][1], &e) != -EINVAL)
			fail_msg("'%s' in '%s' was taken", rows[i][1], rows[i][0]);
		if (!strstr(e.text, rows[i][2]))
			fail_msg("'%s' in '%s': %s", rows[i][1], rows[i][0], e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_flow_allows_is_taken),
		cmocka_unit_test(what_it_does_not_allow_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
