/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows with a mask of their own each, up to 1024 of them.
 */
#pragma once

#include "dp.h"

/*
 * Flow i of TCP or UDP, with mask i of these, either for the measured frames or for none that there is; not committed.
 */
int mask_add(struct dp *dp, unsigned int i, const char *protocol, bool fits, struct error *e);

/* So many for UDP, of which only the last one fits the measured frames.  Order of insertion is lookup order. */
int masks_add(struct dp *dp, unsigned int count, struct error *e);
