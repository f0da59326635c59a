/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Key -> flow.
 *
 * What?  The packet's class names an array of masks.  Each mask in turn is put on the key; the hash of the result is
 * looked up in one table for all masks, which holds slot numbers; the entry in that slot names its mask and its masked
 * key, and only if both are the same is it a hit.  Most masks do not get as far as the table: a filter, two bits in one
 * word that all flows have set, tells that no flow has this hash.  And most packets try no mask: a cache remembers which
 * slot answered the last packet that looked like this one; its entry's own mask and key decide, so the cache may be
 * wrong or out of date and is never an answer by itself.
 *
 * Why?  A BPF hash map over whole keys behind a map of maps costs four times as much for a mask that misses, and its
 * elements are reused at once while a program still holds their pointer.  Entries in plain arrays stay what they are
 * until a grace period has passed, so what was compared is what will be executed.
 */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>

#include "flow_hash.h"
#include "maps.h"
#include "stats.h"

struct lookup {
	struct cpu_state *state; /* the key is in it */
	const struct datapath *dp;
	struct mask_array *masks;
	struct flow *flow; /* the hit */
	__u64 filter;	   /* read once: it may be moved meanwhile */
	__u32 cpu;
	__u32 slot;    /* of the hit */
	__u32 mask_id; /* of the hit; the entry's own may be gone by now */
	__u32 tried;
};

static __always_inline enum packet_class packet_class(const struct flow_key *key)
{
	switch (bpf_ntohs(key->eth_type_be)) {
	case ETH_P_IP:
		return key->ip_proto == IPPROTO_TCP   ? CLASS_IPV4_TCP
		       : key->ip_proto == IPPROTO_UDP ? CLASS_IPV4_UDP
						      : CLASS_IPV4;
	case ETH_P_IPV6:
		return key->ip_proto == IPPROTO_TCP   ? CLASS_IPV6_TCP
		       : key->ip_proto == IPPROTO_UDP ? CLASS_IPV6_UDP
						      : CLASS_IPV6;
	case ETH_P_ARP:
		return CLASS_ARP;
	case ETH_P_MPLS_UC:
	case ETH_P_MPLS_MC:
		return CLASS_MPLS;
	default:
		return CLASS_OTHER;
	}
}

static __always_inline struct flow *flow_at(__u32 slot)
{
	__u32 page = slot >> PAGE_SHIFT, index = slot & (PAGE_SLOTS - 1);
	void *flows_in_page = bpf_map_lookup_elem(&flow_pages, &page);

	return flows_in_page ? bpf_map_lookup_elem(flows_in_page, &index) : NULL;
}

/* A loop for each part: one loop for all of them would ask after each word whether it is the last. */
static __always_inline bool same_masked(const __u64 *key, const __u64 *mask, const __u64 *masked, __u32 words)
{
	__u64 diff = 0;

#pragma unroll
	for (int i = 0; i < KEY_WORDS_IPV4; i++)
		diff |= (key[i] & mask[i]) ^ masked[i];
	if (words <= KEY_WORDS_IPV4)
		return !diff;
#pragma unroll
	for (int i = KEY_WORDS_IPV4; i < KEY_WORDS_IPV6; i++)
		diff |= (key[i] & mask[i]) ^ masked[i];
	if (words <= KEY_WORDS_IPV6)
		return !diff;
#pragma unroll
	for (int i = KEY_WORDS_IPV6; i < KEY_WORDS; i++)
		diff |= (key[i] & mask[i]) ^ masked[i];
	return !diff;
}

/* Can a flow have this hash?  Always true for one that does: its bits are set before it is in flows. */
static __always_inline bool passes_filter(__u64 filter_place, __u64 hash)
{
	__u64 bits = filter_bits(hash), *word;
	__u32 index = filter_word(hash, filter_place);

	if (!filter_place)
		return true;
	word = bpf_map_lookup_elem(&filter, &index);
	return !word || (*word & bits) == bits;
}

/* Returns true on a hit. */
static __always_inline bool try_mask(struct lookup *l, const struct mask *mask)
{
	const __u64 *key = (const __u64 *)&l->state->key, *m = (const __u64 *)&mask->key;
	struct flow *flow;
	__u32 *slot;
	__u64 hash;

	hash = flow_hash(key, m, mask->words, mask->seed);
	l->tried++;
	if (!passes_filter(l->filter, hash))
		return false;
	slot = bpf_map_lookup_elem(&flows, &hash);
	if (!slot)
		return false;
	/* Read once: the element may be given to another flow while we look; its entry is then compared, not this one. */
	l->slot = *(volatile __u32 *)slot;
	flow = flow_at(l->slot);
	if (!flow || flow->mask_id != mask->id || !same_masked(key, m, (const __u64 *)&flow->key, mask->words))
		return false;
	l->flow = flow;
	l->mask_id = mask->id;
	return true;
}

/* tried_first is not on the stack, where the verifier would follow what it depends on through the whole loop. */
static long try_mask_at(__u32 i, struct lookup *l)
{
	i += l->state->tried_first & 1;
	if (i >= MASKS_MAX)
		return 1;
	return try_mask(l, &l->masks->mask[i]);
}

/*
 * Tries the masks of the packet's class in order.  The first one, which the order makes the busiest, is named in the
 * datapath's record: most packets need not ask for the array, which costs as much as two masks.  While an order is
 * being replaced the two may disagree; then one mask is tried twice.
 */
static __always_inline bool walk_masks(struct lookup *l)
{
	__u32 class, zero = 0, count, first_id;
	struct mask_info *first;
	void *array;

	/* Read back from memory it is any number to the verifier, which would walk what follows once for each class. */
	l->state->class = packet_class(&l->state->key);
	class = *(volatile __u32 *)&l->state->class;
	if (class >= PACKET_CLASSES_END)
		return false;
	first_id = l->dp->first_mask[class];
	first = bpf_map_lookup_elem(&mask_info, &first_id); /* NULL for MASK_NONE */
	l->filter = *(volatile __u64 *)&l->dp->filter;
	if (!first)
		return false;
	if (try_mask(l, &first->mask))
		return true;
	array = bpf_map_lookup_elem(&masks, &class);
	if (!array)
		return false;
	l->masks = bpf_map_lookup_elem(array, &zero);
	if (!l->masks)
		return false;
	count = l->masks->count;
	if (!count)
		return false;
	l->state->tried_first = l->masks->mask[0].id == first_id;
	if (count > l->state->tried_first)
		bpf_loop(count - l->state->tried_first, try_mask_at, l, 0);
	return l->flow;
}

/*
 * What a packet looks like, for the cache: all that the first words say but the TCP flags, which change within a
 * connection and which few flows look at.
 */
static __always_inline __u64 cache_hash(const struct flow_key *key)
{
	const __u64 *word = (const __u64 *)key;
	__u64 a = cache_seed, b = ~cache_seed;

	a = __builtin_bswap64((a ^ word[0]) * FLOW_HASH_K1);
	b = __builtin_bswap64((b ^ (word[1] & 0xffffffffffffULL)) * FLOW_HASH_K1);
	a = __builtin_bswap64((a ^ word[2]) * FLOW_HASH_K2);
	b = __builtin_bswap64((b ^ word[3]) * FLOW_HASH_K3);
	a = __builtin_bswap64((a ^ word[4]) * FLOW_HASH_K3);
	if (key->eth_type_be == bpf_htons(ETH_P_IPV6)) {
		b = __builtin_bswap64((b ^ word[5]) * FLOW_HASH_K2);
		a = __builtin_bswap64((a ^ word[6]) * FLOW_HASH_K1);
		b = __builtin_bswap64((b ^ word[7]) * FLOW_HASH_K3);
	}
	return (a + b) * FLOW_HASH_K2;
}

/* Is the flow in this slot alive, and does its mask make the packet its own? */
static __always_inline bool try_slot(struct lookup *l, __u32 slot)
{
	struct flow *flow = flow_at(slot);
	struct mask_info *info;
	__u64 zero;
	__u32 id;

	if (!flow)
		return false;
	id = *(volatile __u32 *)&flow->mask_id;
	/*
	 * A slot is filled while it is dead, mask_id last.  Whatever is read from here on must not have been read before
	 * mask_id: the address is made to depend on it, which orders loads on any CPU, at no cost.
	 */
	zero = id;
	barrier_var(zero);
	flow = (void *)flow + (zero >> 32);
	info = bpf_map_lookup_elem(&mask_info, &id); /* NULL for FLOW_DEAD */
	if (!info || !same_masked((const __u64 *)&l->state->key, (const __u64 *)&info->mask.key,
				  (const __u64 *)&flow->key, info->mask.words))
		return false;
	l->flow = flow;
	l->slot = slot;
	l->mask_id = id;
	return true;
}

/* Fills l->flow and l->slot; false if no flow matches. */
static __always_inline bool find_flow(struct lookup *l)
{
	__u32 size = l->dp->cache_size, index, tag = 0;
	struct cache_entry *cached = NULL;
	struct mask_hits *hits;
	bool walked = false;

	if (size) {
		__u64 hash = cache_hash(&l->state->key);

		tag = hash >> 32 | 1;
		index = l->cpu * CACHE_MAX + (hash & (size - 1));
		cached = bpf_map_lookup_elem(&mask_cache, &index);
	}
	if (cached && cached->tag == tag) {
		l->tried++;
		if (try_slot(l, cached->slot))
			COUNT(l->state, cache_hit);
	}
	if (!l->flow) {
		if (!walk_masks(l))
			return false;
		walked = true;
		if (cached)
			*(volatile __u64 *)cached = tag | (__u64)l->slot << 32;
	}
	hits = bpf_map_lookup_elem(&mask_hits, &l->mask_id);
	if (hits) {
		hits->all++;
		hits->walked += walked;
	}
	return true;
}
