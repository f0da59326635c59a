// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of a file of flows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bulk.h"

static void check_line(struct bulk *b, unsigned long number, enum bulk_verb verb, const char *flow, const char *actions)
{
	struct bulk_line line;

	assert_int_equal(bulk_next(b, &line), 1);
	assert_int_equal(line.number, number);
	assert_int_equal(line.verb, verb);
	assert_string_equal(line.flow, flow);
	assert_string_equal(line.actions, actions);
}

static void reads_verbs_flows_and_actions(void **state)
{
	char text[] = "# a comment\n"
		      "\n"
		      "in_port(1),eth() 2\n"
		      "  add in_port(2) \t 1, 3 \r\n"
		      "modify in_port(3)\n"
		      "delete in_port(4)\n"
		      "\t# another\n"
		      "a in_port(5)";
	struct bulk b = { .file = fmemopen(text, strlen(text), "r"), .verb = BULK_ADD };
	struct bulk_line line;

	(void)state;
	assert_non_null(b.file);
	check_line(&b, 3, BULK_ADD, "in_port(1),eth()", "2");
	check_line(&b, 4, BULK_ADD, "in_port(2)", "1, 3");
	check_line(&b, 5, BULK_MODIFY, "in_port(3)", "");
	check_line(&b, 6, BULK_DELETE, "in_port(4)", "");
	/* Open vSwitch takes any prefix of a verb; here the line is refused as the flow text it then is. */
	check_line(&b, 8, BULK_ADD, "a", "in_port(5)");
	assert_int_equal(bulk_next(&b, &line), 0);
	bulk_end(&b);
}

static void the_command_says_what_a_bare_line_means(void **state)
{
	char text[] = "in_port(1)\nadd in_port(2) drop\n";
	struct bulk b = { .file = fmemopen(text, strlen(text), "r"), .verb = BULK_DELETE };

	(void)state;
	check_line(&b, 1, BULK_DELETE, "in_port(1)", "");
	check_line(&b, 2, BULK_ADD, "in_port(2)", "drop");
	bulk_end(&b);
}

static void a_nul_hides_nothing(void **state)
{
	static char text[] = "in_port(1) 2\0,3\nadd in_port(2)\0 1\n";
	struct bulk b = { .file = fmemopen(text, sizeof(text) - 1, "r"), .verb = BULK_ADD };

	(void)state;
	check_line(&b, 1, BULK_ADD, "in_port(1)", "2?,3");
	check_line(&b, 2, BULK_ADD, "in_port(2)?", "1");
	bulk_end(&b);
}

static void a_failing_file_is_an_error(void **state)
{
	struct bulk b = { .file = fopen("/", "r"), .verb = BULK_ADD };
	struct bulk_line line;

	(void)state;
	assert_non_null(b.file);
	assert_true(bulk_next(&b, &line) < 0);
	bulk_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_verbs_flows_and_actions),
		cmocka_unit_test(the_command_says_what_a_bare_line_means),
		cmocka_unit_test(a_nul_hides_nothing),
		cmocka_unit_test(a_failing_file_is_an_error),
	};

	return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
