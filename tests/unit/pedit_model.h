/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What act_pedit does to a frame, and what the steps of a pedit() do, each written down from its own description: one
 * is the measure of the other, and both are the measure of the program.
 */
#pragma once

#include <linux/types.h>

#include "flow_action.h"

enum {
	PEDIT_MODEL_NO_HEADER = -1000000,
	PEDIT_MODEL_BY_IHL, /* behind the IPv4 header, as its length then is */
};

struct pedit_model {
	__u8 *frame;  /* its first byte; so many bytes before it may be written, too */
	int headroom; /* of the packet's memory: act_pedit writes there */
	int len;
	int base[PEDIT_BASES]; /* bytes from the frame's first one, or one of the above */
};

/* 0, or -1 when a key failed: those after it were skipped. */
int pedit_model_keys(struct pedit_model *m, const struct flow_action *key, unsigned int count);

/* The same by what follows the keys, up to the record that ends the steps. */
int pedit_model_steps(struct pedit_model *m, const struct flow_action *step);
