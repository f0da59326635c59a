/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A datapath in namespaces of this process alone, and frames that are played to it.
 *
 * Port N is the device pN, its other end qN; a frame comes in either by a test run of the program (run_frame), which
 * tells the verdict but sends only copies, or through the veth pair (send_frame), which does all but tell.  What leaves
 * by port N is heard on qN.  Everything runs on one CPU.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <cmocka.h>

#include "assert_error.h"
#include "dp.h"
#include "link.h"
#include "packet.h"
#include "util.h"

enum {
	TEST_PORTS_MAX = 4,
};

struct world {
	struct dp *dp;
	int cpu;
	__u32 ports;
	struct link_info port[TEST_PORTS_MAX + 1]; /* by number; 0 is the local port, whose device is the inner end */
	struct link_info peer[TEST_PORTS_MAX + 1];
	int listener[TEST_PORTS_MAX + 1];
	struct wrapper_bpf *wrapper;
	__u32 mark, priority; /* that frames of test runs have */
	__u64 received;
	struct dp_counters before; /* when assert_counted() was called last */
	struct __sk_buff ctx;	   /* and what else the program can change */
	struct frame out;	   /* the frame after a test run; without the tag that is in metadata */
};

/* Group fixtures: namespaces, a bpffs, one CPU. */
int enter_private_world(void **state);
int leave_private_world(void **state);

/* A fresh datapath dp0 with this many ports, and without its cache, so that each lookup tries masks. */
int world_make(void **state, __u32 ports, const struct dp_options *options);
int world_end(void **state);

/* Returns the program's verdict.  A frame with a whole tag is given to it as at a real ingress; run_inline() does not. */
int run_frame(struct world *w, __u32 port, const struct frame *f);
int run_inline(struct world *w, __u32 port, const struct frame *f);
int run_on_device(struct world *w, __u32 ifindex, const struct frame *f);

void send_frame(struct world *w, __u32 port, const struct frame *f);
void send_split(struct world *w, __u32 port, const struct frame *f); /* headers outside the linear part */

/* Exactly these frames, in this order, have left by the port since it was asked last. */
#define assert_heard(w, port, ...) \
	assert_heard_frames(w, port, (const struct frame[]){ __VA_ARGS__ }, \
			    sizeof((struct frame[]){ __VA_ARGS__ }) / sizeof(struct frame))
void assert_heard_frames(struct world *w, __u32 port, const struct frame *frames, __u32 count);
void assert_heard_times(struct world *w, __u32 port, const struct frame *f, __u32 times);
void show_frame(const char *what, const struct frame *f);
#define assert_silent(w, port) assert_heard_frames(w, port, NULL, 0)

/* A flow by its texts; returns its slot.  Its mask joins the classes with commit(). */
__u32 add_flow_uncommitted(struct world *w, const char *match, const char *actions);
void commit(struct world *w);
__u32 add_flow(struct world *w, const char *match, const char *actions);
__u32 find_flow(struct world *w, const char *match);

/* A test run on port 1: this flow takes the frame and gives it to a port; or none does. */
void assert_hit(struct world *w, struct frame f, __u32 slot);
void assert_miss(struct world *w, struct frame f);

/* What this CPU's memory holds after a run. */
struct cpu_state cpu_state_read(struct world *w);
/* Sets every byte of the key, so that one which the program leaves alone is seen. */
void poison_key(struct world *w);
void set_busy(struct world *w, bool busy);

/* The key at hand is this one; field by field in the failure. */
void assert_key_is(struct world *w, const struct flow_key *want, const char *what);

__u64 drops(struct world *w, __u32 port, enum drop_reason reason);
__u64 packets(struct world *w, __u32 slot);
struct mask_hits mask_hits(struct world *w, __u32 slot); /* of the flow's mask */

/* Counters rose by exactly this since the last call, and their sums are what dp_counters.h says. */
#define assert_counted(w, ...) assert_counted_(w, (struct dp_counters){ __VA_ARGS__ })
void assert_counted_(struct world *w, struct dp_counters rise);
