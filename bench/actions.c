// SPDX-License-Identifier: GPL-2.0-only
#include "actions.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <linux/pkt_cls.h>

#include "flow_table.h"
#include "match_text.h"
#include "rig.h"
#include "util.h"

#define SET(f, ...) \
	{ \
		.type = ACTION_SET, .set.field = SET_##f, __VA_ARGS__ \
	}
#define WRITE(b, n, x, y, z) \
	{ \
		.type = ACTION_PEDIT_WRITE, .flags = ACTION_F_STEPS_END, .write = { b, n }, .words_be = { x, y, z } \
	}
#define MASKS(o, x, y, z) \
	{ \
		.type = ACTION_PEDIT_MASK, .offset = (o), .words_be = { x, y, z } \
	}
#define PEDIT \
	{ \
		.type = ACTION_PEDIT \
	}
/* Back to where frames come from: by port 2 a copy would come in by port 1 again. */
#define OUTPUT \
	{ \
		.type = ACTION_OUTPUT, .port = 1 \
	}
#define ALL 0xffffffff

static const struct action_case {
	const char *what;
	unsigned int writes; /* what the time is divided by */
	double limit;	     /* R for each */
	struct flow_action action[8];
} cases[] = {
	{ "plain output", 1, 0, {} },
	{ "pedit eth src and dst", 1, 1.0, { PEDIT, WRITE(PEDIT_ETH, 3, 2, 3, 4), MASKS(0, 0, 0, 0) } },
	{ "pedit ip ttl", 1, 0, { PEDIT, WRITE(PEDIT_IP4, 1, 1, 0, 0), MASKS(8, ALL, 0, 0) } },
	{ "set eth src and dst",
	  2,
	  1.0,
	  { SET(ETH, .eth_pair = { { 2, 1 }, { 2, 2 } }), SET(ETH, .eth_pair = { { 2, 3 }, { 2, 4 } }) } },
	{ "set ipv4 src, both checksums",
	  2,
	  2.5,
	  { SET(IPV4_SRC, .word = { 1, ALL }), SET(IPV4_SRC, .word = { 2, ALL }) } },
	{ "set ipv4 ttl", 2, 0, { SET(IPV4_TTL, .byte = { 1, 0xff }), SET(IPV4_TTL, .byte = { 2, 0xff }) } },
	{ "set udp src", 2, 0, { SET(UDP_SRC, .half = { 1, 0xffff }), SET(UDP_SRC, .half = { 2, 0xffff }) } },
	{ "set that finds its value", 1, 0, { SET(IPV4_SRC, .word = { 1, ALL }) } },
	{ "push_vlan, pop_vlan",
	  1,
	  2.5,
	  { { .type = ACTION_PUSH_VLAN, .vlan = { 0x0081, 0x0110 } }, { .type = ACTION_POP_VLAN } } },
	{ "push_vlan twice, pop_vlan twice",
	  1,
	  0,
	  { { .type = ACTION_PUSH_VLAN, .vlan = { 0x0081, 0x0110 } },
	    { .type = ACTION_PUSH_VLAN, .vlan = { 0xa888, 0x0210 } },
	    { .type = ACTION_POP_VLAN },
	    { .type = ACTION_POP_VLAN } } },
	{ "csum ip and udp", 1, 0, { { .type = ACTION_CSUM, .csum.what = CSUM_IPV4 | CSUM_UDP } } },
	{ "a second output, sent and received as a miss", 1, 0, { OUTPUT } },
};

_Static_assert(ARRAY_SIZE(cases) <= ACTION_CASES, "a job for each case");

/* Each has a flow of its own, for a UDP port. */
static int add_flow(struct dp *dp, const struct action_case *c, __u16 port, struct error *e)
{
	CLEANUP_FREE struct action_list *list = calloc(1, sizeof(*list));
	struct match m;
	char text[120];
	int err;

	while (c->action[list->count].type != ACTION_END) {
		list->action[list->count] = c->action[list->count];
		list->count++;
	}
	list->action[list->count++] = (struct flow_action){ .type = ACTION_OUTPUT, .flags = ACTION_F_LAST, .port = 2 };
	snprintf(text, sizeof(text), "in_port(1),eth(),eth_type(0x0800),ipv4(proto=17,frag=no),udp(dst=%u)", port);
	err = match_parse(text, NULL, &m, e);
	return err ? err : flow_add(dp, &m, list, e);
}

int actions_add(struct actions *a, struct jobs *jobs, const struct options *o, struct error *e)
{
	__u32 ifindex;
	int err = rig_add_own_datapath("actions", &a->dp, &ifindex, e);

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(cases); i++) {
		__be16 port = htons(i + 1);
		struct job *j = jobs_add(jobs, cases[i].what, a->dp->prog_fd, TC_ACT_REDIRECT, o->repeat);

		memcpy(j->frame.bytes + 36, &port, sizeof(port));
		j->frame.bytes[40] = 1; /* a UDP checksum, if a wrong one */
		j->ifindex = ifindex;
		j->info = a->dp->info;
		j->cache_size = CACHE_DEFAULT;
		a->job[i] = j;
		err = add_flow(a->dp, &cases[i], i + 1, e);
	}
	if (!err)
		err = dp_commit(a->dp, e);
	if (!err)
		rig_release(a->dp);
	return err;
}

void actions_report(const struct actions *a, struct report *r)
{
	report_time(r, "an output and nothing else, cached", &a->job[0]->ns);
	for (unsigned int i = 1; i < ARRAY_SIZE(cases); i++) {
		const struct samples *all = &a->job[i]->ns, *plain = &a->job[0]->ns;
		struct samples each = {};
		struct figure *f;

		for (unsigned int k = 0; k < all->count; k++)
			samples_add(&each, (all->value[k] - plain->value[k]) / cases[i].writes);
		f = report_time(r, cases[i].what, &each);
		f->ns = (samples_quantile(all, 0) - samples_quantile(plain, 0)) / cases[i].writes;
		f->value = f->ns / r->r_ns;
		if (cases[i].limit)
			figure_at_most(f, cases[i].limit);
	}
}

void actions_free(struct actions *a)
{
	dp_close(&a->dp);
}
