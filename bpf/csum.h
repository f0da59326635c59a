/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checksums that follow what is written.
 *
 * A packet's checksums are in one of three states (skb->ip_summed), and a program cannot ask in which:
 *
 *	NONE, UNNECESSARY   the L4 header holds its checksum
 *	PARTIAL             it holds the sum of the pseudo header; the sender's device, or the receiver, does the rest
 *	COMPLETE            as NONE, and skb->csum is the sum of all bytes behind the Ethernet header
 *
 * The helpers do the right thing in all three if they are told what a field counts for.  set_rules[] says it for each:
 *
 *	OF_IP       the IPv4 header's own checksum.  Both are stored together, and cancel out in skb->csum: flags 0.
 *	OF_PSEUDO   an address: the L4 checksum covers it by the pseudo header.  BPF_F_PSEUDO_HDR changes the sum of
 *	            PARTIAL packets, too, and adds to skb->csum what the L4 field changes by.
 *	OF_L4       a port: covered by the L4 checksum itself; of PARTIAL packets nothing is to be changed.
 *	OF_CRC      SCTP: crc32c.h
 *
 * No checksum inside the frame makes up for what changes in an IPv6 header, so these are stored with
 * BPF_F_RECOMPUTE_CSUM; tried: COMPLETE packets whose hop limit or address was stored without it did not reach their
 * socket.  The Ethernet header is not in skb->csum, and RECOMPUTE would spoil it.
 */
#pragma once

#include <linux/in.h>

#include "maps.h"
#include "pkt.h"

/* Whose header a field is in. */
enum header {
	IN_SKB,
	IN_ETH,
	IN_IPV4,
	IN_IPV6,
	IN_L4,
};

enum covered {
	OF_IP = 1 << 0,
	OF_PSEUDO = 1 << 1,
	OF_L4 = 1 << 2,
	OF_CRC = 1 << 3,
};

struct set_rule {
	__u8 header; /* enum header */
	__u8 proto;  /* IN_L4 */
	__u8 offset; /* in the header */
	__u8 width;
	__u8 key;     /* the field's place in struct flow_key */
	__u8 covered; /* enum covered */
	__u16 store;  /* flags of bpf_skb_store_bytes */
};

#define KEY(member) offsetof(struct flow_key, member)
#define PORT_RULE(proto, offset, member, covered) \
	{ \
		IN_L4, proto, offset, 2, KEY(member), covered, BPF_F_INVALIDATE_HASH \
	}
#define RECOMPUTE BPF_F_RECOMPUTE_CSUM

static const struct set_rule set_rules[SET_FIELDS] = {
	[SET_ETH] = { IN_ETH, 0, 0, 12, KEY(eth_dst), 0, 0 },
	[SET_ETH_DST] = { IN_ETH, 0, 0, 6, KEY(eth_dst), 0, 0 },
	[SET_ETH_SRC] = { IN_ETH, 0, 6, 6, KEY(eth_src), 0, 0 },
	[SET_PRIORITY] = { IN_SKB, 0, 0, 4, KEY(skb_priority), 0, 0 },
	[SET_MARK] = { IN_SKB, 0, 0, 4, KEY(skb_mark), 0, 0 },
	[SET_IPV4_SRC] = { IN_IPV4, 0, 12, 4, KEY(ipv4.src), OF_IP | OF_PSEUDO, BPF_F_INVALIDATE_HASH },
	[SET_IPV4_DST] = { IN_IPV4, 0, 16, 4, KEY(ipv4.dst), OF_IP | OF_PSEUDO, BPF_F_INVALIDATE_HASH },
	[SET_IPV4_TOS] = { IN_IPV4, 0, 1, 1, KEY(ip_tos), OF_IP, 0 },
	[SET_IPV4_TTL] = { IN_IPV4, 0, 8, 1, KEY(ip_ttl), OF_IP, 0 },
	[SET_IPV6_SRC] = { IN_IPV6, 0, 8, 4, KEY(ipv6.src), OF_PSEUDO, RECOMPUTE | BPF_F_INVALIDATE_HASH },
	[SET_IPV6_DST] = { IN_IPV6, 0, 24, 4, KEY(ipv6.dst), OF_PSEUDO, RECOMPUTE | BPF_F_INVALIDATE_HASH },
	[SET_IPV6_TCLASS] = { IN_IPV6, 0, 0, 4, KEY(ip_tos), 0, RECOMPUTE },
	[SET_IPV6_LABEL] = { IN_IPV6, 0, 0, 4, KEY(ipv6_label_be), 0, RECOMPUTE | BPF_F_INVALIDATE_HASH },
	[SET_IPV6_HLIMIT] = { IN_IPV6, 0, 7, 1, KEY(ip_ttl), 0, RECOMPUTE },
	[SET_TCP_SRC] = PORT_RULE(IPPROTO_TCP, 0, tp_src_be, OF_L4),
	[SET_TCP_DST] = PORT_RULE(IPPROTO_TCP, 2, tp_dst_be, OF_L4),
	[SET_UDP_SRC] = PORT_RULE(IPPROTO_UDP, 0, tp_src_be, OF_L4),
	[SET_UDP_DST] = PORT_RULE(IPPROTO_UDP, 2, tp_dst_be, OF_L4),
	[SET_SCTP_SRC] = PORT_RULE(IPPROTO_SCTP, 0, tp_src_be, OF_CRC),
	[SET_SCTP_DST] = PORT_RULE(IPPROTO_SCTP, 2, tp_dst_be, OF_CRC),
};

/* Where an L4 header has its checksum. */
struct l4_sum {
	__u8 offset;
	__u8 header; /* bytes without options; 0: no checksum that covers addresses */
	__u16 flags; /* of bpf_l4_csum_replace: 0 means none, a sum of 0 is sent as ffff */
};

static __always_inline struct l4_sum l4_sum_of(__u8 proto)
{
	if (proto == IPPROTO_TCP)
		return (struct l4_sum){ 16, 20, 0 };
	if (proto == IPPROTO_UDP)
		return (struct l4_sum){ 6, 8, BPF_F_MARK_MANGLED_0 };
	if (proto == IPPROTO_ICMPV6)
		return (struct l4_sum){ 2, 8, 0 };
	return (struct l4_sum){ 0 };
}

/*
 * Is the packet PARTIAL, and the checksum at off thus not finished?  Only then this change is not made.  This and what
 * follows are global functions: each is verified once, and not anew for each state in which it is called.
 */
__noinline int is_partial(struct __sk_buff *skb, __u32 off)
{
	__u16 before, after;

	if (!read_u16(skb, off, &before) || bpf_l4_csum_replace(skb, off, 0, 1, 2) || !read_u16(skb, off, &after))
		return false;
	if (before == after)
		return true;
	bpf_skb_store_bytes(skb, off, &before, sizeof(before), 0);
	return false;
}

static __always_inline __u16 csum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Sums `left` bytes of the packet from off on. */
struct sum_walk {
	struct __sk_buff *skb;
	__u8 *scratch;
	__u32 off;
	__u32 left;
	__u64 sum;
};

static long sum_piece(__u32 i, struct sum_walk *w)
{
	__u32 n = piece_of(w->left), words;

	(void)i;
	if (!w->left || bpf_skb_load_bytes(w->skb, w->off, w->scratch, n))
		return 1;
	w->scratch[n] = w->scratch[n + 1] = w->scratch[n + 2] = 0; /* to a whole word */
	/* The verifier keeps an upper limit through a shift, not through a mask. */
	words = (n + 3) >> 2;
	barrier_var(words);
	w->sum += (__u32)bpf_csum_diff(NULL, 0, (__be32 *)w->scratch, words * 4, 0);
	w->off += n;
	w->left -= n;
	return 0;
}

/* Not folded.  len: at most 65535. */
__noinline __u64 sum_packet(struct __sk_buff *skb, struct cpu_state *cpu, __u32 off, __u32 len)
{
	struct sum_walk w = { .skb = skb, .off = off, .left = len };

	if (!cpu)
		return 0;
	w.scratch = cpu->scratch;
	bpf_loop(0x10000 / SCRATCH_BYTES, sum_piece, &w, 0);
	return w.sum;
}
