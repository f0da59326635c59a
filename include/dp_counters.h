/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is counted: X(name, description).  The names appear in bpftool and in the command line's output.
 *
 * Every received frame is a hit, a miss or a drop before lookup, and ends in exactly one outcome:
 *	received  = hit + missed + dropped before lookup (reasons marked "before lookup")
 *	hit       = forwarded + dropped after lookup
 *	missed    = upcalls delivered + lost
 * Copies for further outputs are counted apart.  The sum of all drops in the drops table is
 * dropped + copies_dropped - drops_unlisted.
 */
#pragma once

#include <linux/types.h>

#define DP_COUNTERS(X) \
	X(hit, "lookups that found a flow") \
	X(missed, "lookups that found none") \
	X(lost, "misses that could not be handed to userspace") \
	X(mask_hit, "masks tried, over all lookups; the cache's answer counts as one") \
	X(cache_hit, "lookups that the mask cache answered") \
	X(forwarded, "frames whose last output was given to a port") \
	X(dropped, "frames that ended in a drop") \
	X(copies, "further copies that were given to a port") \
	X(copies_dropped, "further copies that ended in a drop") \
	X(sets_skipped, "set actions whose header the frame does not have, or not whole") \
	X(drops_unlisted, "drops that found no room in the drops table")

struct dp_counters {
#define X(name, text) __u64 name;
	DP_COUNTERS(X)
#undef X
};

/* Reasons of the drops table.  The port is the egress port where the text names an output, else the ingress port. */
#define DROP_REASONS(X) \
	X(NO_ACTION, no_action, "the flow's actions are empty or end without an output") \
	X(NO_PORT, no_port, "output: no such port, or its device is gone") \
	X(MTU, mtu, "output: the frame, or a segment of it, is longer than the port's MTU") \
	X(TX_ERROR, tx_error, "output: the device did not take the copy") \
	X(WRITE, write, "an action could not make the frame's memory its own to write to") \
	X(VLAN, vlan, "push_vlan, pop_vlan: the tag could not be put in or taken out") \
	X(CSUM, csum, "csum: the frame is shorter than its headers say") \
	X(SHORT, short, "before lookup: no whole Ethernet header") \
	X(FOREIGN_NETNS, foreign_netns, "before lookup: the port's device is in another network namespace") \
	X(NOT_A_PORT, not_a_port, "before lookup: the device is not, or no longer, a port") \
	X(NESTED, nested, "before lookup: the program was entered while it ran on this CPU") \
	X(STALE, stale, "a table that should exist does not: please report it")

enum drop_reason {
	DROP_NONE,
#define X(id, name, text) DROP_##id,
	DROP_REASONS(X)
#undef X
	DROP_REASONS_END
};

struct drop_key {
	__u32 port;
	__u32 reason; /* enum drop_reason */
};
