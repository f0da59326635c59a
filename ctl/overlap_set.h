/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows filed by what a common mask leaves of their keys: does one of another mask have these bits and other actions?
 * It takes the same time however many flows of a mask share the bits.  Pure.
 *
 * One set serves all pairs of masks that have the same common mask, so looking for a flow's value and filing it is mostly
 * one place in memory.  Each mask that is filed in it has a side.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dp_maps.h"

/* Some packet fits both; the definition. */
bool overlap_keys(const struct flow_key *key, const struct flow_key *mask, const struct flow_key *other,
		  const struct flow_key *other_mask);

/* A flow, known by its place among those of its mask. */
struct overlap_member {
	const struct flow_key *key; /* masked; NULL = the place is free */
	const void *actions;	    /* equal lists have one address */
	__u32 slot;
};

struct overlap_mask {
	__u32 id;
	struct overlap_member *members;
};

/* The flows of one mask that have one value. */
struct overlap_cell {
	__u32 tag;  /* the value's hash, and whether there are several; 0 = empty */
	__u32 what; /* the side, and the place of the only flow or the number of a group */
};

/*
 * Several flows of a mask that have one value, as a ring.  Those with the head's actions come right after it, so that what
 * stands before the head has others if any has.
 */
struct overlap_group {
	__u32 head;
	__u32 count;
	__u32 same; /* with the head's actions, itself included; 0 = not counted, and the ring is in no order */
};

struct overlap_link {
	__u32 next;
	__u32 prev;
};

struct overlap_side {
	const struct overlap_mask *mask; /* NULL = the side is free */
	struct overlap_link *links;	 /* by place; only those of groups mean anything */
	struct overlap_group *groups;
	__u32 links_size;
	__u32 groups_size;
	__u32 free_group; /* chained by head */
};

struct overlap_set {
	struct overlap_cell *cells; /* NULL: memory was short, and the set is of no use any more */
	__u32 size;		    /* of cells; a power of two */
	__u32 used;
	__u64 check; /* this and value are the caller's alone */
	__u32 value;
	__u32 words; /* of the common mask that are looked at */
	__u64 seed;
	struct flow_key common; /* most flows need no more of the set than what stands up to here */
	struct overlap_side *sides;
	__u32 side_count;
	__u32 hash; /* these three are the caller's alone */
	__u32 users;
	struct overlap_set *next;
	size_t *room; /* bytes that all sets together may still take */
};

/* What one mask knows of another. */
struct overlap_meeting {
	struct overlap_set *set; /* of their common mask; NULL = not looked for, or no memory */
	__u32 searched;		 /* flows that were looked at one by one */
};

/* An empty set; -ENOMEM. */
int overlap_set_init(struct overlap_set *set, const struct flow_key *common, __u64 seed, size_t *room);
void overlap_set_end(struct overlap_set *set);

/* A side for a mask, which has to file its flows; -ENOMEM.  It is given back when none of them is left in the set. */
int overlap_set_open_side(struct overlap_set *set, const struct overlap_mask *mask, __u32 *side);
void overlap_set_close_side(struct overlap_set *set, __u32 side);

/* Of a key's value here, for the calls below; the cell is on its way from memory when it returns. */
__u32 overlap_set_hash(const struct overlap_set *set, const struct flow_key *key);

/* -ENOMEM: the set must be ended. */
int overlap_set_insert(struct overlap_set *set, __u32 side, __u32 place, const struct flow_key *key, __u32 hash);

/* While the member still has its key and the actions it was inserted with. */
void overlap_set_remove(struct overlap_set *set, __u32 side, __u32 place, const struct flow_key *key, __u32 hash);

/*
 * A flow with the key's value and other actions, or NULL.  Only masks are looked at that the key's mask meets here: with the
 * others it has more in common than this.
 */
const struct overlap_member *overlap_set_find(struct overlap_set *set, const struct overlap_meeting *meetings,
					      const struct flow_key *key, __u32 hash, const void *actions);
