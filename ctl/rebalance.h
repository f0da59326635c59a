/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of a class's masks by use.  Pure: arrays and counts in, order out.
 */
#pragma once

#include <stdbool.h>

#include "dp_maps.h"

struct rebalance_gain { /* floating, since products of 64-bit counts overflow */
	double hits;	/* in the period, over the masks of the class */
	double before;	/* masks tried for them in the order that was */
	double after;	/* in order of hits */
};

/*
 * Sorts the array by hits, most first; equal ones keep their order.  hits: by mask id, of the last period.
 * Returns false, with the array as it was, if the order is right already, or if what a new one would save may as well be
 * chance.
 */
bool rebalance_array(struct mask_array *array, const __u64 *hits, struct rebalance_gain *gain);
