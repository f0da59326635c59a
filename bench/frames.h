/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames that are measured: 64 bytes where the headers leave room, from 172.31.1.1 to 172.31.2.2 or fd00::1 to
 * fd00::2.  Checksums are zero, since nobody here looks at them.
 */
#pragma once

#include <linux/types.h>

struct frame {
	__u8 bytes[128];
	__u32 len;
};

enum frame_kind {
	FRAME_IPV4_UDP,
	FRAME_IPV4_TCP,
	FRAME_IPV6_TCP,
	FRAME_KINDS,
};

#define FRAME_IPV4_SRC "172.31.1.1"
#define FRAME_IPV4_DST "172.31.2.2"

void frame_make(struct frame *f, enum frame_kind kind);
