// SPDX-License-Identifier: GPL-2.0-only
/* push_vlan() and pop_vlan. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "list_check.h"
#include "util.h"

static void texts_are_read_and_printed(void **state)
{
	static const char *const rows[][3] = {
		{ "push_vlan(vid=12,pcp=3),2", NULL,
		  "[{\"push_vlan\":{\"tpid\":33024,\"vid\":12,\"pcp\":3}},{\"output\":2}]" },
		{ "push_vlan(tpid=0x88a8,vid=12,pcp=0)", NULL,
		  "[{\"push_vlan\":{\"tpid\":34984,\"vid\":12,\"pcp\":0}}]" },
		{ "push_vlan(vid=12)", "push_vlan(vid=12,pcp=0)", NULL },
		{ "push_vlan(pcp=7, vid=0xfff,cfi=1,tpid=0x8100)", "push_vlan(vid=4095,pcp=7)", NULL },
		{ "push_vlan(vid=1,pcp=2,tpid=0x88a8,cfi=1)", "push_vlan(tpid=0x88a8,vid=1,pcp=2)", NULL },
		{ "pop_vlan", NULL, "[{\"pop_vlan\":true}]" },
		{ "pop_vlan pop_vlan,2", "pop_vlan,pop_vlan,2", NULL },
		{ "push_vlan(vid=1)pop_vlan,2", "push_vlan(vid=1,pcp=0),pop_vlan,2", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_actions_print(rows[i][0], rows[i][1], rows[i][2]);
}

static void what_is_no_tag_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "push_vlan(vid=4096)", "push_vlan vid: 4096 is out of range, 0 to 4095 is possible" },
		{ "push_vlan(vid=1,pcp=8)", "push_vlan pcp: 8 is out of range, 0 to 7 is possible" },
		{ "push_vlan(vid=1,cfi=2)", "push_vlan cfi: 2 is out of range" },
		{ "push_vlan(vid=1,cfi=0)", "push_vlan: cfi=0 would mean that there is no tag" },
		{ "push_vlan(vid=1,tpid=0x9100)", "push_vlan: tpid 0x9100 is no tag's type, 0x8100 and 0x88a8 are" },
		{ "push_vlan(vid=1,tpid=0x18100)", "push_vlan tpid: 0x18100 is out of range" },
		{ "push_vlan(vid=1/0xfff)", "push_vlan vid: '1/0xfff' is not a number" },
		{ "push_vlan(vid=)", "push_vlan vid: '' is not a number" },
		{ "push_vlan(pcp=1)", "push_vlan: vid is missing" },
		{ "push_vlan()", "push_vlan: unknown word ''" },
		{ "push_vlan(vid=1,)", "push_vlan: unknown word ''" },
		{ "push_vlan(vid=1,vid=1)", "push_vlan: vid is given twice" },
		{ "push_vlan(tci=0x1001)", "push_vlan: unknown word 'tci', it takes vid, pcp, cfi and tpid" },
		{ "push_vlan", "actions: '(' has to follow push_vlan" },
		{ "push_vlan(vid=1", "actions: '(' of push_vlan is never closed" },
		{ "pop_vlan()", "actions: pop_vlan takes no parentheses" },
	};

	(void)state;
	assert_actions_refused(rows, ARRAY_SIZE(rows), NULL);
}

static void the_record_is_the_tag_of_the_wire(void **state)
{
	static const unsigned int vids[] = { 0, 1, 10, 2047, 4095 };
	struct action_list l;
	unsigned int pcp;
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(vids); i++) {
		for (pcp = 0; pcp < 8; pcp++) {
			snprintf(text, sizeof(text), "push_vlan(tpid=0x88a8,vid=%u,pcp=%u)", vids[i], pcp);
			actions_parsed(text, &l);
			assert_int_equal(l.count, 1);
			assert_int_equal(l.action[0].type, ACTION_PUSH_VLAN);
			assert_int_equal(l.action[0].vlan.tpid_be, htons(0x88a8));
			assert_int_equal(l.action[0].vlan.tci_be, htons(pcp << 13 | vids[i]));
			assert_actions_print(text, NULL, NULL);
		}
	}
}

/* The frame is given away to the last record, if that is an output. */
static void only_an_output_at_the_end_is_the_last(void **state)
{
	struct action_list l;

	(void)state;
	actions_parsed("1,pop_vlan", &l);
	assert_int_equal(l.action[0].flags, 0);
	assert_int_equal(l.action[1].type, ACTION_POP_VLAN);
	assert_int_equal(l.action[1].flags, 0);
	actions_parsed("1,pop_vlan,2", &l);
	assert_int_equal(l.action[0].flags, 0);
	assert_int_equal(l.action[2].flags, ACTION_F_LAST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_and_printed),
		cmocka_unit_test(what_is_no_tag_is_refused),
		cmocka_unit_test(the_record_is_the_tag_of_the_wire),
		cmocka_unit_test(only_an_output_at_the_end_is_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
