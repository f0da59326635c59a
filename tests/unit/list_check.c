// SPDX-License-Identifier: GPL-2.0-only
#include "list_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_json.h"
#include "error.h"
#include "util.h"

char *actions_printed(const struct flow_action *a, const struct port_names *names)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	actions_print(out, a, names);
	fclose(out);
	return text;
}

void actions_parsed(const char *text, struct action_list *l)
{
	struct error e = { "" };

	if (actions_parse(text, NULL, l, &e))
		fail_msg("'%s': %s", text, e.text);
}

static void assert_json(const char *text, const struct action_list *l, const char *expected)
{
	json_t *json = actions_json(l->action);
	CLEANUP_FREE char *said = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	assert_non_null(said);
	if (strcmp(said, expected))
		fail_msg("'%s' is %s in JSON, not %s", text, said, expected);
}

static bool same_list(const struct action_list *a, const struct action_list *b)
{
	/* With the end mark; what is beyond it means nothing. */
	return a->count == b->count && !memcmp(a->action, b->action, (a->count + 1) * sizeof(a->action[0]));
}

static void assert_json_reads_back(const struct action_list *l)
{
	json_t *json = actions_json(l->action);
	CLEANUP_FREE char *said = json_dumps(json, JSON_COMPACT);
	struct error e = { "" };
	struct action_list again;

	if (actions_from_json(json, NULL, &again, &e))
		fail_msg("%s: %s", said, e.text);
	json_decref(json);
	if (!same_list(l, &again))
		fail_msg("%s is read as another list", said);
}

void assert_actions_print(const char *text, const char *expected, const char *json)
{
	struct action_list l, again;
	CLEANUP_FREE char *said = NULL;

	actions_parsed(text, &l);
	said = actions_printed(l.action, NULL);
	if (strcmp(said, expected ? expected : text))
		fail_msg("'%s' prints %s, not %s", text, said, expected ? expected : "the same");
	if (json)
		assert_json(text, &l, json);
	assert_json_reads_back(&l);
	actions_parsed(said, &again);
	if (!same_list(&l, &again))
		fail_msg("'%s' prints %s, which is read as another list", text, said);
}

void assert_actions_refused(const char *const rows[][2], size_t n, const struct port_names *names)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct error e = { "" };
		struct action_list l;

		if (actions_parse(rows[i][0], names, &l, &e) >= 0)
			fail_msg("'%s' was taken", rows[i][0]);
		if (!strstr(e.text, rows[i][1]))
			fail_msg("'%s': %s", rows[i][0], e.text);
	}
}
