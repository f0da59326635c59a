/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a list of records does to a frame, written down a second time: byte by byte, with no thought of speed, from what
 * Open vSwitch, act_pedit and act_csum are known to do.
 */
#pragma once

#include <stdbool.h>

#include "dp_counters.h"
#include "flow_action.h"
#include "flow_key.h"
#include "packet.h"

enum {
	MODEL_COPIES = 64,
};

struct model_headers {
	__u32 l3, l3_len, l4; /* 0: none */
	bool ipv4, ipv6;
	bool later; /* a later fragment */
	bool fragment;
	bool rerouted;
	__u8 proto;
};

struct model {
	struct frame f; /* without the tag that is in metadata */
	bool tagged;
	__u16 tpid, tci;
	__u16 protocol; /* what the kernel takes for the type behind the tag in metadata */
	struct model_headers at;
	__u32 priority, mark;
	/* what comes out */
	struct frame copy[MODEL_COPIES];
	__u32 copies;
	__u32 sets_skipped, overlimits;
	enum drop_reason dropped;
	bool pedited, summed;
};

void model_run(struct model *m, const struct frame *in, const struct flow_action *list, __u32 count);
