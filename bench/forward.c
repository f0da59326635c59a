// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames per second that reach a receiver, through tcvs with one mask or 64 and through a bare redirect, on the same
 * devices:
 *
 *	source -> s0 == s1 [tcvs or bare] -> r1 == r0 [sink, in a namespace of its own]
 *
 * All of it runs on one CPU: what the source sends is received by the time its next repeat begins.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "action_text.h"
#include "bench.h"
#include "bench_redirect.skel.h"
#include "flow_table.h"
#include "masks.h"
#include "port.h"
#include "rig.h"
#include "slots.h"
#include "util.h"

enum {
	BATCH = 10000, /* frames a test run */
	MANY_MASKS = 64,
};

/* What passes the frames on. */
enum way {
	WAY_BARE,
	WAY_ONE_MASK,
	WAY_MANY_MASKS, /* the cache knows the flow, whose mask is the last */
	WAY_PEER,	/* one mask, and the frame is given to r0 itself */
	WAY_EDITED,	/* one mask; a pedit writes both hardware addresses */
	WAYS,
};

#define MAC_FORMAT   "%02x:%02x:%02x:%02x:%02x:%02x"
#define MAC_BYTES(m) (m)[0], (m)[1], (m)[2], (m)[3], (m)[4], (m)[5]

struct path {
	struct bench_redirect_bpf *bare;
	struct dp *dp;
	__u32 s0, s1, r1;
	struct rig_far r0;
	struct job source;
};

static int load_bare(struct path *p, struct error *e)
{
	p->bare = bench_redirect_bpf__open();
	if (!p->bare)
		return error_set(e, errno, "the bare programs cannot be opened (%s)", strerror(errno));
	p->bare->rodata->target = p->r1;
	p->bare->rodata->sender = p->s0;
	if (bench_redirect_bpf__load(p->bare))
		return error_set(e, errno, "the bare programs cannot be loaded (%s)", strerror(errno));
	p->source = (struct job){
		.what = "source of frames",
		.prog_fd = bpf_program__fd(p->bare->progs.source),
		.verdict = TC_ACT_OK,
	};
	frame_make(&p->source.frame, FRAME_IPV4_UDP);
	memcpy(p->source.frame.bytes, p->r0.mac, sizeof(p->r0.mac)); /* to whom it is for, as its driver would say */
	return rig_attach_far(bpf_program__fd(p->bare->progs.sink), &p->r0, e);
}

static int make_path(struct path *p, struct error *e)
{
	int err = rig_add_veth("s0", "s1", &p->s0, &p->s1, e);

	if (!err)
		err = rig_add_far_veth("r1", "r0", &p->r1, &p->r0, e);
	if (!err)
		err = load_bare(p, e);
	if (!err)
		err = rig_add_datapath("forward", "s1", "r1", &p->dp, e);
	return err;
}

/* Only the last mask's flow is for the frames. */
static int set_masks(struct path *p, unsigned int count, struct error *e)
{
	for (__u32 slot = flow_next(p->dp, 0); slot != SLOT_NONE; slot = flow_next(p->dp, slot + 1))
		flow_delete(p->dp, slot);
	return masks_add(p->dp, count, e);
}

static int read_sink(struct path *p, double *frames, struct error *e)
{
	CLEANUP_FREE __u64 *per_cpu = NULL;
	int cpus = libbpf_num_possible_cpus();
	__u32 zero = 0;

	per_cpu = calloc(cpus, sizeof(*per_cpu));
	if (!per_cpu || bpf_map_lookup_elem(bpf_map__fd(p->bare->maps.received), &zero, per_cpu))
		return error_set(e, errno, "the sink cannot be read (%s)", strerror(errno));
	*frames = 0;
	for (int i = 0; i < cpus; i++)
		*frames += per_cpu[i];
	return 0;
}

/* Sends for that long; ns for each frame received. */
static int send_for(struct path *p, double duration_ns, struct samples *s, struct error *e)
{
	double before, after, start = now_ns(), end;
	int err = read_sink(p, &before, e);

	do {
		if (!err)
			err = job_run(&p->source, BATCH, e);
		end = now_ns();
	} while (!err && end - start < duration_ns);
	if (!err)
		err = read_sink(p, &after, e);
	if (!err && after == before)
		err = error_set(e, EPROTO, "no frame reached the receiver");
	if (!err)
		samples_add(s, (end - start) / (after - before));
	return err;
}

/* To the only flow.  The receiver is still the one whom the frame is for. */
static int add_edit(struct path *p, struct error *e)
{
	struct action_list actions;
	char text[128];
	int err;

	snprintf(text, sizeof(text), "pedit(ex munge eth src set 02:00:00:00:00:01 munge eth dst set " MAC_FORMAT "),2",
		 MAC_BYTES(p->r0.mac));
	err = actions_parse(text, NULL, &actions, e);
	return err ? err : flow_set_actions(p->dp, flow_next(p->dp, 0), &actions, e);
}

/* The bare program takes tcvs's place for a while. */
static int send_bare(struct path *p, double duration_ns, struct samples *s, struct error *e)
{
	int fd = bpf_program__fd(p->bare->progs.redirect);
	int err = port_del(p->dp, 1, e);

	if (!err)
		err = rig_attach(fd, p->s1, e);
	if (!err)
		err = send_for(p, duration_ns, s, e);
	if (!err)
		err = rig_detach(fd, p->s1, e);
	return err ? err : port_add(p->dp, "s1", 1, 0, e);
}

static int send_by(struct path *p, enum way way, double duration_ns, struct samples *s, struct error *e)
{
	int err;

	if (way == WAY_BARE)
		return send_bare(p, duration_ns, s, e);
	err = set_masks(p, way == WAY_MANY_MASKS ? MANY_MASKS : 1, e);
	if (!err && way == WAY_EDITED)
		err = add_edit(p, e);
	if (!err)
		err = port_set_flags(p->dp, 2, way == WAY_PEER ? PORT_PEER : 0, e);
	return err ? err : send_for(p, duration_ns, s, e);
}

static int measure(struct path *p, const struct options *o, struct samples s[WAYS], struct error *e)
{
	struct samples warm_up = {};
	int err = send_by(p, WAY_ONE_MASK, o->forward_ns, &warm_up, e);

	/* Who comes first changes from round to round. */
	for (unsigned int i = 0; !err && i < o->forward_rounds; i++)
		for (unsigned int n = 0; !err && n < WAYS; n++) {
			enum way way = (i + n) % WAYS;

			err = send_by(p, way, o->forward_ns, &s[way], e);
		}
	return err;
}

int bench_forward(const struct options *o, struct report *r, struct error *e)
{
	struct samples s[WAYS] = {};
	struct path p = {};
	int err = make_path(&p, e);

	if (!err)
		err = measure(&p, o, s, e);
	if (!err) {
		report_rate(r, "forwarding, bare redirect", &s[WAY_BARE]);
		report_rate(r, "forwarding, tcvs", &s[WAY_ONE_MASK]);
		report_rate(r, "forwarding, tcvs, 64 masks, cached", &s[WAY_MANY_MASKS]);
		report_rate(r, "forwarding, tcvs to a peer port", &s[WAY_PEER]);
		report_rate(r, "forwarding, tcvs with a pedit of both MACs", &s[WAY_EDITED]);
		figure_at_least(report_ratio(r, "forwarding, tcvs to bare redirect", &s[WAY_BARE], &s[WAY_ONE_MASK]),
				0.85);
		figure_at_least(report_ratio(r, "forwarding, 64 masks, cached, to bare redirect", &s[WAY_BARE],
					     &s[WAY_MANY_MASKS]),
				0.85);
		figure_at_least(report_ratio(r, "forwarding, with a pedit of both MACs to without", &s[WAY_ONE_MASK],
					     &s[WAY_EDITED]),
				0.95);
		figure_at_least(report_ratio(r, "forwarding, tcvs to a peer port, to bare redirect", &s[WAY_BARE],
					     &s[WAY_PEER]),
				1);
	}
	dp_close(&p.dp);
	bench_redirect_bpf__destroy(p.bare);
	return err;
}
