// SPDX-License-Identifier: GPL-2.0-only
/* set(): text to records, byte by byte, and back. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_set.h"
#include "list_check.h"
#include "match_text.h"
#include "util.h"

#define FULL_IPV4 "set(ipv4(src=1.1.1.1,dst=2.2.2.2,proto=6,tos=0,ttl=64,frag=no)),2"

/* Text, what is printed (NULL: the same), JSON (NULL: not looked at). */
static const char *const taken[][3] = {
	{ "set(eth(src=00:01:02:03:04:05,dst=10:11:12:13:14:15))", NULL,
	  "[{\"set\":{\"eth\":{\"src\":\"00:01:02:03:04:05\",\"dst\":\"10:11:12:13:14:15\"}}}]" },
	{ "set(eth(dst=10:11:12:13:14:15,src=0:1:2:3:4:5))", "set(eth(src=00:01:02:03:04:05,dst=10:11:12:13:14:15))",
	  NULL },
	{ "set(eth(src=00:01:02:03:04:05)),2", NULL, NULL },
	{ "set(eth(dst=10:11:12:00:00:00/ff:ff:ff:00:00:00)),2", NULL,
	  "[{\"set\":{\"eth\":{\"dst\":{\"value\":\"10:11:12:00:00:00\",\"mask\":\"ff:ff:ff:00:00:00\"}}}},{\"output\":2}]" },
	{ "set(eth(src=00:01:02:03:04:05,dst=01:00:00:00:00:00/01:00:00:00:00:00))", NULL, NULL },
	{ "set(ipv4(src=10.1.0.0/16,ttl=3)),1", "set(ipv4(src=10.1.0.0/255.255.0.0,ttl=3)),1", NULL },
	{ "set_masked(ipv4(src=1.2.0.0/255.255.0.0)),1", "set(ipv4(src=1.2.0.0/255.255.0.0)),1", NULL },
	{ "set(ipv4(tos=0/0x3)),set(ipv4(tos=0x80/0xfc)),1", NULL, NULL },
	{ "set(ipv4(ttl=0x40)),1", "set(ipv4(ttl=64)),1", "[{\"set\":{\"ipv4\":{\"ttl\":64}}},{\"output\":1}]" },
	{ "set(ipv4(ttl=1)),set(ipv4(src=1.1.1.1,dst=2.2.2.2)),set(ipv4(ttl=2)),1", NULL, NULL },
	{ FULL_IPV4, NULL,
	  "[{\"set\":{\"ipv4\":{\"src\":\"1.1.1.1\",\"dst\":\"2.2.2.2\",\"proto\":6,\"tos\":0,\"ttl\":64,\"frag\":\"no\"}}},{\"output\":2}]" },
	{ "set(ipv4(src=1.1.1.1,dst=2.2.2.2,tos=0,ttl=64)),2", NULL, NULL },
	{ "set(ipv4(proto=0/0,ttl=64)),2", "set(ipv4(ttl=64)),2", NULL },
	{ "set(ipv6(src=2001:db8::1,dst=2001:db8::2,label=0x12345,tclass=0x70,hlimit=128)),2", NULL, NULL },
	{ "set(ipv6(dst=2001:db8::/32)),2", "set(ipv6(dst=2001:db8::/ffff:ffff::)),2", NULL },
	{ "set(ipv6(src=::1/::ffff)),2", NULL, NULL },
	{ "set(ipv6(label=0x10000/0xf0000)),2", NULL, NULL },
	{ "set(tcp(dst=80/0xff)),2", NULL,
	  "[{\"set\":{\"tcp\":{\"dst\":{\"value\":80,\"mask\":255}}}},{\"output\":2}]" },
	{ "set(udp(src=81,dst=6632)),2", NULL, NULL },
	{ "set(sctp(src=82,dst=6633)),2", NULL, NULL },
	{ "set(skb_priority(0x10/0xf0)),2", NULL,
	  "[{\"set\":{\"skb_priority\":{\"value\":16,\"mask\":240}}},{\"output\":2}]" },
	{ "set(skb_mark(5)),2", "set(skb_mark(0x5)),2", "[{\"set\":{\"skb_mark\":5}},{\"output\":2}]" },
	{ "set(skb_mark(0/0)),2", NULL, "[{\"set\":{\"skb_mark\":{\"value\":0,\"mask\":0}}},{\"output\":2}]" },
	{ "set(ipv4())", NULL, "[{\"set\":{\"ipv4\":{}}}]" },
	{ "set(ipv4(tos=0/0)),set(tcp()),set(eth()),set(ipv6()),2", "set(ipv4()),set(tcp()),set(eth()),set(ipv6()),2",
	  NULL },
	{ "set(eth(src=00:00:00:00:00:01))2", "set(eth(src=00:00:00:00:00:01)),2", NULL },
};

static void texts_are_read_and_printed(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(taken); i++)
		assert_actions_print(taken[i][0], taken[i][1], taken[i][2]);
}

static const char *const refused[][2] = {
	{ "set(ipv4(ttl=256))", "set: ipv4 ttl: 256 is out of range, 0 to 255 is possible" },
	{ "set(tcp(src=65536))", "set: tcp src: 65536 is out of range, 0 to 65535 is possible" },
	{ "set(ipv6(label=0x100000))", "set: ipv6 label: 0x100000 is out of range" },
	{ "set(skb_mark(0x100000000))", "set: skb_mark: 0x100000000 is out of range" },
	{ "set(ipv4(tos=0x1/0x100))", "set: ipv4 tos mask: 0x100 is out of range" },
	{ "set(ipv4(ttl=010))", "set: ipv4 ttl: '010' could be octal" },
	{ "set(ipv4(src=1.2.3))", "set: ipv4 src: '1.2.3' is not an IPv4 address" },
	{ "set(ipv4(src=10.0.0.0/33))", "set: ipv4 src mask: 33 is out of range" },
	{ "set(ipv4(src=))", "set: ipv4 src: a value is missing" },
	{ "set(ipv4(ttl=1,ttl=2))", "set: ipv4: ttl is given twice" },
	{ "set(ipv4(hops=1))", "set: ipv4: unknown field 'hops'" },
	{ "set(skb_mark())", "set: skb_mark: a value is missing" },
	/* the bits that are too many are named */
	{ "set(ipv4(src=1.2.3.4/255.255.0.0))", "set: ipv4 src: bits 0.0.3.4 of the value are outside of the mask" },
	{ "set(ipv4(tos=0x81/0xfc))", "set: ipv4 tos: bits 0x1 of the value are outside of the mask" },
	{ "set(ipv4(ttl=5/0))", "set: ipv4 ttl: bits 0x5 of the value are outside of the mask" },
	{ "set(eth(dst=10:11:12:13:14:15/ff:ff:ff:00:00:00))", "set: eth dst: bits 00:00:00:13:14:15 of the value" },
	{ "set(ipv6(dst=fe80::2/ffff::))", "set: ipv6 dst: bits ::2 of the value are outside of the mask" },
	{ "set(udp(src=81/0xff00))", "set: udp src: bits 0x51 of the value are outside of the mask" },
	{ "set(skb_mark(0x3/0x2))", "set: skb_mark: bits 0x1 of the value are outside of the mask" },
	/* what the kernel datapath does not set */
	{ "set(ipv4(proto=6))", "set: ipv4 proto cannot be set, only named beside all other fields" },
	{ "set(ipv4(src=1.1.1.1,frag=no))", "set: ipv4 frag cannot be set" },
	{ "set(ipv4(src=1.1.1.1,dst=2.2.2.2,proto=6,tos=0/0xfc,ttl=64,frag=no))", "set: ipv4 proto cannot be set" },
	{ "set(ipv6(proto=6))", "set: ipv6 proto cannot be set" },
	{ "set(ipv6(src=::1,dst=::2,label=0,proto=10,tclass=0x70,hlimit=128,frag=no))",
	  "set: ipv6 proto cannot be set" },
	{ "set(arp(op=2))", "set: arp cannot be set" },
	{ "set(nd(target=::1))", "set: nd cannot be set" },
	{ "set(icmp(type=8))", "set: icmp cannot be set" },
	{ "set(icmpv6(type=1,code=2))", "set: icmpv6 cannot be set" },
	{ "set(vlan(vid=3,pcp=5))", "set: vlan cannot be set" },
	{ "set(encap())", "set: encap cannot be set" },
	{ "set(in_port(1))", "set: in_port cannot be set" },
	{ "set(eth_type(0x800))", "set: eth_type cannot be set" },
	{ "set(tcp_flags(syn))", "set: tcp_flags cannot be set" },
	{ "set(recirc_id(1))", "set: recirc_id cannot be set" },
	{ "set(dp_hash(1))", "set: dp_hash cannot be set" },
	{ "set(ct_state(+trk))", "set: ct_state cannot be set" },
	{ "set(ct_zone(1))", "set: ct_zone cannot be set" },
	{ "set(ct_mark(1))", "set: ct_mark cannot be set: this datapath has no connection tracking" },
	{ "set(ct_label(1))", "set: ct_label cannot be set: this datapath has no connection tracking" },
	{ "set(mpls(label=5,tc=0,ttl=9,bos=1))", "set: mpls is not supported by this version" },
	{ "set(tunnel(tun_id=1))", "set: tunnel is not supported by this version" },
	{ "set(nsh(flags=0))", "set: nsh is not supported by this version" },
	/* what is not one attribute */
	{ "set()", "set: '' is not a field" },
	{ "set(ip4(ttl=1))", "set: 'ip4(ttl=1)' is not a field" },
	{ "set(masked(eth()))", "set: 'masked(eth())' is not a field" },
	{ "set(ipv4)", "set: '(' and ')' have to follow ipv4" },
	{ "set(eth(),ipv4())", "set: ',ipv4()' after eth(): one at a time is possible" },
	{ "set(eth() )", "set: ' ' after eth()" },
};

static void what_cannot_be_set_is_named(void **state)
{
	(void)state;
	assert_actions_refused(refused, ARRAY_SIZE(refused), NULL);
}

static void assert_record(const struct flow_action *a, enum set_field field, unsigned int part, unsigned int flags,
			  const char *data, size_t size)
{
	static const __u8 zero[12];

	assert_int_equal(a->type, ACTION_SET);
	assert_int_equal(a->set.field, field);
	assert_int_equal(a->set.part, part);
	assert_int_equal(a->flags, flags);
	assert_memory_equal(a->data, data, size);
	assert_memory_equal(a->data + size, zero, sizeof(zero) - size);
}

#define RECORD(a, field, part, flags, data) assert_record(a, field, part, flags, data, sizeof(data) - 1)

/* Bytes as they stand in a packet, whatever the host's order is. */
static void records_have_the_bytes_of_the_packet(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed("set(eth(dst=02:11:22:33:44:55,src=0a:0b:0c:0d:0e:0f))", &l);
	assert_int_equal(l.count, 1);
	RECORD(l.action, SET_ETH, 0, 0, "\x02\x11\x22\x33\x44\x55\x0a\x0b\x0c\x0d\x0e\x0f");
	actions_parsed("set(eth(dst=02:11:22:33:44:55))", &l);
	RECORD(l.action, SET_ETH_DST, 0, 0, "\x02\x11\x22\x33\x44\x55\xff\xff\xff\xff\xff\xff");
	actions_parsed("set(eth(src=00:00:00:00:00:05/00:00:00:00:00:0f))", &l);
	RECORD(l.action, SET_ETH_SRC, 0, 0, "\0\0\0\0\0\x05\0\0\0\0\0\x0f");
	actions_parsed("set(ipv4(src=10.1.0.0/16,dst=10.1.2.3,tos=0x28/0xfc,ttl=9)),1", &l);
	assert_int_equal(l.count, 5);
	RECORD(l.action, SET_IPV4_SRC, 0, ACTION_F_MORE, "\x0a\x01\0\0\xff\xff\0\0");
	RECORD(l.action + 1, SET_IPV4_DST, 0, ACTION_F_MORE, "\x0a\x01\x02\x03\xff\xff\xff\xff");
	RECORD(l.action + 2, SET_IPV4_TOS, 0, ACTION_F_MORE, "\x28\xfc");
	RECORD(l.action + 3, SET_IPV4_TTL, 0, 0, "\x09\xff");
	actions_parsed("set(udp(src=258,dst=0x100/0xff00))", &l);
	RECORD(l.action, SET_UDP_SRC, 0, ACTION_F_MORE, "\x01\x02\xff\xff");
	RECORD(l.action + 1, SET_UDP_DST, 0, 0, "\x01\0\xff\0");
	actions_parsed("set(tcp(dst=1)),set(sctp(src=2))", &l);
	RECORD(l.action, SET_TCP_DST, 0, 0, "\0\x01\xff\xff");
	RECORD(l.action + 1, SET_SCTP_SRC, 0, 0, "\0\x02\xff\xff");
}

/* Words whose mask is zero have no record. */
static void ipv6_records_are_words(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed("set(ipv6(src=2001:db8::1/ffff:ffff::ffff,label=0x12345,tclass=0xb8/0xfc,hlimit=7))", &l);
	assert_int_equal(l.count, 5);
	RECORD(l.action, SET_IPV6_SRC, 0, ACTION_F_MORE, "\x20\x01\x0d\xb8\xff\xff\xff\xff");
	RECORD(l.action + 1, SET_IPV6_SRC, 3, ACTION_F_MORE, "\0\0\0\x01\0\0\xff\xff");
	RECORD(l.action + 2, SET_IPV6_LABEL, 0, ACTION_F_MORE, "\0\x01\x23\x45\0\x0f\xff\xff");
	RECORD(l.action + 3, SET_IPV6_TCLASS, 0, ACTION_F_MORE, "\xb8\xfc");
	RECORD(l.action + 4, SET_IPV6_HLIMIT, 0, 0, "\x07\xff");
	actions_parsed("set(ipv6(dst=::))", &l);
	assert_int_equal(l.count, 4);
	RECORD(l.action + 2, SET_IPV6_DST, 2, ACTION_F_MORE, "\0\0\0\0\xff\xff\xff\xff");
}

static void metadata_is_in_host_order(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed("set(skb_priority(0x10/0xf0)),set(skb_mark(7))", &l);
	assert_int_equal(l.action[0].set.field, SET_PRIORITY);
	assert_int_equal(l.action[0].word.value, 0x10);
	assert_int_equal(l.action[0].word.mask, 0xf0);
	assert_int_equal(l.action[1].set.field, SET_MARK);
	assert_int_equal(l.action[1].word.value, 7);
	assert_int_equal(l.action[1].word.mask, ~0u);
}

/* proto and frag are kept for text only: no record of their own. */
static void a_full_set_names_proto_and_frag(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed(FULL_IPV4, &l);
	assert_int_equal(l.count, 5);
	assert_int_equal(l.action[2].flags, ACTION_F_MORE);
	RECORD(l.action + 3, SET_IPV4_TTL, 0, ACTION_F_NAMED, "\x40\xff\x06");
	assert_int_equal(l.action[4].flags, ACTION_F_LAST);
}

static void a_set_of_nothing_writes_nothing(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed("set(ipv4()),1", &l);
	assert_int_equal(l.count, 2);
	RECORD(l.action, SET_IPV4_SRC, 0, 0, "");
}

static void a_set_has_room_in_the_list_or_is_refused(void **state)
{
	static const char one[] = "set(ipv6(src=::1,dst=::2)),";
	char text[(FLOW_ACTIONS_MAX / 8 + 1) * sizeof(one)] = "";
	const char *const row[1][2] = { { text, "more than 512 records" } };
	struct action_list l;
	int i;

	(void)state;
	for (i = 0; i < FLOW_ACTIONS_MAX / 8; i++)
		strcat(text, one);
	actions_parsed(text, &l);
	assert_int_equal(l.count, FLOW_ACTIONS_MAX);
	assert_int_equal(l.action[FLOW_ACTIONS_MAX].type, ACTION_END);
	strcat(text, "set(eth())");
	assert_actions_refused(row, 1, NULL);
}

static void random_field(struct match_level *l, const struct field *f, unsigned int *seed)
{
	struct field_value value = { .number = rand_r(seed) }, mask = { .number = rand_r(seed) & rand_r(seed) };
	unsigned int i, kind = rand_r(seed) % 3;

	for (i = 0; i < f->size; i++) {
		value.bytes[i] = rand_r(seed);
		mask.bytes[i] = kind == 2 ? 0xff : kind ? rand_r(seed) & rand_r(seed) : 0;
	}
	if (kind != 1)
		mask.number = kind ? ~0u : 0;
	for (i = 0; i < f->size; i++)
		value.bytes[i] &= mask.bytes[i];
	value.number &= mask.number;
	field_put(&l->key, f, 0, &value);
	field_put(&l->mask, f, 0, &mask);
}

/* Exact, wild and odd masks of all fields. */
static void any_set_reads_back(void **state)
{
	static const enum attribute attrs[] = { ATTR_ETH, ATTR_IPV4, ATTR_IPV6,		ATTR_TCP,
						ATTR_UDP, ATTR_SCTP, ATTR_SKB_PRIORITY, ATTR_SKB_MARK };
	unsigned int seed = 1, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		enum attribute attr = attrs[rand_r(&seed) % ARRAY_SIZE(attrs)];
		const struct field *f = attribute_info(attr)->fields;
		struct match_level level = { 0 }, again;
		CLEANUP_FREE char *text = NULL;
		struct action_list l;
		size_t size;
		FILE *out;

		for (; f->size; f++) {
			if (!f->name || (strcmp(f->name, "proto") && strcmp(f->name, "frag")))
				random_field(&level, f, &seed);
		}
		out = open_memstream(&text, &size);
		assert_non_null(out);
		fputs("set(", out);
		attribute_print(out, attr, &level);
		fputs(")", out);
		fclose(out);
		actions_parsed(text, &l);
		assert_int_equal(set_attribute(l.action, &again), attr);
		if (memcmp(&level, &again, sizeof(level)))
			fail_msg("'%s' is read as another set()", text);
		assert_actions_print(text, NULL, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_and_printed),
		cmocka_unit_test(what_cannot_be_set_is_named),
		cmocka_unit_test(records_have_the_bytes_of_the_packet),
		cmocka_unit_test(ipv6_records_are_words),
		cmocka_unit_test(metadata_is_in_host_order),
		cmocka_unit_test(a_full_set_names_proto_and_frag),
		cmocka_unit_test(a_set_of_nothing_writes_nothing),
		cmocka_unit_test(a_set_has_room_in_the_list_or_is_refused),
		cmocka_unit_test(any_set_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
