// SPDX-License-Identifier: GPL-2.0-only
/*
 * What keeping the order costs beside the packets: one round for 1024 masks, insertion while a controller is at work, and
 * a controller that has nothing to do.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>

#include "action_text.h"
#include "bench.h"
#include "controller.h"
#include "flow_table.h"
#include "masks.h"
#include "match_text.h"
#include "mix.h"
#include "rig.h"
#include "session.h"
#include "slots.h"
#include "util.h"

enum {
	MASKS = 64,
	FLOWS = 40000,	      /* a sample of insertion */
	SESSION_FLOWS = 2000, /* that one command adds */
	BUSY_INTERVAL_MS = 100,
	REST_INTERVAL_S = 4,
};

/* A datapath of so many masks for IPv4 and UDP, closed. */
static int make_datapath(const char *name, unsigned int masks, struct error *e)
{
	struct dp *dp = NULL;
	__u32 ifindex;
	int err = rig_add_own_datapath(name, &dp, &ifindex, e);

	if (!err)
		err = masks_add(dp, masks, e);
	dp_close(&dp);
	return err;
}

/* As if so many frames more had walked to the mask. */
static int add_hits(struct dp *dp, __u32 mask_id, __u64 hits, struct error *e)
{
	CLEANUP_FREE struct mask_hits *per_cpu = calloc(dp->info->possible_cpus, sizeof(*per_cpu));
	int fd = dp->map_fd[DP_MAP_MASK_HITS];

	if (!per_cpu || bpf_map_lookup_elem(fd, &mask_id, per_cpu))
		return error_set(e, errno, "mask hits cannot be read (%s)", strerror(errno));
	per_cpu[0].all += hits;
	per_cpu[0].walked += hits;
	if (bpf_map_update_elem(fd, &mask_id, per_cpu, 0))
		return error_set(e, errno, "mask hits cannot be written (%s)", strerror(errno));
	return 0;
}

/* --- one round --------------------------------------------------------------------------------------------------- */

/* Every mask gets another place.  What the round used of the CPU leaves out the waiting for the grace period. */
static int time_round(const char *name, __u64 *seed, struct samples *used, struct samples *wall, struct error *e)
{
	struct reorder moved = {};
	double start, start_used;
	struct dp *dp = NULL;
	int err = session_open(name, DP_WRITE, &dp, e);

	for (__u32 id = 0; !err && id < MASKS_MAX; id++)
		err = add_hits(dp, id, 1e6 * mix_random(seed), e);
	dp_close(&dp);
	if (err)
		return err;
	start = now_ns();
	start_used = used_ns();
	err = session_open(name, DP_WRITE, &dp, e);
	if (!err)
		err = reorder_masks(dp, &moved, e);
	dp_close(&dp);
	samples_add(used, used_ns() - start_used);
	samples_add(wall, now_ns() - start);
	if (!err && !moved.class[CLASS_IPV4_UDP].moved)
		err = error_set(e, EPROTO, "a rebalance of %d masks moved nothing", MASKS_MAX);
	return err;
}

static struct figure *report_ms(struct report *r, const char *what, const struct samples *ns)
{
	struct figure *f = report_time(r, what, ns);

	f->value = f->ns_median / 1e6;
	f->unit = "ms";
	return f;
}

static int measure_round(const struct options *o, struct report *r, struct error *e)
{
	struct samples used = {}, wall = {};
	__u64 seed = MIX_SEED;
	int err = make_datapath("round", MASKS_MAX, e);

	for (unsigned int i = 0; !err && i < o->forward_rounds; i++)
		err = time_round("round", &seed, &used, &wall, e);
	if (err)
		return err;
	figure_at_most(report_ms(r, "a round for 1024 masks, without grace period", &used), 5);
	report_ms(r, "a round for 1024 masks, with grace period", &wall);
	return 0;
}

/* --- insertion --------------------------------------------------------------------------------------------------- */

struct controlled {
	const char *name;
	__u64 interval_ns;
	unsigned int *moves; /* shared with the process */
};

static void count_move(void *ctx, const char *name, const struct reorder *r)
{
	(void)name, (void)r;
	__atomic_fetch_add((unsigned int *)ctx, 1, __ATOMIC_RELAXED);
}

static void control(void *arg)
{
	struct controlled *c = arg;
	char name[DP_NAME_LEN], *names[] = { name };
	struct controller_options o = {
		.interval_ns = c->interval_ns, .names = names, .name_count = 1, .moved = count_move, .ctx = c->moves
	};
	struct error e;

	snprintf(name, sizeof(name), "%s", c->name);
	if (controller_run(&o, &e))
		fprintf(stderr, "bench: the controller ended: %s\n", e.text);
}

/* Flows of the first mask. */
static int make_matches(struct match *matches, struct action_list *actions, struct error *e)
{
	int err = actions_parse("2", NULL, actions, e);

	for (unsigned int i = 0; !err && i < FLOWS; i++) {
		char text[128];

		snprintf(text, sizeof(text), "in_port(1),eth(),eth_type(0x0800),ipv4(src=10.%u.%u.%u,proto=17),udp()",
			 i >> 16, i >> 8 & 255, i & 255);
		err = match_parse(text, NULL, &matches[i], e);
	}
	return err;
}

/* As one command; the traffic has changed its favourite before.  Adds up for how long the lock was waited for. */
static int add_some(const char *name, const struct match *matches, const struct action_list *actions, __u64 *seed,
		    double *waited, struct error *e)
{
	double start = now_ns() - used_ns();
	struct dp *dp = NULL;
	int err = session_open(name, DP_WRITE, &dp, e);

	*waited += now_ns() - used_ns() - start;
	if (!err)
		err = add_hits(dp, MASKS * mix_random(seed), 1000000, e);
	for (unsigned int i = 0; !err && i < SESSION_FLOWS; i++)
		err = flow_add(dp, &matches[i], actions, e);
	if (!err)
		err = dp_commit(dp, e);
	dp_close(&dp);
	return err;
}

static int delete_some(const char *name, const struct match *matches, struct error *e)
{
	struct reorder ignored;
	struct dp *dp = NULL;
	int err = session_open(name, DP_WRITE, &dp, e);

	for (unsigned int i = 0; !err && i < FLOWS; i++) {
		__u32 slot;

		if (!flow_find(dp, &matches[i], &slot))
			flow_delete(dp, slot);
	}
	if (!err)
		err = dp_reclaim(dp, e);
	/* What deletion leaves in the filter is taken out by the next round: this one. */
	if (!err)
		err = reorder_masks(dp, &ignored, e);
	dp_close(&dp);
	return err;
}

/* As somebody who says `rebalance` that often, and waits for his turn; the controller leaves a busy datapath alone. */
static void force(void *arg)
{
	struct controlled *c = arg;
	struct reorder r;
	struct dp *dp;
	struct error e;

	for (;;) {
		usleep(c->interval_ns / 1000);
		if (session_open(c->name, DP_WRITE, &dp, &e) || reorder_masks(dp, &r, &e)) {
			fprintf(stderr, "bench: a rebalance failed: %s\n", e.text);
			return;
		}
		dp_close(&dp);
		count_move(c->moves, c->name, &r);
	}
}

enum who {
	WHO_NOBODY,
	WHO_CONTROLLER,
	WHO_FORCED,
	WHO_END,
};

/* working: the part of the time that the lock was not waited for. */
struct insertion {
	struct samples ns, working;
	double wall_ns;
	unsigned int moves;
};

static int time_insertion(struct controlled *c, enum who who, const struct match *matches,
			  const struct action_list *actions, __u64 *seed, struct insertion *s, struct error *e)
{
	static void (*const work[WHO_END])(void *) = { [WHO_CONTROLLER] = control, [WHO_FORCED] = force };
	double start, ns, waited = 0;
	unsigned int moves = *c->moves;
	pid_t pid = 0;
	int err = work[who] ? rig_start(work[who], c, &pid, e) : 0;

	start = now_ns();
	for (unsigned int i = 0; !err && i < FLOWS; i += SESSION_FLOWS)
		err = add_some(c->name, &matches[i], actions, seed, &waited, e);
	ns = now_ns() - start;
	samples_add(&s->ns, ns / FLOWS);
	samples_add(&s->working, 1 - waited / ns);
	s->wall_ns += ns;
	s->moves += *c->moves - moves;
	if (pid)
		rig_stop(pid);
	return err ? err : delete_some(c->name, matches, e);
}

/* The rates vary with what else the machine does; how long somebody makes an insertion wait does less so. */
static void report_insertion(struct report *r, const struct controlled *c, const struct insertion s[WHO_END])
{
	const struct insertion *run = &s[WHO_CONTROLLER], *forced = &s[WHO_FORCED];
	struct figure *f;

	report_rate(r, "insertion", &s[WHO_NOBODY].ns)->unit = "M/s";
	report_rate(r, "insertion, a controller every 100 ms", &run->ns)->unit = "M/s";
	report_rate(r, "insertion, a rebalance every 100 ms", &forced->ns)->unit = "M/s";
	figure_at_least(
		report_ratio(r, "insertion, with a controller to without", &run->working, &s[WHO_NOBODY].working),
		0.95);
	figure_at_least(
		report_ratio(r, "insertion, with rebalances to without", &forced->working, &s[WHO_NOBODY].working),
		0.95);
	f = report_add(r, "rounds that the controller passed over meanwhile");
	f->value = 100 - 100 * run->moves / (run->wall_ns / c->interval_ns);
	f->unit = "%";
}

static int measure_insertion(const struct options *o, struct report *r, struct error *e)
{
	struct controlled c = { .name = "insert", .interval_ns = BUSY_INTERVAL_MS * 1000000ULL };
	CLEANUP_FREE struct match *matches = calloc(FLOWS, sizeof(*matches));
	struct insertion s[WHO_END] = {}, warm_up = {};
	struct action_list actions;
	__u64 seed = MIX_SEED;
	int err;

	c.moves = mmap(NULL, sizeof(*c.moves), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!matches || c.moves == MAP_FAILED)
		return error_set(e, ENOMEM, "out of memory");
	err = make_matches(matches, &actions, e);
	if (!err)
		err = make_datapath(c.name, MASKS, e);
	if (!err)
		err = time_insertion(&c, WHO_NOBODY, matches, &actions, &seed, &warm_up, e);
	for (unsigned int i = 0; !err && i < o->rounds; i++)
		for (unsigned int n = 0; !err && n < WHO_END; n++) {
			enum who who = (i + n) % WHO_END;

			err = time_insertion(&c, who, matches, &actions, &seed, &s[who], e);
		}
	if (!err)
		report_insertion(r, &c, s);
	munmap(c.moves, sizeof(*c.moves));
	return err;
}

/* --- at rest ----------------------------------------------------------------------------------------------------- */

/* What the process uses of a CPU, the kernel's work for it included, from its first round on. */
static int measure_rest(const struct options *o, struct report *r, struct error *e)
{
	struct controlled c = { .name = "rest", .interval_ns = REST_INTERVAL_S * 1000000000ULL };
	__u64 start_used, start;
	struct figure *f;
	unsigned int moves;
	clockid_t clock;
	pid_t pid;
	int err = make_datapath(c.name, MASKS, e);

	c.moves = &moves;
	if (!err)
		err = rig_start(control, &c, &pid, e);
	if (err)
		return err;
	clock_getcpuclockid(pid, &clock);
	usleep(100000);
	start = clock_ns(CLOCK_MONOTONIC);
	start_used = clock_ns(clock);
	sleep(o->rest_s);
	f = report_add(r, "a controller at rest, 64 masks, every 4 s");
	f->value = (clock_ns(clock) - start_used) / (double)(clock_ns(CLOCK_MONOTONIC) - start) * 100;
	f->unit = "%";
	figure_at_most(f, 0.1);
	rig_stop(pid);
	return 0;
}

int bench_control(const struct options *o, struct report *r, struct error *e)
{
	int err = measure_round(o, r, e);

	if (!err)
		err = measure_insertion(o, r, e);
	if (!err && o->rest_s)
		err = measure_rest(o, r, e);
	return err;
}
