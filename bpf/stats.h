/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting.  Plain increments: every counter belongs to one CPU, and the program runs with bottom halves off, so that
 * nothing else on that CPU counts at the same time.  Readers may see one counter ahead of another.
 */
#pragma once

#include "maps.h"

#define COUNT(state, name) ((state)->count.name++)

/* One drop of a frame or copy; port as dp_counters.h says for the reason.  Off the fast path: a hash map is good enough. */
static __noinline void count_drop(struct cpu_state *cpu, __u32 port, __u32 reason)
{
	struct drop_key key = { .port = port, .reason = reason };
	__u64 zero = 0, *n;

	n = bpf_map_lookup_elem(&drops, &key);
	if (!n) {
		bpf_map_update_elem(&drops, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&drops, &key);
	}
	if (n)
		(*n)++;
	else
		COUNT(cpu, drops_unlisted);
}

/*
 * The coarse clock, since a flow's age is shown in milliseconds.  It moves with the timer tick, which jiffies tell without
 * a call: it is asked once a tick, and may be one tick late, since jiffies move a moment before it.
 */
static __always_inline __u64 coarse_now_ns(struct cpu_state *cpu)
{
	__u64 jiffies = bpf_jiffies64();

	if (cpu->jiffies != jiffies) {
		cpu->jiffies = jiffies;
		cpu->coarse_ns = bpf_ktime_get_coarse_ns();
	}
	return cpu->coarse_ns;
}

/*
 * tcp_flags: host order.
 * skb->len leaves out the tag that stands in metadata; Open vSwitch counts it (net/openvswitch/flow.c, ovs_flow_stats_update).
 */
static __always_inline struct flow_stats *count_flow(struct __sk_buff *skb, struct cpu_state *state, __u32 cpu,
						     __u32 slot, __u16 tcp_flags)
{
	__u32 page = slot >> PAGE_SHIFT, index;
	struct flow_stats *s;
	void *stats;

	stats = bpf_map_lookup_elem(&stats_pages, &page);
	if (!stats)
		return NULL;
	index = cpu * PAGE_SLOTS + (slot & (PAGE_SLOTS - 1));
	s = bpf_map_lookup_elem(stats, &index);
	if (!s)
		return NULL;
	s->packets++;
	s->bytes += skb->len + (skb->vlan_present ? 4 : 0);
	s->used_ns = coarse_now_ns(state);
	if (tcp_flags)
		s->tcp_flags |= tcp_flags;
	return s;
}
