// SPDX-License-Identifier: GPL-2.0-only
/*
 * The datapath cut off behind each of its stages, on the maps of a datapath: what one costs is what it adds.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "key.h"
#include "../bpf/lookup.h" /* and not the one beside this file */
#include "maps.h"
#include "netns.h"
#include "port.h"
#include "stats.h"

char LICENSE[] SEC("license") = "GPL";

enum stage {
	STAGE_PORT,
	STAGE_KEY,
	STAGE_LOOKUP,
	STAGE_COUNT,
};

static __always_inline int work(struct __sk_buff *skb, struct cpu_state *cpu, __u32 in_port, enum stage last)
{
	struct lookup l = { .state = cpu, .cpu = bpf_get_smp_processor_id() };
	__u32 zero = 0;

	if (last < STAGE_KEY)
		return TC_ACT_OK;
	l.dp = bpf_map_lookup_elem(&datapath, &zero);
	if (!l.dp || extract_key(skb, in_port, &cpu->key))
		return TC_ACT_SHOT;
	if (last < STAGE_LOOKUP)
		return TC_ACT_OK;
	if (!find_flow(&l))
		return TC_ACT_SHOT;
	if (last < STAGE_COUNT)
		return TC_ACT_OK;
	cpu->count.mask_hit += l.tried;
	COUNT(cpu, hit);
	return count_flow(skb, cpu, l.cpu, l.slot, bpf_ntohs(cpu->key.tcp_flags_be)) ? TC_ACT_OK : TC_ACT_SHOT;
}

static __always_inline int work_up_to(struct __sk_buff *skb, enum stage last)
{
	__u32 zero = 0, in_port;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpu_state, &zero);
	int verdict;

	if (!cpu)
		return TC_ACT_SHOT;
	in_port = port_of_device(cpu, skb->ifindex);
	if (!in_our_netns(skb) || in_port == PORT_NONE || cpu->busy) {
		count_drop(cpu, in_port, DROP_NOT_A_PORT);
		return TC_ACT_SHOT;
	}
	cpu->busy = 1;
	verdict = work(skb, cpu, in_port, last);
	cpu->busy = 0;
	return verdict;
}

SEC("tc")
int up_to_port(struct __sk_buff *skb)
{
	return work_up_to(skb, STAGE_PORT);
}

SEC("tc")
int up_to_key(struct __sk_buff *skb)
{
	return work_up_to(skb, STAGE_KEY);
}

SEC("tc")
int up_to_lookup(struct __sk_buff *skb)
{
	return work_up_to(skb, STAGE_LOOKUP);
}

SEC("tc")
int up_to_count(struct __sk_buff *skb)
{
	return work_up_to(skb, STAGE_COUNT);
}
