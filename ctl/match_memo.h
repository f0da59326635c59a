/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What attributes of a match's text mean, for whoever reads many texts: a file of flows says the same in_port(), eth_type()
 * and often ipv4() again and again.  What has come twice is remembered, and what it writes into a level's key and mask is
 * written again without being parsed.  Pure.
 *
 * Remembered are attributes without parentheses inside, of the outermost level, that this datapath can match; none that is
 * refused.  All texts that are read with one memo must be read with the same names of ports.
 */
#pragma once

#include <stdbool.h>

#include "field.h"
#include "match.h"
#include "net_text.h"

enum {
	MATCH_MEMO_SIZE = 1024,
	MATCH_MEMO_TEXT = 80,
	MATCH_MEMO_WORDS = 6, /* of a key, in a row; IPv6 has so many */
};

/* An attribute's part of a key and a mask: the bits that it writes, and what. */
struct match_memo_word {
	__u64 key;
	__u64 key_bits;
	__u64 mask;
	__u64 mask_bits;
};

struct match_memo_entry {
	__u32 seen; /* a hash of what came last and was not remembered yet */
	__u8 len;   /* of the text; 0 = the entry is empty */
	__u8 attr;  /* enum attribute */
	__u8 first; /* word */
	__u8 words;
	char text[MATCH_MEMO_TEXT]; /* NAME(BODY) */
	struct match_memo_word word[MATCH_MEMO_WORDS];
};

/* All zeroes in the beginning. */
struct match_memo {
	struct match_memo_entry entry[MATCH_MEMO_SIZE];
};

/* Where a text begins with an attribute that may be remembered: the attribute, its hash and its place. */
struct match_memo_key {
	struct text text;
	__u32 hash;
	struct match_memo_entry *entry; /* NULL = it cannot be */
};

struct match_memo_key match_memo_key(struct match_memo *memo, struct text t);

/* Is it remembered? */
bool match_memo_has(const struct match_memo_key *k);

/* With an entry that is.  What the attribute says, into a level that has not been given it yet. */
void match_memo_apply(const struct match_memo_entry *entry, struct match_level *l);

/* Is it worth remembering by now?  Then match_memo_put() does, with what became of a level of zeroes and one of ones. */
bool match_memo_wants(struct match_memo_key *k);
void match_memo_put(struct match_memo_key *k, enum attribute attr, const struct match_level *zeroes,
		    const struct match_level *ones);
