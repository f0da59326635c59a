/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network devices of the calling thread's network namespace: looked up, made, and set as a switch port needs them.
 * Every call opens its own socket, so a thread may change its namespace between two calls.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include <linux/if_link.h>
#include <linux/types.h>

#include "error.h"

struct nlmsghdr;

struct link_info {
	__u32 ifindex;
	char name[IFNAMSIZ];
	char kind[16];	     /* "veth", "vxlan"; "" for hardware */
	__u8 mac[6];	     /* zeros when the device's address has another length */
	__u32 peer_ifindex;  /* IFLA_LINK: of a veth's other end, of what a VLAN device is on */
	bool peer_elsewhere; /* that one is in another namespace, which this one knows as peer_nsid */
	__s32 peer_nsid;
	__u32 mtu;
	__u32 flags; /* IFF_; IFF_PROMISC is what a user set, not what a packet socket asks for */
	__u16 type;  /* ARPHRD_ */
	bool has_stats;
	struct rtnl_link_stats64 stats;
};

/*
 * One rtnetlink exchange: sends the request, a dump or one that asks for NLM_F_ACK, and hands each answer to `each`
 * (as mnl_cb_t).  The kernel's own words for a refusal, "" if it has none, go to `why`.  A dump that the kernel calls
 * inconsistent is -EINTR.
 */
int rtnl_talk(struct nlmsghdr *request, int (*each)(const struct nlmsghdr *, void *), void *data, struct error *why);

/* "cannot WHAT: REASON", with the kernel's words if it gave some; returns err, a negative errno. */
int rtnl_refused(struct error *e, int err, const struct error *why, const char *device, const char *what);

/* The device's current name, or "device INDEX" when there is none; returns buf. */
const char *link_name(__u32 ifindex, char buf[static 24]);

/* -ENODEV when there is no such device.  By name also finds a device by its alternative name. */
int link_get(const char *name, struct link_info *l, struct error *e);
int link_get_by_index(__u32 ifindex, struct link_info *l, struct error *e);

/* The address of the other end of a veth, which is in another namespace. */
int link_get_peer_mac(const struct link_info *l, __u8 mac[6], struct error *e);

/* In the kernel's order; the caller frees *links. */
int link_list(struct link_info **links, size_t *count, struct error *e);

/* Makes a pair: one end of exactly this name, the other of a name or a pattern such as "tcvs%d".  -EEXIST if taken. */
int link_add_veth(const char *name, const char *peer_pattern, struct link_info *l, struct link_info *peer,
		  struct error *e);

int link_del(__u32 ifindex, struct error *e);
int link_set_up(__u32 ifindex, bool up, struct error *e);

int link_set_mtu(__u32 ifindex, __u32 mtu, struct error *e);

/* *changed = false: it already was so, by somebody else's wish, and is not ours to undo. */
int link_set_promisc(__u32 ifindex, bool on, bool *changed, struct error *e);

/* False also for a device that cannot do it. */
bool link_has_lro(const char *name);

/* As above.  A device that cannot do large receive offload is left alone: 0, *changed = false. */
int link_set_lro(const char *name, bool on, bool *changed, struct error *e);

/* Keeps the host from speaking IPv6 on a device of ours.  A kernel without IPv6 is fine. */
int link_disable_ipv6(const char *name);
