// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of a file of flows.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bulk.h"
#include "error.h"

static void take(struct bulk *b, const char *text, size_t size)
{
	char *lines = malloc(size + 1);

	memcpy(lines, text, size);
	lines[size] = '\0';
	bulk_take_lines(b, lines, size);
}

static void check_line(struct bulk *b, unsigned long number, enum bulk_verb verb, const char *flow, const char *actions)
{
	struct bulk_line line;

	assert_true(bulk_next(b, &line));
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
	struct bulk b = { .verb = BULK_ADD };
	struct bulk_line line;

	(void)state;
	take(&b, text, strlen(text));
	check_line(&b, 3, BULK_ADD, "in_port(1),eth()", "2");
	check_line(&b, 4, BULK_ADD, "in_port(2)", "1, 3");
	check_line(&b, 5, BULK_MODIFY, "in_port(3)", "");
	check_line(&b, 6, BULK_DELETE, "in_port(4)", "");
	/* Open vSwitch takes any prefix of a verb; here the line is refused as the flow text it then is. */
	check_line(&b, 8, BULK_ADD, "a", "in_port(5)");
	assert_false(bulk_next(&b, &line));
	bulk_end(&b);
}

static void the_command_says_what_a_bare_line_means(void **state)
{
	char text[] = "in_port(1)\nadd in_port(2) drop\n";
	struct bulk b = { .verb = BULK_DELETE };

	(void)state;
	take(&b, text, strlen(text));
	check_line(&b, 1, BULK_DELETE, "in_port(1)", "");
	check_line(&b, 2, BULK_ADD, "in_port(2)", "drop");
	bulk_end(&b);
}

static void a_nul_hides_nothing(void **state)
{
	static char text[] = "in_port(1) 2\0,3\nadd in_port(2)\0 1\n";
	struct bulk b = { .verb = BULK_ADD };

	(void)state;
	take(&b, text, sizeof(text) - 1);
	check_line(&b, 1, BULK_ADD, "in_port(1)", "2?,3");
	check_line(&b, 2, BULK_ADD, "in_port(2)?", "1");
	bulk_end(&b);
}

static void a_failing_file_is_an_error(void **state)
{
	struct bulk b = { .verb = BULK_ADD };
	struct error e = { "" };

	(void)state;
	assert_int_equal(bulk_open(&b, "/", &e), -EISDIR);
	assert_non_null(strstr(e.text, "/: cannot be read"));
	bulk_end(&b);
	assert_int_equal(bulk_open(&b, "/nonexistent", &e), -ENOENT);
	bulk_end(&b);
}

/* Longer than what is read at once, and without a last newline. */
static void long_files_are_read_whole(void **state)
{
	FILE *file = tmpfile();
	struct bulk_line line;
	struct bulk b = { .verb = BULK_ADD };
	struct error e = { "" };
	char path[64];
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		fprintf(file, "in_port(%d),eth() %d%s", i, i % 7, i < 19999 ? "\n" : "");
	fflush(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_int_equal(bulk_open(&b, path, &e), 0);
	assert_int_equal(bulk_lines(&b), 20000);
	for (i = 0; bulk_next(&b, &line); i++) {
		char flow[32];

		snprintf(flow, sizeof(flow), "in_port(%d),eth()", i);
		assert_string_equal(line.flow, flow);
		assert_int_equal(atoi(line.actions), i % 7);
	}
	assert_int_equal(i, 20000);
	bulk_end(&b);
	assert_int_equal(bulk_open(&b, "/dev/null", &e), 0);
	assert_int_equal(bulk_lines(&b), 0);
	assert_false(bulk_next(&b, &line));
	bulk_end(&b);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_verbs_flows_and_actions),
		cmocka_unit_test(the_command_says_what_a_bare_line_means),
		cmocka_unit_test(a_nul_hides_nothing),
		cmocka_unit_test(long_files_are_read_whole),
		cmocka_unit_test(a_failing_file_is_an_error),
	};

	return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
