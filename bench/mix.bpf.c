// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a test run, which repeats one frame, into a mix of frames: writes the next one's addresses into it, then goes on
 * as the program under test.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_helpers.h>

#include "mix_frame.h"

char LICENSE[] SEC("license") = "GPL";

/* How many frames there are, a power of two; so a test run of so many begins and ends with the same one. */
const volatile __u32 frame_count = 1;

__u32 position;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MIX_FRAMES_MAX);
	__type(key, __u32);
	__type(value, struct mix_frame);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target SEC(".maps");

struct headers {
	struct ethhdr ethernet;
	struct iphdr ipv4;
	struct udphdr udp;
} __attribute__((packed));

SEC("tc")
int mix(struct __sk_buff *skb)
{
	struct headers *h = (void *)(long)skb->data;
	__u32 next = position++ & (frame_count - 1);
	struct mix_frame *frame = bpf_map_lookup_elem(&frames, &next);

	if (!frame || (void *)(h + 1) > (void *)(long)skb->data_end)
		return TC_ACT_SHOT;
	h->ipv4.saddr = frame->src;
	h->udp.source = frame->udp_src;
	bpf_tail_call(skb, &target, 0);
	return TC_ACT_SHOT;
}
