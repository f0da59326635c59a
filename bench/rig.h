/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where measurements are made: a network namespace and a bpffs of this process alone, on one CPU.  All of it goes with
 * the process.
 */
#pragma once

#include "dp.h"
#include "error.h"

int rig_enter(struct error *e);

/* A pair of devices, both up and silent: nothing but the measured frames is on them. */
int rig_add_veth(const char *name, const char *peer, __u32 *ifindex, __u32 *peer_ifindex, struct error *e);

/* An empty datapath with these devices as ports 1 and 2. */
int rig_add_datapath(const char *name, const char *port1, const char *port2, struct dp **dp, struct error *e);

int rig_add_flow(struct dp *dp, const char *match, const char *actions, struct error *e);

/* A program on a device's ingress hook, by the way that the datapath takes on this kernel. */
int rig_attach(int prog_fd, __u32 ifindex, struct error *e);
int rig_detach(int prog_fd, __u32 ifindex, struct error *e);
