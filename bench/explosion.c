// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mask explosion: how fast are established flows while somebody fills the table with masks up to its limit?
 *
 * They run through two datapaths in turns, one of which is left alone; so what else happens on the machine meets both.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "bench.h"
#include "masks.h"
#include "mix.h"
#include "rig.h"
#include "session.h"
#include "util.h"

enum {
	FLOWS = 8,
	MASKS = 4,
	FRAMES = 1 << 13,
	FULL_PAIRS = 32,
	PAUSE_US = 100,
};

struct attack {
	const char *label;
	const char *protocol; /* of the masks that are added; the established flows are UDP */
	bool cached;
	char name[2][DP_NAME_LEN]; /* of the datapaths: left alone, attacked */
	unsigned int per_command;
};

static const struct attack attacks[] = {
	{ .label = "of another class", .protocol = "tcp", .cached = true },
	{ .label = "of the same class", .protocol = "udp", .cached = true },
	{ .label = "of another class, no cache", .protocol = "tcp" },
	{ .label = "of the same class, no cache", .protocol = "udp" },
};

struct established {
	struct bench_mix_bpf *program;
	struct job job;
};

static int add_masks(const struct attack *a, unsigned int *i, struct error *e)
{
	struct dp *dp = NULL;
	int err = session_open(a->name[1], DP_WRITE, &dp, e), commit_err;

	for (unsigned int n = 0; !err && n < a->per_command; n++)
		err = mask_add(dp, (*i)++, a->protocol, false, e);
	if (dp && (!err || err == -ENOSPC)) {
		struct error why;

		commit_err = dp_commit(dp, &why);
		if (commit_err) {
			*e = why;
			err = commit_err;
		}
	}
	dp_close(&dp);
	return err;
}

/* Until it is refused. */
static void fill(void *arg)
{
	struct error e;
	unsigned int i = 0;
	int err = 0;

	while (!err)
		err = add_masks(arg, &i, &e);
	if (err != -ENOSPC)
		fprintf(stderr, "bench: masks cannot be added: %s\n", e.text);
	_exit(err != -ENOSPC);
}

static int establish(struct established *s, const struct attack *a, unsigned int which, const struct mix *m,
		     struct error *e)
{
	struct jobs jobs = {};
	struct job *j;
	struct dp *dp = NULL;
	__u32 ifindex;
	int err = rig_add_own_datapath(a->name[which], &dp, &ifindex, e);

	if (!err)
		err = mix_add_flows(m, dp, e);
	if (!err)
		err = mix_load(m, dp->prog_fd, FRAMES, &s->program, e);
	if (!err) {
		dp->info->cache_size = a->cached ? CACHE_DEFAULT : 0;
		j = jobs_add(&jobs, "established flows", bpf_program__fd(s->program->progs.mix), TC_ACT_REDIRECT,
			     FRAMES);
		j->ifindex = ifindex;
		s->job = *j;
	}
	dp_close(&dp);
	return err;
}

/* Idle for a moment, since a CPU that does nothing but test runs keeps grace periods from ending for a tenth of a second. */
static int time_pair(struct established s[2], unsigned int first, struct error *e)
{
	int err = job_sample(&s[first].job, e);

	if (!err)
		err = job_sample(&s[!first].job, e);
	usleep(PAUSE_US);
	return err;
}

static int time_attack(struct established s[2], struct attack *a, struct samples during[2], struct samples full[2],
		       struct error *e)
{
	unsigned int pairs = 0;
	int status, err;
	pid_t pid;

	err = time_pair(s, 0, e); /* warms up */
	s[0].job.ns.count = s[1].job.ns.count = 0;
	if (!err)
		err = rig_start(fill, a, &pid, e);
	if (err)
		return err;
	while (!err && !waitpid(pid, &status, WNOHANG))
		err = time_pair(s, pairs++ % 2, e);
	if (err) {
		rig_stop(pid);
		return err;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(e, EPROTO, "the table was not filled with masks");
	for (unsigned int i = 0; i < 2; i++) {
		during[i] = s[i].job.ns;
		s[i].job.ns.count = 0;
	}
	for (unsigned int i = 0; !err && i < FULL_PAIRS; i++)
		err = time_pair(s, i % 2, e);
	for (unsigned int i = 0; i < 2; i++)
		full[i] = s[i].job.ns;
	return err;
}

static int measure_attack(struct attack *a, const struct mix *m, struct report *r, struct error *e)
{
	struct samples during[2], full[2];
	struct established s[2] = {};
	char what[56];
	int err = establish(&s[0], a, 0, m, e);

	if (!err)
		err = establish(&s[1], a, 1, m, e);
	if (!err)
		err = time_attack(s, a, during, full, e);
	bench_mix_bpf__destroy(s[0].program);
	bench_mix_bpf__destroy(s[1].program);
	if (err)
		return err;
	snprintf(what, sizeof(what), "while masks %s are added", a->label);
	figure_at_least(report_ratio(r, what, &during[0], &during[1]), 0.9);
	snprintf(what, sizeof(what), "1020 masks %s", a->label);
	figure_at_least(report_ratio(r, what, &full[0], &full[1]), 0.9);
	return 0;
}

int bench_explosion(const struct options *o, struct report *r, struct error *e)
{
	CLEANUP_FREE struct mix *m = calloc(1, sizeof(*m));
	int err = m ? 0 : error_set(e, ENOMEM, "out of memory");

	if (err)
		return err;
	m->flow_count = FLOWS;
	m->mask_count = MASKS;
	for (unsigned int i = 0; i < FLOWS; i++) {
		m->weight[i] = 1;
		m->mask_of[i] = i % MASKS;
	}
	rig_go_first(false);
	for (unsigned int i = 0; !err && i < ARRAY_SIZE(attacks); i++) {
		struct attack a = attacks[i];

		a.per_command = o->masks_per_command;
		snprintf(a.name[0], DP_NAME_LEN, "alone%u", i);
		snprintf(a.name[1], DP_NAME_LEN, "attacked%u", i);
		err = measure_attack(&a, m, r, e);
	}
	return err;
}
