/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which masks cannot have a flow that overlaps a new one: a flow that differs from it in bits that every mask has, does
 * not.  For each value of those bits each mask that has flows with that value sets bits; values and masks may share them, so
 * what is not there is certain, and what is there is not.  Pure.
 */
#pragma once

#include <stdbool.h>

#include "flow_key.h"

struct overlap_filter {
	struct flow_key always; /* the bits that all masks had when it was made */
	__u32 words;		/* of them that are looked at */
	__u32 size;		/* a power of two; 0 = there is no filter */
	__u32 flows;		/* that were added; more than half the size blur it */
	__u64 *word;
	__u64 seed;
};

/* Makes it anew, empty, with room for so many flows.  Without memory there is none, and all masks may have such a flow. */
void overlap_filter_make(struct overlap_filter *f, const struct flow_key *always, __u32 flows);
void overlap_filter_end(struct overlap_filter *f);

enum {
	OVERLAP_FILTER_BITS = 64,
};

static inline __u64 overlap_filter_bit(__u32 mask_id)
{
	return 1ULL << mask_id % OVERLAP_FILTER_BITS;
}

/* A mask without one of the bits has flows that no value's word can stand for. */
bool overlap_filter_fits(const struct overlap_filter *f, const struct flow_key *mask);

/* Of a mask that fits. */
void overlap_filter_add(struct overlap_filter *f, const struct flow_key *key, __u32 mask_id);

void overlap_filter_prefetch(const struct overlap_filter *f, const struct flow_key *key);

/* The bits of the masks that may have flows which overlap one of this key and mask; the mask need not fit. */
__u64 overlap_filter_look(const struct overlap_filter *f, const struct flow_key *key, const struct flow_key *mask);
