/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our program on a device's TC ingress hook: a TCX link where the kernel has it (6.6), else a clsact filter.
 *
 * Order on the hook: TCX programs in the order they came, then clsact filters by priority.  A TCX link of ours goes to
 * the end of the TCX programs and in front of every filter.  Nothing but our own link, filter and qdisc is ever removed.
 */
#pragma once

#include <stdbool.h>

#include <linux/types.h>

#include "dp_maps.h"
#include "error.h"

#define ATTACH_PROGRAM "tcvs_ingress" /* the program's name, and the filter's */

/*
 * Our clsact filter's place.  As with TCX it comes in front of what others number by default (the kernel gives 49152
 * and down), since a filter there may well end the packet's way; who means to be first still can, by 1 to 16.  An odd
 * number and four letters as the handle, because a priority holds filters of one kind and protocol only: at 1 or 10
 * somebody's u32 filter would shut us out.
 */
#define ATTACH_PRIORITY 17
#define ATTACH_HANDLE	0x74637673 /* "tcvs" */

/* Whether the kernel has TCX.  Asked once; touches no device. */
bool attach_has_tcx(void);

/*
 * The link lives as long as its pin.  A pin that an interrupted command left behind is taken over: on this device the
 * program is replaced in place, without a gap; a link to another or a lost device is dropped.
 */
int attach_tcx(int prog_fd, __u32 ifindex, const char *pin, struct error *e);

/*
 * Replaces a filter of ours, refuses a foreign one in our place (-EBUSY).  *made_qdisc is true only if this call made
 * the clsact qdisc.  An ingress qdisc in its stead serves as well, and stays.
 */
int attach_clsact(int prog_fd, __u32 ifindex, bool *made_qdisc, struct error *e);

/* Is there a clsact or ingress qdisc on the device, whose-ever?  False also if that cannot be told. */
bool attach_has_qdisc(__u32 ifindex);

/* Detaches wherever the device is now, a lost one included.  No pin: 0. */
int detach_tcx(const char *pin, struct error *e);

/*
 * Ours is the filter in our place that runs prog_id, or any program of our name.  With remove_qdisc clsact goes too,
 * unless somebody has a filter left on it.  No device, qdisc or filter: 0.
 */
int detach_clsact(__u32 ifindex, __u32 prog_id, bool remove_qdisc, struct error *e);

struct attach_state {
	enum port_attach how; /* PORT_ATTACH_NONE: ours is not there, and all others count as before */
	__u32 prog_id;	      /* attached program; another than asked for when an older one of our name is found */
	__u32 before;	      /* other programs and filters that run before ours on ingress */
	__u32 after;
};

/* What really is on the hook now.  Filters of other chains than 0 run only through one of chain 0, and count not. */
int attach_query(__u32 ifindex, __u32 our_prog_id, struct attach_state *s, struct error *e);
