/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions as JSON: [{"output": 1}, "push_vlan(vid=1,pcp=0)", {"output": 2}].  An output is an object, every other action
 * the string that is its text; [] drops.
 */
#pragma once

#include <jansson.h>

#include "action_text.h"

/* Up to ACTION_END. */
json_t *actions_json(const struct flow_action *a);

/* Also a string: the whole list as text. */
int actions_from_json(const json_t *actions, const struct port_names *names, struct action_list *l, struct error *e);
