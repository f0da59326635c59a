/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller: keeps the masks of datapaths in order of use.
 *
 * One loop serves all datapaths, of whatever namespace: an order is read from maps and written to maps, and a thread that
 * stayed inside a namespace, or held a descriptor of it, would keep that from going away.  Nothing is kept open between
 * two rounds, so a datapath may be removed at any moment; it is then let go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "error.h"
#include "reorder.h"

struct controller_options {
	__u64 interval_ns;
	char **names; /* of datapaths; none = all, also those made later */
	size_t name_count;
	/* Told of each round that moved something; NULL = nobody wants to know. */
	void (*moved)(void *ctx, const char *dp_name, const struct reorder *r);
	void *ctx;
};

enum {
	CONTROLLER_INTERVAL_MIN_MS = 10,
};

/*
 * Runs until SIGTERM or SIGINT; then 0.  -EBUSY: another controller has one of the datapaths, -ENODEV: there is none of a
 * given name.
 */
int controller_run(const struct controller_options *o, struct error *e);
