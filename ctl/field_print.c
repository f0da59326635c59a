// SPDX-License-Identifier: GPL-2.0-only
#include "field_print.h"

#include <string.h>

#include "flag_text.h"
#include "geneve_text.h"
#include "util.h"

enum {
	BYTES_TEXT_SIZE = 64, /* an address, or 128 bits */
};

/*
 * The first field of each label stack entry is shown always, so that the entries after it keep their place.  Of what
 * this datapath cannot match, wild fields are shown only where the attribute is one value.
 */
static bool field_shown(const struct field_writer *w, const struct field *f, unsigned int entry, unsigned int entries)
{
	const struct attribute_info *a = attribute_info(w->attr);
	enum field_match match = field_match(w->mask, f, entry);

	if (f->alias == FIELD_ALIAS)
		return false;
	if (f->alias == FIELD_IMPLIED1)
		return match != FIELD_WILD && !field_get(w->key, f, entry).number;
	if (match != FIELD_WILD)
		return true;
	/* Open vSwitch has no text for a wild frag. */
	if (w->more && f->kind != FIELD_FRAG && (!a->why_not || !f->name))
		return true;
	return entries > 1 && f == a->fields;
}

static const char *frag_name(__u32 frag)
{
	static const char *const names[] = { "no", "first", "later" };

	return frag < ARRAY_SIZE(names) ? names[frag] : "later";
}

static const char *bytes_format(const struct field *f, const struct field_value *v, char buf[static BYTES_TEXT_SIZE])
{
	switch (f->kind) {
	case FIELD_MAC:
		return mac_format(v->bytes, buf);
	case FIELD_IPV4:
		return ipv4_format(v->bytes, buf);
	case FIELD_IPV6:
		return ipv6_format(v->bytes, buf);
	default:
		return long_format(v->bytes, f->size, buf);
	}
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
	const char *form = kind == FIELD_HEX16	? "0x%04x"
			   : kind == FIELD_HEX0 ? "0x%x"
			   : kind == FIELD_HEX	? "%#x"
						: "%u";

	if (form[1] == 'u')
		decimal_print(out, value);
	else
		fprintf(out, form, value);
	if (match == FIELD_EXACT)
		return;
	putc('/', out);
	fprintf(out, kind == FIELD_HEX16 ? form : "%#x", mask);
}

static void octets_print(FILE *out, __u32 value, __u32 mask, enum field_match match)
{
	fprintf(out, "%02x %02x", value >> 8, value & 0xff);
	if (match != FIELD_EXACT)
		fprintf(out, "/%02x %02x", mask >> 8, mask & 0xff);
}

static void bytes_print(FILE *out, const struct field_writer *w, const struct field *f)
{
	struct field_value value = field_get(w->key, f, 0), mask = field_get(w->mask, f, 0);
	char buf[BYTES_TEXT_SIZE];

	fputs(bytes_format(f, &value, buf), out);
	if (field_match(w->mask, f, 0) != FIELD_EXACT)
		fprintf(out, "/%s", bytes_format(f, &mask, buf));
}

static void value_print(FILE *out, const struct field_writer *w, const struct field *f, unsigned int entry)
{
	struct field_value value, mask;
	char buf[FLAGS_TEXT_SIZE];
	enum field_match match;
	const char *name;

	if (field_is_bytes(f)) {
		bytes_print(out, w, f);
		return;
	}
	value = field_get(w->key, f, entry);
	mask = field_get(w->mask, f, entry);
	match = field_match(w->mask, f, entry);
	switch (f->kind) {
	case FIELD_TCP_FLAGS:
	case FIELD_CT_STATE:
	case FIELD_TUNNEL_FLAGS:
		fputs(flags_format(f, value.number, mask.number, buf), out);
		break;
	case FIELD_FRAG:
		fputs(frag_name(value.number), out);
		break;
	case FIELD_OCTETS:
		octets_print(out, value.number, mask.number, match);
		break;
	case FIELD_PORT:
		name = match == FIELD_EXACT ? port_name(value.number, w->names) : NULL;
		if (name) {
			fputs(name, out);
			break;
		}
		/* fallthrough */
	default:
		number_print(out, f->kind, value.number, mask.number, match);
	}
}

static void list_print(FILE *out, const struct field_writer *w, const struct field *f, unsigned int entry,
		       unsigned int entries, const char **comma);

static void nested_print(FILE *out, const struct field_writer *w, const struct field *f)
{
	const char *comma = "";

	putc('(', out);
	if (f->kind == FIELD_GROUP)
		list_print(out, w, f->group, 0, 1, &comma);
	else if (f->kind == FIELD_GENEVE)
		geneve_print(out, (const struct geneve_options *)((const __u8 *)w->key + f->offset),
			     (const struct geneve_options *)((const __u8 *)w->mask + f->offset));
	else
		value_print(out, w, f, 0);
	putc(')', out);
}

static void list_print(FILE *out, const struct field_writer *w, const struct field *f, unsigned int entry,
		       unsigned int entries, const char **comma)
{
	for (; f->size; f++) {
		if (!field_shown(w, f, entry, entries))
			continue;
		fputs(*comma, out);
		if (f->name)
			fputs(f->name, out);
		if (field_is_nested(f)) {
			nested_print(out, w, f);
		} else {
			if (f->name)
				putc('=', out);
			value_print(out, w, f, entry);
		}
		*comma = ",";
	}
}

void fields_print(FILE *out, const struct field_writer *w, unsigned int entries)
{
	const char *comma = "";
	unsigned int entry;

	for (entry = 0; entry < entries; entry++)
		list_print(out, w, attribute_info(w->attr)->fields, entry, entries, &comma);
}

static json_t *one_json(const struct field *f, const struct field_value *v)
{
	char buf[BYTES_TEXT_SIZE];

	if (field_is_bytes(f))
		return json_string(bytes_format(f, v, buf));
	return json_integer(v->number);
}

static json_t *list_json(const struct field_writer *w, const struct field *f, unsigned int entry);

static json_t *value_json(const struct field_writer *w, const struct field *f, unsigned int entry)
{
	struct field_value value, mask;
	char buf[FLAGS_TEXT_SIZE];

	if (f->kind == FIELD_GROUP)
		return list_json(w, f->group, entry);
	if (f->kind == FIELD_GENEVE)
		return geneve_json((const struct geneve_options *)((const __u8 *)w->key + f->offset),
				   (const struct geneve_options *)((const __u8 *)w->mask + f->offset));
	value = field_get(w->key, f, entry);
	mask = field_get(w->mask, f, entry);
	if (f->kind == FIELD_TCP_FLAGS || f->kind == FIELD_CT_STATE || f->kind == FIELD_TUNNEL_FLAGS)
		return json_string(flags_format(f, value.number, mask.number, buf));
	if (f->kind == FIELD_FRAG)
		return json_string(frag_name(value.number));
	if (field_match(w->mask, f, entry) == FIELD_EXACT)
		return one_json(f, &value);
	return json_pack("{s:o, s:o}", "value", one_json(f, &value), "mask", one_json(f, &mask));
}

static json_t *list_json(const struct field_writer *w, const struct field *f, unsigned int entry)
{
	json_t *object = json_object();

	for (; f->size; f++) {
		if (field_shown(w, f, entry, 1))
			json_object_set_new(object, f->name, value_json(w, f, entry));
	}
	return object;
}

json_t *fields_json(const struct field_writer *w, unsigned int entry)
{
	const struct field *fields = attribute_info(w->attr)->fields;

	return fields->name ? list_json(w, fields, entry) : value_json(w, fields, entry);
}
