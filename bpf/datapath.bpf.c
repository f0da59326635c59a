// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcvs datapath: a frame's way through the switch.
 *
 *	port	which port is this device, and is it still in our namespace
 *	key	headers and metadata -> struct flow_key in this CPU's memory
 *	lookup	masks of the packet's class, in order -> flow entry
 *	count	flow statistics, mask hits, datapath counters
 *	actions	write to the frame, output to ports; the last output redirects, those before send copies
 *
 * A frame that matches no flow is consumed and counted: nothing unmatched reaches the host's stack, or another program
 * behind this one on the hook.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "actions.h"
#include "key.h"
#include "lookup.h"
#include "maps.h"
#include "netns.h"
#include "port.h"
#include "stats.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline int switch_frame(struct __sk_buff *skb, struct cpu_state *cpu, __u32 in_port)
{
	struct lookup l = { .state = cpu, .cpu = bpf_get_smp_processor_id() };
	struct execution x = { .skb = skb, .cpu = cpu, .in_port = in_port };
	__u32 zero = 0;
	bool hit;

	l.dp = bpf_map_lookup_elem(&datapath, &zero);
	if (!l.dp)
		return drop_frame(&x, DROP_STALE);
	if (extract_key(skb, in_port, &cpu->key))
		return drop_frame(&x, DROP_SHORT);
	hit = find_flow(&l);
	cpu->count.mask_hit += l.tried;
	if (!hit) {
		COUNT(cpu, missed);
		COUNT(cpu, lost); /* there is no way to userspace yet */
		return TC_ACT_SHOT;
	}
	COUNT(cpu, hit);
	x.flow = l.flow;
	x.stats = count_flow(skb, cpu, l.cpu, l.slot, bpf_ntohs(cpu->key.tcp_flags_be));
	if (!x.stats)
		return drop_frame(&x, DROP_STALE);
	return execute_actions(&x);
}

SEC("tc")
int tcvs_ingress(struct __sk_buff *skb)
{
	__u32 zero = 0, in_port;
	struct cpu_state *cpu;
	enum drop_reason reason;
	int verdict;

	cpu = bpf_map_lookup_elem(&cpu_state, &zero);
	if (!cpu)
		return TC_ACT_SHOT;
	in_port = port_of_device(cpu, skb->ifindex);
	reason = !in_our_netns(skb)	? DROP_FOREIGN_NETNS
		 : in_port == PORT_NONE ? DROP_NOT_A_PORT
		 : cpu->busy		? DROP_NESTED
					: DROP_NONE;
	if (reason) {
		COUNT(cpu, dropped);
		count_drop(cpu, in_port, reason);
		return TC_ACT_SHOT;
	}
	/*
	 * One key per CPU is enough: an output queues the frame to its device, whose receiver runs later in its own
	 * softirq, and nothing else enters this hook while bottom halves are off.  If a device should hand frames
	 * back at once all the same, they would overwrite the key in use: dropped and counted instead.
	 */
	cpu->busy = 1;
	verdict = switch_frame(skb, cpu, in_port);
	cpu->busy = 0;
	return verdict;
}
