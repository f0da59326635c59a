// SPDX-License-Identifier: GPL-2.0-only
/* Flows from JSON: what is taken, beside what dumps print (test_match_random), and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_json.h"
#include "error.h"
#include "flow_json.h"
#include "match_check.h"
#include "util.h"

static int number_of(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	if (strcmp(name, "eth1"))
		return -ENOENT;
	*port = 1;
	return 0;
}

static const struct port_names names = { .number = number_of };

/* 0 or -errno; single quotes stand for double ones. */
static int parse(const char *text, struct flow_json *f, struct error *e)
{
	CLEANUP_FREE char *json = strdup(text);
	json_t *flows = NULL;
	char *c;
	int err;

	for (c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	err = flows_json_load(json, strlen(json), &flows, e);
	if (!err) {
		assert_int_equal(json_array_size(flows), 1);
		err = flow_from_json(json_array_get(flows, 0), &names, f, e);
	}
	json_decref(flows);
	return err;
}

/* JSON, the same flow as text, and its actions. */
static const char *const taken[][3] = {
	{ "[{'match': {'eth': {}}, 'actions': []}]", "eth()", "drop" },
	{ "{'flows': [{'match': {'in_port': 1}, 'actions': [{'output': 2}]}]}", "in_port(1),eth()", "2" },
	{ "{'match': {'in_port': 'eth1'}, 'actions': [{'output': 'eth1'}]}", "in_port(1),eth()", "1" },
	{ "[{'match': {'eth': {}}, 'actions': 'drop'}]", "eth()", "drop" },
	{ "[{'match': {'eth': {}}, 'actions': ''}]", "eth()", "drop" },
	{ "[{'match': {'eth': {}}, 'actions': ['drop']}]", "eth()", "drop" },
	{ "[{'match': {'eth': {}}, 'actions': '1,2'}]", "eth()", "1,2" },
	{ "[{'match': {'eth': {}}, 'actions': ['3', {'output': 2}, '4,5']}]", "eth()", "3,2,4,5" },
	{ "[{'match': {'eth': {}}, 'actions': ['push_vlan(vid=1,pcp=0)', {'output': 2}]}]", "eth()",
	  "push_vlan(vid=1,pcp=0),2" },
	{ "[{'match': {'eth': {}}, 'actions': [{'push_vlan': {'tpid': 33024, 'vid': 1, 'pcp': 2}}, {'pop_vlan': true}]}]",
	  "eth()", "push_vlan(vid=1,pcp=2),pop_vlan" },
	{ "[{'match': {'eth': {}}, 'actions': [{'set': {'ipv4': {'ttl': {'value': 4, 'mask': 6}}}}]}]", "eth()",
	  "set(ipv4(ttl=4/6))" },
	{ "[{'match': {'eth': {}}, 'actions': [{'set': {'skb_mark': 5}}, {'csum': ['ip', 'tcp']}]}]", "eth()",
	  "set(skb_mark(5)),csum(ip,tcp)" },
	{ "[{'match': {'eth_type': 2048, 'ipv4': {'dst': {'value': '10.0.0.0', 'mask': '255.0.0.0'}}}}]",
	  "eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0)", NULL },
	{ "[{'match': {'eth_type': 2048, 'ipv4': {'dst': '10.0.0.0/8', 'ttl': {'value': 64, 'mask': 192}}}}]",
	  "eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0,ttl=64/0xc0)", NULL },
	{ "[{'match': {'skb_mark': {'value': 5, 'mask': 15}, 'recirc_id': 4294967295}}]",
	  "recirc_id(0xffffffff),skb_mark(0x5/0xf),eth()", NULL },
	{ "[{'match': {'eth_type': 33024, 'vlan': {'vid': 5}, 'encap': {'eth_type': 2054, 'arp': {'op': 1}}}}]",
	  "eth(),eth_type(0x8100),vlan(vid=5),encap(eth_type(0x0806),arp(op=1))", NULL },
	{ "[{'match': {'eth_type': 34887, 'mpls': [{}, {'ttl': 1, 'label': 5}, {'tc': 1}]}}]",
	  "eth(),eth_type(0x8847),mpls(label=0/0,label=5,ttl=1,label=0/0,tc=1)", NULL },
	{ "[{'match': {'eth_type': 34887, 'mpls': {'label': 5}}}]", "eth(),eth_type(0x8847),mpls(label=5)", NULL },
	{ "[{'match': {'eth_type': 2048, 'ipv4': {'proto': 6}, 'tcp_flags': '+syn-ack'}}]",
	  "eth(),eth_type(0x0800),ipv4(proto=6),tcp_flags(+syn-ack)", NULL },
	{ "[{'match': {'eth': {}}, 'packets': 1, 'bytes': 2, 'used': null, 'flags': 'S', 'page': 0, 'slot': 1}]",
	  "eth()", NULL },
};

static void forms_are_taken(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		struct error e = { "" };
		struct action_list l;
		struct flow_json f;
		struct match m;

		if (parse(taken[i][0], &f, &e))
			fail_msg("%s: %s", taken[i][0], e.text);
		match_parsed(taken[i][1], &names, &m);
		if (memcmp(&m.key, &f.match.key, sizeof(m.key)) || memcmp(&m.mask, &f.match.mask, sizeof(m.mask)))
			fail_msg("%s is not %s", taken[i][0], taken[i][1]);
		assert_int_equal(f.has_actions, taken[i][2] != NULL);
		if (!taken[i][2])
			continue;
		assert_int_equal(actions_parse(taken[i][2], &names, &l, &e), 0);
		assert_int_equal(l.count, f.actions.count);
		assert_memory_equal(l.action, f.actions.action, (l.count + 1) * sizeof(l.action[0]));
	}
}

static void ufid_and_origin_are_kept(void **state)
{
	static const __u8 ufid[16] = { 1, 2, 3, [15] = 0xff };
	struct flow_json f;
	struct error e;

	(void)state;
	assert_int_equal(parse("[{'ufid': '01020300-0000-0000-0000-0000000000ff', 'match': {'eth': {}}}]", &f, &e), 0);
	assert_true(f.match.has_ufid && f.match.present && !f.has_origin);
	assert_memory_equal(f.match.ufid, ufid, sizeof(ufid));
	assert_int_equal(parse("[{'ufid': '01020300-0000-0000-0000-0000000000ff', 'origin': 'reactive'}]", &f, &e), 0);
	assert_true(f.match.has_ufid && !f.match.present && f.has_origin);
	assert_int_equal(f.origin, FLOW_REACTIVE);
	assert_int_equal(parse("[{'match': {'eth': {}}, 'origin': 'hand'}]", &f, &e), 0);
	assert_true(f.has_origin);
	assert_int_equal(f.origin, FLOW_BY_HAND);
}

/* JSON, and what the refusal has in it. */
static const char *const refused[][2] = {
	{ "[{'match': {'eth': {}}", "line 1, column" },
	{ "[{'match': {'eth': {}, 'eth': {}}}]", "duplicate" },
	{ "{'flows': [], 'other': 1}", "not an array of flows" },
	{ "{'flows': 1}", "not an array of flows" },
	{ "[1]", "a flow is an object" },
	{ "[{'match': {'eth': {}}, 'priority': 5}]", "unknown member 'priority'" },
	{ "[{'actions': []}]", "match is missing" },
	{ "[{'match': 'eth()'}]", "match: an object" },
	{ "[{'match': {}}]", "flow: is empty" },
	{ "[{'match': {'eht': {}}}]", "unknown attribute 'eht'" },
	{ "[{'match': {'eth': {'source': 1}}}]", "unknown field 'source'" },
	{ "[{'match': {'eth(),eth': {}}}]", "no name" },
	{ "[{'match': {'': {}}}]", "no name" },
	{ "[{'match': {'eth': {'src=1,dst': 1}}}]", "no name" },
	{ "[{'match': {'eth': {'src': '02:00:00:00:00:01,dst=02:00:00:00:00:02'}}}]", "not one value" },
	{ "[{'match': {'eth': {'src': 5}}}]", "eth src: '5' is not a MAC address" },
	{ "[{'match': {'in_port': null}}]", "in_port: null" },
	{ "[{'match': {'in_port': true}}]", "in_port: true or false" },
	{ "[{'match': {'in_port': 1.5}}]", "in_port: a number with a fraction" },
	{ "[{'match': {'in_port': -1}}]", "in_port: '-1'" },
	{ "[{'match': {'in_port': [1]}}]", "in_port: an array" },
	{ "[{'match': {'skb_mark': {'value': 1}}}]", "skb_mark: 'value=1' is not" },
	{ "[{'match': {'skb_mark': {'value': 1, 'mask': {}}}}]", "skb_mark: an object" },
	{ "[{'match': {'eth_type': 2048, 'ipv4': {'ttl': 256}}}]", "ipv4 ttl: 256 is out of range" },
	{ "[{'match': {'eth_type': 34887, 'mpls': [5]}}]", "mpls: an entry is an object" },
	{ "[{'match': {'eth_type': 34887, 'mpls': [{}, {}, {}, {'label': 1}]}}]", "more than 3 labels" },
	{ "[{'match': {'encap': {'encap': {'encap': {}}}}}]", "encap: more than 2 tags" },
	{ "[{'match': {'encap': 5}}]", "encap: an object" },
	{ "[{'match': {'eth': {}}, 'ufid': 5}]", "ufid: not a string" },
	{ "[{'match': {'eth': {}}, 'ufid': '5'}]", "ufid: '5'" },
	{ "[{'match': {'eth': {}}, 'ufid': '01020300-0000-0000-0000-0000000000ff,eth()'}]", "ufid" },
	{ "[{'match': {'eth': {}}, 'origin': 'x'}]", "origin" },
	{ "[{'match': {'eth': {}}, 'actions': 5}]", "actions: not an array" },
	{ "[{'match': {'eth': {}}, 'actions': [5]}]", "an action is" },
	{ "[{'match': {'eth': {}}, 'actions': [{'output': 1, 'x': 1}]}]", "an action is" },
	{ "[{'match': {'eth': {}}, 'actions': [{'outptu': 1}]}]", "an action is" },
	{ "[{'match': {'eth': {}}, 'actions': [{'output': '1,2'}]}]", "output: not a number or a word" },
	{ "[{'match': {'eth': {}}, 'actions': [{'output': true}]}]", "output: not a number or a word" },
	{ "[{'match': {'eth': {}}, 'actions': ['drop', {'output': 1}]}]", "drop has to stand alone" },
	{ "[{'match': {'eth': {}}, 'actions': ['nonsense']}]", "nonsense" },
	{ "[{'match': {'eth': {}}, 'actions': [{'set': {}}]}]", "set: not an object with one header" },
	{ "[{'match': {'eth': {}}, 'actions': [{'set': {'ipv4': {'tll': 1}}}]}]", "tll" },
	{ "[{'match': {'eth': {}}, 'actions': [{'push_vlan': 5}]}]", "push_vlan: not an object" },
	{ "[{'match': {'eth': {}}, 'actions': [{'push_vlan': {'vdi': 5}}]}]", "vdi" },
	{ "[{'match': {'eth': {}}, 'actions': [{'pop_vlan': 1}]}]", "pop_vlan: only true" },
	{ "[{'match': {'eth': {}}, 'actions': [{'csum': 'ip'}]}]", "csum: not an array" },
	{ "[{'match': {'eth': {}}, 'actions': [{'csum': ['ip,tcp']}]}]", "csum: not a number or a word" },
	{ "[{'match': {'eth': {}}, 'actions': [{'pedit': {'keys': 1}}]}]", "pedit: not" },
	{ "[{'match': {'eth': {}}, 'actions': [{'pedit': {'keys': [{'htype': 'ipv4'}]}}]}]", "pedit: a key is" },
};

static void others_are_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error e = { "" };
		struct flow_json f;

		if (!parse(refused[i][0], &f, &e))
			fail_msg("%s is taken", refused[i][0]);
		if (!strstr(e.text, refused[i][1]))
			fail_msg("%s: '%s' is not in: %s", refused[i][0], refused[i][1], e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_are_taken),
		cmocka_unit_test(ufid_and_origin_are_kept),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
