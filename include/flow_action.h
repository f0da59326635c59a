/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flow's actions: a flat list of fixed-size records, ended by ACTION_END.  An empty list drops.
 *
 * What text says in one word may be several records: set() has one for each field, pedit() a header, its keys and its
 * steps.  Numbers that stand in packets are big endian here, too, and named so.
 */
#pragma once

#include <linux/types.h>

enum action_type {
	ACTION_END,
	ACTION_OUTPUT,
	ACTION_SET,
	ACTION_PUSH_VLAN,
	ACTION_POP_VLAN,
	ACTION_PEDIT,	    /* begins a pedit(): so many keys follow, then steps, the last of which says so */
	ACTION_PEDIT_KEY,   /* as it was given; executed only where it is a step */
	ACTION_PEDIT_WRITE, /* a step: some words that follow each other, their masks in the record after it */
	ACTION_PEDIT_MASK,
	ACTION_CSUM,
	ACTION_TYPES
};

enum action_flag {
	/* The record is the last one: the frame itself may be given away, no copy is needed. */
	ACTION_F_LAST = 1 << 0,
	/* The next record belongs to the same set(), for text. */
	ACTION_F_MORE = 1 << 1,
	/* The last step of a pedit(). */
	ACTION_F_STEPS_END = 1 << 2,
	/* pedit(): the text began with the word ex, with the word compat. */
	ACTION_F_EX = 1 << 3,
	ACTION_F_COMPAT = 1 << 4,
	/* A pedit key adds its value; else it sets. */
	ACTION_F_ADD = 1 << 5,
	/* The text of a set(ipv4()) named proto and frag, too, as the flow has them.  Nothing to execute. */
	ACTION_F_NAMED = 1 << 6,
};

/* What a set record writes. */
enum set_field {
	SET_ETH,     /* both addresses, whole: eth_pair */
	SET_ETH_DST, /* mac */
	SET_ETH_SRC,
	SET_PRIORITY, /* word, host order */
	SET_MARK,
	SET_IPV4_SRC, /* word, as in the packet */
	SET_IPV4_DST,
	SET_IPV4_TOS, /* byte */
	SET_IPV4_TTL,
	SET_IPV6_SRC, /* word number `part` of four */
	SET_IPV6_DST,
	SET_IPV6_TCLASS, /* byte */
	SET_IPV6_LABEL,	 /* word: the first one of the header */
	SET_IPV6_HLIMIT, /* byte */
	SET_TCP_SRC,	 /* half */
	SET_TCP_DST,
	SET_UDP_SRC,
	SET_UDP_DST,
	SET_SCTP_SRC,
	SET_SCTP_DST,
	SET_FIELDS
};

/* Where a pedit key counts from, in the kernel's numbers (linux/tc_act/tc_pedit.h, enum pedit_header_type). */
enum pedit_base {
	PEDIT_NETWORK,
	PEDIT_ETH,
	PEDIT_IP4,
	PEDIT_IP6,
	PEDIT_TCP,
	PEDIT_UDP,
	PEDIT_BASES
};

/* Bits of a csum record, in the kernel's numbers (linux/tc_act/tc_csum.h). */
enum csum_what {
	CSUM_IPV4 = 1 << 0,
	CSUM_ICMP = 1 << 1, /* and ICMPv6 */
	CSUM_IGMP = 1 << 2,
	CSUM_TCP = 1 << 3,
	CSUM_UDP = 1 << 4,
	CSUM_UDPLITE = 1 << 5,
	CSUM_SCTP = 1 << 6,
};

enum {
	PEDIT_KEYS_MAX = 128,
	PEDIT_WORDS_MAX = 3, /* of one write */
};

struct flow_action {
	__u8 type;  /* enum action_type */
	__u8 flags; /* enum action_flag */
	union {
		struct {
			__u8 field; /* enum set_field */
			__u8 part;
		} set;
		struct {
			__u8 keys; /* so many records to skip */
			__u8 zero;
		} pedit;
		struct {
			__u8 base : 3;	/* enum pedit_base */
			__u8 shift : 5; /* at: the byte, masked, is shifted right by this and added to the offset */
			__u8 offmask;	/* at: 0 = there is none */
		} key;
		struct {
			__u8 base; /* enum pedit_base */
			__u8 words;
		} write;
		struct {
			__u8 what; /* enum csum_what */
			__u8 zero;
		} csum;
		__s16 offset; /* ACTION_PEDIT_MASK: of the first word, bytes from the base */
		__u16 head;
	};
	union {
		__u32 port; /* ACTION_OUTPUT */
		struct {
			__u8 dst[6]; /* as on the wire */
			__u8 src[6];
		} eth_pair;
		struct {
			__u8 value[6];
			__u8 mask[6];
		} mac;
		struct {
			__u32 value; /* bits outside the mask are zero */
			__u32 mask;
		} word; /* as bytes stand in the packet, but for priority and mark */
		struct {
			__be16 value_be;
			__be16 mask_be;
		} half;
		struct {
			__u8 value;
			__u8 mask;
			__u8 proto; /* ACTION_F_NAMED, for text */
			__u8 frag;
		} byte;
		struct {
			__be16 tpid_be;
			__be16 tci_be; /* as on the wire, the DEI bit is 0 */
		} vlan;
		/* result = (current & mask) ^ value, or with the sum in the place of value (net/sched/act_pedit.c) */
		struct {
			__be32 value_be;
			__be32 mask_be;
			__s16 offset; /* bytes from the base */
			__s16 at;
		} pedit_key;
		__be32 words_be[3]; /* ACTION_PEDIT_WRITE: values; ACTION_PEDIT_MASK: masks */
		__u8 data[12];
	};
};

_Static_assert(sizeof(struct flow_action) == 16, "records are walked by index");

enum {
	FLOW_ACTIONS_MAX = 512,	 /* records in one flow, ACTION_END not counted */
	FLOW_ACTIONS_INLINE = 5, /* that fit into the flow entry itself */
};
