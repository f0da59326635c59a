/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions as text, in the words of Open vSwitch, and tc's for what only tc has: set(ipv4(ttl=64)),1,2 or drop, which is
 * the empty list.  Each action has a row in the table, and a file for its noun (action_set.h, ...).
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "action_list.h"
#include "net_text.h"

struct error;

int actions_parse(const char *text, const struct port_names *names, struct action_list *l, struct error *e);

/* Up to ACTION_END. */
void actions_print(FILE *out, const struct flow_action *a, const struct port_names *names);

/* [{"set": {"ipv4": {"ttl": 64}}}, {"output": 2}]; [] drops. */
json_t *actions_json(const struct flow_action *a);
