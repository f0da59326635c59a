// SPDX-License-Identifier: GPL-2.0-only
#include "field_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "flag_text.h"
#include "geneve_text.h"

/* What is being parsed, for refusals: "ipv4 ttl", "in_port". */
struct label {
	char text[64];
};

static struct label label_of(const struct field_reader *r, const struct field *f, const char *part)
{
	struct label l;
	char *end = stpcpy(stpcpy(l.text, attribute_info(r->attr)->name), r->group);

	if (f->name)
		end = stpcpy(stpcpy(end, " "), f->name);
	stpcpy(end, part);
	return l;
}

/* Only a refusal needs the label. */
static int labelled_number(const struct field_reader *r, const struct field *f, const char *part, struct text t,
			   __u64 max, __u64 *number)
{
	if (!number_scan(t, max, number))
		return 0;
	return number_parse(t, label_of(r, f, part).text, max, number, r->e);
}

/* One value of a field that is being parsed; mask is NULL where there is none. */
struct reading {
	const struct field *f;
	struct text value;
	struct text *mask;
	struct field_value v, m;
};

static int bytes_parse(const struct field *f, struct text t, __u8 *bytes)
{
	switch (f->kind) {
	case FIELD_MAC:
		return mac_parse(t, bytes);
	case FIELD_IPV4:
		return ipv4_parse(t, bytes);
	case FIELD_IPV6:
		return ipv6_parse(t, bytes);
	default:
		return long_parse(t, bytes, f->size);
	}
}

static void prefix_mask(__u8 *bytes, unsigned int size, unsigned int bits)
{
	unsigned int whole = bits / 8;

	memset(bytes, 0, size);
	memset(bytes, 0xff, whole);
	if (whole < size)
		bytes[whole] = 0xff00 >> bits % 8;
}

static const char *bytes_form(const struct field *f)
{
	switch (f->kind) {
	case FIELD_MAC:
		return "a MAC address";
	case FIELD_IPV4:
		return "an IPv4 address";
	case FIELD_IPV6:
		return "an IPv6 address";
	default:
		return f->size == 8 ? "a number of 64 bits" : "a number of 128 bits";
	}
}

static int bytes_value_parse(struct field_reader *r, struct reading *g)
{
	const struct field *f = g->f;
	bool has_prefix = f->kind == FIELD_IPV4 || f->kind == FIELD_IPV6;
	__u64 bits = 8 * f->size;
	int err;

	if (bytes_parse(f, g->value, g->v.bytes))
		return error_set(r->e, EINVAL, "%s: '%s' is not %s", label_of(r, f, "").text, text_quote(g->value).text,
				 bytes_form(f));
	if (g->mask && has_prefix && number_like(*g->mask)) {
		err = labelled_number(r, f, " mask", *g->mask, bits, &bits);
		if (err)
			return err;
	} else if (g->mask) {
		if (bytes_parse(f, *g->mask, g->m.bytes))
			return error_set(r->e, EINVAL, "%s: '%s' is not %s%s", label_of(r, f, " mask").text,
					 text_quote(*g->mask).text, bytes_form(f),
					 has_prefix ? " or a prefix length" : "");
		return 0;
	}
	prefix_mask(g->m.bytes, f->size, bits);
	return 0;
}

static int number_mask_parse(struct field_reader *r, struct reading *g)
{
	const struct field *f = g->f;
	__u32 full = field_full(f), max = f->mask_bits ? ~0u >> (32 - f->mask_bits) : full;
	__u64 number;
	int err;

	g->m.number = full;
	if (!g->mask)
		return 0;
	err = labelled_number(r, f, " mask", *g->mask, max, &number);
	if (err)
		return err;
	if (f->undivided && number && number != full)
		return error_set(r->e, EINVAL, "%s: %s is possible only as %#x or 0", label_of(r, f, " mask").text,
				 text_quote(*g->mask).text, full);
	g->m.number = number;
	return 0;
}

static int number_value_parse(struct field_reader *r, struct reading *g)
{
	__u64 number;
	int err = labelled_number(r, g->f, "", g->value, field_full(g->f), &number);

	if (err)
		return err;
	g->v.number = number;
	return number_mask_parse(r, g);
}

/* Only 16 of the mask's bits are the port's: a wild one is 1/0xffff0000 where Open vSwitch prints it. */
static int port_value_parse(struct field_reader *r, struct reading *g)
{
	__u64 number;
	int err = 0;

	if (!number_scan(g->value, PORTS_MAX - 1, &number))
		g->v.number = number;
	else
		err = port_parse(g->value, label_of(r, g->f, "").text, r->names, &g->v.number, r->e);
	return err ? err : number_mask_parse(r, g);
}

static int frag_value_parse(struct field_reader *r, struct reading *g)
{
	static const char *const names[][2] = { { "no", "0" }, { "first", "1" }, { "later", "2" } };
	unsigned int i;

	for (i = 0; i < 3 && !text_is(g->value, names[i][0]) && !text_is(g->value, names[i][1]); i++)
		;
	if (i == 3)
		return error_set(r->e, EINVAL, "%s: '%s' is not no, first or later", label_of(r, g->f, "").text,
				 text_quote(g->value).text);
	if (g->mask)
		return error_set(r->e, EINVAL, "%s: takes no mask, '%s'; left out, it may be anything",
				 label_of(r, g->f, "").text, text_quote(*g->mask).text);
	g->v.number = i;
	g->m.number = field_full(g->f);
	return 0;
}

static int flags_value_parse(struct field_reader *r, struct reading *g)
{
	bool named = g->value.len && (g->value.at[0] < '0' || g->value.at[0] > '9');

	if (!named)
		return number_value_parse(r, g);
	if (g->mask || flags_parse(g->f, g->value, &g->v.number, &g->m.number))
		return error_set(r->e, EINVAL, "%s: '%s%s' is not like %s", label_of(r, g->f, "").text,
				 text_quote(g->value).text, g->mask ? "/..." : "", flags_example(g->f));
	return 0;
}

/* 00 ff: an octet each. */
static int octets_parse(const struct field *f, struct text t, __u32 *number)
{
	unsigned int i;

	*number = 0;
	for (i = 0; i < f->size; i++) {
		struct text octet = text_take(&t, " ");

		if (octet.len != 2 || text_span(octet, "0123456789abcdefABCDEF") != 2)
			return -EINVAL;
		*number = *number << 8 | strtoul((char[]){ octet.at[0], octet.at[1], '\0' }, NULL, 16);
	}
	return t.len ? -EINVAL : 0;
}

static int octets_value_parse(struct field_reader *r, struct reading *g)
{
	g->m.number = field_full(g->f);
	if (octets_parse(g->f, g->value, &g->v.number) || (g->mask && octets_parse(g->f, *g->mask, &g->m.number)))
		return error_set(r->e, EINVAL, "%s: '%s' is not like 00 00/00 00", label_of(r, g->f, "").text,
				 text_quote(g->value).text);
	return 0;
}

typedef int value_parser(struct field_reader *r, struct reading *g);

int field_parse(struct field_reader *r, const struct field *f, unsigned int entry, struct text t)
{
	static value_parser *const parsers[] = {
		[FIELD_DEC] = number_value_parse,      [FIELD_HEX] = number_value_parse,
		[FIELD_HEX0] = number_value_parse,     [FIELD_HEX16] = number_value_parse,
		[FIELD_PORT] = port_value_parse,       [FIELD_FRAG] = frag_value_parse,
		[FIELD_TCP_FLAGS] = flags_value_parse, [FIELD_CT_STATE] = flags_value_parse,
		[FIELD_OCTETS] = octets_value_parse,   [FIELD_TUNNEL_FLAGS] = flags_value_parse,
		[FIELD_MAC] = bytes_value_parse,       [FIELD_IPV4] = bytes_value_parse,
		[FIELD_IPV6] = bytes_value_parse,      [FIELD_LONG] = bytes_value_parse,
	};
	struct reading g = { .f = f };
	int err;

	g.value = (struct text){ t.at, text_until(t, TEXT_SLASH) };
	g.mask = g.value.len < t.len ? &t : NULL;
	t = text_from(t, g.value.len + !!g.mask);
	if (!g.value.len)
		return error_set(r->e, EINVAL, "%s: a value is missing", label_of(r, f, "").text);
	err = parsers[f->kind](r, &g);
	if (err)
		return err;
	field_put(r->key, f, entry, &g.v);
	field_put_mask(r->mask, f, entry, &g.m);
	return 0;
}

/* The bits of its member that a number stands for. */
static __u32 member_bits(const struct field *f)
{
	return f->bits ? field_full(f) << f->shift : 0;
}

/* The field of those given already that is this one or has bits of it, as tci has of vid. */
static const struct field *given_before(const struct field *fields, unsigned int given, const struct field *f)
{
	for (; given; given &= given - 1) {
		const struct field *g = &fields[__builtin_ctz(given)];

		if (g == f || (g->offset == f->offset && member_bits(g) & member_bits(f)))
			return g;
	}
	return NULL;
}

static const struct field *field_find(const struct field *fields, struct text name)
{
	const struct field *f;

	for (f = fields; f->size; f++) {
		if (text_is(name, f->name))
			return f;
	}
	return NULL;
}

/* Which label stack entry a field is of: one that the current entry has already begins the next. */
static int entry_choose(struct field_reader *r, const struct field *fields, const struct field *f, unsigned int *given,
			unsigned int *entry)
{
	const struct attribute_info *a = attribute_info(r->attr);
	const struct field *g = given_before(fields, *given, f);
	const size_t max = sizeof(((struct flow_key *)NULL)->mpls_lse_be) / 4;

	if (g && !(a->flags & ATTR_LABEL_STACK))
		return error_set(r->e, EINVAL, g == f ? "%s%s: %s is given twice" : "%s%s: %s repeats bits of %s",
				 a->name, r->group, f->name, g->name);
	if (g) {
		*given = 0;
		if (++*entry == max)
			return error_set(r->e, EINVAL, "%s: more than %zu labels", a->name, max);
	}
	*given |= 1u << (f - fields);
	return 0;
}

static int list_parse(struct field_reader *r, const struct field *fields, struct text body);

/* name(...): a list of fields of its own, options, or flags. */
static int nested_parse(struct field_reader *r, const struct field *f, struct text t)
{
	struct label label = label_of(r, f, "");
	struct field_reader inner = *r;
	long len = t.len && t.at[0] == '(' ? text_enclosed(t) : -1;
	struct text body = { t.at + 1, len };

	if (len < 0 || (size_t)len + 2 != t.len)
		return error_set(r->e, EINVAL, "%s: '(' and ')' have to enclose the value", label.text);
	if (f->kind == FIELD_GENEVE)
		return geneve_parse(body, label.text, (struct geneve_options *)((__u8 *)r->key + f->offset),
				    (struct geneve_options *)((__u8 *)r->mask + f->offset), r->e);
	if (f->kind != FIELD_GROUP)
		return field_parse(r, f, 0, body);
	inner.group = label.text + strlen(attribute_info(r->attr)->name);
	return list_parse(&inner, f->group, body);
}

/* Up to the next comma that no parenthesis holds. */
static struct text field_take(struct text *body, bool *more)
{
	unsigned int depth = 0;
	struct text field = *body;
	size_t i = text_until(*body, TEXT_COMMA | TEXT_OPEN | TEXT_CLOSE);

	while (i < body->len && (body->at[i] != ',' || depth)) {
		depth += body->at[i] == '(';
		depth -= body->at[i] == ')' && depth;
		i++;
		i += text_until(text_from(*body, i), TEXT_COMMA | TEXT_OPEN | TEXT_CLOSE);
	}
	field.len = i;
	*more = i < body->len;
	*body = text_from(*body, i + *more);
	return field;
}

static int list_parse(struct field_reader *r, const struct field *fields, struct text body)
{
	unsigned int given = 0, entry = 0;
	bool more = body.len;
	int err = 0;

	while (!err && more) {
		struct text value = field_take(&body, &more),
			    name = { value.at, text_until(value, TEXT_EQUALS | TEXT_OPEN) };
		const struct field *f = field_find(fields, name);

		body = text_from(body, text_run(body, TEXT_BLANK));
		value = text_from(value, name.len);
		if (!f)
			return error_set(r->e, EINVAL, "%s%s: unknown field '%s'", attribute_info(r->attr)->name,
					 r->group, text_quote(name).text);
		err = entry_choose(r, fields, f, &given, &entry);
		if (!err && field_is_nested(f))
			err = nested_parse(r, f, value);
		else if (!err)
			err = field_parse(r, f, entry, text_from(value, value.len && value.at[0] == '='));
	}
	return err;
}

/* The version says which of the others there are, so it is never wild beside them. */
static int erspan_finish(struct field_reader *r, const struct foreign_key *key, struct foreign_key *mask)
{
	bool has_idx = mask->tun.erspan_idx, has_others = mask->tun.erspan_dir || mask->tun.erspan_hwid;

	if ((has_idx && key->tun.erspan_ver != 1) || (has_others && key->tun.erspan_ver != 2))
		return error_set(r->e, EINVAL, "tunnel erspan: ver=1 has idx, ver=2 has dir and hwid, not ver=%u",
				 key->tun.erspan_ver);
	if (has_idx || has_others)
		mask->tun.erspan_ver = 0xf;
	return 0;
}

/* An ID is carried together with its flag. */
static int tunnel_finish(struct field_reader *r, struct foreign_key *key, struct foreign_key *mask)
{
	static const __u8 wild[sizeof(mask->tun.id)];

	if (memcmp(mask->tun.id, wild, sizeof(wild))) {
		key->tun.flags |= TUNNEL_KEY;
		mask->tun.flags |= TUNNEL_KEY;
	}
	return erspan_finish(r, key, mask);
}

int fields_parse(struct field_reader *r, struct text body)
{
	const struct field *fields = attribute_info(r->attr)->fields;
	int err = fields->name ? list_parse(r, fields, body) : field_parse(r, fields, 0, body);

	if (!err && r->attr == ATTR_TUNNEL)
		err = tunnel_finish(r, r->key, r->mask);
	return err;
}
