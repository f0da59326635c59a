// SPDX-License-Identifier: GPL-2.0-only
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

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

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

double used_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
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

/* By our own clock: the kernel's figure is in whole nanoseconds. */
int jobs_round(struct job *jobs, unsigned int count, struct error *e)
{
	for (unsigned int i = 0; i < count; i++) {
		struct job *j = &jobs[i];
		double start = now_ns();
		int err = job_run(j, j->repeat, e);

		if (err)
			return err;
		samples_add(&j->ns, (now_ns() - start) / j->repeat);
	}
	return 0;
}
