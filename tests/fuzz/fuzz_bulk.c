// SPDX-License-Identifier: GPL-2.0-only
/* Files of flows: what a line is cut into, printed as a line, is cut into the same; and what the parsers make of it. */
#include "bulk.h"
#include "error.h"
#include "fuzz.h"

static void line_reads_back(const struct bulk_line *line)
{
	static const char *const verbs[] = { [BULK_ADD] = "add", [BULK_MODIFY] = "modify", [BULK_DELETE] = "delete" };
	struct bulk_line again;
	struct bulk b = {};
	char *text;
	int size = asprintf(&text, "%s %s %s\n", verbs[line->verb], line->flow, line->actions);

	fuzz_check(size > 0, "no memory");
	bulk_take_lines(&b, text, size);
	fuzz_check(bulk_next(&b, &again), "'%s'", text);
	fuzz_check(again.verb == line->verb && !strcmp(again.flow, line->flow) && !strcmp(again.actions, line->actions),
		   "'%s'", text);
	fuzz_check(!bulk_next(&b, &again), "'%s' is more than a line", text);
	bulk_end(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bulk_line line;
	struct bulk b = {};

	bulk_take_lines(&b, fuzz_string(data, size), size);
	while (bulk_next(&b, &line)) {
		struct action_list actions;
		struct match m;
		struct error e;

		line_reads_back(&line);
		if (!match_parse(line.flow, NULL, &m, &e) && m.present)
			fuzz_match_reads_back(&m);
		if (!actions_parse(line.actions, NULL, &actions, &e))
			fuzz_actions_read_back(&actions);
	}
	bulk_end(&b);
	return 0;
}
