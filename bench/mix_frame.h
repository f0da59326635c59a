/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tells one frame of a mix from another: shared by the program that writes it and by who draws it.
 */
#pragma once

#include <linux/types.h>

enum {
	MIX_FRAMES_MAX = 1 << 17,
};

struct mix_frame {
	__be32 src;
	__be16 udp_src;
	__u16 zero;
};
