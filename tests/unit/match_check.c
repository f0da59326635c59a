// SPDX-License-Identifier: GPL-2.0-only
#include "match_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "match_json.h"
#include "util.h"

char *match_printed(const struct match *m, const struct match_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	match_print(out, m, style);
	fclose(out);
	return text;
}

char *match_text_printed(const struct match_text *t, const struct match_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	match_text_print(out, t, style);
	fclose(out);
	return text;
}

void match_parsed(const char *text, const struct port_names *names, struct match *m)
{
	struct error e = { "" };

	if (match_parse(text, names, m, &e))
		fail_msg("'%s': %s", text, e.text);
}

void assert_match_reads_back(const struct match *m, const struct port_names *names, const struct match_style *style)
{
	CLEANUP_FREE char *text = match_printed(m, style);
	struct match again;

	match_parsed(text, names, &again);
	if (memcmp(&m->key, &again.key, sizeof(m->key)) || memcmp(&m->mask, &again.mask, sizeof(m->mask)))
		fail_msg("'%s' is read as another match", text);
}

void assert_match_reads_back_from_json(const struct match *m)
{
	json_t *json = match_json(m);
	CLEANUP_FREE char *text = json_dumps(json, JSON_COMPACT);
	struct error e = { "" };
	struct match again;

	if (match_from_json(json, NULL, NULL, &again, &e))
		fail_msg("%s: %s", text, e.text);
	if (memcmp(&m->key, &again.key, sizeof(m->key)) || memcmp(&m->mask, &again.mask, sizeof(m->mask)))
		fail_msg("%s is read as another match", text);
	json_decref(json);
}
