// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts that are read with a memo are read as without it, whatever was read before: the same match, or the same refusal.
 * Attributes come in any order and number, those that share places of the key included.  The seed is fixed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "match_memo.h"
#include "match_text.h"
#include "util.h"

static const char *const attributes[] = {
	"in_port(1)",
	"in_port(2/0)",
	"eth()",
	"eth(src=02:00:00:00:00:01)",
	"eth(dst=02:00:00:00:00:00/02:00:00:00:00:00)",
	"eth_type(0x0800)",
	"eth_type(0x86dd)",
	"eth_type(0x0806)",
	"eth_type(0x8847)",
	"eth_type(0x8100)",
	"eth_type(0/0)",
	"vlan(vid=5,pcp=1)",
	"encap(eth_type(0x0800),ipv4(proto=6))",
	"encap()",
	"mpls(label=5/0,tc=1/0,ttl=3/0,bos=1/0)",
	"mpls(label=1,tc=0,ttl=64,bos=0,label=2,tc=0,ttl=64,bos=1)",
	"ipv4(src=10.0.0.0/8,proto=17)",
	"ipv4(proto=6,frag=no)",
	"ipv4(proto=1,tos=0/0,ttl=64/0)",
	"ipv4(src=10.0.0.1/0.0.0.0,dst=1.2.3.4)",
	"ipv4(frag=later)",
	"ipv6(src=fe80::1,proto=58,label=0x1)",
	"ipv6(proto=6)",
	"ipv6(dst=fe80::/10,proto=17/0)",
	"arp(op=1,sip=10.0.0.1)",
	"arp(op=2/0,tip=10.0.0.1/0)",
	"tcp(src=80)",
	"tcp(src=80/0,dst=443/0)",
	"udp(src=53,dst=80/0xff00)",
	"udp(src=7/0)",
	"sctp(dst=9)",
	"icmp(type=8,code=0)",
	"icmpv6(type=135)",
	"icmpv6(type=135/0)",
	"nd(target=fe80::5)",
	"nd(sll=02:00:00:00:00:05/00:00:00:00:00:00)",
	"tcp_flags(+syn-ack)",
	"tcp_flags(0/0)",
	"skb_mark(0x5/0xf)",
	"recirc_id(0)",
	"ct_state(0/0)",
	"ct_state(+trk)",
	"tunnel(dst=1.2.3.4,ttl=64/0)",
	"tunnel(dst=1.2.3.4/0,ttl=64/0,flags(df/0))",
	"ipv4(src=10.0.0.300)",
	"ipv4(src=1,src=2)",
	"udp(src=70000)",
	"in_port(veth)",
	"in_port(nobody)",
	"eth_type(0x0800",
	"what(1)",
};

static int number(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	*port = 7;
	return strcmp(name, "veth");
}

static const struct port_names names = { .number = number };

static void assert_same(struct match_memo *memo, const char *text)
{
	struct error e = { "" }, e_memo = { "" };
	struct match m = {}, m_memo = {};
	int err = match_parse(text, &names, &m, &e);

	assert_int_equal(match_recall(text, &names, memo, &m_memo, &e_memo), err);
	if (strcmp(e.text, e_memo.text))
		fail_msg("%s: '%s', with a memo '%s'", text, e.text, e_memo.text);
	if (!err && memcmp(&m, &m_memo, sizeof(m)))
		fail_msg("%s: is another match with a memo", text);
}

/* What most flows begin with comes first, else nearly all would be refused for lack of it. */
static void text_make(char *text, unsigned int *seed)
{
	static const char *const begin[] = { "", "in_port(1),eth(),eth_type(0x0800),", "eth_type(0x86dd)," };
	unsigned int n = rand_r(seed) % 4;
	char *end = stpcpy(text, begin[rand_r(seed) % ARRAY_SIZE(begin)]);

	while (n--) {
		end = stpcpy(end, attributes[rand_r(seed) % ARRAY_SIZE(attributes)]);
		end = stpcpy(end, rand_r(seed) % 4 ? "," : " ");
	}
}

static void a_memo_makes_no_difference(void **state)
{
	CLEANUP_FREE struct match_memo *memo = calloc(1, sizeof(*memo));
	unsigned int seed = 1, i;
	char text[512];

	(void)state;
	assert_non_null(memo);
	for (i = 0; i < 60000; i++) {
		text_make(text, &seed);
		assert_same(memo, text);
	}
}

/* A file that says something else in every line, so that hashes meet in the table. */
static void what_comes_once_is_not_kept(void **state)
{
	CLEANUP_FREE struct match_memo *memo = calloc(1, sizeof(*memo));
	char text[128], once[32];
	unsigned int kept = 0, i;

	(void)state;
	assert_non_null(memo);
	for (i = 0; i < 20000; i++) {
		snprintf(once, sizeof(once), "udp(src=%u,dst=%u)", i % 65536, i / 3);
		snprintf(text, sizeof(text), "eth_type(0x0800),ipv4(proto=17,dst=10.0.%u.0/24),%s", i % 50, once);
		assert_same(memo, text);
		assert_false(match_memo_has(&(struct match_memo_key){
			.text = text_of(once), .entry = match_memo_key(memo, text_of(once)).entry }));
	}
	for (i = 0; i < MATCH_MEMO_SIZE; i++)
		kept += memo->entry[i].len > 0;
	assert_in_range(kept, 45, 51);
}

static void long_and_nested_texts_are_left_alone(void **state)
{
	CLEANUP_FREE struct match_memo *memo = calloc(1, sizeof(*memo));
	static const char longer[] =
		"ipv6(src=1111:2222:3333:4444:5555:6666:7777:8888,dst=1111:2222:3333:4444:5555:6666:7777:9999)";
	const struct text t = text_of("encap(eth())");
	unsigned int i;

	(void)state;
	assert_non_null(memo);
	assert_null(match_memo_key(memo, text_of(longer)).entry);
	assert_null(match_memo_key(memo, text_of("")).entry);
	assert_null(match_memo_key(memo, text_of("in_port(1")).entry);
	assert_null(match_memo_key(NULL, text_of("in_port(1)")).entry);
	assert_int_equal(match_memo_key(memo, t).text.len, t.len - 1);
	for (i = 0; i < 5; i++)
		assert_same(memo, "eth_type(0x8100),vlan(vid=1),encap(eth_type(0x0800),ipv4(src=10.0.0.1))");
	for (i = 0; i < MATCH_MEMO_SIZE; i++)
		assert_false(memo->entry[i].len && memo->entry[i].text[0] == 'e' && memo->entry[i].text[1] == 'n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memo_makes_no_difference),
		cmocka_unit_test(what_comes_once_is_not_kept),
		cmocka_unit_test(long_and_nested_texts_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
