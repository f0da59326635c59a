/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which slots of flow and action pages are in use.  The states live in a pinned map, so that a killed command loses
 * nothing: a slot is free, used, or retired, that is unreachable but perhaps still read by a packet in flight.
 */
#pragma once

#include "dp_maps.h"

#define SLOT_NONE 0xffffffffU

/*
 * The first of n free slots in one page, all marked used; SLOT_NONE if there is no such run.  n: 1 to PAGE_SLOTS.
 * The search begins at slot `from`.
 */
__u32 slots_claim(struct slot_page *pages, __u32 page_count, __u32 n, __u32 from);

void slots_set(struct slot_page *pages, __u32 slot, __u32 n, enum slot_state state);

static inline enum slot_state slot_state(const struct slot_page *pages, __u32 slot)
{
	return pages[slot >> PAGE_SHIFT].state[slot & (PAGE_SLOTS - 1)];
}

/* Makes retired slots free; only after a grace period. */
void slots_reclaim(struct slot_page *pages, __u32 page_count);

__u32 slots_count(const struct slot_page *pages, __u32 page_count, enum slot_state state);
