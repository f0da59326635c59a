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
 * The headers are elsewhere now, `moved` bytes further on.  skb->csum begins behind skb->mac_len, which grows with each tag
 * that is pushed into the bytes, and is never less than an Ethernet header (net/core/skbuff.c).
 */
static __always_inline void move_headers(struct headers *h, __s32 moved)
{
	__s32 l2_len = h->l2_len + moved;

	h->l2_len = l2_len < ETH_HLEN ? ETH_HLEN : l2_len;
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
	move_headers(&cpu->headers, skb->len - len);
	return DROP_NONE;
}
