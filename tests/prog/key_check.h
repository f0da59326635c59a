/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of keys share: a datapath without flows, and ways to state a key.
 */
#pragma once

#include "harness.h"

/* The key of a frame from A to B; the rest by fields, zero where none is named. */
#define KEY(type, ...) \
	((struct flow_key){ .eth_type_be = htons(type), .eth_dst = MAC_B, .eth_src = MAC_A, ##__VA_ARGS__ })

/* By the member that fills the union: one that is shorter would leave the others' bytes undefined. */
#define IPV4_ADDRESSES .ipv6 = { .src = { IPV4_A, IPV4_B } }
#define IPV6_ADDRESSES .ipv6 = { .src = IPV6_A, .dst = IPV6_B }

/* The key of a frame from a length on, up to the next step's. */
struct step {
	__u32 len;
	struct flow_key key;
};
#define STEPS(...) (const struct step[]){ __VA_ARGS__ }, sizeof((struct step[]){ __VA_ARGS__ }) / sizeof(struct step)

/* Group fixtures. */
int key_world(void **state);
int key_world_end(void **state);

/* The key of the frame on port 1, whatever was in memory before, and with a tag in metadata as well as in the bytes. */
void assert_key(struct world *w, struct frame f, struct flow_key k);

/* The frame cut at every byte; none is dropped for it. */
void assert_cuts(struct world *w, struct frame f, const struct step *steps, __u32 count);
