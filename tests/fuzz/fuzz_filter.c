// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of dump-flows.  They are never printed; what must hold instead: a filter shows the flow that matches just what
 * it wants, and its words may stand in any order.
 */
#include "error.h"
#include "flow_filter.h"
#include "fuzz.h"
#include "util.h"

/* The words from the last to the first. */
static char *reversed(const char *text)
{
	static const char delimiters[] = ", \t\r\n";
	size_t end = strlen(text), at = 0;
	char *out = malloc(end + 2);

	while (end) {
		size_t start = end;

		while (start && !strchr(delimiters, text[start - 1]))
			start--;
		memcpy(out + at, text + start, end - start);
		at += end - start;
		out[at++] = ',';
		end = start ? start - 1 : 0;
	}
	out[at] = '\0';
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_string(data, size), *other = reversed(text);
	struct flow_filter f, again;
	struct error e = { "" };
	struct match m = { .present = 1 };
	int err = flow_filter_parse(text, NULL, &f, &e);

	fuzz_check(!err || e.text[0], "refused without a word: '%s'", text);
	fuzz_check(!flow_filter_parse(other, NULL, &again, &e) == !err, "'%s' but '%s': %s", text, other, e.text);
	if (err)
		return 0;
	fuzz_check(!memcmp(&f.want, &again.want, sizeof(f.want)), "'%s' but '%s'", text, other);
	m.key = f.want.key;
	m.mask = f.want.mask;
	fuzz_check(flow_filter_shows(&f, &m), "'%s' does not show itself", text);
	return 0;
}
