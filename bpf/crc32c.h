/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SCTP's checksum, a CRC over the whole packet.
 *
 * A CRC is linear: when some bits of a packet flip, its CRC changes by the CRC, without the usual complements, of a packet
 * that has just these bits, whatever the others are.  So a port is rewritten without reading the payload, and a checksum
 * that was wrong before stays wrong by the same difference, as in the kernel's datapath (net/openvswitch/actions.c,
 * set_sctp).  The zeros behind the flipped bits multiply the CRC, a polynomial modulo P, by x^8 for each byte.
 */
#pragma once

#include "maps.h"
#include "pkt.h"

#define CRC32C_POLY 0x82f63b78U /* bit 31 is x^0 */

enum {
	CRC_LENGTH_BITS = 16,
};

/* x^(8 * 2^i) mod P */
static const __u32 crc32c_zeros[CRC_LENGTH_BITS] = {
	0x00800000, 0x00008000, 0x82f63b78, 0x6ea2d55c, 0x18b8ea18, 0x510ac59a, 0xb82be955, 0xb8fdb1e7,
	0x88e56f72, 0x74c360a4, 0xe4172b16, 0x0d65762a, 0x35d73a62, 0x28461564, 0xbf455269, 0xe2ea32dc,
};

/* CRCs of four bits. */
static const __u32 crc32c_nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static __always_inline __u32 crc32c_byte(__u32 crc, __u8 byte)
{
	crc ^= byte;
	crc = crc >> 4 ^ crc32c_nibble[crc & 0xf];
	return crc >> 4 ^ crc32c_nibble[crc & 0xf];
}

struct crc_shift {
	__u32 crc;
	__u32 zeros; /* so many bytes */
};

static long crc_shift_step(__u32 i, struct crc_shift *s)
{
	__u32 a, b = s->crc, product = 0;

	if (i >= CRC_LENGTH_BITS)
		return 1;
	if (!(s->zeros >> i & 1))
		return 0;
	a = crc32c_zeros[i];
#pragma unroll
	for (int bit = 31; bit >= 0; bit--) {
		/* No "& -(bit)": Linux 6.18 follows both values of such a mask apart, 2^64 ways in all. */
		__u32 take = a >> bit & 1, carry = b & 1;

		barrier_var(take);
		barrier_var(carry);
		product ^= b * take;
		b = b >> 1 ^ CRC32C_POLY * carry;
	}
	s->crc = product;
	return 0;
}

/* What the checksum, as it stands in the packet, changes by (xor) when the 16 bits before `zeros` bytes change by flipped. */
__noinline __u32 crc32c_change(__u32 flipped, __u32 zeros)
{
	struct crc_shift s = { .zeros = zeros };

	s.crc = crc32c_byte(crc32c_byte(0, flipped), flipped >> 8);
	bpf_loop(CRC_LENGTH_BITS, crc_shift_step, &s, 0);
	return s.crc;
}

/* The CRC of `left` bytes of the packet from off on. */
struct crc_walk {
	struct __sk_buff *skb;
	__u8 *scratch;
	__u32 off;
	__u32 left;
	__u32 crc;
};

static long crc_scratch_byte(__u32 i, struct crc_walk *w)
{
	if (i >= SCRATCH_BYTES)
		return 1;
	w->crc = crc32c_byte(w->crc, w->scratch[i]);
	return 0;
}

static long crc_piece(__u32 i, struct crc_walk *w)
{
	__u32 n = piece_of(w->left);

	(void)i;
	if (!w->left || bpf_skb_load_bytes(w->skb, w->off, w->scratch, n))
		return 1;
	bpf_loop(n, crc_scratch_byte, w, 0);
	w->off += n;
	w->left -= n;
	return 0;
}

/* Continues crc; len: at most 65535. */
__noinline __u32 crc32c_packet(struct __sk_buff *skb, struct cpu_state *cpu, __u32 crc, __u32 off, __u32 len)
{
	struct crc_walk w = { .skb = skb, .off = off, .left = len, .crc = crc };

	if (!cpu)
		return crc;
	w.scratch = cpu->scratch;
	bpf_loop(0x10000 / SCRATCH_BYTES, crc_piece, &w, 0);
	return w.crc;
}
