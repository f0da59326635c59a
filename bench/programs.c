// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs by test run, all in turns: bare ones, key extraction, the datapath by number of masks and with mixed traffic.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "actions.h"
#include "bench.h"
#include "bench_key.skel.h"
#include "bench_redirect.skel.h"
#include "lookup.h"
#include "order.h"
#include "stages.h"
#include "util.h"

struct programs {
	const struct options *options;
	struct bench_redirect_bpf *redirect;
	struct bench_key_bpf *key;
	struct lookup lookup;
	struct order order;
	struct actions actions;
	struct stages stages;
	unsigned int plain; /* how many jobs are bare programs and key extraction */
	struct jobs jobs;
};

static void add_job(struct programs *p, const char *what, const struct bpf_program *prog, enum frame_kind kind,
		    __u32 verdict)
{
	struct job *j = jobs_add(&p->jobs, what, bpf_program__fd(prog), verdict, p->options->repeat);

	frame_make(&j->frame, kind);
	p->plain = p->jobs.count;
}

static int add_bare(struct programs *p, struct error *e)
{
	p->redirect = bench_redirect_bpf__open_and_load();
	if (!p->redirect)
		return error_set(e, errno, "the bare programs cannot be loaded (%s)", strerror(errno));
	add_job(p, "bare redirect", p->redirect->progs.redirect, FRAME_IPV4_UDP, TC_ACT_REDIRECT);
	add_job(p, "empty program", p->redirect->progs.empty, FRAME_IPV4_UDP, TC_ACT_SHOT);
	return 0;
}

static int add_key(struct programs *p, struct error *e)
{
	p->key = bench_key_bpf__open_and_load();
	if (!p->key)
		return error_set(e, errno, "key extraction cannot be loaded (%s)", strerror(errno));
	add_job(p, "key of IPv4/UDP", p->key->progs.extract, FRAME_IPV4_UDP, TC_ACT_OK);
	add_job(p, "key of IPv4/TCP", p->key->progs.extract, FRAME_IPV4_TCP, TC_ACT_OK);
	add_job(p, "key of IPv6/TCP", p->key->progs.extract, FRAME_IPV6_TCP, TC_ACT_OK);
	add_job(p, "key of IPv4/UDP, tagged", p->key->progs.extract_tagged, FRAME_IPV4_UDP, TC_ACT_OK);
	return 0;
}

static int add_jobs(struct programs *p, struct error *e)
{
	const struct options *o = p->options;
	int err = add_bare(p, e);

	if (!err && wanted(o, "key"))
		err = add_key(p, e);
	if (!err && wanted(o, "lookup"))
		err = lookup_add(&p->lookup, &p->jobs, o, e);
	if (!err && wanted(o, "actions"))
		err = actions_add(&p->actions, &p->jobs, o, e);
	if (!err && wanted(o, "stages"))
		err = stages_add(&p->stages, &p->jobs, o, e);
	if (!err && wanted(o, "order"))
		err = order_add(&p->order, &p->jobs, o, bpf_program__fd(p->redirect->progs.redirect), e);
	return err;
}

static void report_jobs(struct programs *p, struct report *r)
{
	r->r_ns = samples_quantile(&p->jobs.job[0].ns, 0);
	snprintf(r->compiler, sizeof(r->compiler), "%s", p->redirect->rodata->compiler);
	for (unsigned int i = 0; i < p->plain; i++)
		report_time(r, p->jobs.job[i].what, &p->jobs.job[i].ns);
	if (wanted(p->options, "lookup"))
		lookup_report(&p->lookup, r);
	if (wanted(p->options, "actions"))
		actions_report(&p->actions, r);
	if (wanted(p->options, "stages"))
		stages_report(&p->stages, r);
	if (wanted(p->options, "order"))
		order_report(&p->order, r);
}

static int run_jobs(struct programs *p, struct report *r, struct error *e)
{
	double start = now_ns(), start_used = used_ns();
	int err = 0;

	for (unsigned int i = 0; !err && i < p->options->rounds; i++)
		err = jobs_round(&p->jobs, e);
	r->stolen = 1 - (used_ns() - start_used) / (now_ns() - start);
	return err;
}

int bench_programs(const struct options *o, struct report *r, struct error *e)
{
	CLEANUP_FREE struct programs *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_set(e, ENOMEM, "out of memory");
	p->options = o;
	err = add_jobs(p, e);
	if (!err)
		err = run_jobs(p, r, e);
	if (!err)
		report_jobs(p, r);
	actions_free(&p->actions);
	order_free(&p->order);
	stages_free(&p->stages);
	lookup_free(&p->lookup);
	bench_redirect_bpf__destroy(p->redirect);
	bench_key_bpf__destroy(p->key);
	return err;
}
