/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cursor over the linear part of a frame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "dp_maps.h"

enum {
	MAX_HEADER_OFFSET = 0x7fff, /* the verifier wants packet offsets below 64 KiB */
};

struct cursor {
	void *pos;
	void *end;
};

/* True if n bytes can be read at the cursor; n: a constant, or bounded well below 64 KiB. */
static __always_inline bool has_bytes(const struct cursor *c, __u32 n)
{
	return c->pos + n <= c->end;
}

/*
 * Loads from the packet, in wire order.  Headers sit at any offset of 2; the structs of linux/if_ether.h are packed and
 * would be read byte by byte.
 */
static __always_inline __u16 load_be16(const void *p)
{
	return *(const __u16 *)p;
}

static __always_inline __u32 load_be32(const void *p)
{
	return *(const __u32 *)p;
}

static __always_inline __u64 load_be64(const void *p)
{
	return *(const __u64 *)p;
}

static __always_inline __u8 load_u8(const void *p)
{
	return *(const __u8 *)p;
}

/*
 * Reads by offset, for code that also writes: a pointer into the packet does not outlive a helper that may move it.
 * False if the frame ends before.
 */
#define READ_PACKET(name, type) \
	static __always_inline bool name(struct __sk_buff *skb, __u32 off, type *to) \
	{ \
		if (off <= MAX_HEADER_OFFSET) { \
			__u32 bounded = off; \
			void *at; \
\
			barrier_var(bounded); /* so that the limit is seen where it is added */ \
			at = (void *)(long)skb->data + (bounded & MAX_HEADER_OFFSET); \
			if (at + sizeof(type) <= (void *)(long)skb->data_end) { \
				*to = *(const type *)at; \
				return true; \
			} \
		} \
		return !bpf_skb_load_bytes(skb, off, to, sizeof(type)); \
	}

READ_PACKET(read_u8, __u8)
READ_PACKET(read_u16, __u16)
READ_PACKET(read_u32, __u32)
READ_PACKET(read_u64, __u64)

/* Several; words: a constant. */
static __always_inline bool read_words(struct __sk_buff *skb, __u32 off, __u32 *to, const __u32 words)
{
	if (off <= MAX_HEADER_OFFSET) {
		__u32 bounded = off;
		void *at;

		barrier_var(bounded);
		at = (void *)(long)skb->data + (bounded & MAX_HEADER_OFFSET);
		if (at + words * 4 <= (void *)(long)skb->data_end) {
			for (__u32 i = 0; i < words; i++)
				to[i] = load_be32(at + i * 4);
			return true;
		}
	}
	return !bpf_skb_load_bytes(skb, off, to, words * 4);
}

/*
 * As much of so many bytes as the scratch memory takes; at least 1, also of none.  The verifier of 6.1 does not learn
 * from "n != 0" that n is 1 or more, which a helper's length has to be.
 */
static __always_inline __u32 piece_of(__u32 left)
{
	__u32 last = left - 1;

	if (last >= SCRATCH_BYTES)
		last = SCRATCH_BYTES - 1;
	barrier_var(last);
	return (last & (SCRATCH_BYTES - 1)) + 1;
}
