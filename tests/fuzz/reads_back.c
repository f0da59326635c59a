// SPDX-License-Identifier: GPL-2.0-only
#include "action_json.h"
#include "error.h"
#include "fuzz.h"
#include "match_json.h"
#include "util.h"

static void same_match(const struct match *m, const struct match *again, const char *text)
{
	fuzz_check(!memcmp(&m->key, &again->key, sizeof(m->key)), "'%s'", text);
	fuzz_check(!memcmp(&m->mask, &again->mask, sizeof(m->mask)), "'%s'", text);
}

static void text_reads_back(const struct match *m, bool more)
{
	const struct match_style style = { .more = more };
	CLEANUP_FREE char *text = NULL;
	struct error e = { "" };
	struct match again;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	match_print(out, m, &style);
	fclose(out);
	fuzz_check(!match_parse(text, NULL, &again, &e), "'%s': %s", text, e.text);
	same_match(m, &again, text);
}

static void json_reads_back(const struct match *m)
{
	json_t *json = match_json(m);
	CLEANUP_FREE char *text = json_dumps(json, JSON_COMPACT);
	struct error e = { "" };
	struct match again;

	fuzz_check(!match_from_json(json, NULL, NULL, &again, &e), "%s: %s", text, e.text);
	same_match(m, &again, text);
	json_decref(json);
}

void fuzz_match_reads_back(const struct match *m)
{
	text_reads_back(m, false);
	text_reads_back(m, true);
	json_reads_back(m);
}

/* What is behind a list's end is of no interest. */
static bool same_list(const struct action_list *a, const struct action_list *b)
{
	return a->count == b->count && !memcmp(a->action, b->action, (a->count + 1) * sizeof(*a->action));
}

void fuzz_actions_read_back(const struct action_list *l)
{
	CLEANUP_FREE char *text = NULL;
	struct error e = { "" };
	struct action_list again;
	json_t *json;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	actions_print(out, l->action, NULL);
	fclose(out);
	fuzz_check(!actions_parse(text, NULL, &again, &e), "'%s': %s", text, e.text);
	fuzz_check(same_list(l, &again), "'%s'", text);
	json = actions_json(l->action);
	fuzz_check(!actions_from_json(json, NULL, &again, &e), "'%s' by JSON: %s", text, e.text);
	fuzz_check(same_list(l, &again), "'%s' by JSON", text);
	json_decref(json);
}
