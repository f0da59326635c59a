// SPDX-License-Identifier: GPL-2.0-only
/* Action lists: text to records and back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_json.h"
#include "action_text.h"
#include "error.h"
#include "list_check.h"
#include "util.h"

static int number_of(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	if (!strcmp(name, "eth1"))
		*port = 1;
	else if (!strcmp(name, "2wan"))
		*port = 2;
	else
		return -ENOENT;
	return 0;
}

static const char *name_of(void *ctx, __u32 port)
{
	static const char *const names[] = { "br0", "eth1", "2wan", "ct", "DROP", "7" };

	(void)ctx;
	return port < ARRAY_SIZE(names) ? names[port] : NULL;
}

static const struct port_names names = { .number = number_of, .name = name_of };

static void lists_are_read_and_printed(void **state)
{
	static const char *const rows[][2] = {
		{ "1", "1" },	      { "0", "0" },	    { "1,2", "1,2" },	  { "1 , 2", "1,2" },
		{ ",1", "1" },	      { "1,", "1" },	    { "1,,2", "1,2" },	  { " 1\t,\n2 ", "1,2" },
		{ "0x10", "16" },     { "65534", "65534" }, { "1,1,1", "1,1,1" }, { "eth1,2wan,3", "1,2,3" },
		{ "", "drop" },	      { " ", "drop" },	    { "drop", "drop" },	  { "DROP", "drop" },
		{ " Drop ", "drop" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP_FREE char *text = NULL;
		struct action_list l;
		struct error e;

		if (actions_parse(rows[i][0], &names, &l, &e))
			fail_msg("'%s': %s", rows[i][0], e.text);
		text = actions_printed(l.action, NULL);
		assert_string_equal(text, rows[i][1]);
	}
}

static void only_the_last_record_is_marked(void **state)
{
	struct action_list l;
	struct error e;

	(void)state;
	assert_int_equal(actions_parse("5,6,7", NULL, &l, &e), 0);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.action[0].type, ACTION_OUTPUT);
	assert_int_equal(l.action[0].flags, 0);
	assert_int_equal(l.action[0].port, 5);
	assert_int_equal(l.action[1].flags, 0);
	assert_int_equal(l.action[2].flags, ACTION_F_LAST);
	assert_int_equal(l.action[2].port, 7);
	assert_int_equal(l.action[3].type, ACTION_END);
	assert_int_equal(actions_parse("drop", NULL, &l, &e), 0);
	assert_int_equal(l.count, 0);
	assert_int_equal(l.action[0].type, ACTION_END);
}

static const char *const refused[][2] = {
	{ "70000", "actions: 70000 is out of range, 0 to 65534 is possible" },
	{ "65535", "actions: 65535 is out of range" },
	{ "4294967296", "actions: 4294967296 is out of range" },
	{ "-1", "actions: '-1' is not a port: a number from 0 to 65534" },
	{ "010", "actions: '010' could be octal" },
	{ "1;2", "'1;2'" },
	{ "foo", "actions: 'foo' is neither an action nor a port" },
	{ "foo(1,2)", "'foo' is neither" },
	{ "1,eth9", "'eth9'" },
	{ "2,drop", "actions: drop has to stand alone" },
	{ "drop,2", "actions: drop has to stand alone" },
	{ "drop(5)", "drop with a reason is not supported by this version" },
	{ "2,push_mpls(label=1,tc=0,ttl=64,bos=1,eth_type=0x8847)", "push_mpls is not supported by this version" },
	{ "set,2", "actions: '(' has to follow set" },
	{ "csum (tcp),2", "actions: '(' has to follow csum" },
	{ "set(ipv4(ttl=1),2", "actions: '(' of set is never closed" },
	{ "pop_vlan(),2", "actions: pop_vlan takes no parentheses" },
	{ "pop_vlans,2", "actions: 'pop_vlans' is neither an action nor a port" },
	{ "ct,2", "actions: ct is not supported by this version" },
	{ "ct_clear", "actions: ct_clear is not supported by this version" },
	{ "trunc(100),2", "actions: trunc is not supported by this version" },
	{ "userspace(pid=1)", "actions: userspace is not supported by this version" },
};

static void what_is_not_possible_is_named(void **state)
{
	(void)state;
	assert_actions_refused(refused, ARRAY_SIZE(refused), &names);
}

static void a_list_has_a_limit(void **state)
{
	char text[2 * (FLOW_ACTIONS_MAX + 1) + 1] = "";
	struct action_list l;
	struct error e;
	int i;

	(void)state;
	for (i = 0; i < FLOW_ACTIONS_MAX; i++)
		strcat(text, "1,");
	assert_int_equal(actions_parse(text, NULL, &l, &e), 0);
	assert_int_equal(l.count, FLOW_ACTIONS_MAX);
	assert_int_equal(l.action[FLOW_ACTIONS_MAX].type, ACTION_END);
	strcat(text, "1,");
	assert_int_equal(actions_parse(text, NULL, &l, &e), -E2BIG);
	assert_non_null(strstr(e.text, "512"));
}

/* A port whose name is an action or a number is printed by number. */
static void names_read_back(void **state)
{
	CLEANUP_FREE char *text = NULL;
	struct action_list l;
	struct error e;

	(void)state;
	assert_int_equal(actions_parse("0,1,2,3,4,5,6", &names, &l, &e), 0);
	text = actions_printed(l.action, &names);
	assert_string_equal(text, "br0,eth1,2wan,3,4,5,6");
}

static void json_has_the_ports(void **state)
{
	CLEANUP_FREE char *text = NULL;
	struct action_list l;
	struct error e;
	json_t *json;

	(void)state;
	assert_int_equal(actions_parse("1,65534", NULL, &l, &e), 0);
	json = actions_json(l.action);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert_string_equal(text, "[{\"output\":1},{\"output\":65534}]");
}

static void any_text_is_survived(void **state)
{
	static const char *const parts[] = { "1",	   ",",	   "(",	       ")",	"drop",	   "set",
					     "eth1",	   " ",	   "0x",       "\n",	"-",	   "\xff",
					     "ipv4(",	   "ttl=", "/",	       "src=",	"1.2.3.4", "eth(",
					     "push_vlan(", "vid=", "pop_vlan", "csum(", "tcp",	   "skb_mark(" };
	unsigned int seed = 1, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		unsigned int n = rand_r(&seed) % 14;
		struct action_list l;
		char text[160] = "";
		struct error e;

		while (n--)
			strcat(text, parts[rand_r(&seed) % ARRAY_SIZE(parts)]);
		actions_parse(text, i & 1 ? &names : NULL, &l, &e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_and_printed),
		cmocka_unit_test(only_the_last_record_is_marked),
		cmocka_unit_test(what_is_not_possible_is_named),
		cmocka_unit_test(a_list_has_a_limit),
		cmocka_unit_test(names_read_back),
		cmocka_unit_test(json_has_the_ports),
		cmocka_unit_test(any_text_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
