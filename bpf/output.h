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

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#include "maps.h"
#include "stats.h"

/* Returns DROP_NONE, the port and its device's index, or why the frame cannot leave by this port. */
static __always_inline enum drop_reason port_device(struct __sk_buff *skb, __u32 port_no, struct port **port,
						    __u32 *ifindex)
{
	struct port *p = bpf_map_lookup_elem(&ports, &port_no);
	__u32 mtu = 0;
	long ret;

	if (!p || !p->ifindex)
		return DROP_NO_PORT;
	*port = p;
	*ifindex = p->ifindex;
	/* The flag counts for super-packets only; gso_segs is no sign of one, a tap device leaves it zero. */
	ret = bpf_check_mtu(skb, p->ifindex, &mtu, 0, BPF_MTU_CHK_SEGS);
	if (ret == 0)
		return DROP_NONE;
	return ret > 0 ? DROP_MTU : DROP_NO_PORT;
}

/*
 * A copy of the frame as it is now.  Copies always go by the device: there is no such helper for its other end.  A global
 * function: the verifier looks at it once, and not once for each caller.
 */
__noinline int output_copy(struct __sk_buff *skb, struct cpu_state *cpu, __u32 port_no)
{
	enum drop_reason reason;
	struct port *port = NULL;
	__u32 ifindex = 0;

	if (!cpu)
		return 0;
	reason = port_device(skb, port_no, &port, &ifindex);
	if (!reason && bpf_clone_redirect(skb, ifindex, 0))
		reason = DROP_TX_ERROR;
	if (reason) {
		COUNT(cpu, copies_dropped);
		count_drop(cpu, port_no, reason);
	} else {
		COUNT(cpu, copies);
	}
	return 0;
}

/*
 * A frame that is given to the other end keeps the packet type that it had on our side, where a frame for that end's
 * address is somebody else's; nobody looks at the address again.  So the type is set for the address that the other
 * end had when the port was set up, and any other frame for one host goes by the device, whose driver looks.
 */
static __noinline int give_to_peer(struct __sk_buff *skb, struct port *port, __u32 ifindex)
{
	__u8 *data = (void *)(long)skb->data, *mac = port->peer_mac;

	if (data + ETH_ALEN > (__u8 *)(long)skb->data_end)
		return bpf_redirect(ifindex, 0);
	if (data[0] & 1)
		return bpf_redirect_peer(ifindex, 0);
	if (*(__u16 *)data != *(__u16 *)mac || *(__u32 *)(data + 2) != *(__u32 *)(mac + 2))
		return bpf_redirect(ifindex, 0);
	if (skb->pkt_type != PACKET_HOST)
		bpf_skb_change_type(skb, PACKET_HOST);
	return bpf_redirect_peer(ifindex, 0);
}

/* The frame itself.  Returns the program's verdict. */
static __always_inline int output_last(struct __sk_buff *skb, struct cpu_state *cpu, __u32 port_no)
{
	struct port *port = NULL;
	__u32 ifindex = 0;
	enum drop_reason reason = port_device(skb, port_no, &port, &ifindex);

	if (reason) {
		COUNT(cpu, dropped);
		count_drop(cpu, port_no, reason);
		return TC_ACT_SHOT;
	}
	COUNT(cpu, forwarded);
	if (port && port->flags & PORT_PEER)
		return give_to_peer(skb, port, ifindex);
	return bpf_redirect(ifindex, 0);
}
