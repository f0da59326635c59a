// SPDX-License-Identifier: GPL-2.0-only
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "util.h"

void samples_add(struct samples *s, double value)
{
	if (s->count < ROUNDS_MAX)
		s->value[s->count++] = value;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double samples_quantile(const struct samples *s, double q)
{
	double sorted[ROUNDS_MAX], at = q * (s->count - 1);
	unsigned int below = at;

	if (!s->count)
		return 0;
	memcpy(sorted, s->value, s->count * sizeof(sorted[0]));
	qsort(sorted, s->count, sizeof(sorted[0]), by_value);
	if (below + 1 >= s->count)
		return sorted[s->count - 1];
	return sorted[below] + (sorted[below + 1] - sorted[below]) * (at - below);
}

double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

double used_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct job *jobs_add(struct jobs *jobs, const char *what, int prog_fd, __u32 verdict, __u32 repeat)
{
	/* The last one is overwritten when there is no room; the table shows it. */
	struct job *j = &jobs->job[jobs->count < JOBS_MAX ? jobs->count++ : jobs->count - 1];

	memset(j, 0, sizeof(*j));
	snprintf(j->what, sizeof(j->what), "%s", what);
	j->prog_fd = prog_fd;
	j->verdict = verdict;
	j->repeat = repeat;
	frame_make(&j->frame, FRAME_IPV4_UDP);
	return j;
}

int job_run(struct job *j, __u32 repeat, struct error *e)
{
	struct __sk_buff ctx = { .ifindex = j->ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = j->frame.bytes, .data_size_in = j->frame.len, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = repeat);

	if (bpf_prog_test_run_opts(j->prog_fd, &o))
		return error_set(e, errno, "%s: the test run failed (%s)", j->what, strerror(errno));
	if (o.retval != j->verdict)
		return error_set(e, EPROTO, "%s: the program returned %u, %u was expected", j->what, o.retval,
				 j->verdict);
	return 0;
}

/*
 * By our own clock, since the kernel's figure is in whole nanoseconds; by the time that this thread ran, since a test run
 * never waits, and what others do on this CPU meanwhile is not its cost.
 */
int job_sample(struct job *j, struct error *e)
{
	double start;
	int err;

	if (j->info) {
		j->info->filter = j->filter;
		j->info->cache_size = j->cache_size;
	}
	start = used_ns();
	err = job_run(j, j->repeat, e);
	samples_add(&j->ns, (used_ns() - start) / j->repeat);
	return err;
}

int jobs_round(struct jobs *jobs, struct error *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < jobs->count; i++)
		err = job_sample(&jobs->job[i], e);
	return err;
}
