// SPDX-License-Identifier: GPL-2.0-only
/* The cases of tests/data/pedit_cases.tsv: the keys that tc lists, the right ones where those are not, the refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "action_text.h"
#include "error.h"
#include "pedit_text.h"
#include "util.h"

enum column {
	COLUMN_ID,
	COLUMN_TC,
	COLUMN_WORDS,
	COLUMN_KEYS,
	COLUMN_RIGHT,
	COLUMNS
};

struct counts {
	unsigned int rows, listed, refused, right, control;
};

/* Why each row that tc refuses is refused here. */
static const char *const reasons[][2] = {
	{ "a0ca", "offset: u32 at 2 is not inside one word" },
	{ "53db", "offset: u16 at 15 is not inside one word" },
	{ "ebfa", "is beyond 16 bits" },
	{ "c715", "eth src: '%e:11:m2:33:x4:-5' is not a MAC address" },
	{ "8131", "eth dst: '%e:11:m2:33:x4:-5' is not a MAC address" },
	{ "dec4", "eth type: 0xabcdef is out of range, 0 to 65535" },
	{ "3e2d", "ip ttl: 300 is out of range, 0 to 255" },
	{ "3143", "ip dport is possible only without ex" },
	{ "6d34", "ip6 dst: retain is not possible for fields longer than 32 bits" },
	{ "b7ac", "tcp sport: '-200' is not a number from 0 to 65535" },
};

/* The keys as the file writes them. */
static void keys_text(const struct flow_action *a, char *text, size_t size)
{
	CLEANUP_FREE char *listed = NULL;
	size_t listed_size, used = 0;
	FILE *out = open_memstream(&listed, &listed_size);
	char *line, *next;

	pedit_list(out, a);
	fclose(out);
	text[0] = '\0';
	for (line = listed; *line; line = next + 1) {
		char place[32], command[4];
		unsigned int value, mask, number;

		next = strchr(line, '\n');
		if (sscanf(line, " key #%u  at %31[^:]: %3s %8x mask %8x", &number, place, command, &value, &mask) != 5)
			fail_msg("not as tc lists keys: %s", line);
		used += snprintf(text + used, size - used, "%s%s %s %08x/%08x", used ? ";" : "", place, command, value,
				 mask);
		assert_true(used < size);
	}
}

static void keys_check(const char *id, const char *words, const char *expected)
{
	struct action_list l = { .count = 0 };
	struct error e;
	char text[2048];

	if (pedit_parse(text_of(words), &l, &e))
		fail_msg("%s: '%s': %s", id, words, e.text);
	keys_text(l.action, text, sizeof(text));
	if (strcmp(text, expected))
		fail_msg("%s: '%s': %s, not %s", id, words, text, expected);
}

static void refusal_check(const char *id, const char *words, const char *reason)
{
	struct action_list l = { .count = 0 };
	struct error e = { "" };

	if (!pedit_parse(text_of(words), &l, &e))
		fail_msg("%s: '%s' is taken", id, words);
	if (!strstr(e.text, reason) || strncmp(e.text, "actions: pedit: ", 16) || strchr(e.text, '\n'))
		fail_msg("%s: '%s': refused as: %s", id, words, e.text);
}

/* Cuts off what says how tc goes on.  A flow says that itself, so all but pipe is refused, and by name. */
static void control_cut(const char *id, char *words, struct counts *n)
{
	static const char *const controls[] = { "continue", "jump", "pass", "reclassify", "goto" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(controls); i++) {
		char *control = strstr(words, controls[i]);

		if (!control || control[-1] != ' ')
			continue;
		refusal_check(id, words, controls[i]);
		control[-1] = '\0';
		n->control++;
	}
}

static const char *reason_of(const char *id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (!strcmp(reasons[i][0], id))
			return reasons[i][1];
	}
	fail_msg("%s: no reason is known to refuse it", id);
	return NULL;
}

static void row_check(char *column[COLUMNS], struct counts *n)
{
	bool pinned = strcmp(column[COLUMN_RIGHT], "-");
	char compat[2048];

	n->rows++;
	control_cut(column[COLUMN_ID], column[COLUMN_WORDS], n);
	if (!strcmp(column[COLUMN_TC], "refused")) {
		/* This one was refused for its chain, by control_cut(). */
		if (strcmp(column[COLUMN_ID], "7e67"))
			refusal_check(column[COLUMN_ID], column[COLUMN_WORDS], reason_of(column[COLUMN_ID]));
		n->refused++;
		return;
	}
	snprintf(compat, sizeof(compat), "compat %s", column[COLUMN_WORDS]);
	keys_check(column[COLUMN_ID], compat, column[COLUMN_KEYS]);
	keys_check(column[COLUMN_ID], column[COLUMN_WORDS], column[pinned ? COLUMN_RIGHT : COLUMN_KEYS]);
	n->listed++;
	n->right += pinned;
}

static void all_rows(void **state)
{
	CLEANUP_FILE FILE *in = fopen("tests/data/pedit_cases.tsv", "re");
	struct counts n = { .rows = 0 };
	char line[4096];

	(void)state;
	if (!in)
		fail_msg("run from the top of the tree: no tests/data/pedit_cases.tsv");
	while (fgets(line, sizeof(line), in)) {
		char *column[COLUMNS], *rest = line;
		int c;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || !strncmp(line, "id\t", 3))
			continue;
		for (c = 0; c < COLUMNS; c++) {
			column[c] = strsep(&rest, "\t");
			assert_non_null(column[c]);
		}
		row_check(column, &n);
	}
	printf("# pedit: %u of 70 rows: %u of 59 with tc's keys, %u of 8 also with the right ones, %u of 11 refused; "
	       "%u control words refused\n",
	       n.rows, n.listed, n.right, n.refused, n.control);
	assert_int_equal(n.rows, 70);
	assert_int_equal(n.listed, 59);
	assert_int_equal(n.right, 8);
	assert_int_equal(n.refused, 11);
	assert_int_equal(n.control, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
