// SPDX-License-Identifier: GPL-2.0-only
#include "rig.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <bpf/bpf.h>

#include "action_text.h"
#include "attach.h"
#include "flow_table.h"
#include "link.h"
#include "match_text.h"
#include "port.h"

#define BPFFS "/sys/fs/bpf"

/* The last of the CPUs that we may use, since interrupts mostly go to the first; before all others who want it. */
static int use_one_cpu(struct error *e)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set))
		return error_set(e, errno, "the CPUs of this process are not known (%s)", strerror(errno));
	while (cpu > 0 && !CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return error_set(e, errno, "cannot stay on CPU %d (%s)", cpu, strerror(errno));
	setpriority(PRIO_PROCESS, 0, -20); /* where it is refused, figures vary more */
	return 0;
}

int rig_enter(struct error *e)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return error_set(e, errno, "a namespace for the benchmark cannot be made (%s); run it as root",
				 strerror(errno));
	/* /run is hidden, too, since the control side keeps a mount below it. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("run", "/run", "tmpfs", 0, NULL) ||
	    mount("bpf", BPFFS, "bpf", 0, NULL))
		return error_set(e, errno, "a bpffs for the benchmark cannot be mounted (%s)", strerror(errno));
	return use_one_cpu(e);
}

int rig_add_veth(const char *name, const char *peer_name, __u32 *ifindex, __u32 *peer_ifindex, struct error *e)
{
	struct link_info link, peer;
	int err = link_add_veth(name, peer_name, &link, &peer, e);

	if (err)
		return err;
	link_disable_ipv6(link.name);
	link_disable_ipv6(peer.name);
	*ifindex = link.ifindex;
	*peer_ifindex = peer.ifindex;
	err = link_set_up(link.ifindex, true, e);
	return err ? err : link_set_up(peer.ifindex, true, e);
}

int rig_add_datapath(const char *name, const char *port1, const char *port2, struct dp **dp, struct error *e)
{
	struct dp_options options = { .max_flows = FLOWS_DEFAULT, .max_masks = MASKS_MAX };
	int err = dp_create(name, &options, dp, e);

	if (err)
		return err;
	err = port_add(*dp, port1, 1, e);
	if (!err)
		err = port_add(*dp, port2, 2, e);
	if (err)
		dp_close(dp);
	return err;
}

int rig_add_flow(struct dp *dp, const char *match_text, const char *actions_text, struct error *e)
{
	struct action_list actions;
	struct match match;
	int err = match_parse(match_text, NULL, &match, e);

	if (!err)
		err = actions_parse(actions_text, NULL, &actions, e);
	return err ? err : flow_add(dp, &match, &actions, e);
}

static void pin_path(__u32 ifindex, char path[64])
{
	snprintf(path, 64, BPFFS "/bench_%u", ifindex);
}

int rig_attach(int prog_fd, __u32 ifindex, struct error *e)
{
	char path[64];
	bool made;

	pin_path(ifindex, path);
	return attach_has_tcx() ? attach_tcx(prog_fd, ifindex, path, e) : attach_clsact(prog_fd, ifindex, &made, e);
}

int rig_detach(int prog_fd, __u32 ifindex, struct error *e)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	char path[64];

	pin_path(ifindex, path);
	if (attach_has_tcx())
		return detach_tcx(path, e);
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len))
		return error_set(e, errno, "a program's id is not known (%s)", strerror(errno));
	return detach_clsact(ifindex, info.id, true, e);
}
