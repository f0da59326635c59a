/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A datapath's counters, summed over its CPUs.
 */
#pragma once

#include "dp.h"

int stats_counters(struct dp *dp, struct dp_counters *sum, struct error *e);

/* How often a mask was the one that matched; 0 or -errno. */
int stats_mask_hits(struct dp *dp, __u32 id, struct mask_hits *sum);

/* The same of all masks, MASKS_MAX of them, in one system call. */
int stats_all_mask_hits(struct dp *dp, struct mask_hits *sums);

struct drop_count {
	struct drop_key key;
	__u64 count;
};

/* By port and reason; the caller frees. */
int stats_drops(struct dp *dp, struct drop_count **drops, size_t *count, struct error *e);

const char *stats_reason_name(__u32 reason);
