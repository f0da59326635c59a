/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * set(): one field, with or without a mask.  Packet, checksums and key change together; csum.h has the rules.
 *
 * A value that is there already is not written: flows often set what they match, and writing to a packet that somebody
 * else holds, too, means copying its headers.
 *
 * No function here writes through a packet pointer.  If one did, the verifier would have the program make each packet's
 * headers its own at the start, also for flows that only forward.
 */
#pragma once

#include "crc32c.h"
#include "csum.h"
#include "headers.h"
#include "stats.h"

/* A field in the packet, as its bytes stand there; 1, 2 or 4 of them count. */
struct field_change {
	__u32 off;
	__u32 old;
	__u32 new;
};

static __always_inline __u32 masked(__u32 old, __u32 value, __u32 mask)
{
	return (old & ~mask) | value;
}

static __always_inline bool read_change(struct __sk_buff *skb, const struct flow_action *a, const struct set_rule *r,
					struct field_change *c)
{
	__u16 half;
	__u8 byte;

	if (r->width == 1) {
		if (!read_u8(skb, c->off, &byte))
			return false;
		c->old = byte;
		c->new = masked(byte, a->byte.value, a->byte.mask);
	} else if (r->width == 2) {
		if (!read_u16(skb, c->off, &half))
			return false;
		c->old = half;
		c->new = masked(half, a->half.value_be, a->half.mask_be);
	} else {
		if (!read_u32(skb, c->off, &c->old))
			return false;
		if (a->set.field == SET_IPV6_TCLASS)
			c->new = masked(c->old, bpf_htonl((__u32)a->byte.value << 20),
					bpf_htonl((__u32)a->byte.mask << 20));
		else
			c->new = masked(c->old, a->word.value, a->word.mask);
	}
	return true;
}

/* An address in the pseudo header.  A header that is cut short has no checksum to keep. */
static __always_inline long keep_pseudo_sum(struct __sk_buff *skb, const struct cpu_state *cpu,
					    const struct flow_action *a, const struct field_change *c)
{
	const struct headers *h = &cpu->headers;
	__u8 proto = cpu->key.ip_proto;
	struct l4_sum sum = l4_sum_of(proto);

	if (!h->l4 || !sum.header || h->l4 + sum.header > skb->len || (a->set.field == SET_IPV6_DST && h->rerouted) ||
	    (proto == IPPROTO_ICMPV6 && cpu->key.eth_type_be != bpf_htons(ETH_P_IPV6)))
		return 0;
	return bpf_l4_csum_replace(skb, h->l4 + sum.offset, c->old, c->new, BPF_F_PSEUDO_HDR | sum.flags | 4);
}

/* A port.  Without a UDP checksum nothing makes up for it in skb->csum: *store says so. */
static __always_inline long keep_l4_sum(struct __sk_buff *skb, const struct headers *h, const struct set_rule *r,
					const struct field_change *c, __u64 *store)
{
	struct l4_sum sum = l4_sum_of(r->proto);
	__u16 now;

	if (sum.flags && read_u16(skb, h->l4 + sum.offset, &now) && !now) {
		*store |= BPF_F_RECOMPUTE_CSUM;
		return 0;
	}
	return bpf_l4_csum_replace(skb, h->l4 + sum.offset, c->old, c->new, sum.flags | 2);
}

/*
 * So many bytes the checksum of an SCTP packet covers: not what pads a short frame.  Of a fragment, and of a packet that
 * is longer than its frame, what there is.
 */
static __always_inline __u32 sctp_len(struct __sk_buff *skb, const struct cpu_state *cpu)
{
	const struct headers *h = &cpu->headers;
	bool ipv4 = cpu->key.eth_type_be == bpf_htons(ETH_P_IP);
	__u32 rest = skb->len - h->l4, end;
	__be16 len;

	if (cpu->key.ip_frag != IP_FRAG_NO || !read_u16(skb, h->l3 + (ipv4 ? 2 : 4), &len))
		return rest;
	end = h->l3 + bpf_ntohs(len) + (ipv4 ? 0 : 40);
	return end >= h->l4 + 12U && end <= skb->len ? end - h->l4 : rest;
}

/* The sum of PARTIAL packets is not there yet. */
static __always_inline long keep_crc(struct __sk_buff *skb, const struct cpu_state *cpu, const struct set_rule *r,
				     const struct field_change *c, __u64 *store)
{
	__u32 at = cpu->headers.l4 + 8, crc;

	if (is_partial(skb, at))
		return 0;
	if (!read_u32(skb, at, &crc))
		return -1;
	crc ^= crc32c_change(c->old ^ c->new, sctp_len(skb, cpu) - r->offset - 2);
	*store |= BPF_F_RECOMPUTE_CSUM;
	return bpf_skb_store_bytes(skb, at, &crc, sizeof(crc), BPF_F_RECOMPUTE_CSUM);
}

static __always_inline void set_key(struct cpu_state *cpu, const struct flow_action *a, const struct set_rule *r,
				    __u32 value)
{
	void *at = (void *)&cpu->key + r->key + (a->set.part & 3) * 4;

	if (a->set.field == SET_IPV6_TCLASS)
		cpu->key.ip_tos = bpf_ntohl(value) >> 20;
	else if (a->set.field == SET_IPV6_LABEL)
		cpu->key.ipv6_label_be = value & bpf_htonl(0xfffff);
	else if (r->width == 1)
		*(__u8 *)at = value;
	else if (r->width == 2)
		*(__u16 *)at = value;
	else
		*(__u32 *)at = value;
}

/* Is there an IP header of this kind, and all of it? */
static __always_inline bool has_ip(const struct cpu_state *cpu, __be16 eth_type_be)
{
	return cpu->headers.l3_len && cpu->key.eth_type_be == eth_type_be;
}

/* The field's place, 0 if the frame has no such header, or has it cut. */
static __always_inline __u32 field_offset(struct __sk_buff *skb, const struct cpu_state *cpu,
					  const struct flow_action *a, const struct set_rule *r)
{
	const struct headers *h = &cpu->headers;
	__u32 len;

	if (r->header == IN_L4) {
		len = r->proto == IPPROTO_SCTP ? 12 : l4_sum_of(r->proto).header;
		if (!h->l4 || cpu->key.ip_proto != r->proto || h->l4 + len > skb->len)
			return 0;
		return h->l4 + r->offset;
	}
	if (!has_ip(cpu, bpf_htons(ETH_P_IPV6)))
		return 0;
	return h->l3 + r->offset + (a->set.part & 3) * 4;
}

/* 32 bits in place of others: what a checksum becomes that covers them. */
static __always_inline __u16 followed(__u16 sum, __u32 old, __u32 new)
{
	return ~csum_fold((__u64)(__u16)~sum + (__u32)~old + new);
}

/*
 * The header's sum and the field are written in one go, with what lies between: three calls of helpers become two.
 * field: a constant.  Words of the header, and where in them the field and the sum are.
 */
static __always_inline int set_in_ipv4(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a,
				       const enum set_field field)
{
	const struct set_rule *r = &set_rules[field];
	const __u32 first = field == SET_IPV4_TOS ? 0 : 2, sum_at = 2 - first;
	const __u32 at = field == SET_IPV4_SRC ? 1 : field == SET_IPV4_DST ? 2 : 0;
	const __u32 words = (at > sum_at ? at : sum_at) + 1, shift = field == SET_IPV4_TOS ? 8 : 0;
	struct field_change c;
	__u32 w[3];

	if (!has_ip(cpu, bpf_htons(ETH_P_IP)) || !read_words(skb, cpu->headers.l3 + first * 4, w, words)) {
		COUNT(cpu, sets_skipped);
		return DROP_NONE;
	}
	c.old = w[at];
	if (r->covered & OF_PSEUDO)
		c.new = masked(c.old, a->word.value, a->word.mask);
	else
		c.new = masked(c.old, (__u32)a->byte.value << shift, (__u32)a->byte.mask << shift);
	if (c.old == c.new)
		return DROP_NONE;
	if ((r->covered & OF_PSEUDO) && keep_pseudo_sum(skb, cpu, a, &c))
		return DROP_WRITE;
	w[at] = c.new;
	w[sum_at] = (w[sum_at] & 0xffff) | (__u32)followed(w[sum_at] >> 16, c.old, c.new) << 16;
	if (bpf_skb_store_bytes(skb, cpu->headers.l3 + first * 4, w, words * 4, r->store))
		return DROP_WRITE;
	set_key(cpu, a, r, c.new >> shift);
	return DROP_NONE;
}

static __always_inline int set_in_header(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a,
					 const struct set_rule *r)
{
	struct field_change c = {};
	__u64 store = r->store;
	__u32 width = r->width;

	c.off = field_offset(skb, cpu, a, r);
	if (!c.off || !read_change(skb, a, r, &c)) {
		COUNT(cpu, sets_skipped);
		return DROP_NONE;
	}
	if (c.old == c.new)
		return DROP_NONE;
	if ((r->covered & OF_PSEUDO) && keep_pseudo_sum(skb, cpu, a, &c))
		return DROP_WRITE;
	if ((r->covered & OF_L4) && keep_l4_sum(skb, &cpu->headers, r, &c, &store))
		return DROP_WRITE;
	if ((r->covered & OF_CRC) && keep_crc(skb, cpu, r, &c, &store))
		return DROP_WRITE;
	/* 1 to 4, in a form that the verifier sees even if the compiler keeps the value on the stack meanwhile. */
	barrier_var(width);
	if (bpf_skb_store_bytes(skb, c.off, &c.new, ((width - 1) & 3) + 1, store))
		return DROP_WRITE;
	set_key(cpu, a, r, c.new);
	return DROP_NONE;
}

/* Both addresses; not in set_field(), so that it costs no call. */
static __always_inline int set_macs(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a)
{
	__u64 dst;
	__u32 rest;

	if (!read_u64(skb, 0, &dst) || !read_u32(skb, 8, &rest))
		return DROP_WRITE;
	if (dst == *(__u64 *)__builtin_assume_aligned(a->data, 4) && rest == *(__u32 *)(a->data + 8))
		return DROP_NONE;
	if (bpf_skb_store_bytes(skb, 0, a->data, 12, 0))
		return DROP_WRITE;
	__builtin_memcpy(cpu->key.eth_dst, a->eth_pair.dst, 6);
	__builtin_memcpy(cpu->key.eth_src, a->eth_pair.src, 6);
	return DROP_NONE;
}

/* off: 0 or 6; two bytes behind either are in the frame, too. */
static __always_inline int set_mac(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a, __u32 off)
{
	__u64 old, new, value = 0, mask = 0;

	__builtin_memcpy(&value, a->mac.value, 6);
	__builtin_memcpy(&mask, a->mac.mask, 6);
	if (!read_u64(skb, off, &old))
		return DROP_WRITE;
	new = (old & ~mask) | value;
	if (new == old)
		return DROP_NONE;
	if (bpf_skb_store_bytes(skb, off, &new, 6, 0))
		return DROP_WRITE;
	__builtin_memcpy(off ? cpu->key.eth_src : cpu->key.eth_dst, &new, 6);
	return DROP_NONE;
}

/*
 * Executes one record.  Returns 0 or enum drop_reason.  A global function: the verifier looks at it once, and not once for
 * each way that leads here.
 */
__noinline int set_field(struct __sk_buff *skb, struct cpu_state *cpu, struct flow_action *a)
{
	__u32 field;

	if (!cpu || !a)
		return DROP_STALE;
	field = a->set.field;
	if (field >= SET_FIELDS)
		return DROP_STALE;
	if (field == SET_ETH_DST || field == SET_ETH_SRC)
		return set_mac(skb, cpu, a, set_rules[field].offset);
	if (field == SET_PRIORITY) {
		skb->priority = cpu->key.skb_priority = masked(skb->priority, a->word.value, a->word.mask);
		return DROP_NONE;
	}
	if (field == SET_MARK) {
		skb->mark = cpu->key.skb_mark = masked(skb->mark, a->word.value, a->word.mask);
		return DROP_NONE;
	}
	find_headers(skb, cpu);
	switch (field) {
	case SET_IPV4_SRC:
		return set_in_ipv4(skb, cpu, a, SET_IPV4_SRC);
	case SET_IPV4_DST:
		return set_in_ipv4(skb, cpu, a, SET_IPV4_DST);
	case SET_IPV4_TOS:
		return set_in_ipv4(skb, cpu, a, SET_IPV4_TOS);
	case SET_IPV4_TTL:
		return set_in_ipv4(skb, cpu, a, SET_IPV4_TTL);
	default:
		return set_in_header(skb, cpu, a, &set_rules[field]);
	}
}
