// SPDX-License-Identifier: GPL-2.0-only
/* Filters of dump-flows: the table of tests/data/flow_filters.txt, each word, and what is refused. */
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
#include "flow_filter.h"
#include "match_check.h"
#include "util.h"

enum {
	FLOWS_MAX = 32,
	FILTERS_MAX = 32,
};

struct row {
	char filter[128];
	char table[16];
	char kernel[32]; /* names of flows, with commas; "none" */
	char text[32];
};

static struct {
	char name[FLOWS_MAX][8];
	struct match match[FLOWS_MAX];
	unsigned int flows;
	struct row row[FILTERS_MAX];
	unsigned int rows;
} table;

static int number_of(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	if (strcmp(name, "eth1"))
		return -ENOENT;
	*port = 1;
	return 0;
}

static const struct port_names names = { .number = number_of };

/* Found from the test's own place, build/tests/unit, whatever the current directory. */
static FILE *data_open(const char *name)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int up;

	assert_true(len > 0);
	path[len] = '\0';
	for (up = 0; up < 4; up++)
		*strrchr(path, '/') = '\0';
	strncat(path, "/tests/data/", sizeof(path) - strlen(path) - 1);
	strncat(path, name, sizeof(path) - strlen(path) - 1);
	return fopen(path, "r");
}

static int table_read(void **state)
{
	CLEANUP_FILE FILE *in = data_open("flow_filters.txt");
	char line[1024], kind[8], text[1000];

	(void)state;
	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		struct row *r = &table.row[table.rows];

		if (line[0] == '#')
			continue;
		if (sscanf(line, "F\t%127[^\t]\t%15[^\t]\t%31[^\t]\t%31[^\t\n]", r->filter, r->table, r->kernel,
			   r->text) == 4) {
			table.rows++;
			continue;
		}
		if (sscanf(line, "%7[BV0-9]\t%999[^\n]", kind, text) != 2)
			return -1;
		strcpy(table.name[table.flows], kind);
		match_parsed(text, &names, &table.match[table.flows++]);
	}
	return 0;
}

/* The names of the flows that a filter shows; written: as the text says them, before a datapath made types exact. */
static void shown_by(const struct row *r, bool written, char *shown, size_t size)
{
	struct flow_filter f;
	struct error e = { "" };
	unsigned int i;

	if (flow_filter_parse(r->filter, &names, &f, &e))
		fail_msg("%s: %s", r->filter, e.text);
	*shown = '\0';
	for (i = 0; i < table.flows; i++) {
		struct match m = table.match[i];

		if (!strcmp(r->table, "base") && table.name[i][0] == 'V')
			continue;
		if (written && !strcmp(table.name[i], "B1"))
			m.mask.eth_type_be = htons(0xfff0);
		if (flow_filter_shows(&f, &m))
			snprintf(shown + strlen(shown), size - strlen(shown), "%s%s", *shown ? "," : "", table.name[i]);
	}
	if (!*shown)
		snprintf(shown, size, "none");
}

static void table_holds(void **state)
{
	unsigned int i, good = 0;

	(void)state;
	assert_int_equal(table.flows, 13);
	assert_int_equal(table.rows, 10);
	for (i = 0; i < table.rows; i++) {
		const struct row *r = &table.row[i];
		char kernel[64], text[64];

		shown_by(r, false, kernel, sizeof(kernel));
		shown_by(r, true, text, sizeof(text));
		if (strcmp(kernel, r->kernel) || strcmp(text, r->text))
			print_error("%s: shows %s and %s instead of %s and %s\n", r->filter, kernel, text, r->kernel,
				    r->text);
		else
			good++;
	}
	print_message("# filters: %u of %u\n", good, table.rows);
	assert_int_equal(good, table.rows);
}

#define IP   "in_port(1),eth(),eth_type(0x0800),"
#define IP6  "in_port(1),eth(),eth_type(0x86dd),"
#define VLAN "eth(),eth_type(0x8100),vlan(vid=5,pcp=3),encap(eth_type(0x0800))"

/* A filter, a flow that it shows, and one that it does not; NULL: there is none of that kind. */
static const char *const words[][3] = {
	{ "", "eth()", NULL },
	{ " , ", "eth()", NULL },
	{ "recirc_id=0x5", "recirc_id(0x5),eth()", "recirc_id(0x4),eth()" },
	{ "dp_hash=5/0xf", "dp_hash(0x15/0xff),eth()", "dp_hash(0x4/0xf),eth()" },
	{ "skb_priority=7", "skb_priority(0x7),eth()", "skb_priority(0x6),eth()" },
	{ "pkt_mark=0xff", "skb_mark(0x0f/0x0f),eth()", "skb_mark(0),eth()" },
	{ "skb_mark=1", "in_port(1),eth()", "skb_mark(2),eth()" },
	{ "in_port=1", "in_port(1),eth()", "in_port(2),eth()" },
	{ "in_port=eth1", "eth()", "in_port(2),eth()" },
	{ "dl_src=02:00:00:00:00:01", "eth(src=02:00:00:00:00:01)", "eth(src=02:00:00:00:00:02)" },
	{ "eth_src=02:00:00:00:00:00/ff:00:00:00:00:00", "eth(src=02:00:00:00:00:02)", "eth(src=04:00:00:00:00:02)" },
	{ "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00", "eth(dst=ff:ff:ff:ff:ff:ff)", "eth(dst=02:00:00:00:00:01)" },
	{ "eth_dst=02:00:00:00:00:01", "eth()", "eth(dst=02:00:00:00:00:02)" },
	{ "dl_type=0x88cc", "eth(),eth_type(0x88cc)", "eth(),eth_type(0x0800)" },
	{ "eth_type=0x0800/0xff00", "eth(),eth_type(0x0806)", "eth(),eth_type(0x86dd)" },
	{ "dl_vlan=5", VLAN, "eth(),eth_type(0x0800)" },
	{ "dl_vlan=5", "eth(),eth_type(0x88a8),vlan(vid=5),encap(eth_type(0x8100),vlan(),encap(eth_type(0x0800)))",
	  "eth(),eth_type(0x88a8),vlan(vid=6),encap(eth_type(0x8100),vlan(vid=5),encap(eth_type(0x0800)))" },
	{ "dl_vlan=0xffff", "eth(),eth_type(0x0800)", VLAN },
	{ "dl_vlan=65535", "eth()", VLAN },
	{ "dl_vlan_pcp=3", VLAN, "eth()" },
	{ "vlan_pcp=2", NULL, VLAN },
	{ "dl_vlan=5,dl_vlan_pcp=3,ip", VLAN, "eth(),eth_type(0x8100),vlan(vid=5,pcp=4),encap(eth_type(0x0800))" },
	{ "vlan_tci=0", "eth()", VLAN },
	{ "vlan_tci=0x7005", VLAN, "eth()" },
	{ "vlan_tci=0x1000/0x1000", VLAN, "eth()" },
	{ "vlan_vid=0x1005", VLAN, "eth()" },
	{ "vlan_vid=0", "eth()", VLAN },
	{ "mpls,mpls_label=5", "eth(),eth_type(0x8847),mpls(label=5,tc=0,ttl=64,bos=1)",
	  "eth(),eth_type(0x8847),mpls(label=6,tc=0,ttl=64,bos=1)" },
	{ "mplsm,mpls_tc=1,mpls_bos=1,mpls_ttl=64", "eth(),eth_type(0x8848),mpls(label=5,tc=1,ttl=64,bos=1)",
	  "eth(),eth_type(0x8847),mpls(label=5,tc=1,ttl=64,bos=1)" },
	{ "ip", IP "ipv4(src=1.2.3.4)", IP6 "ipv6(src=::1)" },
	{ "ip4", IP "ipv4()", IP6 "ipv6()" },
	{ "ipv4", "eth()", IP6 "ipv6()" },
	{ "ip6", IP6 "ipv6()", IP "ipv4()" },
	{ "ipv6", IP6 "ipv6()", IP "ipv4()" },
	{ "arp", "eth(),eth_type(0x0806),arp(op=1)", "eth(),eth_type(0x8035),arp(op=3)" },
	{ "rarp", "eth(),eth_type(0x8035),arp(op=3)", "eth(),eth_type(0x0806),arp(op=1)" },
	{ "nw_src=10.0.0.0/8,ip", IP "ipv4(src=10.1.2.3)", IP "ipv4(src=11.1.2.3)" },
	{ "ip,nw_src=10.0.0.9", IP "ipv4(src=10.0.0.0/255.0.0.0)", IP "ipv4(src=10.0.0.8)" },
	{ "ip,nw_dst=10.0.0.0/255.0.0.255", IP "ipv4(dst=10.1.2.0)", IP "ipv4(dst=10.1.2.3)" },
	{ "ip,ip_src=1.1.1.1,ip_dst=2.2.2.2", IP "ipv4(src=1.1.1.1,dst=2.2.2.2)", IP "ipv4(src=1.1.1.1,dst=1.1.1.1)" },
	{ "arp,nw_src=1.2.3.4,nw_dst=1.2.3.5", "eth(),eth_type(0x0806),arp(sip=1.2.3.4)",
	  "eth(),eth_type(0x0806),arp(tip=1.2.3.4)" },
	{ "ipv6,ipv6_src=fc00::/7", IP6 "ipv6(src=fd00::1)", IP6 "ipv6(src=fe80::1)" },
	{ "ipv6,ipv6_dst=::1/::ff", IP6 "ipv6(dst=fe80::1)", IP6 "ipv6(dst=fe80::2)" },
	{ "ipv6,ipv6_label=5", IP6 "ipv6(label=5)", IP6 "ipv6(label=6)" },
	{ "ip,nw_proto=6", IP "ipv4(proto=6)", IP "ipv4(proto=17)" },
	{ "ipv6,nw_proto=6", IP6 "ipv6(proto=6)", IP6 "ipv6(proto=17)" },
	{ "ip_proto=6,ip", IP "ipv4(proto=6)", IP "ipv4(proto=17)" },
	{ "arp,nw_proto=1", "eth(),eth_type(0x0806),arp(op=1)", "eth(),eth_type(0x0806),arp(op=2)" },
	{ "ip,nw_tos=32", IP "ipv4(tos=0x23)", IP "ipv4(tos=0x24)" },
	{ "ipv6,nw_tos=0x20", IP6 "ipv6(tclass=0x20)", IP6 "ipv6(tclass=0x24)" },
	{ "ip,ip_dscp=8", IP "ipv4(tos=0x21)", IP "ipv4(tos=0x24)" },
	{ "ip,ip_ecn=1", IP "ipv4(tos=0x21)", IP "ipv4(tos=0x20)" },
	{ "ipv6,nw_ecn=1,ip_dscp=8", IP6 "ipv6(tclass=0x21)", IP6 "ipv6(tclass=0x20)" },
	{ "ip,nw_ttl=64", IP "ipv4(ttl=64)", IP "ipv4(ttl=63)" },
	{ "ipv6,nw_ttl=64", IP6 "ipv6(hlimit=64)", IP6 "ipv6(hlimit=63)" },
	{ "ip,ip_frag=first", IP "ipv4(frag=first)", IP "ipv4(frag=no)" },
	{ "ipv6,nw_frag=no", IP6 "ipv6(frag=no)", IP6 "ipv6(frag=later)" },
	{ "arp,arp_op=2,arp_spa=1.1.1.1,arp_tpa=2.2.2.2", "eth(),eth_type(0x0806),arp(sip=1.1.1.1,tip=2.2.2.2,op=2)",
	  "eth(),eth_type(0x0806),arp(sip=1.1.1.1,tip=2.2.2.1,op=2)" },
	{ "arp,arp_sha=02:00:00:00:00:01,arp_tha=02:00:00:00:00:02",
	  "eth(),eth_type(0x0806),arp(sha=02:00:00:00:00:01)", "eth(),eth_type(0x0806),arp(sha=02:00:00:00:00:02)" },
	{ "tcp,tp_dst=80", IP "ipv4(proto=6),tcp(dst=80)", IP "ipv4(proto=17),udp(dst=80)" },
	{ "tp_dst=80,nw_proto=6,dl_type=0x0800", IP "ipv4(proto=6),tcp(dst=80)", IP "ipv4(proto=6),tcp(dst=81)" },
	{ "tcp4,tcp_src=1,tcp_dst=0x50/0xfff0", IP "ipv4(proto=6),tcp(dst=80)", IP "ipv4(proto=6),tcp(dst=0x60)" },
	{ "tcp6,tcp_flags=+syn-ack", IP6 "ipv6(proto=6),tcp_flags(syn)", IP6 "ipv6(proto=6),tcp_flags(syn|ack)" },
	{ "udp,tp_src=1", IP "ipv4(proto=17),udp(src=1)", IP "ipv4(proto=17),udp(src=2)" },
	{ "udp6,udp_src=1,udp_dst=2", IP6 "ipv6(proto=17),udp(src=1)", IP6 "ipv6(proto=17),udp(dst=1)" },
	{ "udp4", IP "ipv4()", IP "ipv4(proto=6)" },
	{ "sctp,tp_dst=1,sctp_src=2", IP "ipv4(proto=132),sctp(src=2,dst=1)", IP "ipv4(proto=132),sctp(src=1,dst=2)" },
	{ "sctp6,sctp_dst=1", IP6 "ipv6(proto=132),sctp(dst=1)", IP6 "ipv6(proto=132),sctp(dst=2)" },
	{ "sctp4", IP "ipv4(proto=132),sctp(dst=1)", IP6 "ipv6(proto=132),sctp(dst=1)" },
	{ "icmp,icmp_type=8,icmp_code=0", IP "ipv4(proto=1),icmp(type=8,code=0)", IP "ipv4(proto=1),icmp(type=0)" },
	{ "icmp4,tp_src=8,tp_dst=0", IP "ipv4(proto=1),icmp(type=8,code=0)", IP "ipv4(proto=1),icmp(type=8,code=1)" },
	{ "icmp6,icmpv6_type=128,icmpv6_code=0", IP6 "ipv6(proto=58),icmpv6(type=128)",
	  IP6 "ipv6(proto=58),icmpv6(type=129)" },
	{ "icmp6,icmp_type=128,icmp_code=0", IP6 "ipv6(proto=58),icmpv6(type=128)",
	  IP6 "ipv6(proto=58),icmpv6(type=129)" },
	{ "nd_target=fe80::1,icmp_type=135,icmp6", IP6 "ipv6(proto=58),icmpv6(type=135),nd(target=fe80::1)",
	  IP6 "ipv6(proto=58),icmpv6(type=135),nd(target=fe80::2)" },
	{ "icmp6,icmp_type=136,nd_tll=02:00:00:00:00:01",
	  IP6 "ipv6(proto=58),icmpv6(type=136),nd(tll=02:00:00:00:00:01)",
	  IP6 "ipv6(proto=58),icmpv6(type=136),nd(tll=02:00:00:00:00:02)" },
	{ "icmp6,icmp_type=135,nd_sll=02:00:00:00:00:01", IP6 "ipv6(proto=58),icmpv6(type=135)",
	  IP6 "ipv6(proto=58),icmpv6(type=135),nd(sll=02:00:00:00:00:02)" },
	{ "ip,tcp", IP "ipv4(proto=6)", IP "ipv4(proto=17)" },
	{ "vlan_tci=0x1000/0x1000,dl_vlan_pcp=3", VLAN, "eth()" },
	{ "dl_vlan_pcp=3,vlan_tci=0x1000/0x1000", VLAN, "eth()" },
	{ "dl_type=0x0800,ip,nw_proto=6,tcp", IP "ipv4(proto=6)", IP "ipv4(proto=17)" },
};

static void assert_shows(const char *filter, const char *flow, bool shows)
{
	struct error e = { "" };
	struct flow_filter f;
	struct match m;

	if (!flow)
		return;
	match_parsed(flow, &names, &m);
	if (flow_filter_parse(filter, &names, &f, &e))
		fail_msg("'%s': %s", filter, e.text);
	if (flow_filter_shows(&f, &m) != shows)
		fail_msg("'%s' %s '%s'", filter, shows ? "does not show" : "shows", flow);
}

static void words_show_and_hide(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		assert_shows(words[i][0], words[i][1], true);
		assert_shows(words[i][0], words[i][2], false);
	}
}

/* A filter, and what the refusal has in it. */
static const char *const refused[][2] = {
	{ "nonsense", "unknown word 'nonsense'" },
	{ "tun_id=5", "unknown word 'tun_id'" },
	{ "tcp=5", "tcp: takes no value" },
	{ "dl_vlan", "dl_vlan: a value is missing" },
	{ "dl_vlan=", "value is missing" },
	{ "dl_vlan=4096", "out of range" },
	{ "dl_vlan=65535,dl_vlan_pcp=1", "dl_vlan_pcp: contradicts" },
	{ "vlan_tci=0/0x1000,dl_vlan_pcp=1", "dl_vlan_pcp: contradicts" },
	{ "dl_vlan_pcp=1,dl_vlan=65535", "dl_vlan: contradicts" },
	{ "ct_state=+trk", "unknown word 'ct_state'" },
	{ "dl_vlan=5,dl_vlan=6", "dl_vlan: contradicts" },
	{ "dl_vlan=5,vlan_tci=0x1006", "vlan_tci: contradicts" },
	{ "nw_src=1.2.3.4", "nw_src: needs ip" },
	{ "ipv6,nw_src=1.2.3.4", "nw_src: needs ip" },
	{ "arp,ip_src=1.2.3.4", "ip_src: needs ip" },
	{ "ip,ipv6_src=::1", "ipv6_src: needs ipv6" },
	{ "ip,tp_src=80", "tp_src: needs tcp" },
	{ "udp,tcp_src=80", "tcp_src: needs tcp" },
	{ "icmp,tcp_flags=+syn", "tcp_flags: needs tcp" },
	{ "icmp6,nd_target=::1", "nd_target: needs icmp6" },
	{ "ip,arp_op=1", "arp_op: needs arp" },
	{ "ip,mpls_label=1", "mpls_label: needs mpls" },
	{ "ip,arp", "arp: contradicts" },
	{ "tcp,udp", "udp: contradicts" },
	{ "tcp,tcp6", "tcp6: contradicts" },
	{ "dl_type=0x0806,tcp", "tcp: contradicts" },
	{ "tcp,nw_proto=17", "nw_proto: contradicts" },
	{ "ip,nw_src=1.2.3", "nw_src" },
	{ "ip,nw_src=1.2.3.4/33", "nw_src" },
	{ "ip,nw_tos=0x21", "nw_tos" },
	{ "ip,ip_dscp=64", "ip_dscp" },
	{ "ip,ip_frag=yes", "ip_frag" },
	{ "dl_src=1:2:3", "dl_src" },
	{ "in_port=eth9", "in_port" },
	{ "tcp,tp_src=65536", "tp_src" },
	{ "tcp,tp_src=80/", "tp_src" },
	{ "tcp,tp_src=80,ip_frag=later", "tp_src: needs tcp" },
	{ "tcp,ip_frag=later,tp_src=80", "tp_src: needs tcp" },
	{ "ip nw_src", "nw_src: a value is missing" },
};

static void others_are_refused(void **state)
{
	struct flow_filter f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error e = { "" };

		if (!flow_filter_parse(refused[i][0], &names, &f, &e))
			fail_msg("'%s' is taken", refused[i][0]);
		if (!strstr(e.text, refused[i][1]) || strncmp(e.text, "filter: ", strlen("filter: ")))
			fail_msg("'%s': '%s' is not in: %s", refused[i][0], refused[i][1], e.text);
	}
}

static void more_words_than_fit_are_refused(void **state)
{
	struct error e = { "" };
	struct flow_filter f;
	char text[300] = "";
	int i;

	(void)state;
	for (i = 0; i < 65; i++)
		strcat(text, "ip,");
	assert_int_equal(flow_filter_parse(text, &names, &f, &e), -E2BIG);
	text[64 * strlen("ip,")] = '\0';
	assert_int_equal(flow_filter_parse(text, &names, &f, &e), 0);
}

static void types_show_all_or_nothing(void **state)
{
	static const char *const all[] = {
		"all", "ovs", "tcvs", "non-offloaded", "non-partially-offloaded", "tc,ovs", "offloaded,non-offloaded"
	};
	static const char *const none[] = { "tc", "dpdk", "offloaded", "partially-offloaded", "tc,dpdk" };
	static const char *const bad[] = { "", "tc,", ",all", "OVS", "ovs tc", "offload" };
	struct error e = { "" };
	bool shown;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		assert_int_equal(flow_types_parse(all[i], &shown, &e), 0);
		assert_true(shown);
	}
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_equal(flow_types_parse(none[i], &shown, &e), 0);
		assert_false(shown);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(flow_types_parse(bad[i], &shown, &e), -EINVAL);
	assert_non_null(strstr(e.text, "'offload'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_holds),
		cmocka_unit_test(words_show_and_hide),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(more_words_than_fit_are_refused),
		cmocka_unit_test(types_show_all_or_nothing),
	};

	return cmocka_run_group_tests(tests, table_read, NULL);
}
