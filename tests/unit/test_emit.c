// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call, two forms: text as it is formatted, JSON as it is nested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <inttypes.h>

#include "emit.h"
#include "error.h"
#include "util.h"

static char *emitted(bool json, bool fail)
{
	char *text = NULL;
	size_t size;
	struct emit e;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	emit_init(&e, out, json);
	emit_open_array(&e, "ports");
	emit_open_object(&e, NULL);
	emit_u64(&e, "number", "port %" PRIu64 ":", 1);
	emit_str(&e, "name", " %s\n", "l\"0");
	emit_str(&e, "type", NULL, "system");
	emit_bool(&e, "gone", false);
	emit_real(&e, "ratio", "ratio %.2f\n", 0.5);
	emit_text(&e, "for people only\n");
	emit_close(&e);
	emit_close(&e);
	assert_int_equal(fail && json ? emit_error(&e, "went wrong") : emit_finish(&e), 0);
	fclose(out);
	return text;
}

static void text_is_formatted(void **state)
{
	CLEANUP_FREE char *text = emitted(false, false);

	(void)state;
	assert_string_equal(text, "port 1: l\"0\nratio 0.50\nfor people only\n");
}

static void json_is_nested(void **state)
{
	CLEANUP_FREE char *text = emitted(true, false);
	json_t *root = json_loads(text, 0, NULL), *port;

	(void)state;
	port = json_array_get(json_object_get(root, "ports"), 0);
	assert_int_equal(json_integer_value(json_object_get(port, "number")), 1);
	assert_string_equal(json_string_value(json_object_get(port, "name")), "l\"0");
	assert_string_equal(json_string_value(json_object_get(port, "type")), "system");
	assert_true(json_is_false(json_object_get(port, "gone")));
	json_decref(root);
}

static void an_error_is_all_there_is(void **state)
{
	CLEANUP_FREE char *text = emitted(true, true);
	json_t *root = json_loads(text, 0, NULL);

	(void)state;
	assert_int_equal(json_object_size(root), 1);
	assert_string_equal(json_string_value(json_object_get(root, "error")), "went wrong");
	json_decref(root);
}

static void prefixes_are_cut_not_overrun(void **state)
{
	struct error e;
	char longest[2 * sizeof(e.text)];

	(void)state;
	assert_int_equal(error_set(&e, 22, "%s is %d", "x", 1), -22);
	assert_int_equal(error_prefix(&e, -22, "line %d", 7), -22);
	assert_string_equal(e.text, "line 7: x is 1");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	error_set(&e, 22, "%s", longest);
	error_prefix(&e, -22, "why");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "why: aaa", 8);
	error_prefix(&e, -22, "%s", longest);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_formatted),
		cmocka_unit_test(json_is_nested),
		cmocka_unit_test(an_error_is_all_there_is),
		cmocka_unit_test(prefixes_are_cut_not_overrun),
	};

	return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
