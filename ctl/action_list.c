// SPDX-License-Identifier: GPL-2.0-only
#include "action_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

void actions_clear(struct action_list *l)
{
	l->count = 0;
	l->action[0] = (struct flow_action){ .type = ACTION_END };
}

struct flow_action *action_append(struct action_list *l, enum action_type type, struct error *e)
{
	if (l->count == FLOW_ACTIONS_MAX) {
		error_set(e, E2BIG, "actions: more than %u records are not possible in one flow", FLOW_ACTIONS_MAX);
		return NULL;
	}
	l->action[l->count] = (struct flow_action){ .type = type };
	l->action[l->count + 1] = (struct flow_action){ .type = ACTION_END };
	return &l->action[l->count++];
}

static bool goes_on(const struct flow_action *before, const struct flow_action *a)
{
	switch (a->type) {
	case ACTION_SET:
		return before->type == ACTION_SET && before->flags & ACTION_F_MORE;
	case ACTION_PEDIT_KEY:
	case ACTION_PEDIT_WRITE:
	case ACTION_PEDIT_MASK:
		return true;
	default:
		return false;
	}
}

const struct flow_action *action_next(const struct flow_action *a)
{
	do {
		a++;
	} while (goes_on(a - 1, a));
	return a;
}
