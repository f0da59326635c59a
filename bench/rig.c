// SPDX-License-Identifier: GPL-2.0-only
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "action_text.h"
#include "attach.h"
#include "flow_table.h"
#include "link.h"
#include "match_text.h"
#include "netns.h"
#include "port.h"
#include "util.h"

#define BPFFS "/sys/fs/bpf"

static cpu_set_t other_cpus;

void rig_go_first(bool first)
{
	setpriority(PRIO_PROCESS, 0, first ? -20 : 0); /* where it is refused, figures vary more */
}

/* The last of the CPUs that we may use, since interrupts mostly go to the first. */
static int use_one_cpu(struct error *e)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set))
		return error_set(e, errno, "the CPUs of this process are not known (%s)", strerror(errno));
	while (cpu > 0 && !CPU_ISSET(cpu, &set))
		cpu--;
	if (CPU_COUNT(&set) > 1)
		CPU_CLR(cpu, &set);
	other_cpus = set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return error_set(e, errno, "cannot stay on CPU %d (%s)", cpu, strerror(errno));
	rig_go_first(true);
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

/* Device names are the same on both sides: whoever makes the pair is in the other namespace, which is fresh. */
static int move_to(int netns_fd, __u32 ifindex, struct error *e)
{
	char buf[128] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;
	struct error why;
	int err;

	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, netns_fd);
	err = rtnl_talk(nlh, NULL, NULL, &why);
	return err ? rtnl_refused(e, err, &why, "veth", "move the device") : 0;
}

int rig_add_far_veth(const char *name, const char *far_name, __u32 *ifindex, struct rig_far *far, struct error *e)
{
	CLEANUP_FD int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct link_info link, peer;
	int err;

	if (here < 0 || unshare(CLONE_NEWNET))
		return error_set(e, errno, "a second namespace cannot be made (%s)", strerror(errno));
	far->netns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	err = link_add_veth(far_name, name, &link, &peer, e);
	if (!err) {
		link_disable_ipv6(link.name);
		err = move_to(here, peer.ifindex, e);
	}
	if (!err)
		err = link_set_up(link.ifindex, true, e);
	far->ifindex = link.ifindex;
	memcpy(far->mac, link.mac, sizeof(far->mac));
	if (setns(here, CLONE_NEWNET) || err)
		return err ? err : error_set(e, errno, "no way back from the namespace (%s)", strerror(errno));
	err = link_get(name, &link, e);
	if (err)
		return err;
	link_disable_ipv6(name);
	*ifindex = link.ifindex;
	return link_set_up(link.ifindex, true, e);
}

int rig_attach_far(int prog_fd, const struct rig_far *far, struct error *e)
{
	CLEANUP_FD int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int err;

	if (here < 0 || setns(far->netns_fd, CLONE_NEWNET))
		return error_set(e, errno, "the second namespace cannot be entered (%s)", strerror(errno));
	err = rig_attach(prog_fd, far->ifindex, e);
	if (setns(here, CLONE_NEWNET))
		return error_set(e, errno, "no way back from the namespace (%s)", strerror(errno));
	return err;
}

int rig_add_datapath(const char *name, const char *port1, const char *port2, struct dp **dp, struct error *e)
{
	struct dp_options options = { .max_flows = FLOWS_DEFAULT, .max_masks = MASKS_MAX };
	int err = dp_create(name, &options, dp, e);

	if (err)
		return err;
	dp_write(*dp);
	err = port_add(*dp, port1, 1, 0, e);
	if (!err)
		err = port_add(*dp, port2, 2, 0, e);
	if (err)
		dp_close(dp);
	return err;
}

int rig_add_own_datapath(const char *name, struct dp **dp, __u32 *ifindex, struct error *e)
{
	char in[16], out[16];
	__u32 peer;
	int err;

	snprintf(in, sizeof(in), "%.12s_in", name);
	snprintf(out, sizeof(out), "%.11s_out", name);
	err = rig_add_veth(in, out, ifindex, &peer, e);
	return err ? err : rig_add_datapath(name, in, out, dp, e);
}

void rig_release(struct dp *dp)
{
	dp->info->dirty = DP_CLEAN;
	flock(dp->dir_fd, LOCK_UN);
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

/* Indexes are given by each namespace. */
static void pin_path(__u32 ifindex, char path[64])
{
	struct error ignored;
	__u64 cookie = 0;

	netns_cookie(&cookie, &ignored);
	snprintf(path, 64, BPFFS "/bench_%llu_%u", cookie, ifindex);
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

int rig_start(void (*work)(void *arg), void *arg, pid_t *pid, struct error *e)
{
	fflush(NULL);
	*pid = fork();
	if (*pid < 0)
		return error_set(e, errno, "no process to be had (%s)", strerror(errno));
	if (*pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setaffinity(0, sizeof(other_cpus), &other_cpus);
	work(arg);
	_exit(0);
}

void rig_stop(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}
