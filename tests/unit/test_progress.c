// SPDX-License-Identifier: GPL-2.0-only
/* When progress is shown, and what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "progress.h"
#include "util.h"

#define MS 1000000ULL

static void shown_after_a_second_and_ten_times_a_second(void **state)
{
	CLEANUP_FREE char *text = NULL;
	struct progress p;
	uint64_t start;
	size_t size;

	(void)state;
	progress_begin(&p, "flows", false);
	start = p.next_ns - 1000 * MS;
	p.total = 9;
	p.out = open_memstream(&text, &size);
	progress_at(&p, 1, start + 999 * MS);
	progress_clear(&p);
	progress_at(&p, 2, start + 1000 * MS);
	progress_at(&p, 3, start + 1099 * MS);
	progress_at(&p, 4, start + 1100 * MS);
	progress_clear(&p);
	progress_clear(&p);
	fclose(p.out);
	assert_string_equal(text, "\r\033[Kflows: 2 of 9\r\033[Kflows: 4 of 9\r\033[K");
}

static void quiet_is_quiet(void **state)
{
	struct progress p;
	int i;

	(void)state;
	progress_begin(&p, "flows", true);
	p.next_ns = 0;
	for (i = 0; i < 10000; i++)
		progress_step(&p, i);
	assert_false(p.shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_after_a_second_and_ten_times_a_second),
		cmocka_unit_test(quiet_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
