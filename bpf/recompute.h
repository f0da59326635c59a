/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * csum(): checksums anew from the bytes, as net/sched/act_csum.c makes them; its oddities are kept, and named.  What is
 * different: act_csum finishes the checksum of a PARTIAL packet and makes it NONE.  A program cannot do that; here
 * the sum of the pseudo header is written, also for super-packets, and the packet stays PARTIAL.
 */
#pragma once

#include "crc32c.h"
#include "csum.h"
#include "headers.h"

/* By protocol.  A table, since the verifier would follow what comes after a switch once for each of its cases. */
static const struct l4_checksum {
	__u8 at;     /* in the header */
	__u8 header; /* bytes of it that must be there; 0: not a protocol that csum() knows */
	__u8 what;   /* enum csum_what */
	__u8 over;   /* bit 0: IPv4, bit 1: IPv6 */
} l4_checksums[256] = {
	[IPPROTO_ICMP] = { 2, 8, CSUM_ICMP, 1 },       [IPPROTO_IGMP] = { 2, 8, CSUM_IGMP, 1 },
	[IPPROTO_TCP] = { 16, 20, CSUM_TCP, 3 },       [IPPROTO_UDP] = { 6, 8, CSUM_UDP, 3 },
	[IPPROTO_ICMPV6] = { 2, 8, CSUM_ICMP, 2 },     [IPPROTO_SCTP] = { 8, 12, CSUM_SCTP, 3 },
	[IPPROTO_UDPLITE] = { 6, 8, CSUM_UDPLITE, 3 },
};

static __always_inline bool has_pseudo(__u32 proto)
{
	return proto != IPPROTO_ICMP && proto != IPPROTO_IGMP;
}

static __always_inline __u64 pseudo_sum(const struct l4_part *p, __u32 len)
{
	return has_pseudo(p->proto) ? p->pseudo + bpf_htonl(p->proto) + bpf_htonl(len) : 0;
}

static __always_inline int store_sum(struct __sk_buff *skb, const struct l4_part *p, __u16 sum)
{
	return bpf_skb_store_bytes(skb, p->off + p->sum_at, &sum, sizeof(sum), BPF_F_RECOMPUTE_CSUM) ? DROP_WRITE : 0;
}

static __always_inline int recompute_crc(struct __sk_buff *skb, struct cpu_state *cpu, const struct l4_part *p)
{
	__u32 crc = crc32c_packet(skb, cpu, ~0U, p->off, 8);

	for (int i = 0; i < 4; i++)
		crc = crc32c_byte(crc, 0); /* where the checksum itself is */
	crc = ~crc32c_packet(skb, cpu, crc, p->off + 12, p->len - 12);
	return bpf_skb_store_bytes(skb, p->off + p->sum_at, &crc, sizeof(crc), BPF_F_RECOMPUTE_CSUM) ? DROP_WRITE : 0;
}

/*
 * How much of the datagram is summed up, 0 = an obscure one, which loses its checksum.  *pseudo_len: act_csum takes the
 * header's length also for UDP-Lite, where it means the coverage.
 */
static __always_inline __u32 udp_coverage(struct __sk_buff *skb, const struct l4_part *p, __u32 *pseudo_len)
{
	__be16 field = 0;
	__u32 len;

	read_u16(skb, p->off + 4, &field);
	len = bpf_ntohs(field);
	*pseudo_len = len;
	if (p->proto == IPPROTO_UDP)
		return len == p->len ? len : 0;
	if (!len)
		return p->len;
	return len >= 8 && len <= p->len ? len : 0;
}

static __always_inline int recompute_sum(struct __sk_buff *skb, struct cpu_state *cpu, const struct l4_part *p)
{
	bool udp = p->proto == IPPROTO_UDP || p->proto == IPPROTO_UDPLITE;
	__u32 covered = p->len, pseudo_len = p->len;
	__u16 now, sum;
	int err;

	if (!read_u16(skb, p->off + p->sum_at, &now))
		return DROP_CSUM;
	if (udp) {
		/* IPv4 may go without; IPv6 may not. */
		if (p->ipv4 && p->proto == IPPROTO_UDP && !now)
			return 0;
		covered = udp_coverage(skb, p, &pseudo_len);
	}
	err = store_sum(skb, p, 0);
	if (err || !covered)
		return err;
	sum = ~csum_fold(sum_packet(skb, cpu, p->off, covered) + pseudo_sum(p, pseudo_len));
	return store_sum(skb, p, udp && !sum ? 0xffff : sum);
}

__noinline int recompute_l4(struct __sk_buff *skb, struct cpu_state *cpu, struct l4_part *p, __u32 what)
{
	const struct l4_checksum *c;

	if (!cpu || !p)
		return DROP_STALE;
	c = &l4_checksums[p->proto & 0xff];
	if (!(what & c->what) || !(c->over & (p->ipv4 ? 1 : 2)))
		return 0;
	p->sum_at = c->at;
	if (skb->gso_size) {
		/* The IP header of a super-packet need not tell its length. */
		if (p->proto != IPPROTO_TCP && p->proto != IPPROTO_UDP)
			return 0;
		p->len = skb->len - p->off;
	}
	if (p->len < c->header || p->off + p->len > skb->len)
		return DROP_CSUM;
	if (has_pseudo(p->proto) && is_partial(skb, p->off + p->sum_at))
		return p->proto == IPPROTO_SCTP ? 0 : store_sum(skb, p, csum_fold(pseudo_sum(p, p->len)));
	if (skb->gso_size)
		return 0;
	if (p->proto == IPPROTO_SCTP)
		return recompute_crc(skb, cpu, p);
	return recompute_sum(skb, cpu, p);
}

static __always_inline int recompute_ipv4_header(struct __sk_buff *skb, struct cpu_state *cpu, __u32 l3, __u32 len)
{
	__u16 sum = 0;

	if (len < 20 || l3 + len > skb->len)
		return DROP_CSUM;
	if (bpf_skb_store_bytes(skb, l3 + 10, &sum, sizeof(sum), BPF_F_RECOMPUTE_CSUM))
		return DROP_WRITE;
	sum = ~csum_fold(sum_packet(skb, cpu, l3, len));
	return bpf_skb_store_bytes(skb, l3 + 10, &sum, sizeof(sum), BPF_F_RECOMPUTE_CSUM) ? DROP_WRITE : 0;
}

/* A first fragment's L4 checksum is made from what the fragment has, as act_csum does. */
static __always_inline int recompute_ipv4(struct __sk_buff *skb, struct cpu_state *cpu, __u32 what)
{
	__u32 l3 = cpu->headers.l3, ihl;
	struct l4_part *p = &cpu->l4_part;
	__u8 *head = cpu->scratch; /* all calls' stacks together have 512 bytes, rounded up for each by Linux 6.1 */
	int err = 0;

	if (bpf_skb_load_bytes(skb, l3, head, 20))
		return DROP_CSUM;
	ihl = (head[0] & 0xf) * 4;
	*p = (struct l4_part){ .ipv4 = 1 };
	p->off = l3 + ihl;
	p->len = (head[2] << 8 | head[3]) - ihl;
	p->proto = head[9];
	p->pseudo = (__u32)bpf_csum_diff(NULL, 0, (__be32 *)(head + 12), 8, 0);
	if ((__s32)p->len < 0)
		p->len = 0;
	if (!((head[6] & 0x1f) | head[7]))
		err = recompute_l4(skb, cpu, p, what);
	if (!err && (what & CSUM_IPV4))
		err = recompute_ipv4_header(skb, cpu, l3, ihl);
	return err;
}

/* Fragments are left alone. */
static __always_inline int recompute_ipv6(struct __sk_buff *skb, struct cpu_state *cpu, __u32 what)
{
	__u32 l3 = cpu->headers.l3, end;
	struct l4_part *p = &cpu->l4_part;
	__u8 *head = cpu->scratch;

	if (bpf_skb_load_bytes(skb, l3, head, 40))
		return DROP_CSUM;
	end = skip_ipv6_ext(skb, l3 + 40, head[6]);
	if ((end >> 8 & 0x7f) != IP_FRAG_NO)
		return 0;
	*p = (struct l4_part){};
	p->off = end >> 16;
	p->len = (head[4] << 8 | head[5]) - (p->off - l3 - 40);
	p->proto = end & 0xff;
	p->pseudo = (__u32)bpf_csum_diff(NULL, 0, (__be32 *)(head + 8), 32, 0);
	if ((__s32)p->len < 0)
		p->len = 0;
	return recompute_l4(skb, cpu, p, what);
}

/* Executes one record.  Returns 0 or enum drop_reason; global for the same reason as set_field(). */
__noinline int recompute(struct __sk_buff *skb, struct cpu_state *cpu, struct flow_action *a)
{
	if (!cpu || !a)
		return DROP_STALE;
	find_headers(skb, cpu);
	if (cpu->key.eth_type_be == bpf_htons(ETH_P_IP))
		return recompute_ipv4(skb, cpu, a->csum.what);
	if (cpu->key.eth_type_be == bpf_htons(ETH_P_IPV6))
		return recompute_ipv6(skb, cpu, a->csum.what);
	return 0;
}
