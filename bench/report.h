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
	char what[56];
	double ns; /* best of the rounds; 0 = no time of its own */
	double ns_median;
	double value;	  /* in unit; what is held against the limit */
	double low, high; /* quartiles of the rounds' values, or 0 */
	const char *unit; /* "R", "Mpps", "x", "masks", "ms", "%" */
	enum limit kind;
	double limit;
};

struct report {
	struct figure figure[128];
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

/* How many times b is a, in the median of the rounds, in which both were measured in turns. */
struct figure *report_ratio(struct report *r, const char *what, const struct samples *a, const struct samples *b);

/* The same of the best rounds: for programs that are timed alone, where only other people's work adds time. */
struct figure *report_best_ratio(struct report *r, const char *what, const struct samples *a, const struct samples *b);

void figure_at_most(struct figure *f, double limit);
void figure_at_least(struct figure *f, double limit);

void report_print(const struct report *r);
int report_write_json(const struct report *r, const char *path, struct error *e);
