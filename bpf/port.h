/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device -> port.
 */
#pragma once

#include "maps.h"

/*
 * The port's number, or PORT_NONE.  A hash lookup costs most of a bare redirect, a lookup in an array nearly nothing; so
 * the number that this CPU found last is tried first, and is right if the port's record names the device.
 */
static __always_inline __u32 port_of_device(struct cpu_state *cpu, __u32 ifindex)
{
	__u32 *hint = &cpu->port_hint[ifindex % PORT_HINTS], *found;
	struct port *port = bpf_map_lookup_elem(&ports, hint);

	if (port && port->ifindex == ifindex)
		return *hint;
	found = bpf_map_lookup_elem(&if_port, &ifindex);
	if (!found)
		return PORT_NONE;
	*hint = *found;
	return *hint;
}
