// SPDX-License-Identifier: GPL-2.0-only
/*
 * The structure of a match's text: attributes, each in its nesting level, and the UFID.
 */
#include "match_text.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "field_text.h"
#include "match_memo.h"

#define BLANKS " \t\r\n"

struct parser {
	const struct port_names *names;
	struct error *e;
	struct match_text *text;
	struct match_memo *memo; /* or NULL */
	int next; /* the attribute that is likely to follow, since most texts have them in the order of the table */
};

static __u64 attr_bit(enum attribute attr)
{
	return 1ull << attr;
}

int attribute_parse(struct text body, enum attribute attr, struct match_level *l, struct error *e)
{
	struct field_reader r = { .e = e, .attr = attr, .group = "", .key = &l->key, .mask = &l->mask };

	return fields_parse(&r, body);
}

static int attrs_parse(struct parser *p, unsigned int depth, struct text t);

static int body_parse(struct parser *p, unsigned int depth, enum attribute attr, struct text body)
{
	const struct attribute_info *a = attribute_info(attr);
	struct match_level *l = &p->text->level[depth];
	struct field_reader r = { .names = p->names, .e = p->e, .attr = attr, .group = "", &l->key, &l->mask };

	if (depth > 0 && a->flags & ATTR_OUTERMOST)
		return error_set(p->e, EINVAL, "%s: has to stand outside encap()", a->name);
	if (attr == ATTR_ENCAP) {
		if (depth == MATCH_TAGS_MAX)
			return error_set(p->e, EINVAL, "encap: more than %u tags cannot be matched", MATCH_TAGS_MAX);
		return attrs_parse(p, depth + 1, body);
	}
	if (a->why_not) {
		r.key = &p->text->foreign_key;
		r.mask = &p->text->foreign_mask;
	}
	return fields_parse(&r, body);
}

static bool given_before(const struct parser *p, unsigned int depth, enum attribute attr)
{
	__u64 given = attribute_info(attr)->why_not ? p->text->foreign : p->text->level[depth].present;

	return given & attr_bit(attr);
}

/* Takes one attribute from the beginning of t. */
static int attr_parse(struct parser *p, unsigned int depth, struct text *t)
{
	struct text name = { t->at, text_run(*t, TEXT_WORD) };
	struct text rest = text_from(*t, name.len);
	long len = text_enclosed(rest);
	int attr = attribute_find_near(name, p->next);

	if (!name.len)
		return error_set(p->e, EINVAL, "flow: unexpected '%s'", text_quote(*t).text);
	if (attr < 0)
		return error_set(p->e, EINVAL, "flow: unknown attribute '%s'", text_quote(name).text);
	if (!rest.len || rest.at[0] != '(')
		return error_set(p->e, EINVAL, "%s: '(' has to follow, not '%s'", attribute_info(attr)->name,
				 text_quote(rest).text);
	if (len < 0)
		return error_set(p->e, EINVAL, "%s: '(' is never closed", attribute_info(attr)->name);
	if (given_before(p, depth, attr))
		return error_set(p->e, EINVAL, "%s: is given twice", attribute_info(attr)->name);
	p->next = attr + 1;
	p->text->level[depth].present |= attr_bit(attr);
	p->text->foreign |= attribute_info(attr)->why_not ? attr_bit(attr) : 0;
	*t = text_from(rest, len + 2);
	return body_parse(p, depth, attr, (struct text){ rest.at + 1, len });
}

/* An attribute that has been read just now, and is whole. */
static void remember(const struct parser *p, struct match_memo_key *k)
{
	enum attribute attr = p->next - 1;
	struct match_level zeroes, ones;
	struct error ignored;
	struct field_reader r = {
		.names = p->names, .e = &ignored, .attr = attr, .group = "", &zeroes.key, &zeroes.mask
	};
	struct text body = text_from(k->text, strlen(attribute_info(attr)->name) + 1);

	body.len--;
	if (attribute_info(attr)->why_not || attr == ATTR_ENCAP)
		return;
	memset(&zeroes, 0, sizeof(zeroes));
	memset(&ones, 0xff, sizeof(ones));
	if (fields_parse(&r, body))
		return;
	r.key = &ones.key;
	r.mask = &ones.mask;
	if (!fields_parse(&r, body))
		match_memo_put(k, attr, &zeroes, &ones);
}

/* As attr_parse(), of the outermost level. */
static int attr_recall(struct parser *p, struct text *t)
{
	struct match_memo_key k = match_memo_key(p->memo, *t);
	struct match_level *l = &p->text->level[0];
	const char *begin = t->at;
	int err;

	if (match_memo_has(&k) && !(l->present & attr_bit(k.entry->attr))) {
		match_memo_apply(k.entry, l);
		l->present |= attr_bit(k.entry->attr);
		p->next = k.entry->attr + 1;
		*t = text_from(*t, k.text.len);
		return 0;
	}
	err = attr_parse(p, 0, t);
	/* It ends elsewhere if there are parentheses in it. */
	if (!err && t->at == begin + k.text.len && match_memo_wants(&k))
		remember(p, &k);
	return err;
}

/* As in Open vSwitch, attributes may be apart by any commas and blanks, or by none. */
static int attrs_parse(struct parser *p, unsigned int depth, struct text t)
{
	for (;;) {
		int err;

		t = text_from(t, text_run(t, TEXT_COMMA | TEXT_BLANK));
		if (!t.len)
			return 0;
		err = depth ? attr_parse(p, depth, &t) : attr_recall(p, &t);
		if (err)
			return err;
	}
}

static int ufid_take(struct text *t, struct match_text *text, struct error *e)
{
	struct text uuid;

	*t = text_from(*t, text_run(*t, TEXT_BLANK));
	if (!text_starts(*t, "ufid:"))
		return 0;
	*t = text_from(*t, strlen("ufid:"));
	uuid = text_take(t, "," BLANKS);
	if (uuid_parse(uuid, text->ufid))
		return error_set(e, EINVAL, "ufid: '%s' is not like 01234567-89ab-cdef-0123-456789abcdef",
				 text_quote(uuid).text);
	text->has_ufid = true;
	return 0;
}

static int text_parse(const char *text, const struct port_names *names, struct match_memo *memo, struct match_text *m,
		      struct error *e)
{
	struct parser p = { .names = names, .e = e, .text = m, .memo = memo };
	struct text t = text_of(text);
	int err;

	memset(m, 0, sizeof(*m));
	err = ufid_take(&t, m, e);
	if (!err)
		err = attrs_parse(&p, 0, t);
	if (!err && !m->level[0].present && !m->has_ufid)
		err = error_set(e, EINVAL, "flow: is empty; the least is eth(), which matches every untagged frame");
	return err;
}

int match_text_parse(const char *text, const struct port_names *names, struct match_text *m, struct error *e)
{
	return text_parse(text, names, NULL, m, e);
}

int match_recall(const char *text, const struct port_names *names, struct match_memo *memo, struct match *m,
		 struct error *e)
{
	struct match_text t;
	int err = text_parse(text, names, memo, &t, e);

	return err ? err : match_text_check(&t, m, e);
}

int match_parse(const char *text, const struct port_names *names, struct match *m, struct error *e)
{
	return match_recall(text, names, NULL, m, e);
}
