/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Key -> flow.
 *
 * What?  The packet's class names an array of masks.  Each mask in turn is put on the key; the hash of the result is
 * looked up in one table for all masks, which holds slot numbers; the entry in that slot names its mask and its masked
 * key, and only if both are the same is it a hit.
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
	struct flow_key *key;
	struct mask_array *masks;
	struct flow *flow; /* the hit */
	__u32 slot;	   /* of the hit */
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

static __always_inline bool same_masked(const __u64 *key, const __u64 *mask, const __u64 *masked, __u32 words)
{
	__u64 diff = 0;

#pragma unroll
	for (int i = 0; i < KEY_WORDS; i++) {
		if ((i == KEY_WORDS_IPV4 || i == KEY_WORDS_IPV6) && words <= (__u32)i)
			break;
		diff |= (key[i] & mask[i]) ^ masked[i];
	}
	return !diff;
}

/* Returns true on a hit. */
static __always_inline bool try_mask(struct lookup *l, const struct mask *mask)
{
	const __u64 *key = (const __u64 *)l->key, *m = (const __u64 *)&mask->key;
	struct flow *flow;
	__u32 *slot;
	__u64 hash;

	hash = flow_hash(key, m, mask->words, mask->seed);
	l->tried++;
	slot = bpf_map_lookup_elem(&flows, &hash);
	if (!slot)
		return false;
	/* Read once: the element may be given to another flow while we look; its entry is then compared, not this one. */
	l->slot = *(volatile __u32 *)slot;
	flow = flow_at(l->slot);
	if (!flow || flow->mask_id != mask->id || !same_masked(key, m, (const __u64 *)&flow->key, mask->words))
		return false;
	l->flow = flow;
	return true;
}

static long try_mask_at(__u32 i, struct lookup *l)
{
	i++; /* the first mask was tried inline */
	if (i >= MASKS_MAX)
		return 1;
	return try_mask(l, &l->masks->mask[i]);
}

/*
 * Fills l->flow and l->slot; false if no flow matches.  The first mask is tried without the call that bpf_loop makes for
 * each iteration: the order puts the busiest mask there.
 */
static __always_inline bool find_flow(struct lookup *l)
{
	__u32 class = packet_class(l->key), zero = 0, count;
	void *array = bpf_map_lookup_elem(&masks, &class);
	__u64 *hits;
	__u32 id;

	if (!array)
		return false;
	l->masks = bpf_map_lookup_elem(array, &zero);
	if (!l->masks)
		return false;
	count = l->masks->count;
	if (!count)
		return false;
	if (!try_mask(l, &l->masks->mask[0]) && count > 1)
		bpf_loop(count - 1, try_mask_at, l, 0);
	if (!l->flow)
		return false;
	id = l->flow->mask_id;
	hits = bpf_map_lookup_elem(&mask_hits, &id);
	if (hits)
		(*hits)++;
	return true;
}
