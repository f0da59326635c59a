// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "pedit_field.h"
#include "pedit_text.h"
#include "util.h"

/* How much of a field a key may leave alone and still be called by its name. */
enum shape {
	SHAPE_DEFAULT, /* what the field's text gives without retain */
	SHAPE_RETAIN,
	SHAPES
};

static bool packs_to(const struct pedit_munge *m, unsigned int mode, const struct flow_action *key, unsigned int count)
{
	struct flow_action packed[PEDIT_MUNGE_KEYS];

	return pedit_pack(m, mode, packed) == count && !memcmp(packed, key, count * sizeof(*key));
}

/* 1 if the key is what some text of this field gives; then the munge is that text. */
static unsigned int number_guess(struct pedit_munge *m, const struct flow_action *key, unsigned int mode,
				 enum shape shape)
{
	const struct pedit_field *f = &m->field;
	__u32 value = ntohl(key->pedit_key.value_be), mask = ntohl(key->pedit_key.mask_be);
	__u32 full = pedit_field_full(f);

	m->at = key->pedit_key.at;
	m->offmask = key->key.offmask;
	m->shift = key->key.shift;
	m->number = value >> f->shift & full;
	m->retain = ~mask >> f->shift & full;
	m->command = PEDIT_SET;
	if (key->flags & ACTION_F_ADD) {
		bool decrements = f->flags & PEDIT_DECREMENT && m->number == f->retain && m->retain == f->retain;

		m->command = decrements ? PEDIT_DEC_BY_ONE : PEDIT_ADD;
	} else if (mask == ~0U && value) {
		m->command = PEDIT_INVERT;
		m->retain = m->number;
	} else if (mask == ~0U && !f->header && f->bits == 32) {
		m->command = PEDIT_PRESERVE;
		return packs_to(m, mode, key, 1);
	}
	if (!m->retain || (shape == SHAPE_DEFAULT && m->retain != f->retain))
		return 0;
	return packs_to(m, mode, key, 1);
}

static unsigned int address_guess(struct pedit_munge *m, const struct flow_action *key, unsigned int left,
				  unsigned int mode)
{
	const struct pedit_field *f = &m->field;
	unsigned int size = pedit_field_size(f), i;
	unsigned int words = DIV_ROUND_UP((f->offset & 3) + size, 4);
	__u8 bytes[4 * PEDIT_MUNGE_KEYS];

	if (left < words)
		return 0;
	for (i = 0; i < words; i++)
		memcpy(bytes + 4 * i, &key[i].pedit_key.value_be, 4);
	memcpy(m->bytes, bytes + (f->offset & 3), size);
	m->command = key->flags & ACTION_F_ADD ? PEDIT_ADD : PEDIT_SET;
	if (packs_to(m, mode, key, words))
		return words;
	m->command = PEDIT_INVERT;
	return packs_to(m, mode, key, words) ? words : 0;
}

static unsigned int named_guess(struct pedit_munge *m, const struct flow_action *key, unsigned int left,
				unsigned int mode, enum shape shape)
{
	const struct pedit_field *f;
	unsigned int position = 0, taken;

	if (key->key.offmask)
		return 0;
	while ((f = pedit_field_next(mode, &position))) {
		memset(m, 0, sizeof(*m));
		m->field = *f;
		if (f->kind >= PEDIT_MAC)
			taken = shape == SHAPE_DEFAULT ? address_guess(m, key, left, mode) : 0;
		else
			taken = number_guess(m, key, mode, shape);
		if (taken)
			return taken;
	}
	return 0;
}

/* The narrowest width first. */
static unsigned int raw_guess(struct pedit_munge *m, const struct flow_action *key, unsigned int mode, enum shape shape)
{
	unsigned int bits, byte;

	for (bits = 8; bits <= 32; bits *= 2) {
		for (byte = 0; byte < 4; byte++) {
			memset(m, 0, sizeof(*m));
			if (pedit_field_raw(key->pedit_key.offset + byte, bits, &m->field))
				continue;
			if (number_guess(m, key, mode, shape))
				return 1;
		}
	}
	return 0;
}

/* How many keys the munge that was found stands for; 0 if there is none, and the key has to be given as tc lists it. */
static unsigned int munge_guess(struct pedit_munge *m, const struct flow_action *key, unsigned int left,
				unsigned int mode)
{
	enum shape shape;

	for (shape = 0; shape < SHAPES; shape++) {
		unsigned int taken = named_guess(m, key, left, mode, shape);

		if (!taken)
			taken = raw_guess(m, key, mode, shape);
		if (taken)
			return taken;
	}
	return 0;
}

static void at_print(FILE *out, const struct flow_action *key)
{
	if (key->key.offmask)
		fprintf(out, " at %d %x %u", key->pedit_key.at, key->key.offmask, key->key.shift);
}

static void value_print(FILE *out, const struct pedit_munge *m)
{
	__be32 ip = htonl(m->number);
	char buf[IP_TEXT_SIZE];

	switch (m->field.kind) {
	case PEDIT_DEC:
		fprintf(out, " %u", m->number);
		break;
	case PEDIT_HEX:
		fprintf(out, " 0x%x", m->number);
		break;
	case PEDIT_IPV4:
		fprintf(out, " %s", ipv4_format((const __u8 *)&ip, buf));
		break;
	case PEDIT_MAC:
		fprintf(out, " %s", mac_format(m->bytes, buf));
		break;
	case PEDIT_IPV6:
		fprintf(out, " %s", ipv6_format(m->bytes, buf));
		break;
	}
}

static void munge_print(FILE *out, const struct pedit_munge *m, const struct flow_action *key)
{
	const struct pedit_field *f = &m->field;

	if (f->header)
		fprintf(out, "%s %s", f->header, f->name);
	else
		fprintf(out, "offset %d u%u", f->offset + (32 - f->bits - f->shift) / 8, f->bits);
	at_print(out, key);
	fprintf(out, " %s", pedit_command_names[m->command]);
	if (m->command == PEDIT_SET || m->command == PEDIT_ADD)
		value_print(out, m);
	if (f->kind < PEDIT_MAC && m->command != PEDIT_PRESERVE && m->retain != f->retain)
		fprintf(out, " retain 0x%x", m->retain);
}

static void place_print(FILE *out, const struct flow_action *key)
{
	const char *base = pedit_base_names[key->key.base];

	fprintf(out, *base ? "%s%+d" : "%s%d", base, key->pedit_key.offset);
}

static void listed_print(FILE *out, const struct flow_action *key, const char *colon)
{
	place_print(out, key);
	fprintf(out, "%s %s %08x mask %08x", colon, key->flags & ACTION_F_ADD ? "add" : "val",
		ntohl(key->pedit_key.value_be), ntohl(key->pedit_key.mask_be));
}

const struct flow_action *pedit_next(const struct flow_action *a)
{
	bool end;

	a += 1 + a->pedit.keys;
	do {
		end = a->flags & ACTION_F_STEPS_END;
		a += a->type == ACTION_PEDIT_WRITE ? 2 : 1;
	} while (!end);
	return a;
}

const struct flow_action *pedit_print(FILE *out, const struct flow_action *a)
{
	const struct flow_action *key = a + 1;
	unsigned int mode = a->flags & (ACTION_F_EX | ACTION_F_COMPAT), left = a->pedit.keys;
	fprintf(out, "pedit(%s%s", mode & ACTION_F_COMPAT ? "compat " : "", mode & ACTION_F_EX ? "ex " : "");
	while (left) {
		struct pedit_munge m;
		unsigned int taken = munge_guess(&m, key, left, mode);

		fputs("munge ", out);
		if (taken) {
			munge_print(out, &m, key);
		} else {
			listed_print(out, key, "");
			at_print(out, key);
			taken = 1;
		}
		fputs(left > taken ? " " : "", out);
		key += taken;
		left -= taken;
	}
	fputc(')', out);
	return pedit_next(a);
}

void pedit_list(FILE *out, const struct flow_action *a)
{
	unsigned int i;

	for (i = 0; i < a->pedit.keys; i++) {
		fprintf(out, " key #%u  at ", i);
		listed_print(out, &a[1 + i], ":");
		fputc('\n', out);
	}
}

static json_t *key_json(const struct flow_action *key)
{
	const char *base = pedit_base_names[key->key.base];
	char value[9], mask[9];
	json_t *json;

	snprintf(value, sizeof(value), "%08x", ntohl(key->pedit_key.value_be));
	snprintf(mask, sizeof(mask), "%08x", ntohl(key->pedit_key.mask_be));
	json = json_pack("{s:s, s:i, s:s, s:s, s:s}", "htype", *base ? base : "network", "offset",
			 (int)key->pedit_key.offset, "cmd", key->flags & ACTION_F_ADD ? "add" : "set", "val", value,
			 "mask", mask);
	if (key->key.offmask)
		json_object_set_new(json, "at",
				    json_pack("{s:i, s:i, s:i}", "offset", (int)key->pedit_key.at, "mask",
					      (int)key->key.offmask, "shift", (int)key->key.shift));
	return json;
}

json_t *pedit_json(const struct flow_action *a)
{
	json_t *keys = json_array();
	unsigned int i;

	for (i = 0; i < a->pedit.keys; i++)
		json_array_append_new(keys, key_json(&a[1 + i]));
	return json_pack("{s:b, s:b, s:o}", "ex", !!(a->flags & ACTION_F_EX), "compat", !!(a->flags & ACTION_F_COMPAT),
			 "keys", keys);
}
