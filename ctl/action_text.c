// SPDX-License-Identifier: GPL-2.0-only
#include "action_text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "util.h"

#define BLANKS " \t\r\n"

/* What Open vSwitch and tc have and this version has not. */
static const char *const unsupported[] = {
	"add_mpls", "check_pkt_len", "clone",	"csum",	    "ct",      "ct_clear", "dec_ttl",  "hash",	   "lb_output",
	"meter",    "pedit",	     "pop_eth", "pop_mpls", "pop_nsh", "pop_vlan", "psample",  "push_eth", "push_mpls",
	"push_nsh", "push_vlan",     "recirc",	"sample",   "set",     "tnl_pop",  "tnl_push", "trunc",	   "userspace",
};

static bool is_drop(struct text word)
{
	return word.len == strlen("drop") && !strncasecmp(word.at, "drop", word.len);
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
	return is_drop(word) || is_unsupported(word);
}

static int output_append(struct action_list *l, __u32 port, struct error *e)
{
	if (l->count == FLOW_ACTIONS_MAX)
		return error_set(e, E2BIG, "actions: more than %u records are not possible in one flow", FLOW_ACTIONS_MAX);
	l->action[l->count++] = (struct flow_action){ .type = ACTION_OUTPUT, .port = port };
	return 0;
}

static int action_parse(struct text t, const struct port_names *names, struct action_list *l, struct error *e)
{
	struct text word = { t.at, text_cspan(t, "(," BLANKS) };
	struct text token = { t.at, text_cspan(t, "," BLANKS) };
	__u32 port;
	int err;

	if (is_drop(word) && word.len < t.len && t.at[word.len] == '(')
		return error_set(e, EOPNOTSUPP, "actions: drop with a reason is not supported by this version");
	if (is_drop(word))
		return error_set(e, EINVAL, "actions: drop has to stand alone");
	if (is_unsupported(word))
		return error_set(e, EOPNOTSUPP, "actions: %s is not supported by this version", text_quote(word).text);
	err = port_parse(token, "actions", names, &port, e);
	if (err == -ENOENT && token.len && isalpha((unsigned char)token.at[0]))
		return error_set(e, EINVAL, "actions: '%s' is neither an action nor a port", text_quote(word).text);
	return err ? err : output_append(l, port, e);
}

int actions_parse(const char *text, const struct port_names *names, struct action_list *l, struct error *e)
{
	static const char delimiters[] = "," BLANKS;
	struct text t = text_of(text);

	memset(l, 0, sizeof(*l));
	t = text_from(t, text_span(t, BLANKS));
	while (t.len && strchr(BLANKS, t.at[t.len - 1]))
		t.len--;
	if (is_drop(t))
		return 0;
	for (t = text_from(t, text_span(t, delimiters)); t.len; t = text_from(t, text_span(t, delimiters))) {
		int err = action_parse(t, names, l, e);

		if (err)
			return err;
		t = text_from(t, text_cspan(t, delimiters));
	}
	if (l->count)
		l->action[l->count - 1].flags |= ACTION_F_LAST;
	return 0;
}

void actions_print(FILE *out, const struct flow_action *a, const struct port_names *names)
{
	const char *comma = "";

	if (a->type == ACTION_END)
		fputs("drop", out);
	for (; a->type != ACTION_END; a++) {
		const char *name = port_name(a->port, names);

		if (name && !is_keyword(text_of(name)))
			fprintf(out, "%s%s", comma, name);
		else
			fprintf(out, "%s%u", comma, a->port);
		comma = ",";
	}
}
