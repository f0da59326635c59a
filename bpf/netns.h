/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a frame in the network namespace that the datapath belongs to?
 *
 * A TCX link stays on its device when that moves to another namespace (a clsact qdisc does not), and the indices of
 * ports would then name other devices.  TCX is there from 6.6 on, bpf_cast_to_kern_ctx from 6.2; where neither is, the
 * cookie is 0 and the verifier removes all of this.
 */
#pragma once

#include "maps.h"

struct net___tcvs {
	__u64 net_cookie;
} __attribute__((preserve_access_index));

struct possible_net___tcvs {
	struct net___tcvs *net;
} __attribute__((preserve_access_index));

struct net_device___tcvs {
	struct possible_net___tcvs nd_net;
} __attribute__((preserve_access_index));

struct sk_buff___tcvs {
	struct net_device___tcvs *dev;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

static __always_inline bool in_our_netns(struct __sk_buff *skb)
{
	if (!netns_cookie)
		return true;
	return ((struct sk_buff___tcvs *)bpf_cast_to_kern_ctx(skb))->dev->nd_net.net->net_cookie == netns_cookie;
}
