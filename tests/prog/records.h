/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Action records by composition, as the text of a flow would make them:
 *
 *	add_list_for_port(w, 1, LIST(output(2), set_byte(SET_IPV4_TTL, 9, 0xff), last(3)));
 */
#pragma once

#include "flow_action.h"
#include "harness.h"

#define LIST(...) \
	(const struct flow_action[]){ __VA_ARGS__ }, \
		sizeof((struct flow_action[]){ __VA_ARGS__ }) / sizeof(struct flow_action)

__u32 add_list(struct world *w, const char *match, const struct flow_action *list, __u32 count);
/* Of all frames of a port, with tags or without, which text cannot say. */
__u32 add_list_for_port(struct world *w, __u32 port, const struct flow_action *list, __u32 count);
void set_list(struct world *w, __u32 slot, const struct flow_action *list, __u32 count);

struct flow_action output(__u32 port);
struct flow_action last(__u32 port);

struct flow_action set_macs(const __u8 dst[6], const __u8 src[6]);
struct flow_action set_mac(enum set_field field, const __u8 value[6], const __u8 mask[6]);
struct flow_action set_word(enum set_field field, __u32 value, __u32 mask); /* numbers as they are read */
struct flow_action set_part(enum set_field field, __u8 part, __u32 value, __u32 mask);
struct flow_action set_host(enum set_field field, __u32 value, __u32 mask); /* priority, mark */
struct flow_action set_half(enum set_field field, __u16 value, __u16 mask);
struct flow_action set_byte(enum set_field field, __u8 value, __u8 mask);

struct flow_action push_vlan(__u16 tpid, __u16 tci);
struct flow_action pop_vlan(void);

/* A pedit without the keys that are for text only; its last step is marked by steps_end(). */
struct flow_action pedit(void);
struct flow_action write_words(enum pedit_base base, __u32 words, __u32 a, __u32 b, __u32 c);
struct flow_action write_masks(__s16 offset, __u32 a, __u32 b, __u32 c);
struct flow_action add_key(enum pedit_base base, __s16 offset, __u32 value, __u32 mask);
struct flow_action at_key(enum pedit_base base, __s16 offset, __u32 value, __u32 mask, __s16 at, __u8 offmask,
			  __u8 shift);
struct flow_action steps_end(struct flow_action a);

struct flow_action csum(__u8 what);

__u64 overlimits(struct world *w, __u32 slot);

/* The frame comes in by port 1 and leaves by port 2 like this.  By a copy, which shows the frame as it is at that moment. */
void assert_becomes(struct world *w, const struct frame *in, const struct frame *out);
