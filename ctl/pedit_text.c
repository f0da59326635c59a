// SPDX-License-Identifier: GPL-2.0-only
#include "pedit_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "action_list.h"
#include "error.h"
#include "pedit_field.h"
#include "pedit_steps.h"
#include "util.h"

#define BLANKS " \t\r\n"

struct reader {
	struct text word; /* that is to be read next; empty at the end */
	struct text rest;
	unsigned int mode; /* ACTION_F_EX, ACTION_F_COMPAT */
	struct error *e;
};

static struct text word_take(struct reader *r)
{
	struct text taken = r->word;

	r->rest = text_from(r->rest, text_span(r->rest, BLANKS));
	r->word = text_take(&r->rest, BLANKS);
	return taken;
}

/* As tc compares: any beginning of the keyword will do. */
static bool word_means(struct text word, const char *keyword)
{
	return word.len && word.len <= strlen(keyword) && !memcmp(word.at, keyword, word.len);
}

static bool word_accept(struct reader *r, const char *keyword)
{
	if (!word_means(r->word, keyword))
		return false;
	word_take(r);
	return true;
}

static int number_read(struct reader *r, const char *what, __u64 max, __u64 *number)
{
	if (!r->word.len)
		return error_set(r->e, EINVAL, "%s: a number is missing", what);
	return number_parse(word_take(r), what, max, number, r->e);
}

static int hex_parse(struct text t, const char *what, __u32 *number, struct error *e)
{
	bool prefixed = text_starts(t, "0x");
	struct text digits = text_from(t, prefixed ? 2 : 0);
	char text[sizeof("0x00000000")];
	__u64 value;
	int err;

	if (!digits.len || digits.len > 8 || text_span(digits, "0123456789abcdefABCDEF") != digits.len)
		return error_set(e, EINVAL, "%s: '%s' is not a number of up to 8 hex digits", what, text_quote(t).text);
	snprintf(text, sizeof(text), "0x%.*s", (int)digits.len, digits.at);
	err = number_parse(text_of(text), what, UINT_MAX, &value, e);
	if (!err)
		*number = value;
	return err;
}

static int offset_parse(struct text t, const char *what, __s16 *offset, struct error *e)
{
	bool negative = text_starts(t, "-");
	__u64 number;
	int err = number_parse(text_from(t, negative), what, UINT_MAX, &number, e);

	if (err == -EINVAL)
		return error_set(e, EINVAL, "%s: '%s' is not a number of bytes", what, text_quote(t).text);
	if (err || number > (negative ? -SHRT_MIN : SHRT_MAX))
		return error_set(e, ERANGE, "%s: %s is beyond 16 bits, where no packet has bytes; %d to %d is possible",
				 what, text_quote(t).text, SHRT_MIN, SHRT_MAX);
	*offset = negative ? -(int)number : (int)number;
	return 0;
}

/* The byte's offset, the mask on it, and how far it is shifted right. */
static int at_read(struct reader *r, __s16 *at, __u8 *offmask, __u8 *shift)
{
	__u64 number;
	__u32 mask;
	int err = offset_parse(word_take(r), "at", at, r->e);

	if (err)
		return err;
	err = hex_parse(word_take(r), "at: mask", &mask, r->e);
	if (err)
		return err;
	/* The kernel masks one byte, whatever else the mask has. */
	*offmask = mask;
	if (!*offmask)
		return error_set(r->e, EINVAL, "at: mask: %x has no bit of the byte that it is for", mask);
	err = number_read(r, "at: shift", UINT_MAX, &number);
	/* As act_pedit limits it. */
	*shift = number > 31 ? 31 : number;
	return err;
}

static const char *field_title(const struct pedit_field *f, char title[static 32])
{
	if (f->header)
		snprintf(title, 32, "%s %s", f->header, f->name);
	else
		snprintf(title, 32, "offset u%u", f->bits);
	return title;
}

static int address_parse(const struct pedit_field *f, struct text t, struct pedit_munge *m, struct error *e)
{
	__be32 ip;

	switch (f->kind) {
	case PEDIT_MAC:
		return mac_parse(t, m->bytes) ? error_set(e, EINVAL, "'%s' is not a MAC address", text_quote(t).text)
					      : 0;
	case PEDIT_IPV6:
		return ipv6_parse(t, m->bytes) ? error_set(e, EINVAL, "'%s' is not an IPv6 address", text_quote(t).text)
					       : 0;
	default:
		if (ipv4_parse(t, (__u8 *)&ip))
			return error_set(e, EINVAL, "'%s' is not an IPv4 address", text_quote(t).text);
		m->number = ntohl(ip);
		return 0;
	}
}

static int value_read(struct reader *r, const char *title, struct pedit_munge *m)
{
	__u64 number;
	int err;

	if (!r->word.len)
		return error_set(r->e, EINVAL, "%s: a value is missing", title);
	if (m->field.kind >= PEDIT_IPV4) {
		err = address_parse(&m->field, word_take(r), m, r->e);
		return err ? error_prefix(r->e, err, "%s", title) : 0;
	}
	err = number_read(r, title, pedit_field_full(&m->field), &number);
	m->number = err ? 0 : number;
	return err;
}

static int command_read(struct reader *r, const char *title, struct pedit_munge *m)
{
	struct text word = word_take(r);
	unsigned int c = 0;

	while (c < PEDIT_COMMANDS && !word_means(word, pedit_command_names[c]))
		c++;
	if (c == PEDIT_COMMANDS)
		return error_set(r->e, EINVAL, "%s: '%s' is not set, add, decrement, invert, clear or preserve", title,
				 text_quote(word).text);
	m->command = c;
	if (c == PEDIT_DEC_BY_ONE && !(m->field.flags & PEDIT_DECREMENT))
		return error_set(r->e, EINVAL, "%s: only ip ttl and ip6 hoplimit can be decremented", title);
	if ((c == PEDIT_ADD || c == PEDIT_DEC_BY_ONE) && !(r->mode & ACTION_F_EX))
		return error_set(r->e, EINVAL, "%s: %s is possible only with ex before the first munge", title,
				 pedit_command_names[c]);
	if (c == PEDIT_PRESERVE && m->field.kind >= PEDIT_MAC)
		return error_set(r->e, EINVAL, "%s: preserve is not possible for fields longer than 32 bits", title);
	return c == PEDIT_SET || c == PEDIT_ADD ? value_read(r, title, m) : 0;
}

/* tc drops what a number has beyond the field's bytes; where a field here has bits of its own, that would hide a loss. */
static int retain_read(struct reader *r, const char *title, struct pedit_munge *m)
{
	__u32 most = m->field.bits % 8 ? pedit_field_full(&m->field) : UINT_MAX;
	__u64 number;
	int err;

	m->retain = m->command == PEDIT_PRESERVE ? 0 : m->field.retain;
	if (!word_accept(r, "retain"))
		return 0;
	err = number_read(r, "retain", most, &number);
	if (err)
		return error_prefix(r->e, err, "%s", title);
	if (m->field.kind >= PEDIT_MAC && number != UINT_MAX)
		return error_set(r->e, EINVAL, "%s: retain is not possible for fields longer than 32 bits", title);
	if (m->command == PEDIT_PRESERVE && !(r->mode & ACTION_F_COMPAT))
		return error_set(r->e, EINVAL, "%s: preserve with retain changes what it names: say clear, or compat",
				 title);
	m->retain = number;
	return 0;
}

static int keys_append(struct reader *r, struct action_list *l, unsigned int header, const struct flow_action *key,
		       unsigned int count)
{
	struct flow_action *begin = &l->action[header];
	unsigned int i;
	int err = 0;

	if (begin->pedit.keys + count > PEDIT_KEYS_MAX)
		return error_set(r->e, E2BIG, "more than %u keys are not possible", PEDIT_KEYS_MAX);
	for (i = 0; i < count && !err; i++)
		err = pedit_record_append(l, &key[i], r->e);
	begin->pedit.keys += count;
	return err;
}

/* From the command on. */
static int field_read(struct reader *r, struct pedit_munge *m, struct action_list *l, unsigned int header)
{
	struct flow_action key[PEDIT_MUNGE_KEYS];
	char title[32];
	int err;

	field_title(&m->field, title);
	err = command_read(r, title, m);
	if (!err)
		err = retain_read(r, title, m);
	return err ? err : keys_append(r, l, header, key, pedit_pack(m, r->mode, key));
}

/* offset OFF u8|u16|u32 [at AT MASK SHIFT] COMMAND */
static int raw_read(struct reader *r, struct action_list *l, unsigned int header)
{
	static const unsigned int widths[] = { 32, 16, 8 };
	static const char *const names[] = { "u32", "u16", "u8" };
	struct pedit_munge m = { .offmask = 0 };
	struct text word;
	__s16 offset;
	unsigned int w = 0;
	int err = offset_parse(word_take(r), "offset", &offset, r->e);

	if (err)
		return err;
	word = word_take(r);
	while (w < ARRAY_SIZE(names) && !word_means(word, names[w]))
		w++;
	if (w == ARRAY_SIZE(names))
		return error_set(r->e, EINVAL, "offset: '%s' is not a width: u8, u16, u32", text_quote(word).text);
	if (pedit_field_raw(offset, widths[w], &m.field))
		return error_set(r->e, EINVAL, "offset: %s at %d is not inside one word: words begin at multiples of 4",
				 names[w], offset);
	if (word_accept(r, "at"))
		err = at_read(r, &m.at, &m.offmask, &m.shift);
	return err ? err : field_read(r, &m, l, header);
}

/* Does the word begin a key as tc lists it, "ipv4+8" or "-16"?  Then its offset is what follows the header's name. */
static bool listed_base(struct text word, enum pedit_base *base, struct text *offset)
{
	unsigned int b;

	*offset = text_from(word, text_starts(word, "-"));
	if (offset->len && text_span((struct text){ offset->at, 1 }, "0123456789")) {
		*base = PEDIT_NETWORK;
		*offset = word;
		return true;
	}
	for (b = PEDIT_NETWORK + 1; b < PEDIT_BASES; b++) {
		if (!text_starts(word, pedit_base_names[b]))
			continue;
		*offset = text_from(word, strlen(pedit_base_names[b]));
		if (!offset->len || (offset->at[0] != '+' && offset->at[0] != '-'))
			continue;
		*offset = text_from(*offset, offset->at[0] == '+');
		*base = b;
		return true;
	}
	return false;
}

/* val|add VALUE mask MASK [at AT MASK SHIFT] */
static int listed_values(struct reader *r, enum pedit_base base, __s16 offset, struct flow_action *key)
{
	struct text command = word_take(r), word;
	bool add = text_is(command, "add");
	__u8 offmask = 0, shift = 0;
	__u32 value, mask;
	__s16 at = 0;
	int err;

	if (!add && !text_is(command, "val"))
		return error_set(r->e, EINVAL, "'%s' is neither val nor add", text_quote(command).text);
	err = hex_parse(word_take(r), add ? "add" : "val", &value, r->e);
	if (err)
		return err;
	word = word_take(r);
	if (!text_is(word, "mask"))
		return error_set(r->e, EINVAL, "'%s' stands where the word mask should", text_quote(word).text);
	err = hex_parse(word_take(r), "mask", &mask, r->e);
	if (!err && word_accept(r, "at"))
		err = at_read(r, &at, &offmask, &shift);
	if (err)
		return err;
	*key = pedit_key(base, offset, add, value, mask);
	key->pedit_key.at = at;
	key->key.offmask = offmask;
	key->key.shift = shift;
	return 0;
}

static int listed_read(struct reader *r, enum pedit_base base, struct text number, struct action_list *l,
		       unsigned int header)
{
	struct flow_action key;
	__s16 offset;
	int err = offset_parse(number, "offset", &offset, r->e);

	if (err)
		return err;
	if (offset & 3)
		return error_set(r->e, EINVAL, "offset: %d is not a multiple of 4, as those of keys are", offset);
	err = listed_values(r, base, offset, &key);
	if (err)
		return err;
	if (!(r->mode & ACTION_F_EX) && (base != PEDIT_NETWORK || key.flags & ACTION_F_ADD))
		return error_set(r->e, EINVAL, "keys with a header or with add need ex before the first munge");
	return keys_append(r, l, header, &key, 1);
}

static int munge_read(struct reader *r, struct action_list *l, unsigned int header)
{
	struct pedit_munge m = { .offmask = 0 };
	const struct pedit_field *field;
	struct text word = word_take(r), offset;
	enum pedit_base base;
	int err;

	if (!word.len)
		return error_set(r->e, EINVAL, "nothing follows");
	if (word_means(word, "offset"))
		return raw_read(r, l, header);
	if (listed_base(word, &base, &offset))
		return listed_read(r, base, offset, l, header);
	err = pedit_field_find(word, word_take(r), r->mode, &field, r->e);
	if (err)
		return err;
	m.field = *field;
	return field_read(r, &m, l, header);
}

/* What may follow the keys in tc.  Only pipe says what a flow does anyway: go on with the next action. */
static int control_read(struct reader *r)
{
	static const char *const controls[] = { "continue",   "drop", "shot", "pass", "ok",
						"reclassify", "pipe", "goto", "jump", "trap" };
	unsigned int c = 0;

	while (c < ARRAY_SIZE(controls) && !word_means(r->word, controls[c]))
		c++;
	if (c < ARRAY_SIZE(controls) && strcmp(controls[c], "pipe"))
		return error_set(r->e, EOPNOTSUPP,
				 "%s is not possible here: the flow's next actions decide; only pipe is", controls[c]);
	if (c < ARRAY_SIZE(controls))
		word_take(r);
	if (word_means(r->word, "index") || text_is(r->word, "cookie"))
		return error_set(r->e, EOPNOTSUPP, "%s is not possible here: it belongs to the flow alone",
				 *r->word.at == 'i' ? "index" : "cookie");
	if (text_is(r->word, "ex") || text_is(r->word, "compat"))
		return error_set(r->e, EINVAL, "%s has to stand before the first munge, compat before ex",
				 text_quote(r->word).text);
	if (r->word.len)
		return error_set(r->e, EINVAL, "'%s' is not expected; it should be munge", text_quote(r->word).text);
	return 0;
}

static int body_read(struct reader *r, struct action_list *l)
{
	struct flow_action begin = { .type = ACTION_PEDIT };
	unsigned int header = l->count, number = 0;
	int err;

	if (text_is(r->word, "compat") && word_take(r).len)
		r->mode |= ACTION_F_COMPAT;
	if (word_accept(r, "ex"))
		r->mode |= ACTION_F_EX;
	begin.flags = r->mode;
	err = pedit_record_append(l, &begin, r->e);
	if (err)
		return err;
	while (word_accept(r, "munge")) {
		err = munge_read(r, l, header);
		if (err)
			return error_prefix(r->e, err, "munge %u", number);
		number++;
	}
	err = control_read(r);
	if (err)
		return err;
	if (!number)
		return error_set(r->e, EINVAL, "at least one munge is needed");
	return pedit_steps_append(l, header, r->e);
}

int pedit_parse(struct text body, struct action_list *l, struct error *e)
{
	struct reader r = { .rest = body, .e = e };
	int err;

	word_take(&r);
	err = body_read(&r, l);
	return err ? error_prefix(e, err, "actions: pedit") : 0;
}
