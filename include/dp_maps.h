/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a datapath: what its pinned maps hold, and who writes what.
 *
 *	name           type            key -> value                           written by
 *	datapath       array, 1        -> struct datapath                     control
 *	ports          array           port number -> struct port             control
 *	if_port        hash            ifindex -> port number                 control
 *	port_info      hash            port number -> struct port_info        control
 *	masks          hash of arrays  enum packet_class -> struct mask_array control, replaced as a whole
 *	mask_info      array           mask id -> struct mask_info            control
 *	mask_hits      per-CPU array   mask id -> struct mask_hits            program
 *	flows          hash            64-bit hash -> slot                    control
 *	flow_pages     array of arrays slot -> struct flow                    control
 *	action_pages   array of arrays slot -> struct flow_action             control
 *	stats_pages    array of arrays slot and CPU -> struct flow_stats      program
 *	flow_slots     array           page -> struct slot_page               control
 *	action_slots   array           page -> struct slot_page               control
 *	filter         array           word -> __u64                          control
 *	mask_cache     array           CPU and hash -> struct cache_entry     program
 *	cpu_state      per-CPU array   -> struct cpu_state                    program
 *	drops          per-CPU hash    struct drop_key -> __u64               program
 *
 * "control" is one writer at a time, under the datapath's lock.  Order of its writes: a flow's entry and actions, then
 * its slot number in flows, then the mask array that brings a new mask in; a deletion the other way round.  So a packet,
 * or the next command after a kill, finds at worst a flow that nobody reaches.
 */
#pragma once

#include "dp_counters.h"
#include "flow_action.h"
#include "flow_key.h"

/* Changes whenever a pinned table's layout or meaning does. */
#define DP_ABI	    2
#define DP_NAME_LEN 16 /* IFNAMSIZ: the local port is a device of this name */

enum {
	MASKS_MAX = 1024,
	FLOWS_DEFAULT = 200000,
	FLOWS_LIMIT = 1 << 22,
	PAGE_SHIFT = 12,
	PAGE_SLOTS = 1 << PAGE_SHIFT,
	ACTION_PAGES_MAX = 1024,
	PORT_HINTS = 64,
	CACHE_DEFAULT = 256,
	CACHE_MAX = 4096,	   /* entries a CPU; a power of two */
	FILTER_BITS_PER_FLOW = 16, /* at least; one mask in 80 that cannot match is looked up in flows all the same */
	FILTER_WORDS_MIN = 64,
};

/* Masks are kept for each kind of packet, so that a packet walks only masks that can match it. */
#define PACKET_CLASSES(X) \
	X(OTHER, "other") \
	X(ARP, "arp") \
	X(IPV4, "ipv4") \
	X(IPV4_TCP, "ipv4/tcp") \
	X(IPV4_UDP, "ipv4/udp") \
	X(IPV6, "ipv6") \
	X(IPV6_TCP, "ipv6/tcp") \
	X(IPV6_UDP, "ipv6/udp") \
	X(MPLS, "mpls")

enum packet_class {
#define X(id, name) CLASS_##id,
	PACKET_CLASSES(X)
#undef X
	PACKET_CLASSES_END
};

struct mask {
	__u64 seed;  /* of flow_hash() */
	__u32 id;    /* stable while the mask lives; index of mask_info and mask_hits */
	__u32 words; /* KEY_WORDS_IPV4, KEY_WORDS_IPV6 or KEY_WORDS */
	struct flow_key key;
};

/* In lookup order. */
struct mask_array {
	__u32 count;
	__u32 zero;
	struct mask mask[MASKS_MAX];
};

/* Of one mask on one CPU; never reset, a reader remembers what it has seen. */
struct mask_hits {
	__u64 all;
	__u64 walked; /* found by trying masks in order, and not through the cache */
};

struct mask_info {
	struct mask mask;
	__u32 flows;   /* that use it; 0 = the id is free, or waits for its grace period */
	__u32 retired; /* 1 = waits for a grace period */
	__u32 class_flows[PACKET_CLASSES_END];
	__u32 reactive_port;	 /* only reactive flows use it, the first was of this port plus one; 0 = not so */
	__u64 since_ns;		 /* CLOCK_MONOTONIC; when the mask came */
	struct mask_hits born;	 /* the sums when it came: what earlier owners of the id left */
	struct mask_hits base;	 /* the sums when the present period began */
	struct mask_hits period; /* hits of the last whole period */
};

/* flow.actions when the list stands in the entry itself; else its first record's slot in action_pages. */
#define ACTIONS_INLINE 0xffffffffU

/*
 * A flow entry.  Complete before its slot is published in flows.  The key is never changed in place; mask_id is stored
 * last, and becomes FLOW_DEAD before all else when the flow is deleted.  A modification writes a fresh list and stores
 * `actions`, one aligned 32-bit word.
 */
struct flow {
	__u32 mask_id;
	__u32 actions;
	struct flow_key key; /* masked */
	struct flow_action inline_actions[FLOW_ACTIONS_INLINE + 1];
	__u64 hash; /* its key in flows */
	__u8 ufid[16];
	__u32 action_count; /* of the list `actions` points to, ACTION_END not counted; control only */
	__u32 origin;	    /* enum flow_origin */
};

/* Who added a flow. */
enum flow_origin {
	FLOW_BY_HAND,
	FLOW_REACTIVE, /* an answer to a packet: whoever sends packets has a say in how many there are, and of which masks */
};

_Static_assert(sizeof(struct flow) == 256, "a flow entry is four cache lines");

/* flow.mask_id of a flow that was deleted: it is in no table of masks, so that the cache cannot find it any more. */
#define FLOW_DEAD 0xffffffffU

/* No mask has this id. */
#define MASK_NONE 0xffffffffU

/* A slot that may have what a packet with this hash looks for; a hint, 0 = none. */
struct cache_entry {
	__u32 tag; /* the upper half of the packet's hash, never 0 */
	__u32 slot;
};

/* Of one flow on one CPU; only that CPU writes it. */
struct flow_stats {
	__u64 packets;
	__u64 bytes;	       /* on the wire without FCS, VLAN tags counted */
	__u64 used_ns;	       /* CLOCK_MONOTONIC, coarse; 0 = never */
	__u64 tcp_flags : 16;  /* seen so far, or-ed */
	__u64 overlimits : 48; /* pedit()s that did not come to their end */
};

/* What the program needs of a port; ifindex 0 = no such port. */
struct port {
	__u32 ifindex;
	__u32 flags; /* enum port_flag */
	__u8 zero[2];
	__u8 peer_mac[6];
};

enum port_flag {
	/* The device is a veth whose other end is in another namespace: give that one its frames without a queue between. */
	PORT_PEER = 1 << 0,
};

enum port_attach {
	PORT_ATTACH_NONE,
	PORT_ATTACH_TCX,
	PORT_ATTACH_CLSACT,
};

/* What the control side must know to show a port, and to give its device back as it was. */
struct port_info {
	__u32 ifindex;
	__u32 host_ifindex;	/* of the local port, a veth pair of our own: the host's end; else 0 */
	char name[DP_NAME_LEN]; /* at add-if; the current one is looked up by ifindex */
	__u32 attach;		/* enum port_attach */
	__u32 set_promisc;	/* we switched it on */
	__u32 cleared_lro;	/* we switched it off */
	__u32 made_clsact;	/* the qdisc is ours */
	__u32 unfinished;	/* being added or deleted: what is there is taken back if that was killed */
	__u32 flags;		/* enum port_flag */
	__u8 peer_mac[6];	/* of the veth's other end, when PORT_PEER was set */
	__u8 zero[2];
};

enum slot_state {
	SLOT_FREE,
	SLOT_USED,
	SLOT_RETIRED, /* unreachable, but a packet in flight may still read it */
};

struct slot_page {
	__u8 state[PAGE_SLOTS]; /* enum slot_state */
};

/* A datapath's own record. */
struct datapath {
	__u32 abi;   /* DP_ABI; first, so that any version can read it */
	__u32 dirty; /* a writer is at work, or was killed: tables that can be derived must be made anew */
	char name[DP_NAME_LEN];
	__u64 netns_cookie; /* of the namespace it belongs to (SO_NETNS_COOKIE) */
	__u32 max_flows;
	__u32 max_masks;
	__u32 possible_cpus; /* values of a per-CPU map */
	__u32 cpu_ids;	     /* one more than the highest id: parts of a page of statistics, and of the cache */
	__u32 flow_page_count;
	__u32 action_page_count;
	__u32 force_clsact;
	__u32 flows;	  /* in use */
	__u32 retired;	  /* slots and mask ids that wait for a grace period */
	__u64 created_ns; /* CLOCK_REALTIME */
	/*
	 * Where the filter stands in its map: first word in the upper half, number of words less one in the lower; 0 =
	 * there is none.  One word, so that a packet sees the old filter or the new one.
	 */
	__u64 filter;
	__u64 period_ns;	  /* CLOCK_MONOTONIC; when the present period of mask hits began */
	__u32 filter_words_max;	  /* of each of the two places that it can have in its map */
	__u32 filter_flows;	  /* that have left bits in it, also deleted ones */
	__u32 cache_size;	  /* entries a CPU in use; 0 or a power of two up to CACHE_MAX */
	__u32 max_reactive_masks; /* of masks that only reactive flows use */
	__u32 max_port_masks;	  /* of these, for one port */
	/* The id of each class's first mask, or MASK_NONE: tried without asking for the class's array. */
	__u32 first_mask[PACKET_CLASSES_END];
};

/*
 * Where the headers of the packet at hand are: bytes from the Ethernet header, which is 0.  Found when the first action
 * asks; actions that move bytes change them.
 */
struct headers {
	__u16 l2_len;	 /* skb->mac_len, below which skb->csum does not count; 0 = nothing was found yet */
	__u16 l3;	 /* behind the tags that stand in the bytes, whatever is there */
	__u16 l3_len;	 /* 0: no whole IP header */
	__u16 l4;	 /* 0: none, or a later fragment */
	__u8 rerouted;	 /* IPv6: a routing header has segments left, the final destination is not in the header */
	__u8 key_stale;	 /* the packet was written to in a way that the key does not show */
	__u8 pedit_over; /* a step of the pedit at hand failed, the others are skipped */
	__u8 zero[3];
	__u16 next; /* the record to be executed next */
};

/* An L4 header and what its checksum covers. */
struct l4_part {
	__u64 pseudo; /* the sum of the addresses */
	__u32 off;
	__u32 len; /* to the end of the IP packet */
	__u32 proto;
	__u32 sum_at; /* in the header */
	__u32 ipv4;
	__u32 zero;
};

enum {
	SCRATCH_BYTES = 512, /* what bpf_csum_diff takes at once */
};

/* A CPU's own memory: the key of the packet at hand, the counters that no other CPU writes, and what saves calls. */
struct cpu_state {
	struct flow_key key;
	struct headers headers;
	__u32 busy;	   /* 1 while the program runs here */
	__u32 class;	   /* enum packet_class of the last packet that tried masks */
	__u32 tried_first; /* of the class's array one mask need not be tried again: 0 or 1 */
	__u32 zero;
	struct dp_counters count;
	__u64 jiffies; /* when coarse_ns was read */
	__u64 coarse_ns;
	/* Port numbers by ifindex modulo PORT_HINTS: guesses, which `ports` confirms or not. */
	__u32 port_hint[PORT_HINTS];
	struct l4_part l4_part;		 /* not on the stack, of which all calls together have 512 bytes */
	__u8 scratch[SCRATCH_BYTES + 8]; /* the rest is for zeros up to a whole word */
};
