/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where measurements are made: a network namespace and a bpffs of this process alone, on one CPU.  All of it goes with
 * the process.
 */
#pragma once

#include <sys/types.h>

#include "dp.h"
#include "error.h"

int rig_enter(struct error *e);

/* A pair of devices, both up and silent: nothing but the measured frames is on them. */
int rig_add_veth(const char *name, const char *peer, __u32 *ifindex, __u32 *peer_ifindex, struct error *e);

/* The end of a veth pair in a namespace of its own. */
struct rig_far {
	int netns_fd;
	__u32 ifindex;
	__u8 mac[6];
};

/* A pair, one end of which is far; both up and silent. */
int rig_add_far_veth(const char *name, const char *far_name, __u32 *ifindex, struct rig_far *far, struct error *e);
int rig_attach_far(int prog_fd, const struct rig_far *far, struct error *e);

/* An empty datapath with these devices as ports 1 and 2. */
int rig_add_datapath(const char *name, const char *port1, const char *port2, struct dp **dp, struct error *e);

/* The same with devices of its own; frames come in by the one at ifindex. */
int rig_add_own_datapath(const char *name, struct dp **dp, __u32 *ifindex, struct error *e);

/* Nobody will change it any more: lets go of its lock, which others who add ports ask for. */
void rig_release(struct dp *dp);

int rig_add_flow(struct dp *dp, const char *match, const char *actions, struct error *e);

/* A program on a device's ingress hook, by the way that the datapath takes on this kernel. */
int rig_attach(int prog_fd, __u32 ifindex, struct error *e);
int rig_detach(int prog_fd, __u32 ifindex, struct error *e);

/*
 * Before all others who want the CPU, or as everybody else.  Grace periods need threads of the kernel that hardly get to
 * run beside somebody who is before all others and never waits.
 */
void rig_go_first(bool first);

/*
 * work(arg) in a process of its own, on any CPU but the measured one, as much before others as we are; it ends with us.  A datapath that it wants must
 * not be locked by us: a lock that is inherited is not let go.
 */
int rig_start(void (*work)(void *arg), void *arg, pid_t *pid, struct error *e);

/* Tells it to end and waits for that. */
void rig_stop(pid_t pid);
