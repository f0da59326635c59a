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
	int end;	/* why the list ended: enum drop_reason; 0: its last output is next; -1: it did not */
	__u32 out_port; /* of the last output */
};

enum {
	/*
	 * Records that are executed before the loop.  Each turn of the loop is a call, and a return costs 5 ns where CPUs
	 * are protected against their own return predictor (Zen 1 to 4).
	 */
	RECORDS_UNROLLED = 3,
};

/* The record at position i of the list, or NULL. */
static __always_inline struct flow_action *action_at(struct execution *x, __u32 i)
{
	__u32 page, index;
	void *actions_in_page;

	if (x->actions == ACTIONS_INLINE) {
		/* clang compares what i was made from; before 6.13 the verifier does not carry that over to i. */
		barrier_var(i);
		return i <= FLOW_ACTIONS_INLINE ? &x->flow->inline_actions[i] : NULL;
	}
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

static __always_inline bool is_last_output(const struct flow_action *a)
{
	return a->type == ACTION_OUTPUT && (a->flags & ACTION_F_LAST);
}

/*
 * A step of a pedit().  When one fails the others are skipped and the frame goes on, as in act_pedit; the masks of a
 * write are passed over either way.
 */
static __always_inline int execute_step(struct execution *x, struct flow_action *a, __u32 *next)
{
	struct headers *h = &x->cpu->headers;
	struct flow_action *masks = a;

	if (a->type == ACTION_PEDIT_WRITE) {
		masks = action_at(x, (*next)++);
		if (!masks)
			return DROP_STALE;
		/* All of it, without a call. */
		if (!h->pedit_over && (a->flags & ACTION_F_STEPS_END) && is_write_of_macs(a, masks)) {
			h->key_stale = 1;
			return bpf_skb_store_bytes(x->skb, 0, a->words_be, sizeof(a->words_be), 0) ? DROP_WRITE : 0;
		}
	}
	if (!h->pedit_over && pedit_step(x->skb, x->cpu, a, masks)) {
		h->pedit_over = 1;
		x->stats->overlimits++;
	}
	if ((a->flags | masks->flags) & ACTION_F_STEPS_END)
		h->pedit_over = 0;
	return DROP_NONE;
}

/* Executes one record that is not the last output.  Returns 0 or enum drop_reason; next: of the record behind it. */
static __always_inline int execute_record(struct execution *x, struct flow_action *a, __u32 *next)
{
	if (a->type == ACTION_PEDIT) {
		*next += a->pedit.keys; /* as they were given, for text */
		a = action_at(x, (*next)++);
		if (!a)
			return DROP_STALE;
	}
	switch (a->type) {
	case ACTION_OUTPUT:
		output_copy(x->skb, x->cpu, a->port);
		return DROP_NONE;
	case ACTION_SET:
		if (a->set.field == SET_ETH)
			return set_macs(x->skb, x->cpu, a);
		return set_field(x->skb, x->cpu, a);
	case ACTION_PEDIT_KEY:
	case ACTION_PEDIT_WRITE:
		return execute_step(x, a, next);
	case ACTION_PUSH_VLAN:
	case ACTION_POP_VLAN:
		return change_tags(x->skb, x->cpu, a);
	case ACTION_CSUM:
		return recompute(x->skb, x->cpu, a);
	default:
		return DROP_NO_ACTION;
	}
}

static long execute_next(__u32 i, struct execution *x)
{
	__u32 next = x->cpu->headers.next;
	struct flow_action *a = action_at(x, next++);

	(void)i;
	if (!a) {
		x->end = DROP_STALE;
		return 1;
	}
	if (is_last_output(a)) {
		x->out_port = a->port;
		x->end = 0;
		return 1;
	}
	x->end = execute_record(x, a, &next);
	x->cpu->headers.next = next;
	if (x->end)
		return 1;
	x->end = -1;
	return 0;
}

/* What is to be done when the list, which does not begin with its last output, has come to its end, in x->end. */
static __always_inline void execute_list(struct execution *x, struct flow_action *a, __u32 next)
{
	x->cpu->headers = (struct headers){};
#pragma unroll
	for (int i = 0; i < RECORDS_UNROLLED; i++) {
		x->end = execute_record(x, a, &next);
		if (x->end)
			return;
		a = action_at(x, next++);
		if (!a) {
			x->end = DROP_STALE;
			return;
		}
		x->out_port = a->port;
		if (is_last_output(a))
			return;
	}
	x->cpu->headers.next = next - 1;
	x->end = -1;
	bpf_loop(FLOW_ACTIONS_MAX, execute_next, x, 0);
}

/* Runs the flow's list on the frame; returns the program's verdict. */
static __always_inline int execute_actions(struct execution *x)
{
	struct flow_action *a;

	x->actions = *(volatile __u32 *)&x->flow->actions;
	a = action_at(x, 0);
	if (!a)
		return drop_frame(x, DROP_STALE);
	if (is_last_output(a))
		return output_last(x->skb, x->cpu, a->port);
	execute_list(x, a, 1);
	if (x->end)
		return drop_frame(x, x->end < 0 ? DROP_STALE : x->end);
	return output_last(x->skb, x->cpu, x->out_port);
}
