// SPDX-License-Identifier: GPL-2.0-only
/* The text of actions: actions_parse(). */
#include "error.h"
#include "fuzz.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_string(data, size);
	struct action_list l;
	struct error e = { "" };

	if (actions_parse(text, NULL, &l, &e))
		fuzz_check(e.text[0], "refused without a word: '%s'", text);
	else
		fuzz_actions_read_back(&l);
	return 0;
}
