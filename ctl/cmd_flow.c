// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-flow, mod-flow, get-flow, del-flow, dump-flows.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "action_text.h"
#include "cmd.h"
#include "dp.h"
#include "flow_filter.h"
#include "flow_table.h"
#include "match_text.h"
#include "overlap.h"
#include "port.h"
#include "progress.h"
#include "slots.h"
#include "session.h"
#include "util.h"

/* What a flow command works with: [DP] FLOW [ACTIONS], the datapath opened, the texts parsed. */
struct flow_cmd {
	struct dp *dp;
	struct port_names names;
	struct match match;
	struct action_list actions;
};

static void flow_cmd_end(struct flow_cmd *f)
{
	port_names_free(&f->names);
	dp_close(&f->dp);
}

static int parse_texts(struct flow_cmd *f, const char *flow, const char *actions, struct error *e)
{
	int err = match_parse(flow, &f->names, &f->match, e);

	if (err)
		return error_prefix(e, err, "parsing flow key (%s)", strerror(-err));
	if (!actions)
		return 0;
	err = actions_parse(actions, &f->names, &f->actions, e);
	return err ? error_prefix(e, err, "parsing actions (%s)", strerror(-err)) : 0;
}

/* texts: how many arguments follow the datapath, which may be left out if there is only one. */
static int flow_cmd_begin(struct cmd *c, int texts, enum dp_mode mode, struct flow_cmd *f, struct error *e)
{
	char **text = c->argv + c->argc - texts;
	int err;

	memset(f, 0, sizeof(*f));
	err = session_open(c->argc > texts ? c->argv[0] : NULL, mode, &f->dp, e);
	if (!err)
		err = port_names_load(f->dp, &f->names, e);
	if (!err && c->reactive)
		f->dp->origin = FLOW_REACTIVE;
	if (!err && texts)
		err = parse_texts(f, text[0], texts > 1 ? text[1] : NULL, e);
	if (err)
		flow_cmd_end(f);
	return err;
}

/* ovs-dpctl's letters, in its order (lib/packets.c: packet_format_tcp_flags). */
static void format_tcp_flags(__u16 flags, char *out)
{
	static const struct {
		__u16 bit;
		char letter;
	} letters[] = { { 0x002, 'S' }, { 0x001, 'F' }, { 0x008, 'P' }, { 0x004, 'R' }, { 0x020, 'U' },
			{ 0x010, '.' }, { 0x040, 'E' }, { 0x080, 'C' }, { 0x100, 'N' } };

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (flags & letters[i].bit)
			*out++ = letters[i].letter;
	for (__u16 bit = 0x200; bit <= 0x800; bit <<= 1)
		if (flags & bit)
			out += sprintf(out, "[%x]", bit);
	*out = 0;
}

static void show_counts(struct cmd *c, const struct flow_counts *n)
{
	struct emit *e = &c->emit;
	struct timespec now;
	char flags[32];

	emit_u64(e, "packets", "packets:%" PRIu64, n->packets);
	emit_u64(e, "bytes", ", bytes:%" PRIu64, n->bytes);
	if (n->used_ns) {
		__s64 age;

		/* The clock that the program reads (bpf_ktime_get_coarse_ns). */
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		age = now.tv_sec * 1000000000LL + now.tv_nsec - (__s64)n->used_ns;
		emit_real(e, "used", ", used:%.3fs", age > 0 ? age / 1000000 / 1000.0 : 0.0);
	} else {
		emit_text(e, ", used:never");
		emit_json(e, "used", json_null());
	}
	format_tcp_flags(n->tcp_flags, flags);
	if (flags[0])
		emit_str(e, "flags", ", flags:%s", flags);
}

static bool has_pedit(const struct flow_action *a)
{
	while (a->type != ACTION_END && a->type != ACTION_PEDIT)
		a++;
	return a->type == ACTION_PEDIT;
}

static void show_flow(struct cmd *c, struct flow_cmd *f, __u32 slot)
{
	const struct port_names *names = c->names ? &f->names : NULL;
	struct match_style style = { .more = c->more, .names = names };
	struct flow *flow = dp_flow(f->dp, slot);
	struct flow_action *actions = dp_actions(f->dp, flow);
	struct emit *e = &c->emit;
	struct flow_counts counts;
	struct match match;
	char ufid[UUID_TEXT_SIZE];

	flow_match(f->dp, flow, &match);
	flow_counts(f->dp, slot, &counts);
	emit_open_object(e, NULL);
	emit_str(e, "ufid", c->more ? "ufid:%s, " : NULL, uuid_format(flow->ufid, ufid));
	if (emit_stream(e))
		match_print(emit_stream(e), &match, &style);
	emit_json(e, "match", e->json ? match_json(&match) : NULL);
	emit_text(e, ", ");
	show_counts(c, &counts);
	if (has_pedit(actions))
		emit_u64(e, "overlimits", c->more ? ", overlimits:%" PRIu64 : NULL, counts.overlimits);
	emit_u64(e, "page", c->more ? ", dp:tcvs, page:%" PRIu64 : NULL, slot >> PAGE_SHIFT);
	emit_u64(e, "slot", c->more ? ", slot:%" PRIu64 : NULL, slot & (PAGE_SLOTS - 1));
	emit_str(e, "origin", c->more && flow->origin == FLOW_REACTIVE ? ", origin:%s" : NULL,
		 flow->origin == FLOW_REACTIVE ? "reactive" : "hand");
	emit_text(e, ", actions:");
	if (emit_stream(e))
		actions_print(emit_stream(e), actions, names);
	emit_json(e, "actions", e->json ? actions_json(actions) : NULL);
	emit_text(e, "\n");
	emit_close(e);
}

static int add_flow(struct cmd *c, struct flow_cmd *f, struct error *e)
{
	int err = match_supported(&f->match, e);

	if (err)
		return error_prefix(e, err, "parsing flow key (%s)", strerror(-err));
	err = c->overlap ? 0 : overlap_check_new(f->dp, &f->match, &f->actions, e);
	return err ? err : flow_add(f->dp, &f->match, &f->actions, e);
}

int cmd_add_flow(struct cmd *c, struct error *e)
{
	struct flow_cmd f;
	int err = flow_cmd_begin(c, 2, DP_WRITE, &f, e);

	if (err)
		return err;
	if (!f.match.present && f.match.has_ufid)
		err = error_set(e, EINVAL,
				"parsing flow key (Invalid argument): a UFID alone does not say what to match");
	if (!err)
		err = add_flow(c, &f, e);
	if (!err)
		err = dp_commit(f.dp, e);
	flow_cmd_end(&f);
	return err;
}

static void show_stats_line(struct cmd *c, struct dp *dp, __u32 slot)
{
	struct flow_counts counts;

	if (!c->statistics)
		return;
	flow_counts(dp, slot, &counts);
	show_counts(c, &counts);
	emit_text(&c->emit, "\n");
}

static int change_flow(struct cmd *c, struct flow_cmd *f, __u32 slot, struct error *e)
{
	int err = c->overlap ? 0 : overlap_check_change(f->dp, slot, &f->actions, e);

	if (err)
		return err;
	err = flow_set_actions(f->dp, slot, &f->actions, e);
	if (err)
		return err;
	show_stats_line(c, f->dp, slot);
	if (c->clear)
		flow_clear_counts(f->dp, slot);
	return 0;
}

int cmd_mod_flow(struct cmd *c, struct error *e)
{
	struct flow_cmd f;
	__u32 slot;
	int err = flow_cmd_begin(c, 2, DP_WRITE, &f, e);

	if (err)
		return err;
	err = flow_find(f.dp, &f.match, &slot);
	if (!err)
		err = change_flow(c, &f, slot, e);
	else if (c->may_create && f.match.present)
		err = add_flow(c, &f, e);
	else
		error_set(e, ENOENT, "updating flow table (No such file or directory): no flow has this key and mask");
	if (!err)
		err = dp_commit(f.dp, e);
	flow_cmd_end(&f);
	return err;
}

int cmd_get_flow(struct cmd *c, struct error *e)
{
	struct flow_cmd f;
	__u32 slot;
	int err = flow_cmd_begin(c, 1, DP_READ, &f, e);

	if (err)
		return err;
	err = flow_find(f.dp, &f.match, &slot);
	if (err)
		error_set(e, ENOENT, "getting flow (No such file or directory): no flow has this %s",
			  f.match.present ? "key and mask" : "UFID");
	else
		show_flow(c, &f, slot);
	flow_cmd_end(&f);
	return err;
}

int cmd_del_flow(struct cmd *c, struct error *e)
{
	struct flow_cmd f;
	__u32 slot;
	int err = flow_cmd_begin(c, 1, DP_WRITE, &f, e);

	if (err)
		return err;
	err = flow_find(f.dp, &f.match, &slot);
	if (err) {
		error_set(e, ENOENT, "deleting flow (No such file or directory): no flow has this %s",
			  f.match.present ? "key and mask" : "UFID");
	} else {
		show_stats_line(c, f.dp, slot);
		flow_delete(f.dp, slot);
	}
	if (!err)
		err = dp_commit(f.dp, e);
	flow_cmd_end(&f);
	return err;
}

/* [DP] [filter=FILTER] [type=TYPES], in any order. */
struct dump_args {
	const char *filter;
	const char *types;
};

/* Takes what has a = out of the arguments, so that a datapath's name is left, or nothing. */
static int dump_args_take(struct cmd *c, struct dump_args *a, struct error *e)
{
	int left = 0;

	for (int i = 0; i < c->argc; i++) {
		char *arg = c->argv[i], *value = strchr(arg, '=');
		bool filter = !strncmp(arg, "filter=", strlen("filter=")),
		     types = !strncmp(arg, "type=", strlen("type="));
		const char **place = filter ? &a->filter : &a->types;

		if (!value) {
			c->argv[left++] = arg;
			continue;
		}
		if (!filter && !types)
			return error_set(e, EINVAL,
					 "dump-flows: unknown argument '%s'; filter=... and type=... are possible",
					 text_quote(text_of(arg)).text);
		if (*place)
			return error_set(e, EINVAL, "dump-flows: %.*s is given twice", (int)(value - arg), arg);
		*place = value + 1;
	}
	c->argc = left;
	return left < 2 ? 0
			: error_set(e, EINVAL, "dump-flows: more than one datapath: '%s' and '%s'", c->argv[0],
				    c->argv[1]);
}

static void show_flows(struct cmd *c, struct flow_cmd *f, const struct flow_filter *filter)
{
	struct progress progress;
	__u64 done = 0;

	progress_begin(&progress, "reading flows", c->quiet || c->emit.json);
	progress.total = f->dp->info->flows;
	for (__u32 slot = flow_next(f->dp, 0); slot != SLOT_NONE; slot = flow_next(f->dp, slot + 1)) {
		struct match match;

		progress_step(&progress, done++);
		flow_match(f->dp, dp_flow(f->dp, slot), &match);
		if (flow_filter_shows(filter, &match))
			show_flow(c, f, slot);
	}
	progress_clear(&progress);
}

int cmd_dump_flows(struct cmd *c, struct error *e)
{
	struct dump_args args = {};
	struct flow_filter filter;
	bool shown = true;
	struct flow_cmd f;
	int err = dump_args_take(c, &args, e);

	if (!err && args.types)
		err = flow_types_parse(args.types, &shown, e);
	if (!err)
		err = flow_cmd_begin(c, 0, DP_READ, &f, e);
	if (err)
		return err;
	err = flow_filter_parse(args.filter ? args.filter : "", &f.names, &filter, e);
	if (!err) {
		emit_open_array(&c->emit, "flows");
		if (shown)
			show_flows(c, &f, &filter);
		emit_close(&c->emit);
	}
	flow_cmd_end(&f);
	return err;
}
