/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flow key: what a packet is, as far as a flow can tell.
 *
 * A mask is the same struct: a bit that is set is a bit that counts.  Both are arrays of 64-bit words, and lookup
 * masks, hashes and compares words; so no byte of a key is ever left undefined, padding included.
 *
 * The words are ordered by how often flows need them, so that most masks end early and lookup stops there:
 *
 *	word 0..4   metadata, Ethernet, outer tag, IPv4 or ARP addresses, ports     KEY_WORDS_IPV4
 *	word 5..7   the rest of IPv6 addresses, ARP hardware addresses              KEY_WORDS_IPV6
 *	word 8..14  label, inner TPID, skb metadata, recirculation, ND              KEY_WORDS
 *
 * Fields that a packet does not have are zero.  Names that end in _be are big endian (bpftool prints integers in host
 * order); addresses are byte arrays.  Host order elsewhere.
 */
#pragma once

#include <linux/types.h>

enum {
	KEY_WORDS_IPV4 = 5,
	KEY_WORDS_IPV6 = 8,
	KEY_WORDS = 15,
};

/* Bit 12 of a TCI says "there is a tag": the DEI bit of the wire cannot be matched, as in the Open vSwitch kernel datapath. */
#define VLAN_TAG_PRESENT 0x1000

/* Port numbers fit 16 bits; 65535 means "no port", as OVSP_NONE does (net/openvswitch/datapath.h: DP_MAX_PORTS). */
#define PORTS_MAX  65535
#define PORT_NONE  65535
#define PORT_LOCAL 0

/* The type of frames that carry an IEEE 802.3 length: ETH_P_802_2, as net/openvswitch/flow.c stores it. */
#define ETH_TYPE_802_2 0x0004

enum ip_frag {
	IP_FRAG_NO,
	IP_FRAG_FIRST, /* offset 0, more to come: has ports */
	IP_FRAG_LATER, /* ports are zero */
};

struct flow_key {
	/* word 0 */
	__u16 in_port;
	__be16 eth_type_be; /* of the innermost header that was parsed; a third tag's TPID stays here */
	__be16 vlan_tci_be; /* outer tag, VLAN_TAG_PRESENT set; 0 = untagged */
	__be16 vlan_tpid_be;
	/* word 1 */
	__u8 eth_dst[6];
	__be16 tcp_flags_be; /* 12 bits */
	/* word 2 */
	__u8 eth_src[6];
	__be16 cvlan_tci_be; /* inner tag */
	/* word 3 */
	__u8 ip_proto;	  /* ARP and RARP: the opcode, 0 above 255 */
	__u8 ip_tos;	  /* IPv6: traffic class */
	__u8 ip_ttl;	  /* IPv6: hop limit */
	__u8 ip_frag;	  /* enum ip_frag */
	__be16 tp_src_be; /* ICMP and ICMPv6: type */
	__be16 tp_dst_be; /* ICMP and ICMPv6: code */
	/* words 4 to 7 */
	union {
		struct {
			__u8 src[4];
			__u8 dst[4];
		} ipv4;
		struct {
			__u8 src[16];
			__u8 dst[16];
		} ipv6;
		struct {
			__u8 sip[4];
			__u8 tip[4];
			__u8 sha[6];
			__u8 tha[6];
		} arp;
		__be32 mpls_lse_be[3]; /* outermost first */
		__u64 l3_words[4];
	};
	/* word 8 */
	__be32 ipv6_label_be; /* 20 bits */
	__be16 cvlan_tpid_be;
	__u16 zero0;
	/* words 9 and 10 */
	__u32 skb_priority;
	__u32 skb_mark;
	__u32 recirc_id;
	__u32 dp_hash;
	/* words 11 to 14 */
	__u8 nd_target[16];
	__u8 nd_sll[6];
	__u8 nd_tll[6];
	__u32 zero1;
};

_Static_assert(sizeof(struct flow_key) == KEY_WORDS * 8, "a flow key is whole words");
_Static_assert(__builtin_offsetof(struct flow_key, ipv4) == 4 * 8, "IPv4 masks end with word 4");
_Static_assert(__builtin_offsetof(struct flow_key, ipv6_label_be) == KEY_WORDS_IPV6 * 8, "IPv6 masks end with word 7");
