/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network namespaces: which one is this, and into another.
 */
#pragma once

#include <linux/types.h>

#include "error.h"

/* What bpf_get_netns_cookie() answers in the calling thread's namespace: never given twice until the host restarts. */
int netns_cookie(__u64 *cookie, struct error *e);

/*
 * Puts the calling thread into the namespace with this cookie, if it has a name or a process is in it; else -ENOENT.
 * Returns a descriptor of the namespace it was in, for netns_return(): whoever stays inside keeps it from going away.
 */
int netns_enter(__u64 cookie);
void netns_return(int fd);

/* Puts the calling thread into a namespace by its name, as `ip netns` has it, or by a path. */
int netns_enter_name(const char *name, struct error *e);
