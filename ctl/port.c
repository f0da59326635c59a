// SPDX-License-Identifier: GPL-2.0-only
#include "port.h"
#include "netns.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <net/if_arp.h>
#include <string.h>

#include "flow_table.h"
#include "slots.h"
#include "util.h"

/* Of the inner end: the host's end decides what it takes, wherever it has been moved. */
#define LOCAL_MTU 65535

static void link_pin(const struct dp *dp, __u32 port_no, char *path, size_t size)
{
	snprintf(path, size, "%s/link_%u", dp->path, port_no);
}

static int check_netns(struct dp *dp, struct error *e)
{
	__u64 cookie;
	int err = netns_cookie(&cookie, e);

	if (!err && cookie != dp->info->netns_cookie)
		err = error_set(
			e, EXDEV,
			"datapath %s belongs to another network namespace than this one; run the command in its own",
			dp->name);
	return err;
}

static bool port_info_read(struct dp *dp, __u32 port_no, struct port_info *info)
{
	return !bpf_map_lookup_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, info);
}

/* What another datapath has to do with a device, read without its lock; whatever cannot be read has nothing. */
static int check_other(const char *name, struct dp *dp, const struct link_info *l, struct error *e)
{
	CLEANUP_FD int dp_fd = dp_peek_map(name, DP_MAP_DATAPATH), if_fd = dp_peek_map(name, DP_MAP_IF_PORT);
	CLEANUP_FD int info_fd = dp_peek_map(name, DP_MAP_PORT_INFO);
	__u32 zero = 0, port_no;
	struct port_info local;
	struct datapath info;

	if (dp_fd < 0 || bpf_map_lookup_elem(dp_fd, &zero, &info) || info.netns_cookie != dp->info->netns_cookie)
		return 0;
	if (if_fd >= 0 && !bpf_map_lookup_elem(if_fd, &l->ifindex, &port_no))
		return error_set(e, EBUSY,
				 "adding %s to %s failed (Device or resource busy): it is port %u of datapath %s",
				 l->name, dp->name, port_no, name);
	if (info_fd >= 0 && !bpf_map_lookup_elem(info_fd, &zero, &local) && local.host_ifindex == l->ifindex)
		return error_set(e, EINVAL,
				 "adding %s to %s failed (Invalid argument): it is the local port of datapath %s",
				 l->name, dp->name, name);
	return 0;
}

static int check_other_datapaths(struct dp *dp, const struct link_info *l, struct error *e)
{
	char **names = NULL;
	size_t count;
	int err = dp_list(&names, &count, e);

	for (size_t i = 0; i < count; i++) {
		if (!err && strcmp(names[i], dp->name))
			err = check_other(names[i], dp, l, e);
		free(names[i]);
	}
	free(names);
	return err;
}

static int check_device(struct dp *dp, const struct link_info *l, struct error *e)
{
	struct port_info local;
	__u32 port_no;

	if (!bpf_map_lookup_elem(dp->map_fd[DP_MAP_IF_PORT], &l->ifindex, &port_no))
		return error_set(e, EEXIST, "adding %s to %s failed (File exists): it is port %u already", l->name,
				 dp->name, port_no);
	if (l->flags & IFF_LOOPBACK)
		return error_set(e, EINVAL,
				 "adding %s to %s failed (Invalid argument): a loopback device cannot be a port",
				 l->name, dp->name);
	if (l->type != ARPHRD_ETHER)
		return error_set(e, EINVAL, "adding %s to %s failed (Invalid argument): not an Ethernet device",
				 l->name, dp->name);
	if (port_info_read(dp, PORT_LOCAL, &local) && local.host_ifindex == l->ifindex)
		return error_set(e, EINVAL,
				 "adding %s to %s failed (Invalid argument): it is the local port of this datapath",
				 l->name, dp->name);
	return check_other_datapaths(dp, l, e);
}

/* Numbers that ports have or flows name, one byte each; the caller frees. */
static __u8 *numbers_in_use(struct dp *dp)
{
	__u8 *used = calloc(1, PORT_NONE + 1);

	if (!used)
		return NULL;
	used[PORT_LOCAL] = used[PORT_NONE] = 1;
	for (__u32 i = 0; i < PORTS_MAX; i++)
		used[i] |= dp->ports[i].ifindex != 0;
	for (__u32 slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1)) {
		struct flow *flow = dp_flow(dp, slot);
		struct flow_action *a = dp_actions(dp, flow);

		if (dp->masks[flow->mask_id].mask.key.in_port)
			used[flow->key.in_port] = 1;
		for (; a && a->type != ACTION_END; a++)
			if (a->type == ACTION_OUTPUT && a->port < PORTS_MAX)
				used[a->port] = 1;
	}
	return used;
}

static int choose_number(struct dp *dp, const char *device, __u32 *port_no, struct error *e)
{
	CLEANUP_FREE __u8 *used = NULL;

	if (*port_no != PORT_NONE) {
		if (*port_no == PORT_LOCAL || dp->ports[*port_no].ifindex)
			return error_set(e, EBUSY,
					 "adding %s to %s failed (Device or resource busy): port number %u is taken",
					 device, dp->name, *port_no);
		return 0;
	}
	used = numbers_in_use(dp);
	if (!used)
		return error_set(e, ENOMEM, "out of memory");
	for (__u32 i = 1; i < PORTS_MAX; i++) {
		if (!used[i]) {
			*port_no = i;
			return 0;
		}
	}
	return error_set(e, EFBIG, "adding %s to %s failed (File too large): all port numbers are in use", device,
			 dp->name);
}

/* bpf_redirect_peer() drops what it cannot give to another namespace (net/core/filter.c, skb_do_redirect). */
static int set_flags(struct port_info *info, const struct link_info *l, __u32 flags, struct error *e)
{
	info->flags = flags;
	if (!(flags & PORT_PEER))
		return 0;
	if (!strcmp(l->kind, "veth") && l->peer_elsewhere)
		return link_get_peer_mac(l, info->peer_mac, e);
	return error_set(e, EINVAL, "%s: peer=on is for a veth whose other end is in another network namespace; %s",
			 l->name, strcmp(l->kind, "veth") ? "this is none" : "this one's is in this one");
}

/* What the program needs; the flags after the address that they make it look at. */
static void write_port_flags(struct dp *dp, __u32 port_no, const struct port_info *info)
{
	struct port *port = &dp->ports[port_no];

	memcpy(port->peer_mac, info->peer_mac, sizeof(port->peer_mac));
	__atomic_store_n(&port->flags, info->flags, __ATOMIC_RELEASE);
}

static int write_port(struct dp *dp, __u32 port_no, const struct port_info *info, struct error *e)
{
	if (bpf_map_update_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, info, 0) ||
	    bpf_map_update_elem(dp->map_fd[DP_MAP_IF_PORT], &info->ifindex, &port_no, 0))
		return error_set(e, errno, "adding %s to %s failed (%s)", info->name, dp->name, strerror(errno));
	write_port_flags(dp, port_no, info);
	__atomic_store_n(&dp->ports[port_no].ifindex, info->ifindex, __ATOMIC_RELEASE);
	return 0;
}

static void forget_port(struct dp *dp, __u32 port_no, const struct port_info *info)
{
	__u32 owner;

	__atomic_store_n(&dp->ports[port_no].ifindex, 0, __ATOMIC_RELEASE);
	if (!bpf_map_lookup_elem(dp->map_fd[DP_MAP_IF_PORT], &info->ifindex, &owner) && owner == port_no)
		bpf_map_delete_elem(dp->map_fd[DP_MAP_IF_PORT], &info->ifindex);
	bpf_map_delete_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no);
}

static int attach(struct dp *dp, __u32 port_no, struct port_info *info, struct error *e)
{
	char pin[128];
	bool made = false;

	link_pin(dp, port_no, pin, sizeof(pin));
	if (info->attach == PORT_ATTACH_TCX)
		return attach_tcx(dp->prog_fd, info->ifindex, pin, e);
	return attach_clsact(dp->prog_fd, info->ifindex, &made, e);
}

/*
 * What will be switched and made is recorded before it is: a kill in between makes the repair undo what was not done,
 * which is harmless; the other way round it would not know what to undo.
 */
static int record_port(struct dp *dp, __u32 port_no, const struct link_info *l, struct port_info *info, struct error *e)
{
	bool tcx = !dp->info->force_clsact && attach_has_tcx();

	info->ifindex = l->ifindex;
	info->unfinished = 1;
	snprintf(info->name, sizeof(info->name), "%s", l->name);
	info->attach = tcx ? PORT_ATTACH_TCX : PORT_ATTACH_CLSACT;
	info->made_clsact = !tcx && !attach_has_qdisc(l->ifindex);
	info->set_promisc = !(l->flags & IFF_PROMISC);
	info->cleared_lro = link_has_lro(l->name);
	return write_port(dp, port_no, info, e);
}

static int prepare_device(const struct port_info *info, struct error *e)
{
	char name[24];
	bool changed;
	int err = link_set_promisc(info->ifindex, true, &changed, e);

	/* The name of this moment: somebody may be renaming it. */
	return err ? err : link_set_lro(link_name(info->ifindex, name), false, &changed, e);
}

/* Undoes what port_info says was done; a device that is gone needs nothing.  The first failure is reported. */
static int release_device(struct dp *dp, __u32 port_no, const struct port_info *info, struct error *e)
{
	struct error ignored, *first = e;
	char pin[128], name[24];
	struct link_info l;
	bool changed;
	int err, first_err = 0;

	link_pin(dp, port_no, pin, sizeof(pin));
	first_err = detach_tcx(pin, first);
	if (link_get_by_index(info->ifindex, &l, &ignored))
		return first_err;
	if (info->attach == PORT_ATTACH_CLSACT) {
		err = detach_clsact(info->ifindex, dp->prog_id, info->made_clsact, first_err ? &ignored : first);
		first_err = first_err ? first_err : err;
	}
	if (info->set_promisc) {
		err = link_set_promisc(info->ifindex, false, &changed, first_err ? &ignored : first);
		first_err = first_err ? first_err : err;
	}
	if (info->cleared_lro)
		link_set_lro(link_name(info->ifindex, name), true, &changed, &ignored);
	return first_err;
}

int port_add(struct dp *dp, const char *device, __u32 port_no, __u32 flags, struct error *e)
{
	struct port_info info = {};
	struct error ignored;
	struct link_info l;
	/* Two commands that add one device to two datapaths: the second one has to see what the first did. */
	CLEANUP_FD int root = dp_lock_root(e);
	int err = root < 0 ? root : check_netns(dp, e);

	if (!err)
		err = link_get(device, &l, e);
	if (!err)
		err = check_device(dp, &l, e);
	if (!err)
		err = set_flags(&info, &l, flags, e);
	if (!err)
		err = choose_number(dp, device, &port_no, e);
	if (err)
		return err;
	err = record_port(dp, port_no, &l, &info, e);
	if (!err)
		err = prepare_device(&info, e);
	if (!err)
		err = attach(dp, port_no, &info, e);
	info.unfinished = 0;
	if (!err)
		err = write_port(dp, port_no, &info, e);
	if (err && !release_device(dp, port_no, &info, &ignored))
		forget_port(dp, port_no, &info);
	return err;
}

int port_set_flags(struct dp *dp, __u32 port_no, __u32 flags, struct error *e)
{
	struct port_info info;
	struct link_info l;
	int err = check_netns(dp, e);

	if (err)
		return err;
	if (!port_info_read(dp, port_no, &info))
		return error_set(e, ENODEV, "no port number %u in %s", port_no, dp->name);
	err = link_get_by_index(info.ifindex, &l, e);
	if (!err)
		err = set_flags(&info, &l, flags, e);
	if (err)
		return err;
	if (bpf_map_update_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, &info, BPF_EXIST))
		return error_set(e, errno, "port %u of %s: cannot be changed (%s)", port_no, dp->name, strerror(errno));
	write_port_flags(dp, port_no, &info);
	return 0;
}

int port_add_local(struct dp *dp, struct error *e)
{
	struct port_info info = {};
	struct link_info host, inner;
	struct error ignored;
	int err = link_add_veth(dp->name, "tcvs%d", &host, &inner, e);

	if (err)
		return err;
	info.ifindex = inner.ifindex;
	info.host_ifindex = host.ifindex;
	info.attach = dp->info->force_clsact || !attach_has_tcx() ? PORT_ATTACH_CLSACT : PORT_ATTACH_TCX;
	snprintf(info.name, sizeof(info.name), "%s", dp->name);
	link_disable_ipv6(inner.name);
	err = write_port(dp, PORT_LOCAL, &info, e);
	if (!err)
		err = link_set_mtu(inner.ifindex, LOCAL_MTU, e);
	if (!err)
		err = attach(dp, PORT_LOCAL, &info, e);
	if (!err)
		err = link_set_up(inner.ifindex, true, e);
	if (err) {
		link_del(inner.ifindex, &ignored);
		forget_port(dp, PORT_LOCAL, &info);
	}
	return err;
}

/*
 * The device first, then the tables: as long as our program is on a device, there is a port to delete.  Until then it is
 * marked, so that a repair or the next del-if goes on.
 */
static int delete_port(struct dp *dp, __u32 port_no, struct port_info *info, struct error *e)
{
	struct error ignored;
	int err;

	info->unfinished = 1;
	bpf_map_update_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, info, BPF_EXIST);
	err = release_device(dp, port_no, info, e);
	if (err)
		return err;
	/* Takes the host's end along, in whatever namespace that is. */
	if (info->host_ifindex)
		link_del(info->ifindex, &ignored);
	forget_port(dp, port_no, info);
	return 0;
}

int port_del(struct dp *dp, __u32 port_no, struct error *e)
{
	struct port_info info;
	int err = check_netns(dp, e);

	if (err)
		return err;
	if (port_no == PORT_LOCAL)
		return error_set(
			e, EINVAL,
			"deleting port %s from %s failed (Invalid argument): the local port goes only with its datapath",
			dp->name, dp->name);
	if (!port_info_read(dp, port_no, &info))
		return error_set(e, ENODEV, "no port number %u in %s", port_no, dp->name);
	return delete_port(dp, port_no, &info, e);
}

/* All port numbers that port_info has, one byte each; the caller frees.  NULL if they cannot be read. */
static __u8 *known_ports(struct dp *dp, struct error *e)
{
	__u8 *known = calloc(1, PORTS_MAX);
	__u32 port_no, *prev = NULL;

	if (!known) {
		error_set(e, ENOMEM, "out of memory");
		return NULL;
	}
	while (!bpf_map_get_next_key(dp->map_fd[DP_MAP_PORT_INFO], prev, &port_no)) {
		known[port_no] = 1;
		prev = &port_no;
	}
	if (errno == ENOENT)
		return known;
	error_set(e, errno, "ports of %s: cannot be read (%s)", dp->name, strerror(errno));
	free(known);
	return NULL;
}

/* A pair that a killed add-dp made and did not come to register is known by its names and kind. */
static void delete_stray_local(struct dp *dp)
{
	struct link_info host, inner;
	struct error ignored;

	if (!link_get(dp->name, &host, &ignored) && !strcmp(host.kind, "veth") && host.peer_ifindex &&
	    !link_get_by_index(host.peer_ifindex, &inner, &ignored) && !strncmp(inner.name, "tcvs", 4))
		link_del(host.ifindex, &ignored);
}

/* In the datapath's namespace; the first failure is reported, the other ports go all the same. */
static int delete_known(struct dp *dp, const __u8 *known, struct error *e)
{
	struct port_info info;
	int failed = 0;

	for (__u32 port_no = 0; port_no < PORTS_MAX; port_no++) {
		struct error why;
		int err = 0;

		if (known[port_no] && port_info_read(dp, port_no, &info))
			err = delete_port(dp, port_no, &info, &why);
		if (err && !failed)
			*e = why;
		failed = failed ? failed : err;
	}
	if (!known[PORT_LOCAL])
		delete_stray_local(dp);
	return failed;
}

int port_del_all(struct dp *dp, struct error *e)
{
	CLEANUP_FREE __u8 *known = known_ports(dp, e);
	int here, err = 0;

	if (!known)
		return -errno;
	/* A namespace that cannot be found is gone, and its devices with it; TCX links go with their pins. */
	here = netns_enter(dp->info->netns_cookie);
	if (here >= 0) {
		err = delete_known(dp, known, e);
		netns_return(here);
	}
	return err;
}

static int finish_port(struct dp *dp, __u32 port_no, struct error *e)
{
	struct port_info info;

	if (!port_info_read(dp, port_no, &info))
		return 0;
	if (info.unfinished)
		return delete_port(dp, port_no, &info, e);
	return write_port(dp, port_no, &info, e);
}

int port_repair(struct dp *dp, struct error *e)
{
	CLEANUP_FREE __u8 *known = known_ports(dp, e);
	int here, failed = 0;

	if (!known)
		return -errno;
	for (__u32 port_no = 0; port_no < PORTS_MAX; port_no++)
		if (!known[port_no] && dp->ports[port_no].ifindex)
			dp->ports[port_no].ifindex = 0;
	here = netns_enter(dp->info->netns_cookie);
	if (here < 0)
		return 0; /* a namespace that is gone has no devices to put right */
	for (__u32 port_no = 0; port_no < PORTS_MAX; port_no++) {
		int err = known[port_no] ? finish_port(dp, port_no, e) : 0;

		failed = failed ? failed : err;
	}
	netns_return(here);
	return failed;
}
