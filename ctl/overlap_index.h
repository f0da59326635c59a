/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flows of a datapath, filed so that those that overlap a new one are found without looking at all.
 *
 * Two flows of the masks M and N overlap if their keys are equal under the common mask M AND N.  So each mask's flows are
 * filed once for every common mask that it has with another (overlap_set.h), when that is first asked for, and a new flow
 * costs one look for each mask of the table.  Masks that have the same bits in common with it share a set.
 *
 * The sets take as many bytes as there is room for, and the rest a few dozen for each flow and mask.  Where there is no
 * room for a set, and before it is worth one, a mask's flows are searched one by one: slower, and never another answer.
 */
#pragma once

#include "action_text.h"
#include "dp.h"

/* Of all flows that there are; room: for the sets, in bytes.  NULL = no memory. */
struct overlap_index *overlap_index_make(struct dp *dp, size_t room);
void overlap_index_free(struct overlap_index *index);

/*
 * The slot of a flow that overlaps a match of this key and mask, of another mask, with other actions; SLOT_NONE.  mask_id
 * is MASK_NONE if the datapath has no such mask.
 */
__u32 overlap_index_find(struct overlap_index *index, const struct flow_key *key, const struct flow_key *mask,
			 __u32 mask_id, const struct flow_action *actions);

/* The key will be looked for: what the filter says of it is on its way from memory. */
void overlap_index_prefetch(const struct overlap_index *index, const struct flow_key *key);

/* -ENOMEM: the index no longer holds all flows. */
int overlap_index_add(struct overlap_index *index, struct dp *dp, __u32 slot);

/* While the entry of the flow is whole; its actions may have been changed already. */
void overlap_index_remove(struct overlap_index *index, struct dp *dp, __u32 slot);
