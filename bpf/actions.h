/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interpreter of action lists.  What writes to the frame is a function of its own for each kind, which gets context,
 * this CPU's memory and records: so the verifier looks at each once, however many ways lead there.
 *
 * Where the list is at stands in this CPU's memory and not on the stack: before Linux 6.7 the verifier walks a callback of
 * bpf_loop once, would take the position for the constant that it is then, and cut off the code for all others.
 */
#pragma once

#include "flow_action.h"
#include "maps.h"
#include "output.h"
#include "pedit.h"
#include "recompute.h"
#include "set.h"
#include "stats.h"
#include "vlan.h"

struct execution {
	struct __sk_buff *skb;
	struct cpu_state *cpu;
	struct flow *flow;
	struct flow_stats *stats;
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

static __always_inline long end_with(struct execution *x, enum drop_reason reason)
{
	x->verdict = drop_frame(x, reason);
	return 1;
}

static __always_inline struct flow_action *next_action(struct execution *x)
{
	return action_at(x, x->cpu->headers.next++);
}

/*
 * A step of a pedit().  When one fails the others are skipped and the frame goes on, as in act_pedit; the masks of a
 * write are passed over either way.
 */
static __always_inline long execute_step(struct execution *x, struct flow_action *a)
{
	struct headers *h = &x->cpu->headers;
	struct flow_action *masks = a;

	if (a->type == ACTION_PEDIT_WRITE) {
		masks = next_action(x);
		if (!masks)
			return end_with(x, DROP_STALE);
	}
	if (!h->pedit_over && pedit_step(x->skb, x->cpu, a, masks)) {
		h->pedit_over = 1;
		x->stats->overlimits++;
	}
	if ((a->flags | masks->flags) & ACTION_F_STEPS_END)
		h->pedit_over = 0;
	return 0;
}

/* Executes one record; returns 1 when it was the last one, x->verdict is then final. */
static long execute_action(__u32 i, struct execution *x)
{
	struct flow_action *a = next_action(x);
	int reason = DROP_NO_ACTION;

	(void)i;
	if (!a)
		return end_with(x, DROP_STALE);
	switch (a->type) {
	case ACTION_OUTPUT:
		if (!(a->flags & ACTION_F_LAST)) {
			output_copy(x->skb, x->cpu, a->port);
			return 0;
		}
		x->verdict = output_last(x->skb, x->cpu, a->port);
		return 1;
	case ACTION_PEDIT:
		x->cpu->headers.next += a->pedit.keys; /* as they were given, for text */
		return 0;
	case ACTION_PEDIT_KEY:
	case ACTION_PEDIT_WRITE:
		return execute_step(x, a);
	case ACTION_SET:
		reason = set_field(x->skb, x->cpu, a);
		break;
	case ACTION_PUSH_VLAN:
	case ACTION_POP_VLAN:
		reason = change_tags(x->skb, x->cpu, a);
		break;
	case ACTION_CSUM:
		reason = recompute(x->skb, x->cpu, a);
		break;
	}
	return reason ? end_with(x, reason) : 0;
}

/* Runs the flow's list on the frame; returns the program's verdict.  Most lists are one output: no loop for these. */
static __always_inline int execute_actions(struct execution *x)
{
	struct flow_action *a;

	x->actions = *(volatile __u32 *)&x->flow->actions;
	a = action_at(x, 0);
	if (!a)
		return drop_frame(x, DROP_STALE);
	if (a->type == ACTION_OUTPUT && (a->flags & ACTION_F_LAST))
		return output_last(x->skb, x->cpu, a->port);
	x->cpu->headers = (struct headers){};
	/* For a list that does not end where the control side says all lists end. */
	x->verdict = -1;
	bpf_loop(FLOW_ACTIONS_MAX + 1, execute_action, x, 0);
	return x->verdict < 0 ? drop_frame(x, DROP_STALE) : x->verdict;
}
