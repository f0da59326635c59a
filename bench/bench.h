/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The benchmarks.  Each adds its figures to the report.
 */
#pragma once

#include "report.h"

struct options {
	unsigned int rounds;	     /* of test runs */
	__u32 repeat;		     /* within one test run */
	unsigned int forward_rounds; /* of forwarding */
	double forward_ns;	     /* one of them */
	const char *only;	     /* NULL: all */
};

bool wanted(const struct options *o, const char *name);

/* The bare programs, key extraction and lookup, by test run. */
int bench_programs(const struct options *o, struct report *r, struct error *e);

/* Frames from device to device. */
int bench_forward(const struct options *o, struct report *r, struct error *e);
