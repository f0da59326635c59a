// SPDX-License-Identifier: GPL-2.0-only
/*
 * Match to text and to JSON: both walk the levels and the table of fields, and show the same fields.
 */
#include <arpa/inet.h>

#include "field_print.h"
#include "match_text.h"

struct walk {
	const struct match_level *level;
	unsigned int tags;
	const struct match_style *style;
	const struct match_text *text; /* as it stands; NULL: a match, of which everything that applies is shown */
};

static unsigned int levels_split(const struct match *m, struct match_level level[static MATCH_TAGS_MAX + 1])
{
	const __be16 present = htons(VLAN_TAG_PRESENT);
	unsigned int tags, depth;

	tags = !(m->key.vlan_tci_be & present) ? 0 : !(m->key.cvlan_tci_be & present) ? 1 : 2;
	for (depth = 0; depth <= tags; depth++) {
		struct match_level *l = &level[depth];

		l->key = m->key;
		l->mask = m->mask;
		if (depth == tags)
			continue;
		l->key.eth_type_be = depth ? m->key.cvlan_tpid_be : m->key.vlan_tpid_be;
		l->mask.eth_type_be = depth ? m->mask.cvlan_tpid_be : m->mask.vlan_tpid_be;
		l->key.vlan_tci_be = depth ? m->key.cvlan_tci_be : m->key.vlan_tci_be;
		l->mask.vlan_tci_be = depth ? m->mask.cvlan_tci_be : m->mask.vlan_tci_be;
	}
	return tags;
}

static unsigned int entries_present(const struct walk *w, unsigned int depth, enum attribute attr)
{
	const struct attribute_info *a = attribute_info(attr);
	unsigned int entries;

	if (!(w->level[depth].present >> attr & 1))
		return 0;
	entries = attribute_entries(a->why_not ? (const void *)&w->text->foreign_mask : &w->level[depth].mask, attr);
	if (a->flags & ATTR_SHY)
		return entries;
	return entries || a->flags & ATTR_ALWAYS_PRINTED || w->style->more ? entries + !entries : 0;
}

/* How many entries of an attribute are shown at this level; 0: it is not shown. */
static unsigned int entries_shown(const struct walk *w, unsigned int depth, enum attribute attr)
{
	const struct attribute_info *a = attribute_info(attr);
	unsigned int entries;

	if (w->text)
		return entries_present(w, depth, attr);
	if (a->why_not || (depth > 0 && a->flags & ATTR_OUTERMOST))
		return 0;
	if (attr == ATTR_VLAN || attr == ATTR_ENCAP)
		return depth < w->tags;
	if (!attribute_applies(&w->level[depth], attr))
		return 0;
	entries = attribute_entries(&w->level[depth].mask, attr);
	return entries || a->flags & ATTR_ALWAYS_PRINTED || w->style->more ? entries + !entries : 0;
}

static struct field_writer writer_of(const struct walk *w, unsigned int depth, enum attribute attr)
{
	bool foreign = attribute_info(attr)->why_not;
	const struct match_level *l = &w->level[depth];

	return (struct field_writer){
		.more = w->style->more,
		.names = w->style->names,
		.attr = attr,
		.key = foreign ? (const void *)&w->text->foreign_key : &l->key,
		.mask = foreign ? (const void *)&w->text->foreign_mask : &l->mask,
	};
}

void attribute_print(FILE *out, enum attribute attr, const struct match_level *l)
{
	/* skb_mark() has no text for nothing: 0/0 it is. */
	const struct field_writer w = {
		.more = !attribute_info(attr)->fields->name, .attr = attr, .key = &l->key, .mask = &l->mask
	};

	fprintf(out, "%s(", attribute_info(attr)->name);
	fields_print(out, &w, 1);
	putc(')', out);
}

static void level_print(FILE *out, const struct walk *w, unsigned int depth)
{
	const char *comma = "";
	enum attribute attr;

	for (attr = 0; attr < ATTRIBUTES; attr++) {
		unsigned int entries = entries_shown(w, depth, attr);
		struct field_writer writer;

		if (!entries)
			continue;
		fputs(comma, out);
		fputs(attribute_info(attr)->name, out);
		putc('(', out);
		if (attr == ATTR_ENCAP) {
			level_print(out, w, depth + 1);
		} else {
			writer = writer_of(w, depth, attr);
			fields_print(out, &writer, entries);
		}
		putc(')', out);
		comma = ",";
	}
}

void match_print(FILE *out, const struct match *m, const struct match_style *style)
{
	struct match_level level[MATCH_TAGS_MAX + 1];
	struct walk w = { .level = level, .tags = levels_split(m, level), .style = style };

	level_print(out, &w, 0);
}

void match_text_print(FILE *out, const struct match_text *t, const struct match_style *style)
{
	struct walk w = { .level = t->level, .style = style, .text = t };

	level_print(out, &w, 0);
}

static json_t *attribute_json(const struct walk *w, unsigned int depth, enum attribute attr, unsigned int entries)
{
	struct field_writer writer = writer_of(w, depth, attr);
	unsigned int entry;
	json_t *stack;

	if (!(attribute_info(attr)->flags & ATTR_LABEL_STACK))
		return fields_json(&writer, 0);
	stack = json_array();
	for (entry = 0; entry < entries; entry++)
		json_array_append_new(stack, fields_json(&writer, entry));
	return stack;
}

json_t *attribute_fields_json(enum attribute attr, const struct match_level *l)
{
	const struct field_writer w = { .attr = attr, .key = &l->key, .mask = &l->mask };

	return fields_json(&w, 0);
}

static json_t *level_json(const struct walk *w, unsigned int depth)
{
	json_t *object = json_object();
	enum attribute attr;

	for (attr = 0; attr < ATTRIBUTES; attr++) {
		unsigned int entries = entries_shown(w, depth, attr);

		if (!entries)
			continue;
		json_object_set_new(object, attribute_info(attr)->name,
				    attr == ATTR_ENCAP ? level_json(w, depth + 1)
						       : attribute_json(w, depth, attr, entries));
	}
	return object;
}

static const struct match_style plain;

json_t *match_json(const struct match *m)
{
	struct match_level level[MATCH_TAGS_MAX + 1];
	struct walk w = { .level = level, .tags = levels_split(m, level), .style = &plain };

	return level_json(&w, 0);
}

json_t *match_text_json(const struct match_text *t)
{
	struct walk w = { .level = t->level, .style = &plain, .text = t };

	return level_json(&w, 0);
}
