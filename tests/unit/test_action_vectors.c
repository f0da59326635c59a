// SPDX-License-Identifier: GPL-2.0-only
/*
 * Action lists that Open vSwitch and its kernel datapath were seen to take or refuse, and what tcvs does with them.
 *
 * Rows with actions that are not built have to be refused, by name.  Where tcvs means to differ, the row is in a table
 * here with what it does instead, and why.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "action_check.h"
#include "action_text.h"
#include "error.h"
#include "list_check.h"
#include "match_check.h"
#include "util.h"
#include "vectors.h"

/* Words of actions, and of headers in set(), that this version has not. */
static const char *const not_built[] = {
	"add_mpls",  "check_pkt_len", "clone",	"ct",	  "ct_clear", "dec_ttl",  "drop(",   "encap_nsh", "hash",
	"lb_output", "meter",	      "mpls",	"nsh",	  "pop_eth",  "pop_mpls", "pop_nsh", "psample",	  "push_eth",
	"push_mpls", "push_nsh",      "recirc", "sample", "tnl_pop",  "tnl_push", "trunc",   "tunnel",	  "userspace",
};

struct deviation {
	const char *id;
	const char *prints; /* NULL: is refused */
	const char *why;
};

static const struct deviation deviations[] = {
	{ "X019", NULL, "without connection tracking, set(ct_mark()) could only drop the packet" },
	{ "C135", "push_vlan(vid=1,pcp=0)", "pcp is 0 if it is not said" },
	{ "C137", "push_vlan(vid=1,pcp=0)", "words in any order" },
	{ "C141", "push_vlan(tpid=0x88a8,vid=1,pcp=0)", "words in any order" },
	{ "C161", NULL, "numbers do not wrap" },
	{ "C167", NULL, "numbers do not wrap" },
	{ "C169", NULL, "numbers do not wrap" },
	{ "C189", NULL, "bits of the value outside of the mask, which only the kernel refuses there" },
};

struct tally {
	const char *table;
	int rows, run, deviating;
};

static const struct deviation *deviation_of(const char *id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deviations); i++) {
		if (!strcmp(deviations[i].id, id))
			return &deviations[i];
	}
	return NULL;
}

static bool is_word_char(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The first word of the text that is in the list above. */
static const char *not_built_word(const char *text)
{
	const char *at;
	size_t i, len;

	for (at = text; *at; at++) {
		if (at > text && is_word_char(at[-1]))
			continue;
		for (i = 0; i < ARRAY_SIZE(not_built); i++) {
			len = strlen(not_built[i]);
			if (!strncmp(at, not_built[i], len) && (!is_word_char(at[len]) || !is_word_char(at[len - 1])))
				return not_built[i];
		}
	}
	return NULL;
}

static void assert_prints(const char *id, const struct action_list *l, const char *expected)
{
	CLEANUP_FREE char *text = actions_printed(l->action, NULL);

	if (strcmp(text, expected))
		fail_msg("%s: prints %s, not %s", id, text, expected);
}

static void assert_refused_by_name(const char *id, const char *text, const char *word)
{
	struct action_list l;
	struct error e = { "" };
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "("), word);
	if (!actions_parse(text, NULL, &l, &e))
		fail_msg("%s: '%s' was taken", id, text);
	if (!strstr(e.text, name))
		fail_msg("%s: '%s' is refused, but %s is not named: %s", id, text, name, e.text);
	print_message("# %s: not built yet: %s\n", id, word);
}

static void tally_print(const struct tally *t)
{
	print_message("# %s: %d of %d rows run, %d of them where tcvs means to differ\n", t->table, t->run, t->rows,
		      t->deviating);
}

/* Parses and checks; what is taken has to print as expected, if that is not NULL. */
static void assert_verdict(const char *id, const char *flow, const char *text, bool taken, const char *expected)
{
	struct error e = { "" };
	struct action_list l;
	struct match m;
	int err = actions_parse(text, NULL, &l, &e);

	if (!err && flow) {
		match_parsed(flow, NULL, &m);
		err = actions_check(&m, &l, &e);
	}
	if (!err != taken)
		fail_msg("%s: '%s' in %s is %s: %s", id, text, flow ? flow : "no flow", err ? "refused" : "taken",
			 e.text);
	if (err && !e.text[0])
		fail_msg("%s: '%s' is refused without a reason", id, text);
	if (!err && expected)
		assert_prints(id, &l, expected);
}

/* 6.12:OK@FLOW;6.12:EINVAL@FLOW;...  A flow without a MAC header cannot be. */
static int assert_seen(const char *id, const char *seen, const char *text)
{
	CLEANUP_FREE char *copy = strdup(seen);
	char *save = NULL, *one;
	int n = 0;

	for (one = strtok_r(copy, ";", &save); one; one = strtok_r(NULL, ";", &save)) {
		char *at = strchr(one, '@');

		if (!at || strncmp(one, "6.12:", 5) || strncmp(at + 1, "eth()", 5))
			continue;
		assert_verdict(id, at + 1, text, !strncmp(one, "6.12:OK", 7), text);
		n++;
	}
	return n;
}

/* @REPEAT(X,N,comma) */
static char *generated(const char *rule)
{
	static const char repeat[] = "@REPEAT(";
	const char *x = rule + strlen(repeat), *n = strrchr(rule, ',');
	size_t len, count, i;
	char *text;

	if (strncmp(rule, repeat, strlen(repeat)))
		return strdup(rule);
	while (n > x && *--n != ',')
		;
	len = n - x;
	count = strtoul(n + 1, NULL, 10);
	text = calloc(count, len + 1);
	assert_non_null(text);
	assert_true(count > 0);
	for (i = 0; i < count; i++) {
		memcpy(text + i * (len + 1), x, len);
		text[i * (len + 1) + len] = ',';
	}
	text[count * (len + 1) - 1] = '\0';
	return text;
}

static void action_strings(void **state)
{
	struct tally t = { .table = "odp_actions.txt" };
	struct vectors v;

	(void)state;
	for (vectors_open(&v, t.table); vectors_next(&v); t.rows++) {
		const char *id = v.column[0], *kernel = v.column[3];
		CLEANUP_FREE char *text = generated(v.column[6]);
		const char *word = not_built_word(text);
		int seen;

		if (word) {
			assert_refused_by_name(id, text, word);
			continue;
		}
		seen = assert_seen(id, v.column[7], text);
		if (!strcmp(v.column[2], "reject"))
			assert_verdict(id, NULL, text, false, NULL);
		else if (!seen && strcmp(kernel, "EINVAL"))
			fail_msg("%s: no verdict was tried", id);
		else if (!seen)
			assert_verdict(id, NULL, text, false, NULL);
		t.run++;
	}
	tally_print(&t);
	assert_int_equal(t.run, 23);
}

static void flows_with_actions(void **state)
{
	static const char actions_at[] = ", actions:";
	struct tally t = { .table = "accept.tsv" };
	struct vectors v;

	(void)state;
	for (vectors_open(&v, t.table); vectors_next(&v);) {
		const char *id = v.column[0], *flow = v.column[1], *text = v.column[2], *dump = v.column[4];
		const struct deviation *d = deviation_of(id);
		const char *word = not_built_word(text);
		bool taken = !strcmp(v.column[3], "OK");

		/* Those are about the flow, not about its actions. */
		if (!strcmp(v.column[5], "key"))
			continue;
		t.rows++;
		if (strstr(text, "attr(") || strstr(text, "nest(")) {
			print_message("# %s: a netlink attribute, has no text\n", id);
			continue;
		}
		if (word) {
			assert_refused_by_name(id, text, word);
			continue;
		}
		text = strcmp(text, "nothing") ? text : "";
		dump = strstr(dump, actions_at) ? strstr(dump, actions_at) + strlen(actions_at) : NULL;
		if (d)
			print_message("# %s: differs: %s\n", id, d->why);
		assert_verdict(id, flow, text, d ? d->prints != NULL : taken, d ? d->prints : dump);
		t.run++;
		t.deviating += !!d;
	}
	tally_print(&t);
	assert_int_equal(t.run, 21);
}

static void odd_texts(void **state)
{
	static const char prints[] = "prints:";
	struct tally t = { .table = "cli_quirks.tsv" };
	struct vectors v;

	(void)state;
	for (vectors_open(&v, t.table); vectors_next(&v);) {
		const char *id = v.column[0], *text = v.column[2], *said = v.column[4];
		const struct deviation *d = deviation_of(id);
		const char *word = not_built_word(text), *expected = NULL;

		if (strcmp(v.column[1], "A"))
			continue;
		t.rows++;
		if (word) {
			assert_refused_by_name(id, text, word);
			continue;
		}
		if (!strncmp(said, prints, strlen(prints)))
			expected = said + strlen(prints);
		if (d) {
			print_message("# %s: differs: %s\n", id, d->why);
			expected = d->prints;
		}
		assert_verdict(id, NULL, text, expected != NULL, expected);
		t.run++;
		t.deviating += !!d;
	}
	tally_print(&t);
	assert_int_equal(t.run, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(action_strings),
		cmocka_unit_test(flows_with_actions),
		cmocka_unit_test(odd_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
