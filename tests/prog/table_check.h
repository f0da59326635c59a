/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do the tables of a datapath agree with each other, as include/dp_maps.h says?
 */
#pragma once

#include "harness.h"

/* There are so many flows and masks, and every table says so. */
void assert_tables(struct world *w, __u32 flows, __u32 masks);

/* Where in its class's array the mask stands, -1 if it is not there. */
int mask_position(struct world *w, enum packet_class class, __u32 id);

/* Elements of the map flows. */
__u32 published(struct world *w);

__u64 hash_of(struct world *w, __u32 mask_id, const struct flow_key *masked);
