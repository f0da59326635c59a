/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows by UFID.  One look-up goes through all entries, some milliseconds for 200000; from the ninth on, as in a file of
 * flows, there is an index of slots.  It lives as long as the datapath is open: nobody else changes flows under the lock.
 */
#pragma once

#include "dp.h"

/* 0 with *slot, or -ENOENT. */
int ufid_find(struct dp *dp, const __u8 ufid[16], __u32 *slot);

/* A flow was added; what is deleted is noticed when it is found. */
void ufid_added(struct dp *dp, __u32 slot);
