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
