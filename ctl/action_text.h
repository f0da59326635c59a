/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions as text, in the words of Open vSwitch: 1,2 or drop, which is the empty list.
 */
#pragma once

#include <stdio.h>

#include "flow_action.h"
#include "net_text.h"

struct error;

struct action_list {
	struct flow_action action[FLOW_ACTIONS_MAX + 1]; /* ACTION_END follows the last one */
	__u32 count;
};

int actions_parse(const char *text, const struct port_names *names, struct action_list *l, struct error *e);

/* Up to ACTION_END. */
void actions_print(FILE *out, const struct flow_action *a, const struct port_names *names);
