/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The action lists that flows have, each kept once, so that equal ones have one address.  Pure.
 */
#pragma once

#include <stddef.h>

#include "flow_action.h"

enum {
	OVERLAP_CLASS_BUCKETS = 1 << 14,
};

struct overlap_class {
	struct overlap_class *next;
	__u32 hash;
	__u32 flows; /* that have it */
	__u32 count; /* ACTION_END not counted */
	struct flow_action actions[];
};

struct overlap_classes {
	__u64 seed;
	struct overlap_class *bucket[OVERLAP_CLASS_BUCKETS];
};

/* NULL: no flow has these actions. */
const struct overlap_class *overlap_class_find(const struct overlap_classes *classes,
					       const struct flow_action *actions);

/* For one more flow; NULL = no memory. */
const struct overlap_class *overlap_class_get(struct overlap_classes *classes, const struct flow_action *actions);
void overlap_class_put(struct overlap_classes *classes, const struct overlap_class *class);

void overlap_classes_end(struct overlap_classes *classes);

/* Of whole 64-bit words. */
__u32 overlap_hash(const void *bytes, size_t size, __u64 seed);
