/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interpreter of action lists.
 */
#pragma once

#include "flow_action.h"
#include "maps.h"
#include "output.h"
#include "stats.h"

struct execution {
	struct __sk_buff *skb;
	struct cpu_state *cpu;
	struct flow *flow;
	__u32 actions; /* flow->actions, read once: a modification may switch it */
	__u32 in_port;
	int verdict;
};

/* The record at position i of the list, or NULL. */
static __always_inline struct flow_action *action_at(struct execution *x, __u32 i)
{
	__u32 page, index;
	void *actions_in_page;

	if (x->actions == ACTIONS_INLINE)
		return i <= FLOW_ACTIONS_INLINE ? &x->flow->inline_actions[i] : NULL;
	page = x->actions >> PAGE_SHIFT;
	actions_in_page = bpf_map_lookup_elem(&action_pages, &page);
	if (!actions_in_page)
		return NULL;
	index = (x->actions & (PAGE_SLOTS - 1)) + i; /* a list does not cross pages */
	return bpf_map_lookup_elem(actions_in_page, &index);
}

static __always_inline int drop_frame(struct execution *x, enum drop_reason reason)
{
	COUNT(x->cpu, dropped);
	count_drop(x->cpu, x->in_port, reason);
	return TC_ACT_SHOT;
}

/* Executes one record; returns 1 when it was the last one, x->verdict is then final. */
static __always_inline long execute_action(struct execution *x, struct flow_action *a)
{
	if (a->type == ACTION_OUTPUT) {
		if (!(a->flags & ACTION_F_LAST)) {
			output_copy(x->skb, x->cpu, a->port);
			return 0;
		}
		x->verdict = output_last(x->skb, x->cpu, a->port);
		return 1;
	}
	x->verdict = drop_frame(x, DROP_NO_ACTION);
	return 1;
}

static long execute_action_at(__u32 i, struct execution *x)
{
	struct flow_action *a = action_at(x, i + 1); /* the first was executed inline */

	if (!a) {
		x->verdict = drop_frame(x, DROP_STALE);
		return 1;
	}
	return execute_action(x, a);
}

/* Runs the flow's list on the frame; returns the program's verdict.  Most lists are one output: no loop for these. */
static __always_inline int execute_actions(struct execution *x)
{
	struct flow_action *a;

	x->actions = *(volatile __u32 *)&x->flow->actions;
	a = action_at(x, 0);
	if (!a)
		return drop_frame(x, DROP_STALE);
	/* For a list that does not end where the control side says all lists end. */
	x->verdict = -1;
	if (!execute_action(x, a))
		bpf_loop(FLOW_ACTIONS_MAX, execute_action_at, x, 0);
	return x->verdict < 0 ? drop_frame(x, DROP_STALE) : x->verdict;
}
