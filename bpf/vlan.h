/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push_vlan, pop_vlan.  The outermost tag stands in metadata; a push moves one that is there into the bytes, a pop takes the
 * next one out of them.
 */
#pragma once

#include "headers.h"

static __always_inline void push_in_key(struct flow_key *key, const struct flow_action *a)
{
	key->cvlan_tci_be = key->vlan_tci_be;
	key->cvlan_tpid_be = key->vlan_tpid_be;
	key->vlan_tci_be = a->vlan.tci_be | bpf_htons(VLAN_TAG_PRESENT);
	key->vlan_tpid_be = a->vlan.tpid_be;
}

static __always_inline void pop_in_key(struct flow_key *key)
{
	key->vlan_tci_be = key->cvlan_tci_be;
	key->vlan_tpid_be = key->cvlan_tpid_be;
	key->cvlan_tci_be = 0;
	key->cvlan_tpid_be = 0;
}

/*
 * Is skb->mac_len, the network header's offset, at most so much?  Nothing tells it, but reads that count from the network
 * header end where the linear part does.
 */
static __always_inline bool mac_len_fits(struct __sk_buff *skb, __u32 len)
{
	__u32 linear = skb->data_end - skb->data;
	__u8 byte;

	return linear <= len || !bpf_skb_load_bytes_relative(skb, linear - len - 1, &byte, 1, BPF_HDR_START_NET);
}

/*
 * The headers are elsewhere now, `moved` bytes further on.  skb->csum begins behind skb->mac_len (bpf_pull_mac_rcsum in
 * net/core/filter.c).  That grows with each tag which is pushed into the bytes before Linux 6.12, and stays since then.
 */
static __always_inline void move_headers(struct __sk_buff *skb, struct headers *h, __s32 moved)
{
	if (moved > 0 && !mac_len_fits(skb, h->l2_len))
		h->l2_len += moved;
	else if (moved < 0)
		h->l2_len = h->l2_len + moved < ETH_HLEN ? ETH_HLEN : h->l2_len + moved;
	h->l3 += moved;
	if (h->l4)
		h->l4 += moved;
}

/* Executes one record.  Returns 0 or enum drop_reason; global for the same reason as set_field(). */
__noinline int change_tags(struct __sk_buff *skb, struct cpu_state *cpu, struct flow_action *a)
{
	struct flow_key *key;
	__u32 len = skb->len;

	if (!cpu || !a)
		return DROP_STALE;
	key = &cpu->key;
	find_headers(skb, cpu);
	if (a->type == ACTION_PUSH_VLAN) {
		/* The bit that says in keys and actions "there is a tag" is DEI on the wire. */
		if (bpf_skb_vlan_push(skb, a->vlan.tpid_be, bpf_ntohs(a->vlan.tci_be) & ~VLAN_TAG_PRESENT))
			return DROP_VLAN;
		/* A third tag hides all that the key says of what is behind it. */
		if (key->cvlan_tci_be)
			cpu->headers.key_stale = 1;
		push_in_key(key, a);
	} else {
		if (bpf_skb_vlan_pop(skb))
			return DROP_VLAN;
		/* And one that was hidden comes to light. */
		if (key->cvlan_tci_be && is_vlan(key->eth_type_be))
			cpu->headers.key_stale = 1;
		pop_in_key(key);
	}
	move_headers(skb, &cpu->headers, skb->len - len);
	return DROP_NONE;
}
