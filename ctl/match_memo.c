// SPDX-License-Identifier: GPL-2.0-only
#include "match_memo.h"

#include <string.h>

#include "flow_hash.h"

/* Words that stand over each other at the end, so that no byte beyond is read; short texts with zeroes behind. */
static __u32 text_hash(struct text t)
{
	__u64 hash = t.len, word = 0;
	size_t i;

	if (t.len < sizeof(word)) {
		memcpy(&word, t.at, t.len);
	} else {
		for (i = 0; i + sizeof(word) < t.len; i += sizeof(word)) {
			memcpy(&word, t.at + i, sizeof(word));
			hash = __builtin_bswap64((hash ^ word) * FLOW_HASH_K1);
		}
		memcpy(&word, t.at + t.len - sizeof(word), sizeof(word));
	}
	return (hash ^ word) * FLOW_HASH_K2 >> 32;
}

struct match_memo_key match_memo_key(struct match_memo *memo, struct text t)
{
	size_t most = t.len < MATCH_MEMO_TEXT ? t.len : MATCH_MEMO_TEXT;
	const char *end = memo ? memchr(t.at, ')', most) : NULL;
	struct match_memo_key k = { .entry = NULL };

	if (!end)
		return k;
	k.text = (struct text){ t.at, end + 1 - t.at };
	k.hash = text_hash(k.text);
	k.entry = &memo->entry[k.hash % MATCH_MEMO_SIZE];
	return k;
}

bool match_memo_has(const struct match_memo_key *k)
{
	return k->entry && k->entry->len == k->text.len && !memcmp(k->entry->text, k->text.at, k->text.len);
}

static void write_bits(__u64 *words, unsigned int i, __u64 bits, __u64 value)
{
	words[i] = (words[i] & ~bits) | value;
}

void match_memo_apply(const struct match_memo_entry *entry, struct match_level *l)
{
	unsigned int i;

	for (i = 0; i < entry->words; i++) {
		const struct match_memo_word *w = &entry->word[i];

		write_bits((__u64 *)&l->key, entry->first + i, w->key_bits, w->key);
		write_bits((__u64 *)&l->mask, entry->first + i, w->mask_bits, w->mask);
	}
}

/* What comes once takes nobody's place. */
bool match_memo_wants(struct match_memo_key *k)
{
	bool again = k->entry && k->entry->seen == k->hash;

	if (k->entry)
		k->entry->seen = k->hash;
	return again;
}

void match_memo_put(struct match_memo_key *k, enum attribute attr, const struct match_level *zeroes,
		    const struct match_level *ones)
{
	const __u64 *key0 = (const __u64 *)&zeroes->key, *key1 = (const __u64 *)&ones->key;
	const __u64 *mask0 = (const __u64 *)&zeroes->mask, *mask1 = (const __u64 *)&ones->mask;
	struct match_memo_entry *e = k->entry;
	unsigned int first = 0, end = KEY_WORDS, i;

	/* Bits that are the same in both have been written. */
	while (first < end && !~(key0[first] ^ key1[first]) && !~(mask0[first] ^ mask1[first]))
		first++;
	while (end > first && !~(key0[end - 1] ^ key1[end - 1]) && !~(mask0[end - 1] ^ mask1[end - 1]))
		end--;
	if (end - first > MATCH_MEMO_WORDS)
		return;
	*e = (struct match_memo_entry){
		.seen = k->hash, .len = k->text.len, .attr = attr, .first = first, .words = end - first
	};
	memcpy(e->text, k->text.at, k->text.len);
	for (i = first; i < end; i++)
		e->word[i - first] = (struct match_memo_word){ key0[i], ~(key0[i] ^ key1[i]), mask0[i],
							       ~(mask0[i] ^ mask1[i]) };
}
