/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frame -> port.
 *
 * A redirect gives the frame away when the program returns and cannot report that the device is gone; so each output
 * asks bpf_check_mtu first, which looks the device up in the frame's namespace, knows its MTU of this moment, and judges
 * a super-packet by its segments (net/core/filter.c).  The frame's length is judged without the tag in metadata, as
 * net/openvswitch/vport.c does.
 */
#pragma once

#include <linux/pkt_cls.h>

#include "maps.h"
#include "stats.h"

/* Returns DROP_NONE and the device's index, or why the frame cannot leave by this port. */
static __always_inline enum drop_reason port_device(struct __sk_buff *skb, __u32 port_no, __u32 *ifindex)
{
	struct port *port = bpf_map_lookup_elem(&ports, &port_no);
	__u32 mtu = 0;
	long ret;

	if (!port || !port->ifindex)
		return DROP_NO_PORT;
	*ifindex = port->ifindex;
	/* The flag counts for super-packets only; gso_segs is no sign of one, a tap device leaves it zero. */
	ret = bpf_check_mtu(skb, port->ifindex, &mtu, 0, BPF_MTU_CHK_SEGS);
	if (ret == 0)
		return DROP_NONE;
	return ret > 0 ? DROP_MTU : DROP_NO_PORT;
}

/* A copy of the frame as it is now. */
static __always_inline void output_copy(struct __sk_buff *skb, struct cpu_state *cpu, __u32 port_no)
{
	__u32 ifindex = 0;
	enum drop_reason reason = port_device(skb, port_no, &ifindex);

	if (!reason && bpf_clone_redirect(skb, ifindex, 0))
		reason = DROP_TX_ERROR;
	if (reason) {
		COUNT(cpu, copies_dropped);
		count_drop(cpu, port_no, reason);
	} else {
		COUNT(cpu, copies);
	}
}

/* The frame itself.  Returns the program's verdict. */
static __always_inline int output_last(struct __sk_buff *skb, struct cpu_state *cpu, __u32 port_no)
{
	__u32 ifindex = 0;
	enum drop_reason reason = port_device(skb, port_no, &ifindex);

	if (reason) {
		COUNT(cpu, dropped);
		count_drop(cpu, port_no, reason);
		return TC_ACT_SHOT;
	}
	COUNT(cpu, forwarded);
	return bpf_redirect(ifindex, 0);
}
