// SPDX-License-Identifier: GPL-2.0-only
#include "action_text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "action_csum.h"
#include "action_set.h"
#include "action_vlan.h"
#include "error.h"
#include "pedit_text.h"
#include "util.h"

#define BLANKS " \t\r\n"

/* Each has a row; output has none, since it has no name. */
static const struct action_kind {
	const char *name, *alias;
	bool bare; /* no parentheses follow */
	int (*parse)(struct text body, struct action_list *l, struct error *e);
	const struct flow_action *(*print)(FILE *out, const struct flow_action *a); /* returns action_next(a) */
	json_t *(*json)(const struct flow_action *a);
} kinds[ACTION_TYPES] = {
	[ACTION_SET] = { "set", "set_masked", false, set_parse, set_print, set_json },
	[ACTION_PUSH_VLAN] = { "push_vlan", NULL, false, push_vlan_parse, push_vlan_print, push_vlan_json },
	[ACTION_POP_VLAN] = { "pop_vlan", NULL, true, pop_vlan_parse, pop_vlan_print, pop_vlan_json },
	[ACTION_PEDIT] = { "pedit", NULL, false, pedit_parse, pedit_print, pedit_json },
	[ACTION_CSUM] = { "csum", NULL, false, csum_parse, csum_print, csum_json },
};

/* What Open vSwitch and tc have and this version has not. */
static const char *const unsupported[] = {
	"add_mpls", "check_pkt_len", "clone",	 "ct",	     "ct_clear", "dec_ttl",   "hash",	   "lb_output",
	"meter",    "pop_eth",	     "pop_mpls", "pop_nsh",  "psample",	 "push_eth",  "push_mpls", "push_nsh",
	"recirc",   "sample",	     "tnl_pop",	 "tnl_push", "trunc",	 "userspace",
};

static bool is_drop(struct text word)
{
	return word.len == strlen("drop") && !strncasecmp(word.at, "drop", word.len);
}

static const struct action_kind *kind_find(struct text word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct action_kind *k = &kinds[i];

		if ((k->name && text_is(word, k->name)) || (k->alias && text_is(word, k->alias)))
			return k;
	}
	return NULL;
}

static bool is_unsupported(struct text word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unsupported); i++) {
		if (text_is(word, unsupported[i]))
			return true;
	}
	return false;
}

static bool is_keyword(struct text word)
{
	return is_drop(word) || kind_find(word) || is_unsupported(word);
}

/* Takes (BODY), which stands at the beginning of t. */
static int body_take(struct text *t, struct text word, struct text *body, struct error *e)
{
	long len = text_enclosed(*t);

	if (!t->len || t->at[0] != '(')
		return error_set(e, EINVAL, "actions: '(' has to follow %s", text_quote(word).text);
	if (len < 0)
		return error_set(e, EINVAL, "actions: '(' of %s is never closed", text_quote(word).text);
	*body = (struct text){ t->at + 1, len };
	*t = text_from(*t, len + 2);
	return 0;
}

static int kind_parse(const struct action_kind *k, struct text *t, struct text word, struct action_list *l,
		      struct error *e)
{
	struct text body = { word.at + word.len, 0 };
	int err;

	*t = text_from(*t, word.len);
	if (k->bare && t->len && t->at[0] == '(')
		return error_set(e, EINVAL, "actions: %s takes no parentheses", k->name);
	err = k->bare ? 0 : body_take(t, word, &body, e);
	return err ? err : k->parse(body, l, e);
}

static int output_parse(struct text *t, struct text word, const struct port_names *names, struct action_list *l,
			struct error *e)
{
	struct text token = { t->at, text_cspan(*t, "," BLANKS) };
	struct flow_action *a;
	__u32 port;
	int err;

	err = port_parse(token, "actions", names, &port, e);
	if (err == -ENOENT && token.len && isalpha((unsigned char)token.at[0]))
		return error_set(e, EINVAL, "actions: '%s' is neither an action nor a port", text_quote(word).text);
	if (err)
		return err;
	a = action_append(l, ACTION_OUTPUT, e);
	if (!a)
		return -E2BIG;
	a->port = port;
	*t = text_from(*t, token.len);
	return 0;
}

/* Takes one action from the beginning of t. */
static int action_parse(struct text *t, const struct port_names *names, struct action_list *l, struct error *e)
{
	struct text word = { t->at, text_until(*t, TEXT_OPEN | TEXT_COMMA | TEXT_BLANK) };
	const struct action_kind *k;

	/* No other action begins so, and most lists are of these. */
	if (text_run(*t, TEXT_DIGIT))
		return output_parse(t, word, names, l, e);
	k = kind_find(word);
	if (k)
		return kind_parse(k, t, word, l, e);
	if (is_drop(word) && word.len < t->len && t->at[word.len] == '(')
		return error_set(e, EOPNOTSUPP, "actions: drop with a reason is not supported by this version");
	if (is_drop(word))
		return error_set(e, EINVAL, "actions: drop has to stand alone");
	if (is_unsupported(word))
		return error_set(e, EOPNOTSUPP, "actions: %s is not supported by this version", text_quote(word).text);
	return output_parse(t, word, names, l, e);
}

/* The frame itself can be given away only to an output, and only to one that nothing follows. */
static void mark_last(struct action_list *l)
{
	struct flow_action *last = l->count ? &l->action[l->count - 1] : NULL;

	if (last && last->type == ACTION_OUTPUT)
		last->flags |= ACTION_F_LAST;
}

/* As in Open vSwitch, actions may be apart by any commas and blanks; by none, too, after a parenthesis. */
int actions_parse(const char *text, const struct port_names *names, struct action_list *l, struct error *e)
{
	static const char delimiters[] = "," BLANKS;
	struct text t = text_of(text);

	actions_clear(l);
	t = text_from(t, text_span(t, BLANKS));
	while (t.len && text_is_blank(t.at[t.len - 1]))
		t.len--;
	if (is_drop(t))
		return 0;
	for (t = text_from(t, text_span(t, delimiters)); t.len; t = text_from(t, text_span(t, delimiters))) {
		int err = action_parse(&t, names, l, e);

		if (err)
			return err;
	}
	mark_last(l);
	return 0;
}

static const struct flow_action *output_print(FILE *out, const struct flow_action *a, const struct port_names *names)
{
	const char *name = port_name(a->port, names);

	if (name && !is_keyword(text_of(name)))
		fputs(name, out);
	else
		fprintf(out, "%u", a->port);
	return a + 1;
}

void actions_print(FILE *out, const struct flow_action *a, const struct port_names *names)
{
	const char *comma = "";

	if (a->type == ACTION_END)
		fputs("drop", out);
	while (a->type != ACTION_END) {
		fputs(comma, out);
		a = a->type == ACTION_OUTPUT ? output_print(out, a, names) : kinds[a->type].print(out, a);
		comma = ",";
	}
}

json_t *actions_json(const struct flow_action *a)
{
	json_t *list = json_array();

	for (; a->type != ACTION_END; a = action_next(a)) {
		bool output = a->type == ACTION_OUTPUT;
		json_t *value = output ? json_integer(a->port) : kinds[a->type].json(a);

		json_array_append_new(list, json_pack("{s:o}", output ? "output" : kinds[a->type].name, value));
	}
	return list;
}
