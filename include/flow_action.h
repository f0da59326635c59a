/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flow's actions: a flat list of fixed-size records, ended by ACTION_END.  An empty list drops.
 */
#pragma once

#include <linux/types.h>

enum action_type {
	ACTION_END,
	ACTION_OUTPUT,
	ACTION_TYPES
};

/* The record is the last one: the frame itself may be given away, no copy is needed. */
#define ACTION_F_LAST 1

struct flow_action {
	__u16 type; /* enum action_type */
	__u16 flags;
	union {
		__u32 port; /* ACTION_OUTPUT */
		__u8 data[12];
	};
};

_Static_assert(sizeof(struct flow_action) == 16, "records are walked by index");

enum {
	FLOW_ACTIONS_MAX = 128,	 /* in one flow, ACTION_END not counted */
	FLOW_ACTIONS_INLINE = 5, /* that fit into the flow entry itself */
};
