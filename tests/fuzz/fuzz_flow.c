// SPDX-License-Identifier: GPL-2.0-only
/* The text of a flow's key: match_parse(). */
#include "error.h"
#include "fuzz.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_string(data, size);
	struct error e = { "" };
	struct match m;

	if (match_parse(text, NULL, &m, &e))
		fuzz_check(e.text[0], "refused without a word: '%s'", text);
	else if (m.present)
		fuzz_match_reads_back(&m);
	return 0;
}
