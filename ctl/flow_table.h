/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows in the tables of a datapath.  Changes that bring masks in or take them out wait for dp_commit(), one swap a
 * class for as many flows as were changed before.
 */
#pragma once

#include "action_text.h"
#include "dp.h"
#include "match.h"

struct flow_counts {
	__u64 packets;
	__u64 bytes;
	__u64 used_ns; /* CLOCK_MONOTONIC; 0 = never */
	__u16 tcp_flags;
	__u64 overlimits;
};

/*
 * -EEXIST: the same key and mask, or the UFID, is there; -EINVAL: what it matches does not allow its actions; -ENOSPC:
 * flow or mask table full.  Nothing is changed then.
 */
int flow_add(struct dp *dp, const struct match *match, const struct action_list *actions, struct error *e);

/* The slot of the flow with this key and mask, or with this UFID if the match is one; -ENOENT. */
int flow_find(struct dp *dp, const struct match *match, __u32 *slot);

/*
 * The flow of this match will be looked for or added soon: what decides that is on its way from memory when it returns.
 * Returns a hint for flow_bulk_hint().
 */
__u32 flow_prefetch(struct dp *dp, const struct match *match);

/* The new list takes over with one store; packets and bytes go on.  -EINVAL as with flow_add(). */
int flow_set_actions(struct dp *dp, __u32 slot, const struct action_list *actions, struct error *e);

void flow_delete(struct dp *dp, __u32 slot);

/* Statistics summed over the CPUs.  A counter that is being written may be one packet behind another. */
void flow_counts(struct dp *dp, __u32 slot, struct flow_counts *counts);

/* Zeroes them; packets that are counted meanwhile may keep a count that they read before. */
void flow_clear_counts(struct dp *dp, __u32 slot);

/* The flow in a slot as a match. */
void flow_match(struct dp *dp, const struct flow *flow, struct match *match);

/* The first slot in use at or after slot; SLOT_NONE when there is none. */
__u32 flow_next(struct dp *dp, __u32 slot);
