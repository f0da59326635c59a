/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The benchmarks.  Each adds its figures to the report.
 */
#pragma once

#include "report.h"

struct options {
	unsigned int rounds;		/* of test runs, and of insertion */
	__u32 repeat;			/* within one test run */
	__u32 frames;			/* of a mix; a power of two */
	unsigned int traffics;		/* how many of enum order_traffic */
	unsigned int forward_rounds;	/* of forwarding, and of rebalances */
	double forward_ns;		/* one of them */
	unsigned int rest_s;		/* that a controller is watched for; 0: not at all */
	unsigned int masks_per_command; /* that an attacker adds */
	const char *only;		/* NULL: all */
};

bool wanted(const struct options *o, const char *name);

/* The bare programs, key extraction, lookup with few and with many masks, and actions, by test run. */
int bench_programs(const struct options *o, struct report *r, struct error *e);

/* Frames from device to device. */
int bench_forward(const struct options *o, struct report *r, struct error *e);

/* What the controller costs. */
int bench_control(const struct options *o, struct report *r, struct error *e);

/* Established traffic while somebody adds masks. */
int bench_explosion(const struct options *o, struct report *r, struct error *e);

/* Many flows in one command. */
int bench_bulk(const struct options *o, struct report *r, struct error *e);

/* Which hits should order the masks; only when asked for by name. */
int bench_rules(const struct options *o, struct report *r, struct error *e);
