/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of actions while it is made or walked.
 */
#pragma once

#include "flow_action.h"

struct error;

struct action_list {
	struct flow_action action[FLOW_ACTIONS_MAX + 1]; /* ACTION_END follows the last one */
	__u32 count;
};

/* Makes it empty.  Records beyond the end are left alone: a list is 8 KB, and a file of flows needs 200000 of them. */
void actions_clear(struct action_list *l);

/* Appends a record of zeroes but for its type.  NULL: the list is full, and e says so. */
struct flow_action *action_append(struct action_list *l, enum action_type type, struct error *e);

/* The first record after those that text says in the word that begins at a. */
const struct flow_action *action_next(const struct flow_action *a);
