// SPDX-License-Identifier: GPL-2.0-only
#include "action_set.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "match_text.h"
#include "util.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Whole Ethernet addresses, both, are one record; the parser and the printer see to that. */
static const struct {
	enum attribute attr;
	const char *name;
} targets[SET_FIELDS] = {
	[SET_ETH] = { ATTR_ETH, "" },
	[SET_ETH_DST] = { ATTR_ETH, "dst" },
	[SET_ETH_SRC] = { ATTR_ETH, "src" },
	[SET_PRIORITY] = { ATTR_SKB_PRIORITY, NULL },
	[SET_MARK] = { ATTR_SKB_MARK, NULL },
	[SET_IPV4_SRC] = { ATTR_IPV4, "src" },
	[SET_IPV4_DST] = { ATTR_IPV4, "dst" },
	[SET_IPV4_TOS] = { ATTR_IPV4, "tos" },
	[SET_IPV4_TTL] = { ATTR_IPV4, "ttl" },
	[SET_IPV6_SRC] = { ATTR_IPV6, "src" },
	[SET_IPV6_DST] = { ATTR_IPV6, "dst" },
	[SET_IPV6_TCLASS] = { ATTR_IPV6, "tclass" },
	[SET_IPV6_LABEL] = { ATTR_IPV6, "label" },
	[SET_IPV6_HLIMIT] = { ATTR_IPV6, "hlimit" },
	[SET_TCP_SRC] = { ATTR_TCP, "src" },
	[SET_TCP_DST] = { ATTR_TCP, "dst" },
	[SET_UDP_SRC] = { ATTR_UDP, "src" },
	[SET_UDP_DST] = { ATTR_UDP, "dst" },
	[SET_SCTP_SRC] = { ATTR_SCTP, "src" },
	[SET_SCTP_DST] = { ATTR_SCTP, "dst" },
};

static const char not_settable[] = "cannot be set; the Open vSwitch kernel datapath refuses it, too";
static const char no_conntrack[] = "cannot be set: this datapath has no connection tracking";
static const char not_yet[] = "is not supported by this version";

static const char *why_not_settable(enum attribute attr)
{
	switch (attr) {
	case ATTR_MPLS:
	case ATTR_TUNNEL:
	case ATTR_NSH:
		return not_yet;
	case ATTR_CT_MARK:
	case ATTR_CT_LABEL:
		return no_conntrack;
	default:
		return not_settable;
	}
}

/* SET_FIELDS: there is none. */
static enum set_field set_field_find(enum attribute attr, const struct field *f)
{
	enum set_field s;

	for (s = 0; s < SET_FIELDS; s++) {
		const char *name = targets[s].name;

		if (targets[s].attr == attr && (name && f->name ? !strcmp(name, f->name) : name == f->name))
			break;
	}
	return s;
}

static const struct field *target_field(enum set_field s)
{
	const struct field *f = attribute_info(targets[s].attr)->fields;

	while (f->size && set_field_find(targets[s].attr, f) != s)
		f++;
	return f;
}

static bool is_settable(enum attribute attr)
{
	return set_field_find(attr, attribute_info(attr)->fields) < SET_FIELDS;
}

/* A record has a value and a mask of so many bytes, at the beginning of its data, as they are in a flow key. */
static size_t record_bytes(const struct field *f)
{
	return f->size > 6 ? 4 : f->size;
}

static int record_append(struct action_list *l, enum set_field s, const struct field *f, unsigned int part,
			 const struct match_level *from, struct error *e)
{
	size_t bytes = record_bytes(f), at = f->offset + part * bytes;
	struct flow_action *a = action_append(l, ACTION_SET, e);

	if (!a)
		return -E2BIG;
	a->flags = ACTION_F_MORE;
	a->set.field = s;
	a->set.part = part;
	memcpy(a->data, (const __u8 *)&from->key + at, bytes);
	memcpy(a->data + bytes, (const __u8 *)&from->mask + at, bytes);
	return 0;
}

static bool all_zero(const __u8 *bytes, size_t n)
{
	return !*bytes && !memcmp(bytes, bytes + 1, n - 1);
}

static int field_append(struct action_list *l, enum attribute attr, const struct field *f,
			const struct match_level *from, struct error *e)
{
	enum set_field s = set_field_find(attr, f);
	size_t bytes = record_bytes(f);
	unsigned int part;
	int err = 0;

	for (part = 0; !err && s < SET_FIELDS && part < f->size / bytes; part++) {
		if (!all_zero((const __u8 *)&from->mask + f->offset + part * bytes, bytes))
			err = record_append(l, s, f, part, from, e);
	}
	return err;
}

static bool whole(enum attribute attr, const struct match_level *l)
{
	const struct field *f;

	for (f = attribute_info(attr)->fields; f->size; f++) {
		if (field_match(&l->mask, f, 0) != FIELD_EXACT)
			return false;
	}
	return true;
}

static int eth_append(struct action_list *l, const struct match_level *from, struct error *e)
{
	struct flow_action *a = action_append(l, ACTION_SET, e);

	if (!a)
		return -E2BIG;
	a->flags = ACTION_F_MORE;
	a->set.field = SET_ETH;
	memcpy(a->eth_pair.dst, from->key.eth_dst, sizeof(a->eth_pair.dst));
	memcpy(a->eth_pair.src, from->key.eth_src, sizeof(a->eth_pair.src));
	return 0;
}

static int records_append(struct action_list *l, enum attribute attr, const struct match_level *from, struct error *e)
{
	const struct field *f = attribute_info(attr)->fields;
	__u32 begin = l->count;
	int err = 0;

	if (attr == ATTR_ETH && whole(attr, from))
		err = eth_append(l, from, e);
	else
		for (; !err && f->size; f++)
			err = field_append(l, attr, f, from, e);
	f = attribute_info(attr)->fields;
	if (!err && l->count == begin)
		err = record_append(l, set_field_find(attr, f), f, 0, from, e);
	if (err)
		return err;
	if (attr == ATTR_IPV4 && from->mask.ip_proto) {
		l->action[l->count - 1].flags |= ACTION_F_NAMED;
		l->action[l->count - 1].byte.proto = from->key.ip_proto;
		l->action[l->count - 1].byte.frag = from->key.ip_frag;
	}
	l->action[l->count - 1].flags &= ~ACTION_F_MORE;
	return 0;
}

struct stray {
	char text[IP_TEXT_SIZE];
};

/* The bits of the value that the mask does not have; an empty text: none. */
static struct stray stray_bits(const struct field *f, const struct match_level *l)
{
	struct field_value value = field_get(&l->key, f, 0), mask = field_get(&l->mask, f, 0);
	struct stray s = { "" };
	unsigned int i;

	for (i = 0; i < sizeof(value.bytes); i++)
		value.bytes[i] &= ~mask.bytes[i];
	value.number &= ~mask.number;
	if (!value.number && all_zero(value.bytes, sizeof(value.bytes)))
		return s;
	if (f->kind == FIELD_MAC)
		mac_format(value.bytes, s.text);
	else if (f->kind == FIELD_IPV4)
		ipv4_format(value.bytes, s.text);
	else if (f->kind == FIELD_IPV6)
		ipv6_format(value.bytes, s.text);
	else
		snprintf(s.text, sizeof(s.text), "%#x", value.number);
	return s;
}

/*
 * The kernel datapath takes the fields that it does not write only in a set() of everything.  The one of ipv6() is never
 * everything for it: the label does not fill its word.
 */
static int field_check(enum attribute attr, const struct field *f, const struct match_level *l, struct error *e)
{
	const struct attribute_info *a = attribute_info(attr);
	const char *blank = f->name ? " " : "", *name = f->name ? f->name : "";
	struct stray stray = stray_bits(f, l);

	if (stray.text[0])
		return error_set(e, EINVAL, "set: %s%s%s: bits %s of the value are outside of the mask", a->name, blank,
				 name, stray.text);
	if (field_match(&l->mask, f, 0) == FIELD_WILD || set_field_find(attr, f) < SET_FIELDS)
		return 0;
	if (attr == ATTR_IPV4 && whole(attr, l))
		return 0;
	return error_set(e, EINVAL, "set: %s%s%s cannot be set%s", a->name, blank, name,
			 attr == ATTR_IPV4 ? ", only named beside all other fields" : "");
}

/* NAME(FIELDS), and no more: the attribute, or -errno. */
static int attribute_take(struct text body, struct text *fields, struct error *e)
{
	struct text name = { body.at, text_span(body, NAME_CHARS) };
	struct text rest = text_from(body, name.len);
	int attr = attribute_find(name);
	long len = text_enclosed(rest);
	const char *why;

	if (attr < 0)
		return error_set(e, EINVAL, "set: '%s' is not a field, as in set(ipv4(ttl=64))", text_quote(body).text);
	why = is_settable(attr) ? NULL : why_not_settable(attr);
	if (why)
		return error_set(e, why == not_yet ? EOPNOTSUPP : EINVAL, "set: %s %s", attribute_info(attr)->name,
				 why);
	if (!rest.len || rest.at[0] != '(' || len < 0)
		return error_set(e, EINVAL, "set: '(' and ')' have to follow %s", attribute_info(attr)->name);
	if ((size_t)len + 2 != rest.len)
		return error_set(e, EINVAL, "set: '%s' after %s(): one at a time is possible",
				 text_quote(text_from(rest, len + 2)).text, attribute_info(attr)->name);
	*fields = (struct text){ rest.at + 1, len };
	return attr;
}

int set_parse(struct text body, struct action_list *l, struct error *e)
{
	struct match_level level = { 0 };
	const struct field *f;
	struct text fields;
	int attr, err;

	attr = attribute_take(body, &fields, e);
	if (attr < 0)
		return attr;
	err = attribute_parse(fields, attr, &level, e);
	if (err)
		return error_prefix(e, err, "set");
	for (f = attribute_info(attr)->fields; !err && f->size; f++)
		err = field_check(attr, f, &level, e);
	return err ? err : records_append(l, attr, &level, e);
}

static void record_to_level(const struct flow_action *a, struct match_level *l)
{
	const struct field *f = target_field(a->set.field);
	size_t bytes = record_bytes(f), at = f->offset + a->set.part * bytes;

	/* The only record that is of no one field. */
	if (!f->size) {
		memcpy(l->key.eth_dst, a->eth_pair.dst, sizeof(l->key.eth_dst));
		memcpy(l->key.eth_src, a->eth_pair.src, sizeof(l->key.eth_src));
		memset(l->mask.eth_dst, 0xff, sizeof(l->mask.eth_dst));
		memset(l->mask.eth_src, 0xff, sizeof(l->mask.eth_src));
		return;
	}
	memcpy((__u8 *)&l->key + at, a->data, bytes);
	memcpy((__u8 *)&l->mask + at, a->data + bytes, bytes);
	if (a->flags & ACTION_F_NAMED) {
		l->key.ip_proto = a->byte.proto;
		l->key.ip_frag = a->byte.frag;
		l->mask.ip_proto = 0xff;
		l->mask.ip_frag = 0xff;
	}
}

enum attribute set_attribute(const struct flow_action *a, struct match_level *l)
{
	const struct flow_action *end = action_next(a);
	enum attribute attr = targets[a->set.field].attr;

	memset(l, 0, sizeof(*l));
	for (; a < end; a++)
		record_to_level(a, l);
	return attr;
}

const struct flow_action *set_print(FILE *out, const struct flow_action *a)
{
	struct match_level level;
	enum attribute attr = set_attribute(a, &level);

	fputs("set(", out);
	attribute_print(out, attr, &level);
	putc(')', out);
	return action_next(a);
}

json_t *set_json(const struct flow_action *a)
{
	struct match_level level;
	enum attribute attr = set_attribute(a, &level);

	return json_pack("{s:o}", attribute_info(attr)->name, attribute_fields_json(attr, &level));
}
