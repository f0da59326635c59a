// SPDX-License-Identifier: GPL-2.0-only
/* Files of flows as JSON. */
#include "error.h"
#include "flow_json.h"
#include "fuzz.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error e = { "" };
	json_t *flows = NULL, *flow;
	size_t i;

	if (flows_json_load((const char *)data, size, &flows, &e)) {
		fuzz_check(e.text[0], "refused without a word");
		return 0;
	}
	json_array_foreach (flows, i, flow) {
		struct flow_json f;

		e.text[0] = '\0';
		if (flow_from_json(flow, NULL, &f, &e)) {
			fuzz_check(e.text[0], "refused without a word");
			continue;
		}
		if (f.match.present)
			fuzz_match_reads_back(&f.match);
		fuzz_actions_read_back(&f.actions);
	}
	json_decref(flows);
	return 0;
}
