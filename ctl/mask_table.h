/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The masks of a datapath: which exist, how many flows use them, and which classes of packets they can match.  Pure:
 * works on the mask_info table wherever it is mapped.
 */
#pragma once

#include <stdbool.h>

#include "dp_maps.h"

#define MASK_NONE 0xffffffffU

/* key AND mask, word by word. */
void key_apply_mask(struct flow_key *masked, const struct flow_key *key, const struct flow_key *mask);

/* How many words of a key the mask needs: KEY_WORDS_IPV4, KEY_WORDS_IPV6 or KEY_WORDS. */
__u32 mask_words(const struct flow_key *mask);

/* The classes of packets that can match, as bits 1 << enum packet_class. */
__u32 match_classes(const struct flow_key *key, const struct flow_key *mask);

/* The id of a mask in use, or MASK_NONE. */
/* Is it in use, and this mask? */
bool mask_is(const struct mask_info *info, const struct flow_key *mask);

__u32 mask_find(const struct mask_info *table, __u32 size, const struct flow_key *mask);

/* Takes a free id and describes the mask there, without flows; MASK_NONE if all are in use or retired. */
__u32 mask_claim(struct mask_info *table, __u32 size, const struct flow_key *mask, __u64 seed);

/*
 * One flow more or less, which can match these classes.  Returns the classes that the mask enters or leaves.
 * A mask that has lost its last flow is retired.
 */
__u32 mask_ref(struct mask_info *info, __u32 classes);
__u32 mask_unref(struct mask_info *info, __u32 classes);

/* Masks in use. */
__u32 mask_count(const struct mask_info *table, __u32 size);

/* Masks in use that only reactive flows use: all of them, or those of one port. */
__u32 mask_count_reactive(const struct mask_info *table, __u32 size);
__u32 mask_count_port(const struct mask_info *table, __u32 size, __u32 port_no);

/* Makes retired ids free; only after a grace period. */
void masks_reclaim(struct mask_info *table, __u32 size);

/*
 * Brings a class's array up to date: masks that left are taken out, the order of the others stays, new ones are put at
 * the end, seeds are renewed.
 */
void mask_array_update(struct mask_array *array, enum packet_class class, const struct mask_info *table, __u32 size);

const char *packet_class_name(enum packet_class class);
