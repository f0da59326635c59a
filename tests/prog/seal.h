/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lengths and checksums of a frame, made from all of its bytes: what a sender does, and what a receiver checks.
 */
#pragma once

#include <stdbool.h>

#include "packet.h"

struct layout {
	__u32 tags;
	__u32 l3, l4; /* l4 0: none, or a later fragment */
	__u32 end;    /* of the IP packet, as far as the frame has it */
	__u8 proto;
	bool ipv4, ipv6;
	bool fragment;
	bool cut;	 /* the frame ends before the packet does, or in the L4 header */
	const __u8 *dst; /* in the pseudo header; behind a routing header with segments left it is there */
};

/* False for a frame that is not IP, or whose IP header is not whole. */
bool frame_layout(const struct frame *f, struct layout *l);

/* What does not fit the header's own sums, given that the header says so; UDP without checksum stays so. */
struct frame sealed(struct frame f);

/* The same, but lengths stay as they are. */
struct frame resummed(struct frame f);

/* The packet is whole, and all checksums that it has are right; of fragments only the IP header's. */
bool sums_are_right(const struct frame *f);

__u32 crc32c(const __u8 *data, __u32 len, __u32 crc);
__u16 ones_sum(const __u8 *data, __u32 len, __u32 sum); /* folded; the data begins at an even place */
__u16 get16(const __u8 *p);
void put_be16(__u8 *p, __u16 value);

/* A whole packet with payload and right checksums.  odd: of odd length. */
struct frame with_payload(struct frame f, __u32 bytes);
