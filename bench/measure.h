/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timing.  Rates vary by a fifth from one moment to the next; so everything that is compared is measured in turns, round
 * by round, and the best and the median of the rounds count.
 */
#pragma once

#include <linux/types.h>

#include "dp_maps.h"
#include "error.h"
#include "frames.h"

enum {
	ROUNDS_MAX = 256,
	JOBS_MAX = 64,
};

struct samples {
	double value[ROUNDS_MAX];
	unsigned int count;
};

void samples_add(struct samples *s, double value);

/* q from 0 (the smallest) to 1. */
double samples_quantile(const struct samples *s, double q);

double now_ns(void);  /* wall clock */
double used_ns(void); /* that the CPU worked for us */

/* A program by test run. */
struct job {
	char what[48];
	int prog_fd;
	struct frame frame;
	__u32 ifindex; /* the frame's device; 0: loopback */
	__u32 verdict; /* that the program must return: what is measured is what it claims to be */
	__u32 repeat;
	/* Of a datapath: its record, and what is put there before each run, so that one datapath serves several jobs. */
	struct datapath *info;
	__u64 filter;
	__u32 cache_size;
	struct samples ns; /* a frame */
};

struct jobs {
	struct job job[JOBS_MAX];
	unsigned int count;
};

/* The next job to be filled in, with a frame of IPv4 and UDP. */
struct job *jobs_add(struct jobs *jobs, const char *what, int prog_fd, __u32 verdict, __u32 repeat);

/* Runs it `repeat` times within one system call. */
int job_run(struct job *j, __u32 repeat, struct error *e);

/* Its whole number of repeats, and one more sample. */
int job_sample(struct job *j, struct error *e);

/* One more sample for each job. */
int jobs_round(struct jobs *jobs, struct error *e);
