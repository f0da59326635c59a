/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a masked key.  The program finds flows by it and the controller files them under it, so this one
 * function is shared code; the other headers here hold types only.
 *
 * One step is  h = bswap((h ^ word) * K1) * K2.  A multiplication carries differences only towards the high bits, the
 * swap brings them down, and the second multiplication spreads them before the next word comes in.  With a single
 * multiplication a step would map the top bit of one word onto bit 7 of the next one for every seed, and two flows that
 * differ in just these two bits would collide whatever seed the mask is given.  Two chains, so that the multiplications
 * of one do not wait for the other's; their last constants differ, so that equal differences do not cancel in the sum.
 *
 * The seed is secret and drawn for each mask.  A collision costs nothing but a new seed: only a full compare is a hit.
 */
#pragma once

#include "flow_key.h"

#define FLOW_HASH_K1 0x9e3779b97f4a7c15ULL
#define FLOW_HASH_K2 0xd6e8feb86659fd93ULL
#define FLOW_HASH_K3 0xa0761d6478bd642fULL

/* Word i of the masked key into its chain; i: a constant. */
static inline __attribute__((always_inline)) void flow_hash_step(__u64 chain[2], int i, __u64 word)
{
	chain[i % 2] = __builtin_bswap64((chain[i % 2] ^ word) * FLOW_HASH_K1) * (i % 2 ? FLOW_HASH_K3 : FLOW_HASH_K2);
}

/*
 * key, mask: KEY_WORDS words each; words: KEY_WORDS_IPV4, KEY_WORDS_IPV6 or KEY_WORDS, those beyond are not visited.
 * A loop for each part: one loop for all of them would ask after each word whether it is the last.
 */
static inline __attribute__((always_inline)) __u64 flow_hash(const __u64 *key, const __u64 *mask, __u32 words,
							     __u64 seed)
{
	__u64 chain[2] = { seed, ~seed };

#pragma GCC unroll 15
	for (int i = 0; i < KEY_WORDS_IPV4; i++)
		flow_hash_step(chain, i, key[i] & mask[i]);
	if (words <= KEY_WORDS_IPV4)
		return chain[0] + chain[1];
#pragma GCC unroll 15
	for (int i = KEY_WORDS_IPV4; i < KEY_WORDS_IPV6; i++)
		flow_hash_step(chain, i, key[i] & mask[i]);
	if (words <= KEY_WORDS_IPV6)
		return chain[0] + chain[1];
#pragma GCC unroll 15
	for (int i = KEY_WORDS_IPV6; i < KEY_WORDS; i++)
		flow_hash_step(chain, i, key[i] & mask[i]);
	return chain[0] + chain[1];
}

/* The bits of a flow's hash in its word of the filter, and the word. */
static inline __attribute__((always_inline)) __u64 filter_bits(__u64 hash)
{
	return 1ULL << (hash & 63) | 1ULL << (hash >> 6 & 63);
}

static inline __attribute__((always_inline)) __u32 filter_word(__u64 hash, __u64 filter)
{
	return (filter >> 32) + (hash >> 32 & (__u32)filter);
}
