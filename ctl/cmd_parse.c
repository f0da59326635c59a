// SPDX-License-Identifier: GPL-2.0-only
/*
 * parse-flow, parse-actions: what a text means, without a datapath, so ports are numbers.
 */
#include <errno.h>
#include <string.h>

#include "action_check.h"
#include "action_list.h"
#include "action_text.h"
#include "cmd.h"
#include "match_text.h"
#include "net_text.h"
#include "pedit_text.h"
#include "util.h"

/* What is known of a flow when its texts are read: as it stands, or with --check the match that would be installed. */
struct parsed {
	struct match_text text;
	struct match match;
	struct action_list actions;
	bool has_actions;
};

/* What add-flow would say. */
static int check(struct parsed *p, struct error *e)
{
	int err = match_text_check(&p->text, &p->match, e);

	if (!err && !p->match.present)
		err = error_set(e, EINVAL, "a UFID alone does not say what to match");
	if (!err)
		err = match_supported(&p->match, e);
	return err ? error_prefix(e, err, "parsing flow key (%s)", strerror(-err)) : 0;
}

static int parse(const struct cmd *c, struct parsed *p, struct error *e)
{
	int err = match_text_parse(c->argv[0], NULL, &p->text, e);

	if (err)
		return error_prefix(e, err, "parsing flow key (%s)", strerror(-err));
	p->has_actions = c->argc > 1;
	err = c->check ? check(p, e) : 0;
	if (err || !p->has_actions)
		return err;
	err = actions_parse(c->argv[1], NULL, &p->actions, e);
	if (!err && c->check)
		err = actions_check(&p->match, &p->actions, e);
	return err ? error_prefix(e, err, "parsing actions (%s)", strerror(-err)) : 0;
}

/* With -m, each pedit() as tc lists it, a line for each key. */
static void keys_list(const struct cmd *c, FILE *out, const struct flow_action *a)
{
	for (; c->more && a->type != ACTION_END; a = action_next(a))
		if (a->type == ACTION_PEDIT)
			pedit_list(out, a);
}

static void key_print(FILE *out, const struct cmd *c, const struct parsed *p)
{
	const struct match_style style = { .more = c->more };
	char ufid[UUID_TEXT_SIZE];

	if (p->text.has_ufid)
		fprintf(out, "ufid:%s%s", uuid_format(p->text.ufid, ufid), p->text.level[0].present ? "," : "");
	if (c->check)
		match_print(out, &p->match, &style);
	else
		match_text_print(out, &p->text, &style);
}

int cmd_parse_flow(struct cmd *c, struct error *e)
{
	CLEANUP_FREE char *key = NULL;
	struct parsed p = { 0 };
	FILE *out;
	size_t size;
	int err = parse(c, &p, e);

	if (err)
		return err;
	out = open_memstream(&key, &size);
	if (!out)
		return error_set(e, ENOMEM, "parse-flow: no memory");
	key_print(out, c, &p);
	fclose(out);
	emit_open_object(&c->emit, NULL);
	emit_str(&c->emit, "flow", "%s", key);
	if (c->emit.json)
		emit_json(&c->emit, "match", c->check ? match_json(&p.match) : match_text_json(&p.text));
	if (p.has_actions && c->emit.json)
		emit_json(&c->emit, "actions", actions_json(p.actions.action));
	if (p.has_actions && emit_stream(&c->emit)) {
		emit_text(&c->emit, ", actions:");
		actions_print(emit_stream(&c->emit), p.actions.action, NULL);
	}
	emit_text(&c->emit, "\n");
	if (p.has_actions && emit_stream(&c->emit))
		keys_list(c, emit_stream(&c->emit), p.actions.action);
	emit_close(&c->emit);
	return 0;
}

int cmd_parse_actions(struct cmd *c, struct error *e)
{
	struct action_list list;
	int err = actions_parse(c->argv[0], NULL, &list, e);

	if (err)
		return error_prefix(e, err, "parsing actions (%s)", strerror(-err));
	emit_open_object(&c->emit, NULL);
	if (emit_stream(&c->emit))
		actions_print(emit_stream(&c->emit), list.action, NULL);
	else
		emit_json(&c->emit, "actions", actions_json(list.action));
	emit_text(&c->emit, "\n");
	if (emit_stream(&c->emit))
		keys_list(c, emit_stream(&c->emit), list.action);
	emit_close(&c->emit);
	return 0;
}
