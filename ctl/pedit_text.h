/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pedit(...) as text: the words that follow "action pedit" in tc, and compat before them for iproute2's bytes where it
 * has a bug.  docs/pedit.md has the grammar.
 *
 * One pedit() is a list of records: ACTION_PEDIT, its keys as tc would make them, and the steps that the program executes
 * (pedit_steps.h).  Text is made from the keys alone.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "flow_action.h"
#include "net_text.h"

struct action_list;
struct error;

/* body is what stands between the parentheses. */
int pedit_parse(struct text body, struct action_list *l, struct error *e);

/* Prints what pedit_parse reads as the same records.  Returns the record after the pedit(). */
const struct flow_action *pedit_print(FILE *out, const struct flow_action *a);

/* The same without printing. */
const struct flow_action *pedit_next(const struct flow_action *a);

/* Its keys as tc lists them, a line each: " key #0  at ipv4+8: val 0a000000 mask 00ffffff". */
void pedit_list(FILE *out, const struct flow_action *a);

/* {"ex": true, "keys": [{"htype": "ipv4", "offset": 8, "cmd": "set", "val": "0a000000", "mask": "00ffffff"}]} */
json_t *pedit_json(const struct flow_action *a);
