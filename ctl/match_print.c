// SPDX-License-Identifier: GPL-2.0-only
/*
 * Match to text and to JSON: both walk the levels and the table of fields, and show the same fields.
 */
#include <arpa/inet.h>
#include <string.h>

#include "field.h"
#include "match_text.h"
#include "util.h"

struct walk {
	struct match_level level[MATCH_TAGS_MAX + 1];
	unsigned int tags;
	const struct match_style *style;
};

static void levels_split(const struct match *m, struct walk *w)
{
	const __be16 present = htons(VLAN_TAG_PRESENT);
	unsigned int depth;

	w->tags = !(m->key.vlan_tci_be & present) ? 0 : !(m->key.cvlan_tci_be & present) ? 1 : 2;
	for (depth = 0; depth <= w->tags; depth++) {
		struct match_level *l = &w->level[depth];

		l->key = m->key;
		l->mask = m->mask;
		if (depth == w->tags)
			continue;
		l->key.eth_type_be = depth ? m->key.cvlan_tpid_be : m->key.vlan_tpid_be;
		l->mask.eth_type_be = depth ? m->mask.cvlan_tpid_be : m->mask.vlan_tpid_be;
		l->key.vlan_tci_be = depth ? m->key.cvlan_tci_be : m->key.vlan_tci_be;
		l->mask.vlan_tci_be = depth ? m->mask.cvlan_tci_be : m->mask.vlan_tci_be;
	}
}

/* How many entries of an attribute are shown at this level; 0: it is not shown. */
static unsigned int entries_shown(const struct walk *w, unsigned int depth, enum attribute attr)
{
	const struct attribute_info *a = attribute_info(attr);
	unsigned int entries;

	if (a->why_not || (depth > 0 && a->flags & ATTR_OUTERMOST))
		return 0;
	if (attr == ATTR_VLAN || attr == ATTR_ENCAP)
		return depth < w->tags;
	if (!attribute_applies(&w->level[depth], attr))
		return 0;
	entries = attribute_entries(&w->level[depth].mask, attr);
	return entries || a->flags & ATTR_ALWAYS_PRINTED || w->style->more ? entries + !entries : 0;
}

/* Bits that other fields have the names of: tci has those of vid and pcp, and cfi is set wherever there is a tag. */
static bool field_has_other_names(const struct field *f)
{
	return !strcmp(f->name, "tci") || !strcmp(f->name, "cfi");
}

/* The first field of each label stack entry is shown always, so that the entries after it keep their place. */
static bool field_shown(const struct walk *w, const struct match_level *l, enum attribute attr, const struct field *f,
			unsigned int entry, unsigned int entries)
{
	if (f->name && attr == ATTR_VLAN && field_has_other_names(f))
		return false;
	if (field_match(&l->mask, f, entry) != FIELD_WILD)
		return true;
	/* Open vSwitch has no text for a wild frag. */
	return (w->style->more && f->kind != FIELD_FRAG) || (entries > 1 && f == attribute_info(attr)->fields);
}

static const char *frag_name(__u32 frag)
{
	static const char *const names[] = { "no", "first", "later" };

	return frag < ARRAY_SIZE(names) ? names[frag] : "later";
}

static const char *bytes_format(const struct field *f, const struct field_value *v, char buf[static IP_TEXT_SIZE])
{
	switch (f->kind) {
	case FIELD_MAC:
		return mac_format(v->bytes, buf);
	case FIELD_IPV4:
		return ipv4_format(v->bytes, buf);
	default:
		return ipv6_format(v->bytes, buf);
	}
}

/* All flags exact: syn|ack, or 0 for none.  Some of them: +syn-ack.  None of them: 0/0. */
static const char *tcp_flags_format(__u32 flags, __u32 mask, enum field_match match, char *buf, size_t size)
{
	bool exact = match == FIELD_EXACT;
	size_t len = 0;
	__u32 bit;

	snprintf(buf, size, "%s", exact ? "0" : "0/0");
	for (bit = 1; bit <= mask; bit <<= 1) {
		const char *mark = !(flags & bit) ? "-" : exact ? len ? "|" : "" : "+";

		if (mask & bit && (!exact || flags & bit))
			len += snprintf(buf + len, size - len, "%s%s", mark, tcp_flag_name(bit));
	}
	return buf;
}

/* As %u; most numbers of a dump are decimal, and a dump is mostly numbers. */
static void decimal_print(FILE *out, __u32 value)
{
	char digits[12], *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		*--at = '0' + value % 10;
		value /= 10;
	} while (value);
	fputs(at, out);
}

static void number_print(FILE *out, enum field_kind kind, __u32 value, __u32 mask, enum field_match match)
{
	const char *form = kind == FIELD_HEX16 ? "0x%04x" : kind == FIELD_HEX ? "%#x" : "%u";

	if (kind == FIELD_HEX || kind == FIELD_HEX16)
		fprintf(out, form, value);
	else
		decimal_print(out, value);
	if (match == FIELD_EXACT)
		return;
	putc('/', out);
	fprintf(out, kind == FIELD_HEX16 ? form : "%#x", mask);
}

static void value_print(FILE *out, const struct walk *w, const struct match_level *l, const struct field *f,
			unsigned int entry)
{
	struct field_value value = field_get(&l->key, f, entry), mask = field_get(&l->mask, f, entry);
	enum field_match match = field_match(&l->mask, f, entry);
	char buf[IP_TEXT_SIZE + 64];
	const char *name;

	if (field_is_bytes(f)) {
		fputs(bytes_format(f, &value, buf), out);
		if (match != FIELD_EXACT) {
			putc('/', out);
			fputs(bytes_format(f, &mask, buf), out);
		}
		return;
	}
	switch (f->kind) {
	case FIELD_TCP_FLAGS:
		fputs(tcp_flags_format(value.number, mask.number, match, buf, sizeof(buf)), out);
		break;
	case FIELD_FRAG:
		fputs(frag_name(value.number), out);
		break;
	case FIELD_PORT:
		name = match == FIELD_EXACT ? port_name(value.number, w->style->names) : NULL;
		if (name) {
			fputs(name, out);
			break;
		}
		/* fallthrough */
	default:
		number_print(out, f->kind, value.number, mask.number, match);
	}
}

static void fields_print(FILE *out, const struct walk *w, const struct match_level *l, enum attribute attr,
			 unsigned int entries)
{
	const char *comma = "";
	const struct field *f;
	unsigned int entry;

	for (entry = 0; entry < entries; entry++) {
		for (f = attribute_info(attr)->fields; f->size; f++) {
			if (!field_shown(w, l, attr, f, entry, entries))
				continue;
			fputs(comma, out);
			if (f->name) {
				fputs(f->name, out);
				putc('=', out);
			}
			value_print(out, w, l, f, entry);
			comma = ",";
		}
	}
}

static void level_print(FILE *out, const struct walk *w, unsigned int depth)
{
	const char *comma = "";
	enum attribute attr;

	for (attr = 0; attr < ATTRIBUTES; attr++) {
		unsigned int entries = entries_shown(w, depth, attr);

		if (!entries)
			continue;
		fputs(comma, out);
		fputs(attribute_info(attr)->name, out);
		putc('(', out);
		if (attr == ATTR_ENCAP)
			level_print(out, w, depth + 1);
		else
			fields_print(out, w, &w->level[depth], attr, entries);
		putc(')', out);
		comma = ",";
	}
}

void match_print(FILE *out, const struct match *m, const struct match_style *style)
{
	struct walk w = { .style = style };

	levels_split(m, &w);
	level_print(out, &w, 0);
}

static json_t *one_json(const struct field *f, const struct field_value *v)
{
	char buf[IP_TEXT_SIZE];

	if (field_is_bytes(f))
		return json_string(bytes_format(f, v, buf));
	return json_integer(v->number);
}

static json_t *value_json(const struct match_level *l, const struct field *f, unsigned int entry)
{
	struct field_value value = field_get(&l->key, f, entry), mask = field_get(&l->mask, f, entry);
	enum field_match match = field_match(&l->mask, f, entry);
	char buf[IP_TEXT_SIZE + 64];

	if (f->kind == FIELD_TCP_FLAGS)
		return json_string(tcp_flags_format(value.number, mask.number, match, buf, sizeof(buf)));
	if (f->kind == FIELD_FRAG)
		return json_string(frag_name(value.number));
	if (match == FIELD_EXACT)
		return one_json(f, &value);
	return json_pack("{s:o, s:o}", "value", one_json(f, &value), "mask", one_json(f, &mask));
}

static json_t *entry_json(const struct walk *w, const struct match_level *l, enum attribute attr, unsigned int entry)
{
	const struct field *f = attribute_info(attr)->fields;
	json_t *object;

	if (!f->name)
		return value_json(l, f, entry);
	object = json_object();
	for (; f->size; f++) {
		if (field_shown(w, l, attr, f, entry, 1))
			json_object_set_new(object, f->name, value_json(l, f, entry));
	}
	return object;
}

static json_t *attribute_json(const struct walk *w, const struct match_level *l, enum attribute attr,
			      unsigned int entries)
{
	json_t *stack;
	unsigned int entry;

	if (!(attribute_info(attr)->flags & ATTR_LABEL_STACK))
		return entry_json(w, l, attr, 0);
	stack = json_array();
	for (entry = 0; entry < entries; entry++)
		json_array_append_new(stack, entry_json(w, l, attr, entry));
	return stack;
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
						       : attribute_json(w, &w->level[depth], attr, entries));
	}
	return object;
}

json_t *match_json(const struct match *m)
{
	static const struct match_style plain;
	struct walk w = { .style = &plain };

	levels_split(m, &w);
	return level_json(&w, 0);
}
