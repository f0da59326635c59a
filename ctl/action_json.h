/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions from JSON, in the form that actions_json() (action_text.h) makes: [{"set": {"ipv4": {"ttl": 64}}},
 * {"output": 2}], or any action as the string that is its text; [] drops.  It is read by way of the text.
 */
#pragma once

#include <jansson.h>

#include "action_text.h"

/* Also a string: the whole list as text. */
int actions_from_json(const json_t *actions, const struct port_names *names, struct action_list *l, struct error *e);
