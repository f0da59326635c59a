/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * act_csum, written down a second time.
 */
#pragma once

#include "model.h"

enum drop_reason model_csum(struct model *m, __u8 what);

/* Where a chain of IPv6 extension headers ends; proto: its first protocol, then the one behind it. */
__u32 model_skip_ext(const struct frame *f, __u32 at, __u8 *proto, struct model_headers *h);
