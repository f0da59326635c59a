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

/* Is the device a port of a datapath other than dp, or the host's end of one?  Datapaths that cannot be read do not count. */
static int check_other_datapaths(struct dp *dp, const struct link_info *l, struct error *e)
{
	char **names = NULL;
	size_t count;
	int err = dp_list(&names, &count, e);

	for (size_t i = 0; i < count; i++) {
		struct dp *other = NULL;
		struct error ignored;
		__u32 port_no;

		if (!err && strcmp(names[i], dp->name) && !dp_open(names[i], DP_READ, &other, &ignored)) {
			if (other->info->netns_cookie == dp->info->netns_cookie &&
			    !bpf_map_lookup_elem(other->map_fd[DP_MAP_IF_PORT], &l->ifindex, &port_no))
				err = error_set(
					e, EBUSY,
					"adding %s to %s failed (Device or resource busy): it is port %u of datapath %s",
					l->name, dp->name, port_no, other->name);
			else if (!strcmp(l->name, names[i]) && other->info->netns_cookie == dp->info->netns_cookie)
				err = error_set(
					e, EINVAL,
					"adding %s to %s failed (Invalid argument): it is the local port of datapath %s",
					l->name, dp->name, names[i]);
			dp_close(&other);
		}
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

static int write_port(struct dp *dp, __u32 port_no, const struct port_info *info, struct error *e)
{
	if (bpf_map_update_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, info, 0) ||
	    bpf_map_update_elem(dp->map_fd[DP_MAP_IF_PORT], &info->ifindex, &port_no, 0))
		return error_set(e, errno, "adding %s to %s failed (%s)", info->name, dp->name, strerror(errno));
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
	int err;

	link_pin(dp, port_no, pin, sizeof(pin));
	if (!dp->info->force_clsact && attach_has_tcx()) {
		info->attach = PORT_ATTACH_TCX;
		return attach_tcx(dp->prog_fd, info->ifindex, pin, e);
	}
	info->attach = PORT_ATTACH_CLSACT;
	err = attach_clsact(dp->prog_fd, info->ifindex, &made, e);
	info->made_clsact |= made; /* of an earlier try, perhaps */
	return err;
}

/* What was switched is recorded first: a kill in between makes del-if restore what was never changed, which is harmless. */
static int prepare_device(struct dp *dp, __u32 port_no, const struct link_info *l, struct port_info *info,
			  struct error *e)
{
	bool changed;
	int err;

	info->set_promisc = !(l->flags & IFF_PROMISC);
	err = write_port(dp, port_no, info, e);
	if (!err)
		err = link_set_promisc(l->ifindex, true, &changed, e);
	if (!err)
		err = link_set_lro(l->name, false, &changed, e);
	if (!err)
		info->cleared_lro = changed;
	return err;
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

int port_add(struct dp *dp, const char *device, __u32 port_no, struct error *e)
{
	struct port_info info = {};
	struct error ignored;
	struct link_info l;
	int err = check_netns(dp, e);

	if (!err)
		err = link_get(device, &l, e);
	if (!err)
		err = check_device(dp, &l, e);
	if (!err)
		err = choose_number(dp, device, &port_no, e);
	if (err)
		return err;
	info.ifindex = l.ifindex;
	info.unfinished = 1;
	snprintf(info.name, sizeof(info.name), "%s", l.name);
	err = prepare_device(dp, port_no, &l, &info, e);
	if (!err)
		err = attach(dp, port_no, &info, e);
	info.unfinished = 0;
	if (!err)
		err = write_port(dp, port_no, &info, e);
	if (err) {
		release_device(dp, port_no, &info, &ignored);
		forget_port(dp, port_no, &info);
	}
	return err;
}

int port_add_local(struct dp *dp, struct error *e)
{
	struct port_info info = {};
	struct link_info host, inner;
	int err = link_add_veth(dp->name, "tcvs%d", &host, &inner, e);

	if (err)
		return err;
	info.ifindex = inner.ifindex;
	info.host_ifindex = host.ifindex;
	snprintf(info.name, sizeof(info.name), "%s", dp->name);
	link_disable_ipv6(inner.name);
	err = link_set_mtu(inner.ifindex, LOCAL_MTU, e);
	if (!err)
		err = write_port(dp, PORT_LOCAL, &info, e);
	if (!err)
		err = attach(dp, PORT_LOCAL, &info, e);
	if (!err)
		err = write_port(dp, PORT_LOCAL, &info, e);
	if (!err)
		err = link_set_up(inner.ifindex, true, e);
	if (err) {
		struct error ignored;

		link_del(inner.ifindex, &ignored);
		forget_port(dp, PORT_LOCAL, &info);
	}
	return err;
}

static int delete_port(struct dp *dp, __u32 port_no, struct port_info *info, struct error *e)
{
	struct error ignored;
	int err;

	info->unfinished = 1;
	bpf_map_update_elem(dp->map_fd[DP_MAP_PORT_INFO], &port_no, info, BPF_EXIST);
	err = release_device(dp, port_no, info, e);
	/* Takes the host's end along, in whatever namespace that is. */
	if (info->host_ifindex)
		link_del(info->ifindex, &ignored);
	forget_port(dp, port_no, info);
	return err;
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

/* A pair that a killed add-dp made and did not come to register is known by its names and kind. */
static void delete_stray_local(struct dp *dp)
{
	struct link_info host, inner;
	struct error ignored;

	if (!link_get(dp->name, &host, &ignored) && !strcmp(host.kind, "veth") && host.peer_ifindex &&
	    !link_get_by_index(host.peer_ifindex, &inner, &ignored) && !strncmp(inner.name, "tcvs", 4))
		link_del(host.ifindex, &ignored);
}

int port_del_all(struct dp *dp, struct error *e)
{
	struct port_info info;
	struct error ignored;
	__u32 port_no;
	int err = 0;

	/* A namespace that cannot be found is gone, and its devices with it; TCX links go with their pins. */
	if (check_netns(dp, &ignored) && netns_enter(dp->info->netns_cookie))
		return 0;
	while (!bpf_map_get_next_key(dp->map_fd[DP_MAP_PORT_INFO], NULL, &port_no)) {
		struct error why;

		if (!port_info_read(dp, port_no, &info))
			break;
		if (delete_port(dp, port_no, &info, &why) && !err)
			err = error_set(e, EIO, "%s", why.text);
	}
	delete_stray_local(dp);
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
	CLEANUP_FREE __u8 *known = calloc(1, PORTS_MAX);
	__u32 port_no, *prev = NULL;
	struct error ignored;
	int err = 0;

	if (!known)
		return error_set(e, ENOMEM, "out of memory");
	while (!bpf_map_get_next_key(dp->map_fd[DP_MAP_PORT_INFO], prev, &port_no)) {
		known[port_no] = 1;
		prev = &port_no;
	}
	for (port_no = 0; port_no < PORTS_MAX; port_no++)
		if (!known[port_no] && dp->ports[port_no].ifindex)
			dp->ports[port_no].ifindex = 0;
	/* From another namespace devices cannot be touched: the mark stays for a command that can. */
	if (check_netns(dp, &ignored)) {
		dp->writing = false; /* dp_close() leaves the mark */
		return 0;
	}
	for (port_no = 0; !err && port_no < PORTS_MAX; port_no++)
		if (known[port_no])
			err = finish_port(dp, port_no, e);
	return err;
}
