// SPDX-License-Identifier: GPL-2.0-only
/*
 * Key extraction alone, into memory of this CPU as in the datapath.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "key.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_key);
} keys SEC(".maps");

static __always_inline int extract_here(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct flow_key *key = bpf_map_lookup_elem(&keys, &zero);

	if (!key || extract_key(skb, 1, key))
		return TC_ACT_SHOT;
	return TC_ACT_OK;
}

SEC("tc")
int extract(struct __sk_buff *skb)
{
	return extract_here(skb);
}

/* A test run cannot bring a tag in metadata along, but the frame stays as it is for all repeats: the first one tags it. */
SEC("tc")
int extract_tagged(struct __sk_buff *skb)
{
	if (!skb->vlan_present && bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 7))
		return TC_ACT_SHOT;
	return extract_here(skb);
}
