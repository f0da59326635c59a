/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter in front of the flows map: two bits in one word for each flow's hash.  It can say "no flow has this hash"
 * wrongly never, and "perhaps one has" wrongly once in 80 times.
 *
 * It has two places in its map, and is made anew in the one that is not in use; the datapath's record names the place.
 */
#pragma once

#include "dp.h"

/* Before a flow is published under this hash; makes the filter larger when it has got too full. */
int filter_add(struct dp *dp, __u64 hash, struct error *e);

/* The two halves of that, for many flows: room for so many more (filter_reserve() makes it), and a hash for which there is. */
bool filter_has_room(const struct dp *dp, __u32 n);
void filter_set(struct dp *dp, __u64 hash, __u64 later); /* later: another that is soon to be set */

/* Makes room for so many more hashes at once: filter_add() will not make the filter anew in between. */
int filter_reserve(struct dp *dp, __u32 n, struct error *e);

/* Makes the filter anew from the flows that there are, with room for more: larger, or without the bits of deleted ones. */
int filter_rebuild(struct dp *dp, __u32 more, struct error *e);

/* Have so many flows been deleted that it would pay? */
bool filter_is_stale(const struct dp *dp);
