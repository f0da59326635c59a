// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-flows, mod-flows, del-flows.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bulk.h"
#include "cmd.h"
#include "flow_bulk.h"
#include "flow_json.h"
#include "flow_table.h"
#include "match_memo.h"
#include "match_text.h"
#include "overlap.h"
#include "port.h"
#include "progress.h"
#include "session.h"
#include "slots.h"
#include "util.h"

struct bulk_run {
	struct dp *dp;
	struct port_names names;
	__u64 done[BULK_DELETE + 1];
	__u64 failed;
	bool overlap;
	bool json; /* the file is */
	struct progress progress;
	struct match_memo *memo; /* NULL: out of memory, and every text is read anew */
};

enum {
	/* So many flows are parsed before the first of them is looked for: what they need of the tables is slow to come. */
	TASKS = 8,
};

/* A line, or a flow of JSON, and what it says. */
struct task {
	struct bulk_line line;
	struct flow_json flow;
	__u32 mask_hint;
	int err; /* it is refused, and why */
	struct error why;
};

static int add(struct bulk_run *r, const struct match *match, const struct action_list *list, struct error *e)
{
	int err = match->present ? 0 : error_set(e, EINVAL, "a UFID alone does not say what to match");

	if (!err && match_supported(match, e))
		err = error_prefix(e, -EINVAL, "parsing flow key (%s)", strerror(EINVAL));
	if (!err && !r->overlap)
		err = overlap_check_new(r->dp, match, list, e);
	return err ? err : flow_add(r->dp, match, list, e);
}

static int apply(struct bulk_run *r, const struct bulk_line *line, const struct match *match, struct action_list *list,
		 struct error *e)
{
	__u32 slot;
	int err;

	if (line->verb == BULK_ADD)
		return add(r, match, list, e);
	err = flow_find(r->dp, match, &slot);
	if (err)
		return error_set(e, ENOENT, "%s flow (No such file or directory): no flow has this key and mask",
				 line->verb == BULK_MODIFY ? "updating" : "deleting");
	if (line->verb == BULK_DELETE) {
		flow_delete(r->dp, slot);
		return 0;
	}
	err = r->overlap ? 0 : overlap_check_change(r->dp, slot, list, e);
	return err ? err : flow_set_actions(r->dp, slot, list, e);
}

/* An action text is optional only where Open vSwitch has it so: a flow that is added without one drops. */
static int parse_text(const struct bulk_run *r, struct task *t)
{
	const struct bulk_line *line = &t->line;
	int err;

	t->flow.has_origin = false;
	if (line->verb == BULK_DELETE && *line->actions)
		return error_set(&t->why, EINVAL, "delete takes no actions: '%s'", line->actions);
	if (line->verb != BULK_DELETE && !*line->actions)
		return error_set(&t->why, EINVAL, "actions are missing; 'drop' is the empty list");
	err = match_recall(line->flow, &r->names, r->memo, &t->flow.match, &t->why);
	if (err)
		return error_prefix(&t->why, err, "parsing flow key (%s)", strerror(-err));
	err = actions_parse(line->actions, &r->names, &t->flow.actions, &t->why);
	return err ? error_prefix(&t->why, err, "parsing actions (%s)", strerror(-err)) : 0;
}

/* What a dump says can be deleted as it is: its actions are passed over. */
static int parse_json(const struct bulk_run *r, struct task *t)
{
	int err = flow_from_json(t->line.json, &r->names, &t->flow, &t->why);

	if (!err && t->line.verb != BULK_DELETE && !t->flow.has_actions)
		err = error_set(&t->why, EINVAL, "actions are missing; [] is the empty list, which drops");
	return err;
}

/* What a flow says depends on no other flow, so it is known before those in front of it are applied. */
static bool next_task(struct bulk_run *r, struct bulk *b, struct task *t)
{
	if (!bulk_next(b, &t->line))
		return false;
	t->why.text[0] = '\0'; /* not all of it, for each line */
	t->err = t->line.json ? parse_json(r, t) : parse_text(r, t);
	if (!t->err)
		t->mask_hint = flow_prefetch(r->dp, &t->flow.match);
	return true;
}

static int run_task(struct bulk_run *r, struct task *t)
{
	enum flow_origin origin = r->dp->origin;
	int err = t->err;

	if (err)
		return err;
	if (t->flow.has_origin && t->flow.origin == FLOW_REACTIVE)
		r->dp->origin = FLOW_REACTIVE;
	flow_bulk_hint(r->dp, t->mask_hint);
	err = apply(r, &t->line, &t->flow.match, &t->flow.actions, &t->why);
	r->dp->origin = origin;
	return err;
}

static void report_failure(struct cmd *c, struct bulk_run *r, const struct bulk_line *line, struct error *e)
{
	const char *what = line->json ? "flow" : "line";

	error_prefix(e, 0, "%s %lu", what, line->number);
	progress_clear(&r->progress);
	cmd_complain(c, e);
	emit_open_object(&c->emit, NULL);
	emit_u64(&c->emit, what, NULL, line->number);
	emit_str(&c->emit, "error", NULL, e->text);
	emit_close(&c->emit);
}

static void finish_task(struct cmd *c, struct bulk_run *r, struct task *t)
{
	progress_step(&r->progress, t->line.number);
	if (!run_task(r, t)) {
		r->done[t->line.verb]++;
		return;
	}
	r->failed++;
	report_failure(c, r, &t->line, &t->why);
}

/* In the order of the file, a few flows behind the one that is read. */
static void run_tasks(struct cmd *c, struct bulk_run *r, struct bulk *b)
{
	struct task tasks[TASKS];
	unsigned long read = 0, done = 0;
	bool more = true;

	do {
		more = more && next_task(r, b, &tasks[read % TASKS]);
		read += more;
		if (done < read && (!more || read - done == TASKS))
			finish_task(c, r, &tasks[done++ % TASKS]);
	} while (more || done < read);
}

/* Flows first; the masks that came or went are swapped in or out at the end, once a class. */
static int run_file(struct cmd *c, struct bulk_run *r, struct bulk *b, struct error *e)
{
	struct error ignored;
	int err;

	flow_bulk_begin(r->dp);
	emit_open_array(&c->emit, "failed");
	run_tasks(c, r, b);
	emit_close(&c->emit);
	progress_clear(&r->progress);
	err = flow_bulk_end(r->dp, e);
	if (dp_commit(r->dp, err ? &ignored : e) && !err)
		err = -EIO;
	return err;
}

/* Some lines failed: each was said; the last word is how many. */
static int sum_up(struct cmd *c, const struct bulk_run *r, struct error *e)
{
	emit_u64(&c->emit, "added", NULL, r->done[BULK_ADD]);
	emit_u64(&c->emit, "modified", NULL, r->done[BULK_MODIFY]);
	emit_u64(&c->emit, "deleted", NULL, r->done[BULK_DELETE]);
	if (!r->failed)
		return 0;
	c->partial = true;
	return error_set(e, EINVAL, "%" PRIu64 " %s failed, %" PRIu64 " were applied", (uint64_t)r->failed,
			 r->json ? "flows" : "lines",
			 (uint64_t)(r->done[BULK_ADD] + r->done[BULK_MODIFY] + r->done[BULK_DELETE]));
}

static void expect(struct dp *dp, unsigned long flows)
{
	__u32 room = dp->info->max_flows - dp->info->flows;

	dp->expected = flows < room ? flows : room;
}

static int run_bulk(struct cmd *c, const char *dp_name, const char *path, enum bulk_verb verb, struct error *e)
{
	struct bulk b = { .verb = verb };
	struct bulk_run r = { .overlap = c->overlap, .memo = calloc(1, sizeof(*r.memo)) };
	int err;

	progress_begin(&r.progress, path, c->quiet || c->emit.json);
	err = bulk_open(&b, path, e);
	if (!err)
		r.progress.total = r.progress.out ? bulk_lines(&b) : 0;
	if (!err)
		err = session_open(dp_name, DP_WRITE, &r.dp, e);
	if (!err && verb == BULK_ADD)
		expect(r.dp, bulk_lines_about(&b));
	if (!err && c->reactive)
		r.dp->origin = FLOW_REACTIVE;
	if (!err)
		err = port_names_load(r.dp, &r.names, e);
	r.json = b.flows;
	if (!err && !r.overlap)
		overlap_begin(r.dp);
	if (!err)
		err = run_file(c, &r, &b, e);
	if (!err)
		err = sum_up(c, &r, e);
	port_names_free(&r.names);
	overlap_end(r.dp);
	dp_close(&r.dp);
	bulk_end(&b);
	free(r.memo);
	return err;
}

int cmd_add_flows(struct cmd *c, struct error *e)
{
	return run_bulk(c, c->argc > 1 ? c->argv[0] : NULL, c->argv[c->argc - 1], BULK_ADD, e);
}

int cmd_mod_flows(struct cmd *c, struct error *e)
{
	return run_bulk(c, c->argc > 1 ? c->argv[0] : NULL, c->argv[c->argc - 1], BULK_MODIFY, e);
}

static int delete_all(struct cmd *c, const char *dp_name, struct error *e)
{
	struct progress progress;
	__u64 done = 0;
	struct dp *dp;
	int err = session_open(dp_name, DP_WRITE, &dp, e);

	if (err)
		return err;
	progress_begin(&progress, "deleting flows", c->quiet || c->emit.json);
	progress.total = dp->info->flows;
	for (__u32 slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		progress_step(&progress, done++);
		flow_delete(dp, slot);
	}
	progress_clear(&progress);
	err = dp_commit(dp, e);
	dp_close(&dp);
	return err;
}

/* One argument is a datapath if there is one of that name, else a file; as ovs-dpctl has it. */
int cmd_del_flows(struct cmd *c, struct error *e)
{
	struct error ignored;
	struct dp *dp = NULL;

	if (c->argc == 2)
		return run_bulk(c, c->argv[0], c->argv[1], BULK_DELETE, e);
	if (c->argc == 0)
		return delete_all(c, NULL, e);
	if (!access(c->argv[0], R_OK) || !strcmp(c->argv[0], "-")) {
		if (session_open(c->argv[0], DP_READ, &dp, &ignored))
			return run_bulk(c, NULL, c->argv[0], BULK_DELETE, e);
		dp_close(&dp);
	}
	return delete_all(c, c->argv[0], e);
}
