/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel datapath can match and this one cannot: text knows it, so that what Open vSwitch prints is read, shown
 * and checked like the rest, but no flow with it is installed.  Host order; addresses and long numbers are bytes as they
 * are written.  A mask is the same struct.
 */
#pragma once

#include <linux/types.h>

enum tunnel_flag {
	TUNNEL_OAM = 1 << 0,
	TUNNEL_DF = 1 << 1,
	TUNNEL_CSUM = 1 << 2,
	TUNNEL_KEY = 1 << 3,
};

/* One after the other: class, big endian, type, length in words, data; as on the wire, but all in key and mask alike. */
struct geneve_options {
	__u8 bytes[252];
	__u8 len;
};

enum {
	GENEVE_HEADER = 4,
	GENEVE_DATA_MAX = 124,
};

struct foreign_key {
	struct {
		__u8 id[8];
		__u8 src[4];
		__u8 dst[4];
		__u8 ipv6_src[16];
		__u8 ipv6_dst[16];
		__u8 tos;
		__u8 ttl;
		__u16 tp_src;
		__u16 tp_dst;
		__u8 flags; /* enum tunnel_flag */
		__u8 gbp_flags;
		__u16 gbp_id;
		__u8 erspan_ver; /* says which of the others there are */
		__u8 erspan_dir;
		__u8 erspan_hwid;
		__u32 erspan_idx;
		struct geneve_options geneve;
	} tun;
	struct {
		__u8 label[16];
		__u32 mark;
		__u16 zone;
		__u8 state;
	} ct;
	struct {
		__u8 src[4];
		__u8 dst[4];
		__u16 tp_src;
		__u16 tp_dst;
		__u8 proto;
	} ct_tuple4;
	struct {
		__u8 src[16];
		__u8 dst[16];
		__u16 tp_src;
		__u16 tp_dst;
		__u8 proto;
	} ct_tuple6;
	struct {
		__u8 flags;
		__u8 ttl;
		__u8 mdtype;
		__u8 np;
		__u32 path; /* 24 bits of SPI, 8 of SI */
		__u32 context[4];
	} nsh;
	struct {
		__u16 ns;
		__u16 id;
	} packet_type;
	struct {
		__u32 reserved;
		__u8 options_type;
	} nd_ext;
	__u16 ipv6_exthdrs;
};
