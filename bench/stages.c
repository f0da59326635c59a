// SPDX-License-Identifier: GPL-2.0-only
#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "attach.h"
#include "bench_stages.skel.h"
#include "masks.h"
#include "rig.h"

/* The datapath's own maps in place of those that the object would bring. */
static int share_maps(struct bench_stages_bpf *program, const struct dp *dp, struct error *e)
{
#define X(id, name) \
	if (bpf_map__reuse_fd(bpf_object__find_map_by_name(program->obj, #name), dp->map_fd[DP_MAP_##id])) \
		return error_set(e, errno, "map %s cannot be shared (%s)", #name, strerror(errno));
	DP_MAPS(X)
#undef X
	return 0;
}

static int load(struct stages_case *c, struct error *e)
{
	int err;

	c->program = bench_stages_bpf__open();
	if (!c->program)
		return error_set(e, errno, "the stages cannot be opened (%s)", strerror(errno));
	c->program->rodata->netns_cookie = attach_has_tcx() ? c->dp->info->netns_cookie : 0;
	err = share_maps(c->program, c->dp, e);
	if (!err && bench_stages_bpf__load(c->program))
		err = error_set(e, errno, "the stages cannot be loaded (%s)", strerror(errno));
	return err;
}

static int add_case(struct stages_case *c, const char *name, __u32 cache_size, struct jobs *jobs,
		    const struct options *o, struct error *e)
{
	static const char *const texts[STAGES] = { "port", "key", "lookup", "count", "actions" };
	__u32 ifindex;
	int err = rig_add_own_datapath(name, &c->dp, &ifindex, e);

	if (!err)
		err = masks_add(c->dp, 1, e);
	if (!err)
		err = load(c, e);
	if (err)
		return err;
	rig_release(c->dp);
	for (int i = 0; i < STAGES; i++) {
		const struct bpf_program *programs[STAGES] = { c->program->progs.up_to_port,
							       c->program->progs.up_to_key,
							       c->program->progs.up_to_lookup,
							       c->program->progs.up_to_count };
		char what[48];

		snprintf(what, sizeof(what), "%s, up to %s", name, texts[i]);
		c->up_to[i] = jobs_add(jobs, what, programs[i] ? bpf_program__fd(programs[i]) : c->dp->prog_fd,
				       programs[i] ? TC_ACT_OK : TC_ACT_REDIRECT, o->repeat);
		c->up_to[i]->ifindex = ifindex;
		c->up_to[i]->info = c->dp->info;
		c->up_to[i]->filter = c->dp->info->filter;
		c->up_to[i]->cache_size = cache_size;
	}
	return 0;
}

int stages_add(struct stages *s, struct jobs *jobs, const struct options *o, struct error *e)
{
	int err = add_case(&s->cached, "cached", CACHE_DEFAULT, jobs, o, e);

	return err ? err : add_case(&s->walked, "walked", 0, jobs, o, e);
}

void stages_report(const struct stages *s, struct report *r)
{
	const struct stages_case *cases[] = { &s->cached, &s->walked };

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < STAGES; i++)
			report_time(r, cases[k]->up_to[i]->what, &cases[k]->up_to[i]->ns);
}

void stages_free(struct stages *s)
{
	bench_stages_bpf__destroy(s->cached.program);
	bench_stages_bpf__destroy(s->walked.program);
	dp_close(&s->cached.dp);
	dp_close(&s->walked.dp);
}
