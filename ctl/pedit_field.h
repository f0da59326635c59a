/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields that pedit() knows by name, and how one munge becomes keys.
 *
 * A key is what act_pedit executes on one word of 32 bits: result = (word & mask) ^ value.  A field that is no longer
 * than a word is one key: its value, limited to the bits that may change (tc: retain), is shifted to its place, and the
 * mask keeps all other bits.  A MAC address is two keys, an IPv6 address four.  The parser packs; the printer guesses a
 * munge, packs it, and compares: so what is printed gives the same keys again, whatever they are.
 */
#pragma once

#include <stdbool.h>
#include <linux/types.h>

#include "flow_action.h"
#include "net_text.h"

struct error;

enum pedit_kind {
	PEDIT_DEC,
	PEDIT_HEX,
	PEDIT_IPV4,
	/* longer than a word from here on */
	PEDIT_MAC,
	PEDIT_IPV6,
};

enum pedit_field_flag {
	PEDIT_NEEDS_EX = 1 << 0,
	PEDIT_NEVER_EX = 1 << 1,
	PEDIT_DECREMENT = 1 << 2,
	PEDIT_SHORT = 1 << 3,  /* any abbreviation means it: tc compares these two by prefix, all others whole */
	PEDIT_PLAIN = 1 << 4,  /* not with the word compat */
	PEDIT_COMPAT = 1 << 5, /* only with it */
};

struct pedit_field {
	const char *header; /* NULL: bytes at an offset, without a name */
	const char *name;
	enum pedit_base base; /* with ex; without it, all count from the network header */
	enum pedit_kind kind;
	__s16 offset; /* bytes: of the word that holds it; of a field longer than a word, its own */
	__u8 shift;   /* of its lowest bit in the word */
	__u8 bits;
	__u32 retain; /* the bits of it that change if the text does not say */
	unsigned int flags;
};

enum pedit_command {
	PEDIT_SET,
	PEDIT_ADD,
	PEDIT_DEC_BY_ONE,
	PEDIT_INVERT,
	PEDIT_CLEAR,
	PEDIT_PRESERVE,
	PEDIT_COMMANDS
};

enum {
	PEDIT_MUNGE_KEYS = 4, /* of one munge, at most */
};

struct pedit_munge {
	struct pedit_field field;
	enum pedit_command command;
	__u32 number;	/* host order; IPv4 addresses too */
	__u8 bytes[16]; /* of a field that is longer than a word */
	__u32 retain;
	__u8 offmask, shift; /* at; offmask 0 = none */
	__s16 at;
};

extern const char *const pedit_base_names[PEDIT_BASES]; /* as tc lists them; "" for the network header */
extern const char *const pedit_command_names[PEDIT_COMMANDS];

/* mode is ACTION_F_EX and ACTION_F_COMPAT.  NULL after the last one; begin with 0. */
const struct pedit_field *pedit_field_next(unsigned int mode, unsigned int *position);

/* A whole name, or an abbreviation that means one field. */
int pedit_field_find(struct text header, struct text name, unsigned int mode, const struct pedit_field **field,
		     struct error *e);

/* bits is 8, 16 or 32.  -EINVAL if that crosses the border of a word. */
int pedit_field_raw(int offset, unsigned int bits, struct pedit_field *field);

/* All bits of a number. */
__u32 pedit_field_full(const struct pedit_field *f);

unsigned int pedit_field_size(const struct pedit_field *f); /* bytes, of one that is longer than a word */

/* offset is a multiple of 4. */
struct flow_action pedit_key(enum pedit_base base, int offset, bool add, __u32 value, __u32 mask);

/* How many keys it is.  The munge is one that the parser would take. */
unsigned int pedit_pack(const struct pedit_munge *m, unsigned int mode, struct flow_action key[PEDIT_MUNGE_KEYS]);
