/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the headers are, for actions that write.  Most flows only forward; so the key's parser keeps no offsets, and
 * they are found again, once, with the key's help.
 */
#pragma once

#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>

#include "key.h"
#include "maps.h"
#include "pkt.h"

/* Behind the tags in the bytes, and behind LLC and SNAP, where net/openvswitch/flow.c has its network header. */
static __always_inline __u32 find_l3(struct __sk_buff *skb, const struct flow_key *key)
{
	__u32 tags = !!key->vlan_tci_be + !!key->cvlan_tci_be, off = ETH_HLEN;
	__be16 type;

	if (skb->vlan_present && tags)
		tags--;
	off += tags * 4;
	if (key->eth_type_be != bpf_htons(ETH_TYPE_802_2) && read_u16(skb, off - 2, &type) &&
	    bpf_ntohs(type) < ETH_TYPE_MIN)
		off += 8;
	return off;
}

static __always_inline void find_ipv4(struct __sk_buff *skb, const struct flow_key *key, struct headers *h)
{
	__u8 version_ihl;
	__u32 len;

	if (h->l3 + 20U > skb->len || !read_u8(skb, h->l3, &version_ihl))
		return;
	len = (version_ihl & 0xf) * 4;
	if (len < 20 || h->l3 + len > skb->len)
		return;
	h->l3_len = len;
	if (key->ip_frag != IP_FRAG_LATER)
		h->l4 = h->l3 + len;
}

static __always_inline void find_ipv6(struct __sk_buff *skb, struct headers *h)
{
	__u32 end, off = h->l3 + 40;
	__u8 next;

	if (off > skb->len || !read_u8(skb, h->l3 + 6, &next))
		return;
	h->l3_len = 40;
	end = skip_ipv6_ext(skb, off, next);
	h->rerouted = end >> 15 & 1;
	if ((end >> 8 & 0x7f) != IP_FRAG_LATER)
		h->l4 = end >> 16;
}

/* Fills cpu->headers, if that is not done yet. */
static __always_inline void find_headers(struct __sk_buff *skb, struct cpu_state *cpu)
{
	const struct flow_key *key = &cpu->key;
	struct headers *h = &cpu->headers;

	if (h->l2_len)
		return;
	h->l2_len = ETH_HLEN;
	h->l3 = find_l3(skb, key);
	if (key->eth_type_be == bpf_htons(ETH_P_IP))
		find_ipv4(skb, key, h);
	else if (key->eth_type_be == bpf_htons(ETH_P_IPV6))
		find_ipv6(skb, h);
}
