// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: runs are found, never cross a page, and come back only through retirement.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "slots.h"
#include "util.h"

static struct slot_page pages[2];

static int clear_pages(void **state)
{
	(void)state;
	memset(pages, 0, sizeof(pages));
	return 0;
}

static void claims_lowest_free(void **state)
{
	(void)state;
	assert_int_equal(slots_claim(pages, 2, 1, 0), 0);
	assert_int_equal(slots_claim(pages, 2, 1, 0), 1);
	slots_set(pages, 0, 1, SLOT_FREE);
	assert_int_equal(slots_claim(pages, 2, 1, 0), 0);
	assert_int_equal(slots_claim(pages, 2, 1, 0), 2);
}

static void claims_runs(void **state)
{
	(void)state;
	assert_int_equal(slots_claim(pages, 2, 5, 0), 0);
	slots_set(pages, 2, 2, SLOT_FREE);
	assert_int_equal(slots_claim(pages, 2, 3, 0), 5);
	assert_int_equal(slots_claim(pages, 2, 2, 0), 2);
	assert_int_equal(slots_count(pages, 2, SLOT_USED), 8);
}

static void a_run_does_not_cross_pages(void **state)
{
	(void)state;
	assert_int_equal(slots_claim(pages, 2, PAGE_SLOTS - 3, 0), 0);
	assert_int_equal(slots_claim(pages, 2, 4, 0), PAGE_SLOTS);
	assert_int_equal(slots_claim(pages, 2, 3, 0), PAGE_SLOTS - 3);
	assert_int_equal(slots_claim(pages, 2, PAGE_SLOTS, 0), SLOT_NONE);
	assert_int_equal(slots_claim(pages, 2, PAGE_SLOTS - 4, 0), PAGE_SLOTS + 4);
	assert_int_equal(slots_claim(pages, 2, 1, 0), SLOT_NONE);
}

static void retired_slots_wait(void **state)
{
	(void)state;
	assert_int_equal(slots_claim(pages, 1, PAGE_SLOTS, 0), 0);
	slots_set(pages, 7, 2, SLOT_RETIRED);
	assert_int_equal(slot_state(pages, 8), SLOT_RETIRED);
	assert_int_equal(slots_claim(pages, 1, 1, 0), SLOT_NONE);
	slots_reclaim(pages, 1);
	assert_int_equal(slots_claim(pages, 1, 1, PAGE_SLOTS), SLOT_NONE);
	assert_int_equal(slots_claim(pages, 1, 2, 0), 7);
	assert_int_equal(slots_count(pages, 1, SLOT_FREE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(claims_lowest_free, clear_pages),
		cmocka_unit_test_setup(claims_runs, clear_pages),
		cmocka_unit_test_setup(a_run_does_not_cross_pages, clear_pages),
		cmocka_unit_test_setup(retired_slots_wait, clear_pages),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
