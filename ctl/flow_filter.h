/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which flows a dump shows: filter='tcp,tp_src=80', in the match words of ovs-fields(7), and type=.
 *
 * A flow is shown if some packet could fit both the filter and the flow: their values agree on the bits that both care
 * about.  So a flow that does not look at a field is shown by every filter on that field.
 *
 * Taken beyond what ovs-dpctl takes: masks (nw_src=10.0.0.0/8), and words in any order.  Likewise a word is refused whose
 * protocol the filter does not name, as tp_src without tcp: its bits mean something else in other packets.
 */
#pragma once

#include <stdbool.h>

#include "match.h"
#include "net_text.h"

struct error;

struct flow_filter {
	struct match_level want; /* as in a match: the tag is the outer one, the type the innermost one */
};

/* An empty text shows every flow. */
int flow_filter_parse(const char *text, const struct port_names *names, struct flow_filter *f, struct error *e);
bool flow_filter_shows(const struct flow_filter *f, const struct match *m);

/* The words of type=, separated by commas: are flows of this datapath (dp:tcvs, never offloaded) among them? */
int flow_types_parse(const char *text, bool *shown, struct error *e);
