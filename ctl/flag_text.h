/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits with names, as text: syn|ack for these and no others, +syn-ack for these two whatever the others are, or numbers.
 */
#pragma once

#include "field.h"
#include "net_text.h"

enum {
	FLAGS_TEXT_SIZE = 128,
};

/* Without numbers, which the caller knows from the first character.  -EINVAL; nothing is said. */
int flags_parse(const struct field *f, struct text t, __u32 *flags, __u32 *mask);

/* All flags exact: syn|ack, or 0 for none.  Some of them: +syn-ack.  None of them: 0/0. */
const char *flags_format(const struct field *f, __u32 flags, __u32 mask, char buf[static FLAGS_TEXT_SIZE]);

/* How a value of the field may look, for refusals. */
const char *flags_example(const struct field *f);
