/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device's wire: frames in and out, with their tags in the bytes, wherever the kernel keeps them.
 */
#pragma once

#include "packet.h"

/* A socket that hears what the device receives, -1 if that cannot be. */
int wire_open(__u32 ifindex);

/* 0, or -1 if nothing comes within timeout_ms. */
int wire_receive(int fd, struct frame *f, int timeout_ms);
int wire_send(int fd, const struct frame *f);

/* With only the Ethernet header in the linear part, as the kernel makes of frames in a PACKET_TX_RING. */
int wire_send_split(__u32 ifindex, const struct frame *f);

/* Whether the frame has a tag, and the type behind it. */
int wire_tagged(const struct frame *f);

/* With the checksum at sum_at left to whoever sends or receives it; sum_from: what it covers begins there.  gso_size: 0, or the payload of each segment. */
int wire_send_partial(__u32 ifindex, const struct frame *f, __u16 sum_from, __u16 sum_at, __u16 gso_size,
		      __u8 gso_type);
