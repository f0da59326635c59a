// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text to match.  Each nesting level is parsed on its own; then the rules are checked, while the key still has the bits
 * that the mask does not; then the levels become one key and one mask.
 */
#include "match_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "error.h"
#include "field.h"
#include "util.h"

#define BLANKS " \t\r\n"

/* Types below are lengths of IEEE 802.3 frames. */
#define ETH_TYPE_MIN 0x0600

struct parser {
	const struct port_names *names;
	struct error *e;
	struct match_level level[MATCH_TAGS_MAX + 1];
};

/* What is being parsed, for refusals: "ipv4 ttl", "in_port". */
struct label {
	char text[40];
};

/* Made for each value, refused or not, so without snprintf. */
static struct label field_label(enum attribute attr, const struct field *f, const char *part)
{
	const char *const words[] = { attribute_info(attr)->name, f->name ? " " : "", f->name ? f->name : "", part };
	struct label l;
	size_t i, at = 0;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		const char *c;

		for (c = words[i]; *c && at < sizeof(l.text) - 1; c++)
			l.text[at++] = *c;
	}
	l.text[at] = '\0';
	return l;
}

static __u64 attr_bit(enum attribute attr)
{
	return 1ull << attr;
}

static int bytes_parse(const struct field *f, struct text t, __u8 *bytes)
{
	switch (f->kind) {
	case FIELD_MAC:
		return mac_parse(t, bytes);
	case FIELD_IPV4:
		return ipv4_parse(t, bytes);
	default:
		return ipv6_parse(t, bytes);
	}
}

static void prefix_mask(__u8 *bytes, unsigned int size, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		bytes[i] = bits >= 8 * (i + 1) ? 0xff : bits <= 8 * i ? 0 : 0xff << (8 * (i + 1) - bits);
}

static int bytes_field_parse(struct parser *p, enum attribute attr, const struct field *f, struct text value,
			     struct text *mask, struct field_value *v, struct field_value *m)
{
	static const char *const forms[] = {
		[FIELD_MAC] = "MAC address", [FIELD_IPV4] = "IPv4 address", [FIELD_IPV6] = "IPv6 address"
	};
	struct label label = field_label(attr, f, " mask");
	__u64 bits = 8 * f->size;
	int err;

	if (bytes_parse(f, value, v->bytes))
		return error_set(p->e, EINVAL, "%s: '%s' is not a%s %s", field_label(attr, f, "").text,
				 text_quote(value).text, f->kind == FIELD_MAC ? "" : "n", forms[f->kind]);
	if (mask && f->kind != FIELD_MAC && number_like(*mask)) {
		err = number_parse(*mask, label.text, bits, &bits, p->e);
		if (err)
			return err;
	} else if (mask) {
		if (bytes_parse(f, *mask, m->bytes))
			return error_set(p->e, EINVAL, "%s: '%s' is not a%s %s%s", label.text, text_quote(*mask).text,
					 f->kind == FIELD_MAC ? "" : "n", forms[f->kind],
					 f->kind == FIELD_MAC ? "" : " or a prefix length");
		return 0;
	}
	prefix_mask(m->bytes, f->size, bits);
	return 0;
}

static int number_mask_parse(struct parser *p, enum attribute attr, const struct field *f, struct text *mask,
			     struct field_value *m)
{
	__u32 max = f->mask_bits ? ~0u >> (32 - f->mask_bits) : field_full(f);
	__u64 number;
	int err;

	m->number = field_full(f);
	if (!mask)
		return 0;
	err = number_parse(*mask, field_label(attr, f, " mask").text, max, &number, p->e);
	if (err)
		return err;
	m->number = number;
	return 0;
}

static int number_field_parse(struct parser *p, enum attribute attr, const struct field *f, struct text value,
			      struct text *mask, struct field_value *v, struct field_value *m)
{
	__u64 number;
	int err = number_parse(value, field_label(attr, f, "").text, field_full(f), &number, p->e);

	if (err)
		return err;
	v->number = number;
	return number_mask_parse(p, attr, f, mask, m);
}

static int port_field_parse(struct parser *p, enum attribute attr, const struct field *f, struct text value,
			    struct text *mask, struct field_value *v, struct field_value *m)
{
	int err = port_parse(value, field_label(attr, f, "").text, p->names, &v->number, p->e);

	if (!err)
		err = number_mask_parse(p, attr, f, mask, m);
	if (!err && m->number)
		m->number = field_full(f);
	return err;
}

static int frag_field_parse(struct parser *p, enum attribute attr, const struct field *f, struct text value,
			    struct text *mask, struct field_value *v, struct field_value *m)
{
	static const char *const names[][2] = { { "no", "0" }, { "first", "1" }, { "later", "2" } };
	struct label label = field_label(attr, f, "");
	unsigned int i;
	int err;

	for (i = 0; i < 3 && !text_is(value, names[i][0]) && !text_is(value, names[i][1]); i++)
		;
	if (i == 3)
		return error_set(p->e, EINVAL, "%s: '%s' is not no, first or later", label.text,
				 text_quote(value).text);
	v->number = i;
	err = number_mask_parse(p, attr, f, mask, m);
	if (!err && m->number && m->number != field_full(f))
		return error_set(p->e, EINVAL, "%s: mask %s is possible only as 0xff or 0", label.text,
				 text_quote(*mask).text);
	return err;
}

/* +syn-ack: the flags that are named. */
static int tcp_flags_masked_parse(struct text t, __u32 *flags, __u32 *mask)
{
	while (t.len) {
		bool set = t.at[0] == '+';
		struct text rest = text_from(t, 1);
		struct text name = { rest.at, text_cspan(rest, "+-") };
		__u16 flag;

		if (text_span(t, "+-") == 0 || tcp_flag_parse(name, &flag) || *mask & flag)
			return -EINVAL;
		*mask |= flag;
		*flags |= set ? flag : 0;
		t = text_from(rest, name.len);
	}
	return 0;
}

/* syn|ack: these and no others. */
static int tcp_flags_exact_parse(struct text t, __u32 *flags)
{
	bool more;

	do {
		__u16 flag;

		more = text_cspan(t, "|") < t.len;
		if (tcp_flag_parse(text_take(&t, "|"), &flag))
			return -EINVAL;
		*flags |= flag;
	} while (more);
	return 0;
}

static int tcp_flags_field_parse(struct parser *p, enum attribute attr, const struct field *f, struct text value,
				 struct text *mask, struct field_value *v, struct field_value *m)
{
	bool named = value.len && (value.at[0] < '0' || value.at[0] > '9');
	int err;

	if (!named)
		return number_field_parse(p, attr, f, value, mask, v, m);
	if (text_span(value, "+-")) {
		err = mask ? -EINVAL : tcp_flags_masked_parse(value, &v->number, &m->number);
	} else {
		m->number = field_full(f);
		err = mask ? -EINVAL : tcp_flags_exact_parse(value, &v->number);
	}
	if (err)
		return error_set(p->e, EINVAL, "%s: '%s%s' is not like +syn-ack, syn|ack or 0x002/0x012",
				 field_label(attr, f, "").text, text_quote(value).text, mask ? "/..." : "");
	return 0;
}

typedef int field_parser(struct parser *p, enum attribute attr, const struct field *f, struct text value,
			 struct text *mask, struct field_value *v, struct field_value *m);

static int field_parse(struct parser *p, struct match_level *l, enum attribute attr, const struct field *f,
		       unsigned int entry, struct text t)
{
	static field_parser *const parsers[] = {
		[FIELD_DEC] = number_field_parse,   [FIELD_HEX] = number_field_parse,
		[FIELD_HEX16] = number_field_parse, [FIELD_PORT] = port_field_parse,
		[FIELD_FRAG] = frag_field_parse,    [FIELD_TCP_FLAGS] = tcp_flags_field_parse,
		[FIELD_MAC] = bytes_field_parse,    [FIELD_IPV4] = bytes_field_parse,
		[FIELD_IPV6] = bytes_field_parse,
	};
	bool masked = text_cspan(t, "/") < t.len;
	struct text value = text_take(&t, "/");
	struct field_value v = { 0 }, m = { 0 };
	int err;

	if (!value.len)
		return error_set(p->e, EINVAL, "%s: a value is missing", field_label(attr, f, "").text);
	err = parsers[f->kind](p, attr, f, value, masked ? &t : NULL, &v, &m);
	if (err)
		return err;
	field_put(&l->key, f, entry, &v);
	field_put_mask(&l->mask, f, entry, &m);
	return 0;
}

/* The bits of its member that a field stands for. */
static __u32 member_bits(const struct field *f)
{
	return field_full(f) << f->shift;
}

/* The field of those given already that is this one or has bits of it, as tci has of vid. */
static const struct field *given_before(const struct field *fields, unsigned int given, const struct field *f)
{
	const struct field *g;

	for (g = fields; g->size; g++) {
		if (!(given & 1u << (g - fields)))
			continue;
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
static int entry_choose(struct parser *p, enum attribute attr, const struct field *f, unsigned int *given,
			unsigned int *entry)
{
	const struct attribute_info *a = attribute_info(attr);
	const struct field *g = given_before(a->fields, *given, f);
	const size_t max = sizeof(((struct flow_key *)NULL)->mpls_lse_be) / 4;

	if (g && !(a->flags & ATTR_LABEL_STACK))
		return error_set(p->e, EINVAL, g == f ? "%s: %s is given twice" : "%s: %s repeats bits of %s", a->name,
				 f->name, g->name);
	if (g) {
		*given = 0;
		if (++*entry == max)
			return error_set(p->e, EINVAL, "%s: more than %zu labels", a->name, max);
	}
	*given |= 1u << (f - a->fields);
	return 0;
}

static int fields_parse(struct parser *p, struct match_level *l, enum attribute attr, struct text body)
{
	const struct attribute_info *a = attribute_info(attr);
	unsigned int given = 0, entry = 0;
	bool more = body.len;

	if (!a->fields->name)
		return field_parse(p, l, attr, a->fields, 0, body);
	while (more) {
		const struct field *f;
		struct text token, name;
		int err;

		more = text_cspan(body, ",") < body.len;
		token = text_take(&body, ",");
		body = text_from(body, text_span(body, BLANKS));
		name = text_take(&token, "=");
		f = field_find(a->fields, name);
		if (!f)
			return error_set(p->e, EINVAL, "%s: unknown field '%s'", a->name, text_quote(name).text);
		err = entry_choose(p, attr, f, &given, &entry);
		if (!err)
			err = field_parse(p, l, attr, f, entry, token);
		if (err)
			return err;
	}
	return 0;
}

/* Is each value of the body masked with zero?  The values themselves may be of any form. */
static bool all_wild(struct text body)
{
	while (body.len) {
		struct text token = text_take(&body, ",");
		bool masked = text_cspan(token, "/") < token.len;

		text_take(&token, "/");
		if (!masked || !token.len || text_span(token, "0x:. ") != token.len)
			return false;
	}
	return true;
}

static int attrs_parse(struct parser *p, unsigned int depth, struct text t);

static int body_parse(struct parser *p, unsigned int depth, enum attribute attr, struct text body)
{
	const struct attribute_info *a = attribute_info(attr);

	if (depth > 0 && a->flags & ATTR_OUTERMOST)
		return error_set(p->e, EINVAL, "%s: has to stand outside encap()", a->name);
	if (attr == ATTR_ENCAP) {
		if (depth == MATCH_TAGS_MAX)
			return error_set(p->e, EINVAL, "encap: more than %u tags cannot be matched", MATCH_TAGS_MAX);
		return attrs_parse(p, depth + 1, body);
	}
	if (!a->why_not)
		return fields_parse(p, &p->level[depth], attr, body);
	if (all_wild(body) || (attr == ATTR_PACKET_TYPE && text_is(body, "ns=0,id=0")))
		return 0;
	return error_set(p->e, EINVAL, "%s: %s; leave it out or give it mask 0", a->name, a->why_not);
}

static size_t name_length(struct text t)
{
	size_t n = 0;

	while (n < t.len &&
	       ((t.at[n] >= 'a' && t.at[n] <= 'z') || (t.at[n] >= '0' && t.at[n] <= '9') || t.at[n] == '_'))
		n++;
	return n;
}

/* Takes one attribute from the beginning of t. */
static int attr_parse(struct parser *p, unsigned int depth, struct text *t)
{
	struct text name = { t->at, name_length(*t) };
	struct text rest = text_from(*t, name.len);
	long len = text_enclosed(rest);
	int attr = attribute_find(name);

	if (!name.len)
		return error_set(p->e, EINVAL, "flow: unexpected '%s'", text_quote(*t).text);
	if (attr < 0)
		return error_set(p->e, EINVAL, "flow: unknown attribute '%s'", text_quote(name).text);
	if (!rest.len || rest.at[0] != '(')
		return error_set(p->e, EINVAL, "%s: '(' has to follow, not '%s'", attribute_info(attr)->name,
				 text_quote(rest).text);
	if (len < 0)
		return error_set(p->e, EINVAL, "%s: '(' is never closed", attribute_info(attr)->name);
	if (p->level[depth].present & attr_bit(attr))
		return error_set(p->e, EINVAL, "%s: is given twice", attribute_info(attr)->name);
	p->level[depth].present |= attr_bit(attr);
	*t = text_from(rest, len + 2);
	return body_parse(p, depth, attr, (struct text){ rest.at + 1, len });
}

/* As in Open vSwitch, attributes may be apart by any commas and blanks, or by none. */
static int attrs_parse(struct parser *p, unsigned int depth, struct text t)
{
	for (;;) {
		int err;

		t = text_from(t, text_span(t, "," BLANKS));
		if (!t.len)
			return 0;
		err = attr_parse(p, depth, &t);
		if (err)
			return err;
	}
}

static int eth_type_check(struct parser *p, struct match_level *l)
{
	__u16 eth_type = ntohs(l->key.eth_type_be);

	if (!l->mask.eth_type_be)
		return 0;
	/* ETH_TYPE_802_2 is what a frame without a type has in its key. */
	if (eth_type < ETH_TYPE_MIN && eth_type != ETH_TYPE_802_2)
		return error_set(p->e, EINVAL, "eth_type: 0x%04x is no type, those are from 0x%04x", eth_type,
				 ETH_TYPE_MIN);
	l->mask.eth_type_be = 0xffff;
	return 0;
}

static bool mask_is_zero(const struct flow_key *mask)
{
	static const struct flow_key zero;

	return !memcmp(mask, &zero, sizeof(zero));
}

static int tag_check(struct parser *p, unsigned int depth)
{
	struct match_level *l = &p->level[depth];
	const __be16 present = htons(VLAN_TAG_PRESENT);

	if (l->mask.eth_type_be != 0xffff)
		return error_set(p->e, EINVAL, "eth_type: the type of a tag, 0x%04x, has to be exact",
				 ntohs(l->key.eth_type_be));
	if (!(l->present & attr_bit(ATTR_VLAN)) || !(l->present & attr_bit(ATTR_ENCAP)))
		return error_set(p->e, EINVAL, "eth_type: 0x%04x needs vlan() and encap() beside it",
				 ntohs(l->key.eth_type_be));
	if (l->mask.vlan_tci_be & present && !(l->key.vlan_tci_be & present))
		return error_set(p->e, EINVAL, "vlan: cfi=0 would mean that there is no tag; leave vlan() out, or cfi");
	if (mask_is_zero(&p->level[depth + 1].mask))
		return error_set(p->e, EINVAL,
				 "encap: nothing in it is matched, which Open vSwitch refuses too; give it eth_type()");
	l->key.vlan_tci_be |= present;
	l->mask.vlan_tci_be |= present;
	return 0;
}

static int level_check(struct parser *p, unsigned int depth, bool *tagged)
{
	struct match_level *l = &p->level[depth];
	enum attribute attr;
	int err;

	*tagged = l->present & attr_bit(ATTR_ETH_TYPE) && eth_type_is_tag(l->key.eth_type_be);
	if (depth == MATCH_TAGS_MAX && l->present & attr_bit(ATTR_VLAN))
		return error_set(p->e, EINVAL, "vlan: more than %u tags cannot be matched", MATCH_TAGS_MAX);
	/* The type of a third tag is the innermost type that the key has. */
	if (depth == MATCH_TAGS_MAX)
		*tagged = false;
	err = *tagged ? tag_check(p, depth) : eth_type_check(p, l);
	for (attr = 0; !err && attr < ATTRIBUTES; attr++) {
		if (l->present & attr_bit(attr))
			err = attribute_check(l, attr, p->e);
	}
	return err;
}

static void key_or(struct flow_key *to, const struct flow_key *from)
{
	__u8 *t = (__u8 *)to;
	size_t i;

	for (i = 0; i < sizeof(*to); i++)
		t[i] |= ((const __u8 *)from)[i];
}

static void tag_move(struct flow_key *k, unsigned int depth)
{
	__be16 tpid = k->eth_type_be, tci = k->vlan_tci_be;

	k->eth_type_be = 0;
	k->vlan_tci_be = 0;
	*(depth ? &k->cvlan_tpid_be : &k->vlan_tpid_be) = tpid;
	*(depth ? &k->cvlan_tci_be : &k->vlan_tci_be) = tci;
}

/* An attribute is in one level only, so the levels add up. */
static void levels_join(struct parser *p, unsigned int tags, struct match *m)
{
	unsigned int depth;
	size_t i;

	for (depth = 0; depth <= tags; depth++) {
		struct match_level *l = &p->level[depth];

		if (depth < tags) {
			tag_move(&l->key, depth);
			tag_move(&l->mask, depth);
		}
		key_or(&m->key, &l->key);
		key_or(&m->mask, &l->mask);
		m->present |= l->present;
	}
	if (tags == 0)
		m->mask.vlan_tci_be = 0xffff;
	if (tags == 1)
		m->mask.cvlan_tci_be = 0xffff;
	for (i = 0; i < sizeof(m->key); i++)
		((__u8 *)&m->key)[i] &= ((const __u8 *)&m->mask)[i];
}

static int ufid_take(struct text *t, struct match *m, struct error *e)
{
	struct text uuid;

	*t = text_from(*t, text_span(*t, BLANKS));
	if (!text_starts(*t, "ufid:"))
		return 0;
	*t = text_from(*t, strlen("ufid:"));
	uuid = text_take(t, "," BLANKS);
	if (uuid_parse(uuid, m->ufid))
		return error_set(e, EINVAL, "ufid: '%s' is not like 01234567-89ab-cdef-0123-456789abcdef",
				 text_quote(uuid).text);
	m->has_ufid = true;
	return 0;
}

int match_parse(const char *text, const struct port_names *names, struct match *m, struct error *e)
{
	struct parser p = { .names = names, .e = e };
	struct text t = text_of(text);
	unsigned int depth = 0;
	bool tagged = true;
	int err;

	memset(m, 0, sizeof(*m));
	err = ufid_take(&t, m, e);
	if (!err)
		err = attrs_parse(&p, 0, t);
	if (err)
		return err;
	if (!p.level[0].present && m->has_ufid)
		return 0;
	if (!p.level[0].present)
		return error_set(e, EINVAL, "flow: is empty; the least is eth(), which matches every untagged frame");
	for (; tagged; depth++) {
		err = level_check(&p, depth, &tagged);
		if (err)
			return err;
	}
	levels_join(&p, depth - 1, m);
	return 0;
}

int match_field_parse(struct text value, const struct port_names *names, enum attribute attr, const struct field *f,
		      struct match_level *l, struct error *e)
{
	struct parser p = { .names = names, .e = e };

	return field_parse(&p, l, attr, f, 0, value);
}
