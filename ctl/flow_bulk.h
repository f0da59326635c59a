/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes a command of many flows fast: an index of flows by hash in its own memory, since each look-up in the map is a
 * system call, and a queue of flows that are published many at a time.  It pays after some look-ups, and only then it is
 * made; what is in the maps is the same with and without it, and a kill loses no more than the flows in the queue.
 */
#pragma once

#include <stdbool.h>

#include "dp.h"

/* Without memory for it, flows are looked up and published one by one. */
void flow_bulk_begin(struct dp *dp);

/* Publishes what is in the queue and ends. */
int flow_bulk_end(struct dp *dp, struct error *e);

/* Is there an index?  flow_bulk_ready() counts as a look-up, and makes the index when it is worth it. */
bool flow_bulk_has_index(const struct dp *dp);
bool flow_bulk_ready(struct dp *dp);

/* With an index.  The slot of the flow that is filed under the hash, or -ENOENT. */
int flow_bulk_find(struct dp *dp, __u64 hash, __u32 *slot);

/* With an index: the hash will be looked for. */
void flow_bulk_prefetch(const struct dp *dp, __u64 hash);

/* With an index, in which the flow's hash is not.  If the map has no room, flows of the queue are deleted again. */
int flow_bulk_publish(struct dp *dp, __u32 slot, struct error *e);

/* Empties the queue; has to be called before flows are taken out of the map, filed anew, or committed. */
int flow_bulk_flush(struct dp *dp, struct error *e);

/* Hashes of flows change, or flows are published that the index does not learn of.  With an empty queue. */
void flow_bulk_forget(struct dp *dp);

/* mask_find() in the datapath's masks, quicker for many flows. */
__u32 flow_bulk_mask(struct dp *dp, const struct flow_key *mask);

/* The mask that the next calls are for is probably this one, or MASK_NONE. */
void flow_bulk_hint(struct dp *dp, __u32 mask_id);

/* A UFID that no other flow has.  It is no secret, nor need the next one be: for many flows only the first is drawn. */
void flow_bulk_ufid(struct dp *dp, __u8 ufid[16]);
