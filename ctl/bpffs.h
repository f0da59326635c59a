/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where pins live.
 */
#pragma once

#include "error.h"

/*
 * The directory that holds all datapaths, made if missing.  /sys/fs/bpf where that is a bpffs (mounted if it is not);
 * else, as inside `ip netns exec`, which hides /sys, the mount that an earlier command left under /run/tcvs.
 */
int bpffs_root(const char **path, struct error *e);
