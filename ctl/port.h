/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ports of a datapath: network devices with our program on their ingress hook.
 *
 * A port is tied to its device's index, not to its name; names are looked up when they are shown.  port_info is the
 * truth about which ports there are; ports and if_port, which the program reads, follow from it.
 */
#pragma once

#include "attach.h"
#include "dp.h"
#include "link.h"
#include "match_text.h"

struct port_view {
	__u32 number;
	struct port_info info;
	char name[IFNAMSIZ];	      /* now, or when it was last seen */
	bool elsewhere;		      /* the datapath is in another namespace: nothing below is known here */
	bool gone;		      /* its device does not exist here any more */
	struct link_info link;	      /* unless gone; of the host's end for the local port */
	struct attach_state attached; /* what is on the hook now */
};

/*
 * port_no PORT_NONE: the lowest number that no port has and no flow names.  0 is the local port's.  flags: enum
 * port_flag; PORT_PEER is refused for what is no veth whose other end is in another namespace.
 */
int port_add(struct dp *dp, const char *device, __u32 port_no, __u32 flags, struct error *e);

/* Gives a port other flags, which are checked as above. */
int port_set_flags(struct dp *dp, __u32 port_no, __u32 flags, struct error *e);

/* Makes the local port, a device named like the datapath. */
int port_add_local(struct dp *dp, struct error *e);

/* Detaches, and gives the device back as it was.  The local port goes only with its datapath. */
int port_del(struct dp *dp, __u32 port_no, struct error *e);
int port_del_all(struct dp *dp, struct error *e);

/* After a writer was killed: ports that were being added or deleted are taken back, the program's tables follow. */
int port_repair(struct dp *dp, struct error *e);

/* By device name or, all digits, by number; -ENODEV "no port named X". */
int port_find(struct dp *dp, const char *name, __u32 *port_no, struct error *e);

/* Ports by number; the caller frees.  query: also ask the kernel what is attached. */
int port_list(struct dp *dp, bool query, struct port_view **ports, size_t *count, struct error *e);

/* Lets flow texts name ports; free with port_names_free(). */
int port_names_load(struct dp *dp, struct port_names *names, struct error *e);
void port_names_free(struct port_names *names);
