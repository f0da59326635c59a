/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures as a table for people, and the same as JSON.
 */
#pragma once

#include <stdbool.h>

#include "error.h"
#include "measure.h"

enum limit {
	LIMIT_NONE,
	LIMIT_AT_MOST,
	LIMIT_AT_LEAST,
};

struct figure {
	char what[48];
	double ns; /* best of the rounds; 0 = no time of its own */
	double ns_median;
	double value;	  /* in unit; what is held against the limit */
	double low, high; /* quartiles of the rounds' values, or 0 */
	const char *unit; /* "R", "Mpps", "x" */
	enum limit kind;
	double limit;
};

struct report {
	struct figure figure[64];
	unsigned int count;
	double r_ns;	   /* one R */
	double stolen;	   /* share of the test runs' time in which our CPU did something else */
	char compiler[64]; /* of the BPF programs */
};

/* The next figure to be filled in, zeroed. */
struct figure *report_add(struct report *r, const char *what);

/* A time as it was sampled, in R. */
struct figure *report_time(struct report *r, const char *what, const struct samples *ns);

/* A time for each frame as frames per second, median. */
struct figure *report_rate(struct report *r, const char *what, const struct samples *ns);

void report_print(const struct report *r);
int report_write_json(const struct report *r, const char *path, struct error *e);
