/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows from JSON, as dump-flows -j prints them: {"ufid": "..", "match": {..}, "actions": [..], "origin": ".."}.
 *
 * What a dump says of a flow's past and place, and a flow cannot be given, is passed over: packets, bytes, used, flags,
 * overlimits, page, slot.  Any other member is refused.
 */
#pragma once

#include <jansson.h>

#include "action_text.h"
#include "dp_maps.h"
#include "match.h"

struct flow_json {
	struct match match;	    /* m->present is 0 if there was a UFID alone */
	struct action_list actions; /* empty if there were none */
	bool has_actions;
	bool has_origin;
	enum flow_origin origin;
};

/*
 * The flows of a file: an array, {"flows": [...]}, or one flow.  *flows is a new reference to an array.  Refused is only
 * what is no JSON, or none of these.
 */
int flows_json_load(const char *text, size_t size, json_t **flows, struct error *e);

int flow_from_json(const json_t *flow, const struct port_names *names, struct flow_json *f, struct error *e);
