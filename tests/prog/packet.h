/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames by composition:
 *
 *	FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 64), tcp(1000, 80, TCP_SYN))
 *
 * All go from A to B.  What a layer is not told is zero: the datapath reads neither checksums nor total lengths.
 */
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/types.h>

#define MAC_A \
	{ \
		0x02, 0, 0, 0, 0x0a, 0x0a \
	}
#define MAC_B \
	{ \
		0x06, 0, 0, 0, 0x0b, 0x0b \
	}

#define IPV4_A 192, 0, 2, 1
#define IPV4_B 198, 51, 100, 2

#define IPV6_A \
	{ \
		0x20, 0x01, 0x0d, 0xb8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xaa \
	}
#define IPV6_B \
	{ \
		0x20, 0x01, 0x0d, 0xb8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xbb \
	}
#define IPV6_T \
	{ \
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xcc \
	} /* whom neighbour discovery asks for */

enum {
	FRAME_MAX = 3600, /* what a test run takes, about */
	LAYER_MAX = 64,

	TCP_FIN = 0x001,
	TCP_SYN = 0x002,
	TCP_ACK = 0x010,
	TCP_ALL_FLAGS = 0xfff,

	IPV4_RESERVED = 0x8000,
	IPV4_DF = 0x4000,
	IPV4_MF = 0x2000,

	IPV6_MF = 1, /* of ip6_fragment(); the offset is a multiple of 8 */
	MPLS_BOTTOM = 1,
};

struct frame {
	__u32 len;
	__u8 byte[FRAME_MAX];
};

struct layer {
	__u32 len;
	__u8 byte[LAYER_MAX];
};

#define FRAME(...) \
	frame_of((const struct layer[]){ __VA_ARGS__ }, sizeof((struct layer[]){ __VA_ARGS__ }) / sizeof(struct layer))

struct frame frame_of(const struct layer *layers, __u32 count);
struct frame frame_cut(struct frame f, __u32 len);
struct frame frame_padded(struct frame f, __u32 len); /* with bytes that count up */

struct layer eth(__u16 type_or_length);
struct layer vlan(__u16 tci, __u16 type);
struct layer llc(__u8 dsap, __u8 ssap, __u8 control);
struct layer snap(__u32 oui, __u16 type); /* behind llc(0xaa, 0xaa, 3) */
struct layer bytes(const void *data, __u32 len);
struct layer zeros(__u32 len);

struct arp_fields {
	__u16 hrd, pro;
	__u8 hln, pln;
};
#define ARP_FOR_IPV4 ((struct arp_fields){ 1, ETH_P_IP, 6, 4 })
struct layer arp(__u16 op, struct arp_fields kind);

struct ipv4_fields {
	__u8 tos, ttl;
	__u16 frag; /* three flags and the offset */
	__u16 total_length;
	const char *options; /* option_words of them */
	__u8 option_words;
	__u8 ihl; /* 0: what it is */
};
#define ipv4(proto, ...) ipv4_layer(proto, (struct ipv4_fields){ __VA_ARGS__ })
struct layer ipv4_layer(__u8 proto, struct ipv4_fields f);

struct ipv6_fields {
	__u8 tclass, hlimit;
	__u32 label;
	__u16 payload_length;
};
#define ipv6(next, ...) ipv6_layer(next, (struct ipv6_fields){ __VA_ARGS__ })
struct layer ipv6_layer(__u8 next, struct ipv6_fields f);

/* Extension headers, (units + 1) * 8 and (words + 2) * 4 bytes long. */
struct layer ip6_option(__u8 next, __u8 units);
struct layer ip6_auth(__u8 next, __u8 words);
/* To one more address, which is the packet's final destination while segments are left. */
struct layer ip6_routing(__u8 next, __u8 segments_left);
struct layer ip6_fragment(__u8 next, __u16 offset_and_flags);

struct layer tcp(__u16 src, __u16 dst, __u16 flags);
struct layer tcp_with_offset(__u16 src, __u16 dst, __u16 flags, __u8 words);
struct layer udp(__u16 src, __u16 dst);
struct layer sctp(__u16 src, __u16 dst);
struct layer icmp(__u8 type, __u8 code); /* ICMPv6, too */

/* Neighbour discovery up to its target, and one option. */
struct layer nd(__u8 type, __u8 code);
struct layer nd_option(__u8 type, __u8 units, const __u8 mac[6]);

struct layer mpls(__u32 label, __u8 tc, __u8 bottom, __u8 ttl);
