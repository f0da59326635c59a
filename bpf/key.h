/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frame -> flow key, by the rules of net/openvswitch/flow.c (key_extract): a header that is missing, cut short or that
 * lies about its length leaves its fields zero, and the frame is switched all the same.
 *
 * Keys are put together in registers and stored as whole words.  Lookup reads words; a 64-bit load that follows
 * narrower stores to the same bytes waits until they have left the store buffer.
 */
#pragma once

#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "flow_key.h"
#include "pkt.h"

enum {
	/* Enough for two tags, an IPv6 chain and TCP; what lies deeper counts as cut off. */
	PULL_BYTES = 512,
	IPV6_EXT_MAX = 12,
	ND_OPTIONS_MAX = 16,
	IP_OFFSET_MASK = 0x1fff,
	IP_MORE_FRAGMENTS = 0x2000,
	ETH_TYPE_MIN = 0x0600, /* below: an IEEE 802.3 length */
	/* Next headers of IPv6 that linux/in6.h does not name for BPF programs. */
	NEXT_HOP_BY_HOP = 0,
	NEXT_ROUTING = 43,
	NEXT_FRAGMENT = 44,
	NEXT_AUTH = 51,
	NEXT_NONE = 59,
	NEXT_DEST = 60,
	ND_NEIGHBOR_SOLICIT = 135,
	ND_NEIGHBOR_ADVERT = 136,
	ND_OPT_SOURCE_LL = 1,
	ND_OPT_TARGET_LL = 2,
};

#define MAC_MASK 0xffffffffffffULL /* the first six bytes of a word, as little-endian hosts see it */

/* The words of a key that are still in registers, and whether a header went beyond the linear part. */
struct parse {
	struct cursor at;
	__u64 word[5];
	bool cut;
};

static __always_inline bool is_vlan(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Ports as they stand in the packet into the upper half of word 3. */
static __always_inline void set_ports(struct parse *p, __u32 ports_be)
{
	p->word[3] |= (__u64)ports_be << 32;
}

static __always_inline void set_icmp(struct parse *p, __u8 type, __u8 code)
{
	set_ports(p, bpf_htons(type) | (__u32)bpf_htons(code) << 16);
}

/* The cursor stands at the L4 header.  A header that is not whole leaves the ports zero. */
static __always_inline void parse_l4(struct parse *p, __u8 proto, __u8 icmp_proto)
{
	void *h = p->at.pos;

	if (proto == IPPROTO_TCP) {
		__u32 len;

		if (!has_bytes(&p->at, 20))
			goto cut;
		/* Data offset is in words; below 5 the header lies and is left alone. */
		len = (load_u8(h + 12) >> 4) * 4;
		if (len < 20)
			return;
		if (!has_bytes(&p->at, len))
			goto cut;
		p->word[1] |= (__u64)(load_be16(h + 12) & bpf_htons(0x0fff)) << 48;
		set_ports(p, load_be32(h));
	} else if (proto == IPPROTO_UDP) {
		if (!has_bytes(&p->at, 8))
			goto cut;
		set_ports(p, load_be32(h));
	} else if (proto == icmp_proto) {
		if (!has_bytes(&p->at, 8))
			goto cut;
		set_icmp(p, load_u8(h), load_u8(h + 1));
	} else if (proto == IPPROTO_SCTP) {
		if (!has_bytes(&p->at, 12))
			goto cut;
		set_ports(p, load_be32(h));
	}
	return;
cut:
	p->cut = true;
}

/* proto, tos, ttl and frag into the lower half of word 3. */
static __always_inline void set_ip(struct parse *p, __u8 proto, __u8 tos, __u8 ttl, __u8 frag)
{
	p->word[3] = proto | (__u32)tos << 8 | (__u32)ttl << 16 | (__u32)frag << 24;
}

static __always_inline void parse_ipv4(struct parse *p)
{
	void *h = p->at.pos;
	__u8 frag = IP_FRAG_NO, proto;
	__u32 len;
	__u16 off;

	if (!has_bytes(&p->at, 20))
		goto cut;
	len = (load_u8(h) & 0xf) * 4;
	if (len < 20)
		return;
	if (!has_bytes(&p->at, len))
		goto cut;
	/* The reserved bit and DF do not make a fragment. */
	off = bpf_ntohs(load_be16(h + 6));
	if (off & IP_OFFSET_MASK)
		frag = IP_FRAG_LATER;
	else if (off & IP_MORE_FRAGMENTS)
		frag = IP_FRAG_FIRST;
	proto = load_u8(h + 9);
	set_ip(p, proto, load_u8(h + 1), load_u8(h + 8), frag);
	p->word[4] = load_be64(h + 12);
	if (frag == IP_FRAG_LATER)
		return;
	p->at.pos += len;
	parse_l4(p, proto, IPPROTO_ICMP);
	return;
cut:
	p->cut = true;
}

/* ARP and RARP for IPv4 over Ethernet; any other kind keys as zeros. */
static __always_inline void parse_arp(struct parse *p, struct flow_key *key)
{
	void *h = p->at.pos;
	__u16 op;

	if (!has_bytes(&p->at, 28)) {
		p->cut = true;
		return;
	}
	if (load_be64(h) << 16 != ((__u64)bpf_htons(1) | (__u64)bpf_htons(ETH_P_IP) << 16 | 6ULL << 32 | 4ULL << 40)
					  << 16)
		return;
	op = bpf_ntohs(load_be16(h + 6));
	set_ip(p, op <= 0xff ? op : 0, 0, 0, 0);
	p->word[4] = load_be32(h + 14) | (__u64)load_be32(h + 24) << 32;
	/* sha, tha: 12 bytes in words 5 and 6 */
	key->l3_words[1] = (load_be64(h + 8) & MAC_MASK) | (__u64)load_be16(h + 18) << 48;
	key->l3_words[2] = load_be32(h + 20);
}

/* The outermost three labels; what is cut off stays zero. */
static __always_inline void parse_mpls(struct parse *p, struct flow_key *key)
{
	__u32 lse;

	if (!has_bytes(&p->at, 4))
		goto cut;
	lse = load_be32(p->at.pos);
	p->word[4] = lse;
	if (lse & bpf_htonl(0x100))
		return;
	if (!has_bytes(&p->at, 8))
		goto cut;
	lse = load_be32(p->at.pos + 4);
	p->word[4] |= (__u64)lse << 32;
	if (lse & bpf_htonl(0x100))
		return;
	if (!has_bytes(&p->at, 12))
		goto cut;
	key->l3_words[1] = load_be32(p->at.pos + 8);
	return;
cut:
	p->cut = true;
}

/*
 * IPv6 extension headers and neighbour discovery options are chains of unknown length.  They are walked by offset with
 * bpf_skb_load_bytes inside bpf_loop: with packet pointers the verifier would follow each turn of each chain anew, more
 * than its million instructions, and few frames have either.
 */
struct ext_walk {
	struct __sk_buff *skb;
	__u32 off;
	__u8 next;
	__u8 frag; /* enum ip_frag */
	__u8 rerouted;
};

static __always_inline bool is_ipv6_ext(__u8 next)
{
	return next == NEXT_HOP_BY_HOP || next == NEXT_ROUTING || next == NEXT_FRAGMENT || next == NEXT_AUTH ||
	       next == NEXT_DEST;
}

/* Steps over one header; returns 1 at the end of the chain, with w->next the final protocol. */
static long skip_ext_header(__u32 i, struct ext_walk *w)
{
	__u8 h[4] = {};

	(void)i;
	if (!is_ipv6_ext(w->next))
		return 1;
	/* Two bytes tell where the next header is; a fragment's offset needs four (net/ipv6/exthdrs_core.c). */
	if (bpf_skb_load_bytes(w->skb, w->off, h, 2))
		goto malformed;
	if (w->next == NEXT_FRAGMENT) {
		w->frag = IP_FRAG_FIRST;
		if (bpf_skb_load_bytes(w->skb, w->off + 2, h + 2, 2))
			goto malformed;
		if ((h[2] << 8 | h[3]) & 0xfff8) {
			w->frag = IP_FRAG_LATER;
			return 1;
		}
		w->off += 8;
	} else {
		/* With segments left, the final destination is in the header (net/openvswitch/actions.c, set_ipv6). */
		if (w->next == NEXT_ROUTING && !bpf_skb_load_bytes(w->skb, w->off + 3, h + 3, 1))
			w->rerouted |= !!h[3];
		/* AUTH counts words, less two (RFC 4302); the others units of eight bytes, less one. */
		w->off += w->next == NEXT_AUTH ? (h[1] + 2) * 4 : (h[1] + 1) * 8;
	}
	w->next = h[0];
	return 0;
malformed:
	w->next = NEXT_NONE;
	return 1;
}

/*
 * Walks the chain from its first header at off.  Returns the final protocol in bits 0-7 (NEXT_FRAGMENT for a later
 * fragment, NEXT_NONE if the chain is malformed or too long), enum ip_frag in bits 8-14, whether a routing header has
 * segments left in bit 15, the offset behind the chain above.
 * A header that is no known extension header ends the chain: its bytes are never taken for one.
 */
__noinline __u32 skip_ipv6_ext(struct __sk_buff *skb, __u32 off, __u8 next)
{
	struct ext_walk w = { .skb = skb, .off = off, .next = next };

	bpf_loop(IPV6_EXT_MAX, skip_ext_header, &w, 0);
	if (is_ipv6_ext(w.next) && w.frag != IP_FRAG_LATER)
		w.next = NEXT_NONE;
	return w.next | (__u32)w.frag << 8 | (__u32)w.rerouted << 15 | (w.off & MAX_HEADER_OFFSET) << 16;
}

struct nd_walk {
	struct __sk_buff *skb;
	__u32 off;
	__u64 sll;
	__u64 tll;
	bool twice;
};

static long read_nd_option(__u32 i, struct nd_walk *w)
{
	__u64 option, mac;
	__u8 type, units;

	(void)i;
	if (bpf_skb_load_bytes(w->skb, w->off, &option, sizeof(option)))
		return 1;
	type = option;
	units = option >> 8;
	mac = option >> 16;
	/* Length zero ends the walk, and so does an option that leaves the frame. */
	if (!units || w->off + units * 8 > w->skb->len)
		return 1;
	w->off += units * 8;
	if (units != 1)
		return 0;
	if (type == ND_OPT_SOURCE_LL) {
		w->twice |= !!w->sll;
		w->sll = mac;
	} else if (type == ND_OPT_TARGET_LL) {
		w->twice |= !!w->tll;
		w->tll = mac;
	}
	return w->twice;
}

/*
 * Neighbour discovery at off: target and link-layer addresses.  A second address of one kind makes all three zero
 * (net/openvswitch/flow.c, parse_icmpv6).
 */
static __noinline int parse_nd(struct __sk_buff *skb, __u32 off, struct flow_key *key)
{
	struct nd_walk w = { .skb = skb, .off = off + 24 };

	/*
	 * Zeros, and read from the map, of whose contents the verifier knows nothing: before Linux 6.7 it walks a callback
	 * of bpf_loop once.  With zeros on the stack it finds a second address impossible and removes what sees one as
	 * dead code (seen on 6.1).
	 */
	w.sll = ((volatile __u64 *)key)[13];
	w.tll = ((volatile __u64 *)key)[14];
	if (bpf_skb_load_bytes(skb, off + 8, key->nd_target, sizeof(key->nd_target)))
		return 0;
	bpf_loop(ND_OPTIONS_MAX, read_nd_option, &w, 0);
	if (w.twice) {
		__builtin_memset(key->nd_target, 0, sizeof(key->nd_target));
		return 0;
	}
	((__u64 *)key)[13] = w.sll | w.tll << 48;
	((__u64 *)key)[14] = w.tll >> 16;
	return 0;
}

static __always_inline void parse_ipv6(struct __sk_buff *skb, struct parse *p, struct flow_key *key)
{
	void *h = p->at.pos;
	__u8 frag = IP_FRAG_NO, proto, tos, ttl;

	if (!has_bytes(&p->at, 40)) {
		p->cut = true;
		return;
	}
	tos = bpf_ntohs(load_be16(h)) >> 4;
	ttl = load_u8(h + 7);
	proto = load_u8(h + 6);
	p->word[4] = load_be64(h + 8);
	key->l3_words[1] = load_be64(h + 16);
	key->l3_words[2] = load_be64(h + 24);
	key->l3_words[3] = load_be64(h + 32);
	((__u64 *)key)[8] |= load_be32(h) & bpf_htonl(0xfffff);
	p->at.pos += 40;
	if (is_ipv6_ext(proto)) {
		__u32 end = skip_ipv6_ext(skb, p->at.pos - (void *)(long)skb->data, proto), off;

		proto = end;
		frag = end >> 8 & 0x7f;
		off = end >> 16;
		/* clang sees that the callee masked it already and drops the mask; the verifier of 6.1 does not see it. */
		barrier_var(off);
		p->at.pos = (void *)(long)skb->data + (off & MAX_HEADER_OFFSET);
	}
	set_ip(p, proto, tos, ttl, frag);
	if (frag == IP_FRAG_LATER)
		return;
	h = p->at.pos;
	parse_l4(p, proto, IPPROTO_ICMPV6);
	if (proto == IPPROTO_ICMPV6 && h + 8 <= p->at.end && load_u8(h + 1) == 0 &&
	    (load_u8(h) == ND_NEIGHBOR_SOLICIT || load_u8(h) == ND_NEIGHBOR_ADVERT))
		parse_nd(skb, h - (void *)(long)skb->data, key);
}

/*
 * The tags and the type behind them.  The outer tag stands in metadata at TC ingress, whether or not a NIC put it there;
 * one in the bytes is the outer one only when metadata has none.  On return the cursor is behind the type.
 */
static __always_inline __be16 parse_l2(struct __sk_buff *skb, struct parse *p, struct flow_key *key)
{
	__be16 type = load_be16(p->at.pos + 12);
	__u16 tci = 0, tpid = 0;

	p->word[1] = load_be64(p->at.pos) & MAC_MASK;
	p->word[2] = load_be64(p->at.pos + 6) & MAC_MASK;
	p->at.pos += ETH_HLEN;
	if (skb->vlan_present) {
		tci = bpf_htons(skb->vlan_tci | VLAN_TAG_PRESENT);
		tpid = skb->vlan_proto;
	} else if (is_vlan(type)) {
		if (!has_bytes(&p->at, 4))
			goto cut;
		tci = load_be16(p->at.pos) | bpf_htons(VLAN_TAG_PRESENT);
		tpid = type;
		type = load_be16(p->at.pos + 2);
		p->at.pos += 4;
	}
	p->word[0] = (__u64)tci << 32 | (__u64)tpid << 48;
	if (tci && is_vlan(type)) {
		if (!has_bytes(&p->at, 4))
			goto cut;
		p->word[2] |= (__u64)(__u16)(load_be16(p->at.pos) | bpf_htons(VLAN_TAG_PRESENT)) << 48;
		((__u64 *)key)[8] = (__u64)type << 32;
		type = load_be16(p->at.pos + 2);
		p->at.pos += 4;
	}
	return type;
cut:
	p->cut = true;
	return type;
}

/* IEEE 802.3: a SNAP header without organisation names the type, anything else is 802.2. */
static __always_inline __be16 parse_llc(struct parse *p)
{
	void *h = p->at.pos;
	__be16 type;

	if (!has_bytes(&p->at, 8)) {
		p->cut = true;
		return bpf_htons(ETH_TYPE_802_2);
	}
	type = load_be16(h + 6);
	if (load_be16(h) != bpf_htons(0xaaaa) || load_u8(h + 3) || load_be16(h + 4) || bpf_ntohs(type) < ETH_TYPE_MIN)
		return bpf_htons(ETH_TYPE_802_2);
	p->at.pos += 8;
	return type;
}

/*
 * Fills key from the linear part of the frame.  Returns 0, 1 if a header goes beyond that part (the key is right if the
 * frame ends there, too), or -1 if there is no whole Ethernet header.
 */
static __always_inline int parse_frame(struct __sk_buff *skb, struct flow_key *key, __u16 in_port)
{
	struct parse p = { .at = { .pos = (void *)(long)skb->data, .end = (void *)(long)skb->data_end } };
	__u64 *word = (__u64 *)key;
	__be16 type;

	if (!has_bytes(&p.at, ETH_HLEN))
		return -1;
	for (int i = KEY_WORDS_IPV4; i < KEY_WORDS; i++)
		word[i] = 0;
	word[9] = skb->priority | (__u64)skb->mark << 32;
	type = parse_l2(skb, &p, key);
	if (bpf_ntohs(type) < ETH_TYPE_MIN)
		type = parse_llc(&p);
	if (type == bpf_htons(ETH_P_IP))
		parse_ipv4(&p);
	else if (type == bpf_htons(ETH_P_IPV6))
		parse_ipv6(skb, &p, key);
	else if (type == bpf_htons(ETH_P_ARP) || type == bpf_htons(ETH_P_RARP))
		parse_arp(&p, key);
	else if (type == bpf_htons(ETH_P_MPLS_UC) || type == bpf_htons(ETH_P_MPLS_MC))
		parse_mpls(&p, key);
	word[0] = p.word[0] | (__u64)type << 16 | in_port;
	for (int i = 1; i < KEY_WORDS_IPV4; i++)
		word[i] = p.word[i];
	return p.cut;
}

/* The parser again, out of line, for frames that had to be pulled in. */
static __noinline int parse_pulled_frame(struct __sk_buff *skb, struct flow_key *key, __u16 in_port)
{
	return parse_frame(skb, key, in_port);
}

/*
 * Frame and port -> key, every byte of it.  Headers outside the linear part are pulled in, which only frames from
 * senders that split headers need.  Returns 0, or -1 for a frame without an Ethernet header.
 */
static __always_inline int extract_key(struct __sk_buff *skb, __u16 in_port, struct flow_key *key)
{
	int ret = parse_frame(skb, key, in_port);

	if (ret && (__u32)(skb->data_end - skb->data) < skb->len) {
		bpf_skb_pull_data(skb, skb->len < PULL_BYTES ? skb->len : PULL_BYTES);
		ret = parse_pulled_frame(skb, key, in_port);
	}
	return ret < 0 ? ret : 0;
}
