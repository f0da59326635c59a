// SPDX-License-Identifier: GPL-2.0-only
#include "overlap_filter.h"

#include <stdlib.h>
#include <string.h>

#include "flow_hash.h"
#include "mask_table.h"
#include "util.h"

enum {
	SIZE_MIN = 1024,
	WORDS_PER_FLOW = 2,
	LINE_WORDS = 8,
};

void overlap_filter_make(struct overlap_filter *f, const struct flow_key *always, __u32 flows)
{
	overlap_filter_end(f);
	f->flows = 0;
	f->size = SIZE_MIN;
	while (f->size / WORDS_PER_FLOW < flows)
		f->size *= 2;
	f->always = *always;
	f->words = mask_words(always);
	f->word = aligned_alloc(LINE_WORDS * sizeof(*f->word), f->size * sizeof(*f->word));
	prefer_huge_pages(f->word, f->size * sizeof(*f->word));
	if (f->word)
		memset(f->word, 0, f->size * sizeof(*f->word));
	else
		f->size = 0;
}

void overlap_filter_end(struct overlap_filter *f)
{
	free(f->word);
	f->word = NULL;
	f->size = 0;
}

/*
 * Each value has two words of one cache line, each turned by an amount of its own.  Both must have a mask's bit, and it is
 * rare that other values have set both.
 */
struct place {
	__u64 *word[2];
	__u32 turn[2];
};

static __u64 turned(__u64 word, __u32 turn)
{
	return word << turn | word >> (-turn & 63);
}

static struct place place_of(const struct overlap_filter *f, const struct flow_key *key)
{
	__u64 hash = flow_hash((const __u64 *)key, (const __u64 *)&f->always, f->words, f->seed);
	__u32 at = hash >> 32 & (f->size - 1), step = 1 + (hash >> 12 & 0xff) % (LINE_WORDS - 1);

	return (struct place){ { &f->word[at], &f->word[(at & -LINE_WORDS) | ((at + step) & (LINE_WORDS - 1))] },
			       { hash >> 20 & 63, hash >> 26 & 63 } };
}

void overlap_filter_add(struct overlap_filter *f, const struct flow_key *key, __u32 mask_id)
{
	struct place p;

	if (!f->size)
		return;
	p = place_of(f, key);
	*p.word[0] |= turned(overlap_filter_bit(mask_id), p.turn[0]);
	*p.word[1] |= turned(overlap_filter_bit(mask_id), p.turn[1]);
	f->flows++;
}

bool overlap_filter_fits(const struct overlap_filter *f, const struct flow_key *mask)
{
	struct flow_key common;

	key_apply_mask(&common, mask, &f->always);
	return !memcmp(&common, &f->always, sizeof(common));
}

/* Both words are in one line. */
void overlap_filter_prefetch(const struct overlap_filter *f, const struct flow_key *key)
{
	if (f->size)
		__builtin_prefetch(place_of(f, key).word[0], 1);
}

__u64 overlap_filter_look(const struct overlap_filter *f, const struct flow_key *key, const struct flow_key *mask)
{
	struct place p;

	if (!f->size || !overlap_filter_fits(f, mask))
		return ~0ULL;
	p = place_of(f, key);
	return turned(*p.word[0], -p.turn[0] & 63) & turned(*p.word[1], -p.turn[1] & 63);
}
