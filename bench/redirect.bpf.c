// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tcvs is measured against: a program that does nothing, and one that only redirects, whose cost in a test run is
 * the unit R.  With them a source of frames and a sink that counts them.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* The datapath is compiled by the same one. */
const char compiler[] = __VERSION__;

const volatile __u32 target = 0; /* where redirect sends */
const volatile __u32 sender = 0; /* the device that source sends by */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} received SEC(".maps");

SEC("tc")
int empty(struct __sk_buff *skb)
{
	(void)skb;
	return TC_ACT_SHOT;
}

SEC("tc")
int redirect(struct __sk_buff *skb)
{
	(void)skb;
	return bpf_redirect(target, 0);
}

/* Each repeat of a test run puts one frame onto the wire. */
SEC("tc")
int source(struct __sk_buff *skb)
{
	return bpf_clone_redirect(skb, sender, 0) ? TC_ACT_UNSPEC : TC_ACT_OK;
}

SEC("tc")
int sink(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *frames = bpf_map_lookup_elem(&received, &zero);

	(void)skb;
	if (frames)
		(*frames)++;
	return TC_ACT_SHOT;
}
