/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One round of the controller: the masks of each class are put in order of use.
 */
#pragma once

#include "dp.h"
#include "rebalance.h"

struct reorder_class {
	bool moved;
	__u32 masks;
	struct rebalance_gain gain;
};

struct reorder {
	struct reorder_class class[PACKET_CLASSES_END];
};

/*
 * Ends the period: what was hit since the last round orders the masks, and each class whose order changes is swapped
 * once.  A mask that came meanwhile is judged by its rate.
 */
int reorder_masks(struct dp *dp, struct reorder *r, struct error *e);
