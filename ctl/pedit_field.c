// SPDX-License-Identifier: GPL-2.0-only
#include "pedit_field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "error.h"
#include "util.h"

/* Where a number stands: byte n from the base, so many bits of the word, counted from the top of that byte. */
#define BITS(n, width) .offset = (n) & ~3, .bits = (width), .shift = 32 - 8 * ((n)&3) - (width)
#define BYTE(n)	       BITS(n, 8), .retain = 0xff
#define HALF(n)	       BITS(n, 16), .retain = 0xffff
#define WORD(n)	       BITS(n, 32), .retain = ~0U
#define LONG(n)	       .offset = (n), .retain = ~0U

/*
 * Four rows stand here twice, since iproute2 writes other bits than the name says, and its tests pin that: precedence
 * is the whole TOS byte there, icmp_code the type, and the flow label has 19 bits.
 */
static const struct pedit_field fields[] = {
	{ "eth", "dst", PEDIT_ETH, PEDIT_MAC, LONG(0), .flags = PEDIT_NEEDS_EX },
	{ "eth", "src", PEDIT_ETH, PEDIT_MAC, LONG(6), .flags = PEDIT_NEEDS_EX },
	{ "eth", "type", PEDIT_ETH, PEDIT_HEX, HALF(12), .flags = PEDIT_NEEDS_EX },
	{ "ip", "src", PEDIT_IP4, PEDIT_IPV4, WORD(12), .flags = 0 },
	{ "ip", "dst", PEDIT_IP4, PEDIT_IPV4, WORD(16), .flags = 0 },
	{ "ip", "tos", PEDIT_IP4, PEDIT_HEX, BYTE(1), .flags = 0 },
	{ "ip", "dsfield", PEDIT_IP4, PEDIT_HEX, BYTE(1), .flags = PEDIT_SHORT },
	{ "ip", "precedence", PEDIT_IP4, PEDIT_DEC, BITS(1, 3), .retain = 7, .flags = PEDIT_SHORT | PEDIT_PLAIN },
	{ "ip", "precedence", PEDIT_IP4, PEDIT_HEX, BYTE(1), .flags = PEDIT_SHORT | PEDIT_COMPAT },
	{ "ip", "ihl", PEDIT_IP4, PEDIT_DEC, BITS(0, 8), .retain = 0xf, .flags = 0 },
	{ "ip", "ttl", PEDIT_IP4, PEDIT_DEC, BYTE(8), .flags = PEDIT_DECREMENT },
	{ "ip", "protocol", PEDIT_IP4, PEDIT_DEC, BYTE(9), .flags = 0 },
	{ "ip", "nofrag", PEDIT_IP4, PEDIT_HEX, BITS(6, 8), .retain = 0x3f, .flags = 0 },
	{ "ip", "firstfrag", PEDIT_IP4, PEDIT_HEX, BITS(6, 8), .retain = 0x1f, .flags = 0 },
	{ "ip", "ce", PEDIT_IP4, PEDIT_HEX, BITS(6, 8), .retain = 0x80, .flags = 0 },
	{ "ip", "df", PEDIT_IP4, PEDIT_HEX, BITS(6, 8), .retain = 0x40, .flags = 0 },
	{ "ip", "mf", PEDIT_IP4, PEDIT_HEX, BITS(6, 8), .retain = 0x20, .flags = 0 },
	{ "ip", "dport", PEDIT_IP4, PEDIT_DEC, HALF(22), .flags = PEDIT_NEVER_EX },
	{ "ip", "sport", PEDIT_IP4, PEDIT_DEC, HALF(20), .flags = PEDIT_NEVER_EX },
	{ "ip", "icmp_type", PEDIT_IP4, PEDIT_DEC, BYTE(20), .flags = PEDIT_NEVER_EX },
	{ "ip", "icmp_code", PEDIT_IP4, PEDIT_DEC, BYTE(21), .flags = PEDIT_NEVER_EX | PEDIT_PLAIN },
	{ "ip", "icmp_code", PEDIT_IP4, PEDIT_DEC, BYTE(20), .flags = PEDIT_NEVER_EX | PEDIT_COMPAT },
	{ "ip6", "src", PEDIT_IP6, PEDIT_IPV6, LONG(8), .flags = PEDIT_NEEDS_EX },
	{ "ip6", "dst", PEDIT_IP6, PEDIT_IPV6, LONG(24), .flags = PEDIT_NEEDS_EX },
	{ "ip6", "flow_lbl", PEDIT_IP6, PEDIT_HEX, .bits = 20, .retain = 0xfffff,
	  .flags = PEDIT_NEEDS_EX | PEDIT_PLAIN },
	{ "ip6", "flow_lbl", PEDIT_IP6, PEDIT_HEX, .bits = 32, .retain = 0x7ffff,
	  .flags = PEDIT_NEEDS_EX | PEDIT_COMPAT },
	{ "ip6", "payload_len", PEDIT_IP6, PEDIT_DEC, HALF(4), .flags = PEDIT_NEEDS_EX },
	{ "ip6", "nexthdr", PEDIT_IP6, PEDIT_DEC, BYTE(6), .flags = PEDIT_NEEDS_EX },
	{ "ip6", "hoplimit", PEDIT_IP6, PEDIT_DEC, BYTE(7), .flags = PEDIT_NEEDS_EX | PEDIT_DECREMENT },
	{ "ip6", "traffic_class", PEDIT_IP6, PEDIT_HEX, .shift = 20, .bits = 8, .retain = 0xff,
	  .flags = PEDIT_NEEDS_EX },
	{ "tcp", "sport", PEDIT_TCP, PEDIT_DEC, HALF(0), .flags = PEDIT_NEEDS_EX },
	{ "tcp", "dport", PEDIT_TCP, PEDIT_DEC, HALF(2), .flags = PEDIT_NEEDS_EX },
	{ "tcp", "flags", PEDIT_TCP, PEDIT_HEX, BYTE(13), .flags = PEDIT_NEEDS_EX },
	{ "udp", "sport", PEDIT_UDP, PEDIT_DEC, HALF(0), .flags = PEDIT_NEEDS_EX },
	{ "udp", "dport", PEDIT_UDP, PEDIT_DEC, HALF(2), .flags = PEDIT_NEEDS_EX },
};

const char *const pedit_base_names[PEDIT_BASES] = {
	[PEDIT_NETWORK] = "", [PEDIT_ETH] = "eth", [PEDIT_IP4] = "ipv4",
	[PEDIT_IP6] = "ipv6", [PEDIT_TCP] = "tcp", [PEDIT_UDP] = "udp",
};

const char *const pedit_command_names[PEDIT_COMMANDS] = {
	[PEDIT_SET] = "set",	   [PEDIT_ADD] = "add",	    [PEDIT_DEC_BY_ONE] = "decrement",
	[PEDIT_INVERT] = "invert", [PEDIT_CLEAR] = "clear", [PEDIT_PRESERVE] = "preserve",
};

static bool of_spelling(const struct pedit_field *f, unsigned int mode)
{
	return !(f->flags & (mode & ACTION_F_COMPAT ? PEDIT_PLAIN : PEDIT_COMPAT));
}

static bool of_mode(const struct pedit_field *f, unsigned int mode)
{
	return of_spelling(f, mode) && !(f->flags & (mode & ACTION_F_EX ? PEDIT_NEVER_EX : PEDIT_NEEDS_EX));
}

const struct pedit_field *pedit_field_next(unsigned int mode, unsigned int *position)
{
	while (*position < ARRAY_SIZE(fields)) {
		const struct pedit_field *f = &fields[(*position)++];

		if (of_mode(f, mode))
			return f;
	}
	return NULL;
}

/* How well a name means a field: 0 = not; 1 = as one of those that begin so. */
static int name_fits(const struct pedit_field *f, struct text name)
{
	if (text_is(name, f->name))
		return 3;
	if (!name.len || name.len > strlen(f->name) || memcmp(name.at, f->name, name.len))
		return 0;
	return f->flags & PEDIT_SHORT ? 2 : 1;
}

static int field_usable(const struct pedit_field *f, unsigned int mode, struct error *e)
{
	if (f->flags & PEDIT_NEEDS_EX && !(mode & ACTION_F_EX))
		return error_set(e, EINVAL, "%s %s is possible only with ex before the first munge", f->header,
				 f->name);
	if (f->flags & PEDIT_NEVER_EX && mode & ACTION_F_EX)
		return error_set(e, EINVAL, "%s %s is possible only without ex; tcp and udp have ports of their own",
				 f->header, f->name);
	return 0;
}

int pedit_field_find(struct text header, struct text name, unsigned int mode, const struct pedit_field **field,
		     struct error *e)
{
	const struct pedit_field *best = NULL;
	int best_fit = 0, same = 0;
	bool known = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct pedit_field *f = &fields[i];
		int fit;

		if (!text_is(header, f->header) || !of_spelling(f, mode))
			continue;
		known = true;
		fit = name_fits(f, name);
		same = fit > best_fit ? 1 : same + (fit == best_fit);
		if (fit > best_fit) {
			best = f;
			best_fit = fit;
		}
	}
	if (text_is(header, "icmp"))
		return error_set(e, EOPNOTSUPP, "icmp has no fields, in tc neither; offset reaches them");
	if (!known)
		return error_set(e, EINVAL, "'%s' is not a header: eth, ip, ip6, tcp, udp, or offset",
				 text_quote(header).text);
	if (!best)
		return error_set(e, EINVAL, "'%s' is not a field of %s", text_quote(name).text,
				 text_quote(header).text);
	if (best_fit == 1 && same > 1)
		return error_set(e, EINVAL, "'%s' could be more than one field of %s", text_quote(name).text,
				 text_quote(header).text);
	*field = best;
	return field_usable(best, mode, e);
}

int pedit_field_raw(int offset, unsigned int bits, struct pedit_field *field)
{
	int shift = 32 - 8 * (offset & 3) - (int)bits;

	if (shift < 0)
		return -EINVAL;
	*field = (struct pedit_field){
		.base = PEDIT_NETWORK,
		.kind = PEDIT_HEX,
		.offset = offset & ~3,
		.shift = shift,
		.bits = bits,
		.retain = ~0U >> (32 - bits),
	};
	return 0;
}

__u32 pedit_field_full(const struct pedit_field *f)
{
	return ~0U >> (32 - f->bits);
}

unsigned int pedit_field_size(const struct pedit_field *f)
{
	return f->kind == PEDIT_MAC ? 6 : 16;
}

struct flow_action pedit_key(enum pedit_base base, int offset, bool add, __u32 value, __u32 mask)
{
	struct flow_action a;

	/* Records are compared as bytes. */
	memset(&a, 0, sizeof(a));
	a.type = ACTION_PEDIT_KEY;
	a.flags = add ? ACTION_F_ADD : 0;
	a.key.base = base;
	a.pedit_key.value_be = htonl(value);
	a.pedit_key.mask_be = htonl(mask);
	a.pedit_key.offset = offset;
	return a;
}

/* A piece that begins in the middle of a word is its lower half; two bytes that are left over are an upper half. */
static unsigned int long_pack(const struct pedit_munge *m, unsigned int mode, struct flow_action *key)
{
	unsigned int size = pedit_field_size(&m->field), at = 0, count = 0;
	bool invert = m->command == PEDIT_INVERT;
	__u8 bytes[sizeof(m->bytes)] = { 0 };

	if (invert && mode & ACTION_F_COMPAT) {
		/* iproute2 makes the ones for a width of one byte, and packs them as if they were an address to set. */
		bytes[0] = 0xff;
		invert = false;
	} else if (invert) {
		memset(bytes, 0xff, sizeof(bytes));
	} else if (m->command != PEDIT_CLEAR) {
		memcpy(bytes, m->bytes, sizeof(bytes));
	}
	while (at < size) {
		int offset = m->field.offset + at;
		unsigned int piece = offset & 3 || size - at < 4 ? 2 : 4;
		unsigned int before = offset & 3;
		__u32 value = 0, kept = 0;
		__u8 *v = (__u8 *)&value, *k = (__u8 *)&kept;

		memcpy(v + before, bytes + at, piece);
		memset(k, 0xff, sizeof(kept));
		memset(k + before, invert ? 0xff : 0, piece);
		key[count++] = pedit_key(m->field.base, offset & ~3, m->command == PEDIT_ADD, ntohl(value),
					 ntohl(kept));
		at += piece;
	}
	return count;
}

unsigned int pedit_pack(const struct pedit_munge *m, unsigned int mode, struct flow_action key[PEDIT_MUNGE_KEYS])
{
	const struct pedit_field *f = &m->field;
	bool add = m->command == PEDIT_ADD || m->command == PEDIT_DEC_BY_ONE;
	__u32 retain = m->retain, value = 0, mask;

	if (f->kind >= PEDIT_MAC)
		return long_pack(m, mode, key);
	retain &= pedit_field_full(f);
	if (m->command == PEDIT_SET || m->command == PEDIT_ADD)
		value = m->number & retain;
	else if (m->command == PEDIT_DEC_BY_ONE)
		value = f->retain & retain;
	else if (m->command == PEDIT_INVERT)
		value = retain;
	mask = m->command == PEDIT_INVERT ? ~0U : ~(retain << f->shift);
	key[0] = pedit_key(mode & ACTION_F_EX ? f->base : PEDIT_NETWORK, f->offset, add, value << f->shift, mask);
	key[0].key.offmask = m->offmask;
	key[0].key.shift = m->shift;
	key[0].pedit_key.at = m->at;
	return 1;
}
