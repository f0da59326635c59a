// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs by test run, all in turns: bare ones, key extraction, and the datapath with a hit in the last of so many
 * masks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "bench.h"
#include "rig.h"
#include "stats.h"
#include "bench_key.skel.h"
#include "bench_redirect.skel.h"
#include "util.h"

enum {
	JOBS_MAX = 32,
};

static const struct lookup_case {
	unsigned int masks;
	bool cached; /* the mask cache is left on; else every frame tries all masks */
} lookup_cases[] = { { .masks = 1 },
		     { .masks = 4 },
		     { .masks = 16 },
		     { .masks = 64 },
		     { .masks = 256 },
		     { .masks = 1, .cached = true },
		     { .masks = 256, .cached = true } };

enum {
	LOOKUP_CASES = ARRAY_SIZE(lookup_cases),
	FIRST_MASK = 0,
	LAST_MASK = 4,
};

struct jobs {
	const struct options *options;
	struct bench_redirect_bpf *redirect;
	struct bench_key_bpf *key;
	int datapath_fd[LOOKUP_CASES];
	struct job job[JOBS_MAX];
	unsigned int count;
};

static struct job *add_job(struct jobs *jobs, const char *what, const struct bpf_program *prog, enum frame_kind kind,
			   __u32 verdict)
{
	struct job *j = &jobs->job[jobs->count++];

	memset(j, 0, sizeof(*j));
	snprintf(j->what, sizeof(j->what), "%s", what);
	j->prog_fd = prog ? bpf_program__fd(prog) : -1;
	j->repeat = jobs->options->repeat;
	j->verdict = verdict;
	frame_make(&j->frame, kind);
	return j;
}

/* --- bare programs and key extraction --------------------------------------------------------------------------- */

static int add_bare(struct jobs *jobs, struct error *e)
{
	jobs->redirect = bench_redirect_bpf__open_and_load();
	if (!jobs->redirect)
		return error_set(e, errno, "the bare programs cannot be loaded (%s)", strerror(errno));
	add_job(jobs, "bare redirect", jobs->redirect->progs.redirect, FRAME_IPV4_UDP, TC_ACT_REDIRECT);
	add_job(jobs, "empty program", jobs->redirect->progs.empty, FRAME_IPV4_UDP, TC_ACT_SHOT);
	return 0;
}

static int add_key(struct jobs *jobs, struct error *e)
{
	jobs->key = bench_key_bpf__open_and_load();
	if (!jobs->key)
		return error_set(e, errno, "key extraction cannot be loaded (%s)", strerror(errno));
	add_job(jobs, "key of IPv4/UDP", jobs->key->progs.extract, FRAME_IPV4_UDP, TC_ACT_OK);
	add_job(jobs, "key of IPv4/TCP", jobs->key->progs.extract, FRAME_IPV4_TCP, TC_ACT_OK);
	add_job(jobs, "key of IPv6/TCP", jobs->key->progs.extract, FRAME_IPV6_TCP, TC_ACT_OK);
	add_job(jobs, "key of IPv4/UDP, tagged", jobs->key->progs.extract_tagged, FRAME_IPV4_UDP, TC_ACT_OK);
	return 0;
}

/* --- the datapath ----------------------------------------------------------------------------------------------- */

/*
 * Masks that differ in their prefix lengths, up to 256 of them, and one flow each.  Only the last matches the frame;
 * order is order of insertion.
 */
static int add_flows(struct dp *dp, unsigned int count, struct error *e)
{
	char text[160];
	int err = 0;

	for (unsigned int i = 0; !err && i < count; i++) {
		char src[32] = FRAME_IPV4_SRC;

		if (i + 1 < count)
			snprintf(src, sizeof(src), "10.%u.0.0", i);
		snprintf(text, sizeof(text),
			 "in_port(1),eth(),eth_type(0x0800),ipv4(src=%s/%u,dst=" FRAME_IPV4_DST "/%u,proto=17),udp()",
			 src, 17 + i % 16, 17 + i / 16 % 16);
		err = rig_add_flow(dp, text, "2", e);
	}
	return err ? err : dp_commit(dp, e);
}

/* Sends two frames through, and looks whether both tried all masks, or the second one took the cached answer. */
static int check_masks(struct dp *dp, struct job *j, const struct lookup_case *c, struct error *e)
{
	struct dp_counters before, after;
	__u64 hits, tried;
	int err = stats_counters(dp, &before, e);

	if (!err)
		err = job_run(j, 2, e);
	if (!err)
		err = stats_counters(dp, &after, e);
	if (err)
		return err;
	hits = after.hit - before.hit;
	tried = after.mask_hit - before.mask_hit;
	if (hits != 2 || tried != c->masks + (c->cached ? 1 : c->masks))
		return error_set(e, EPROTO, "%s: two frames made %llu hits and tried %llu masks", j->what, hits, tried);
	return 0;
}

static int add_datapath(struct jobs *jobs, unsigned int n, struct error *e)
{
	const struct lookup_case *c = &lookup_cases[n];
	char name[16], in[16], out[16], what[48];
	__u32 ifindex, peer;
	struct job *j;
	struct dp *dp;
	int err;

	snprintf(name, sizeof(name), "case%u", n);
	snprintf(in, sizeof(in), "in%u", n);
	snprintf(out, sizeof(out), "out%u", n);
	snprintf(what, sizeof(what), "hit in the %s of %u mask%s%s", c->masks > 1 ? "last" : "first", c->masks,
		 c->masks > 1 ? "s" : "", c->cached ? ", cached" : "");
	err = rig_add_veth(in, out, &ifindex, &peer, e);
	if (!err)
		err = rig_add_datapath(name, in, out, &dp, e);
	if (err)
		return err;
	jobs->datapath_fd[n] = fcntl(dp->prog_fd, F_DUPFD_CLOEXEC, 0);
	j = add_job(jobs, what, NULL, FRAME_IPV4_UDP, TC_ACT_REDIRECT);
	j->prog_fd = jobs->datapath_fd[n];
	j->ifindex = ifindex;
	/* Long enough with fewer repeats. */
	if (c->masks > 16 && !c->cached)
		j->repeat = j->repeat / c->masks * 16;
	if (!c->cached)
		dp->info->cache_size = 0;
	err = add_flows(dp, c->masks, e);
	if (!err)
		err = check_masks(dp, j, c, e);
	dp_close(&dp);
	return err;
}

/* --- the figures ------------------------------------------------------------------------------------------------ */

static int add_jobs(struct jobs *jobs, struct error *e)
{
	const struct options *o = jobs->options;
	int err = add_bare(jobs, e);

	if (!err && wanted(o, "key"))
		err = add_key(jobs, e);
	for (unsigned int n = 0; !err && wanted(o, "lookup") && n < LOOKUP_CASES; n++)
		err = add_datapath(jobs, n, e);
	return err;
}

static void free_jobs(struct jobs *jobs)
{
	bench_redirect_bpf__destroy(jobs->redirect);
	bench_key_bpf__destroy(jobs->key);
	for (unsigned int n = 0; n < LOOKUP_CASES; n++)
		close_fd_(&jobs->datapath_fd[n]);
}

/* From the first mask to the last of the longest list. */
static void report_further_mask(struct report *r, const struct samples *first, const struct samples *last)
{
	double masks = lookup_cases[LAST_MASK].masks - lookup_cases[FIRST_MASK].masks;
	struct samples each = {};
	struct figure *f;

	for (unsigned int i = 0; i < first->count; i++)
		samples_add(&each, (last->value[i] - first->value[i]) / masks);
	f = report_time(r, "each further mask", &each);
	f->ns = (samples_quantile(last, 0) - samples_quantile(first, 0)) / masks;
	f->value = f->ns / r->r_ns;
	f->kind = LIMIT_AT_MOST;
	f->limit = 1.1;
}

static void report_jobs(const struct jobs *jobs, struct report *r)
{
	const struct samples *first = NULL, *last = NULL;

	r->r_ns = samples_quantile(&jobs->job[0].ns, 0);
	for (unsigned int i = 0; i < jobs->count; i++) {
		const struct job *j = &jobs->job[i];
		struct figure *f = report_time(r, j->what, &j->ns);

		if (j->prog_fd == jobs->datapath_fd[FIRST_MASK]) {
			first = &j->ns;
			f->kind = LIMIT_AT_MOST;
			f->limit = 5;
		} else if (j->prog_fd == jobs->datapath_fd[LAST_MASK]) {
			last = &j->ns;
		}
	}
	if (first && last)
		report_further_mask(r, first, last);
}

static int run_jobs(struct jobs *jobs, struct report *r, struct error *e)
{
	double start = now_ns(), start_used = used_ns();
	int err = 0;

	for (unsigned int i = 0; !err && i < jobs->options->rounds; i++)
		err = jobs_round(jobs->job, jobs->count, e);
	r->stolen = 1 - (used_ns() - start_used) / (now_ns() - start);
	return err;
}

int bench_programs(const struct options *o, struct report *r, struct error *e)
{
	struct jobs jobs = { .options = o, .datapath_fd = { [0 ... LOOKUP_CASES - 1] = -1 } };
	int err = add_jobs(&jobs, e);

	if (!err)
		err = run_jobs(&jobs, r, e);
	if (!err) {
		snprintf(r->compiler, sizeof(r->compiler), "%s", jobs.redirect->rodata->compiler);
		report_jobs(&jobs, r);
	}
	free_jobs(&jobs);
	return err;
}
