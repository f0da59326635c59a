// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our program on a device's TC ingress hook.  Netlink is spoken here rather than through libbpf's bpf_tc_ calls: those
 * warn about a qdisc that exists already, choose the filter's name themselves, and cannot list foreign filters.
 */
#include "attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link.h"
#include "util.h"

enum {
	TCX_INGRESS = 46,  /* BPF_TCX_INGRESS, newer than Debian 12's headers */
	TCX_PROGRAMS = 64, /* the kernel's limit on one hook */
	REQUEST_LEN = 512,
};

#define CLSACT_HANDLE TC_H_MAKE(TC_H_CLSACT, 0)
#define INGRESS	      TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)
#define EGRESS	      TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)

/* --- programs --------------------------------------------------------------------------------------------------- */

static bool has_our_name(__u32 prog_id)
{
	CLEANUP_FD int fd = prog_id ? bpf_prog_get_fd_by_id(prog_id) : -1;
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, ATTACH_PROGRAM);
}

/* --- TCX -------------------------------------------------------------------------------------------------------- */

/* BPF_PROG_QUERY as TCX kernels know it; libbpf 1.1 ends before link_ids. */
struct tcx_query {
	__u32 ifindex;
	__u32 attach_type;
	__u32 query_flags;
	__u32 attach_flags;
	__aligned_u64 prog_ids;
	__u32 count; /* in: room, out: programs on the hook */
	__u32 zero;
	__aligned_u64 prog_attach_flags;
	__aligned_u64 link_ids;
	__aligned_u64 link_attach_flags;
	__u64 revision;
};

_Static_assert(sizeof(struct tcx_query) == 64, "the kernel's layout");

struct tcx_hook {
	__u32 count;
	__u32 prog_ids[TCX_PROGRAMS];
	__u32 link_ids[TCX_PROGRAMS]; /* 0: attached without a link */
};

/* In the order they run, into a hook of zeros. */
static int query_tcx(__u32 ifindex, struct tcx_hook *hook)
{
	struct tcx_query q = {
		.ifindex = ifindex,
		.attach_type = TCX_INGRESS,
		.prog_ids = (__u64)(uintptr_t)hook->prog_ids,
		.link_ids = (__u64)(uintptr_t)hook->link_ids,
		.count = TCX_PROGRAMS,
	};

	if (syscall(SYS_bpf, BPF_PROG_QUERY, &q, sizeof(q)) < 0)
		return errno == ENOENT ? 0 : -errno; /* 6.6 answers ENOENT for an empty hook */
	hook->count = q.count;
	return 0;
}

bool attach_has_tcx(void)
{
	static enum {
		UNKNOWN,
		NO,
		YES
	} answer;
	struct tcx_hook hook = { 0 };

	/* No device has index 0: a kernel with TCX looks for it and fails, one without refuses the attach type. */
	if (answer == UNKNOWN)
		answer = query_tcx(0, &hook) == -ENODEV ? YES : NO;
	return answer == YES;
}

static bool link_is_on(int link_fd, __u32 ifindex)
{
	struct bpf_link_info info = { 0 };
	__u32 len = sizeof(info);
	struct tcx_hook hook = { 0 };

	if (bpf_obj_get_info_by_fd(link_fd, &info, &len) || query_tcx(ifindex, &hook))
		return false;
	for (__u32 i = 0; i < hook.count; i++) {
		if (hook.link_ids[i] == info.id)
			return true;
	}
	return false;
}

/* 1: the link behind the pin runs our program now; 0: there is no pin, or no longer. */
static int take_over_pin(int prog_fd, __u32 ifindex, const char *pin, struct error *e)
{
	CLEANUP_FD int fd = bpf_obj_get(pin);

	if (fd == -ENOENT)
		return 0;
	if (fd >= 0 && link_is_on(fd, ifindex) && !bpf_link_update(fd, prog_fd, NULL))
		return 1;
	return detach_tcx(pin, e);
}

int attach_tcx(int prog_fd, __u32 ifindex, const char *pin, struct error *e)
{
	CLEANUP_FD int fd = -1;
	char name[24];
	int err;

	err = take_over_pin(prog_fd, ifindex, pin, e);
	if (err)
		return err < 0 ? err : 0;
	fd = bpf_link_create(prog_fd, ifindex, (enum bpf_attach_type)TCX_INGRESS, NULL);
	if (fd == -EEXIST)
		return error_set(e, EEXIST, "%s: this program is on its TCX ingress hook already, by another link",
				 link_name(ifindex, name));
	if (fd < 0)
		return error_set(e, -fd, "%s: cannot attach to its TCX ingress hook: %s", link_name(ifindex, name),
				 strerror(-fd));
	err = bpf_obj_pin(fd, pin);
	return err ? error_set(e, -err, "%s: cannot pin the TCX link: %s", pin, strerror(-err)) : 0;
}

int detach_tcx(const char *pin, struct error *e)
{
	CLEANUP_FD int fd = bpf_obj_get(pin);
	int err;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return error_set(e, -fd, "%s: cannot open the TCX link: %s", pin, strerror(-fd));
	/* First: once unpinned, a link that somebody else has open would stay attached. */
	err = bpf_link_detach(fd);
	if (err)
		return error_set(e, -err, "%s: cannot detach the TCX link: %s", pin, strerror(-err));
	if (unlink(pin) && errno != ENOENT)
		return error_set(e, errno, "%s: cannot remove the pin: %s", pin, strerror(errno));
	return 0;
}

/* --- filters and qdisc ------------------------------------------------------------------------------------------ */

struct filter {
	__u32 handle;
	__u32 chain;
	__u32 prog_id;	/* of kind "bpf" */
	__u16 priority; /* pref in tc's words */
	__u16 protocol; /* big endian */
	char kind[16];
};

struct filter_list {
	struct filter *filters;
	size_t count, room;
};

static void free_filters_(struct filter_list *list)
{
	free(list->filters);
}

#define CLEANUP_FILTERS __attribute__((cleanup(free_filters_)))

static struct nlmsghdr *tc_request(void *buf, __u16 type, __u16 flags, __u32 ifindex, __u32 parent)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tc;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	tc = mnl_nlmsg_put_extra_header(nlh, sizeof(*tc));
	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = parent;
	return nlh;
}

static struct nlmsghdr *our_filter_request(void *buf, __u16 type, __u16 flags, __u32 ifindex)
{
	struct nlmsghdr *nlh = tc_request(buf, type, NLM_F_ACK | flags, ifindex, INGRESS);
	struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);

	tc->tcm_handle = ATTACH_HANDLE;
	tc->tcm_info = TC_H_MAKE(ATTACH_PRIORITY << 16, htons(ETH_P_ALL));
	mnl_attr_put_strz(nlh, TCA_KIND, "bpf");
	return nlh;
}

static int parse_bpf_option(const struct nlattr *attr, void *data)
{
	struct filter *f = data;

	if (mnl_attr_get_type(attr) == TCA_BPF_ID && mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
		f->prog_id = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int parse_filter_attr(const struct nlattr *attr, void *data)
{
	struct filter *f = data;

	switch (mnl_attr_get_type(attr)) {
	case TCA_KIND:
		snprintf(f->kind, sizeof(f->kind), "%.*s", (int)mnl_attr_get_payload_len(attr), mnl_attr_get_str(attr));
		break;
	case TCA_CHAIN:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			f->chain = mnl_attr_get_u32(attr);
		break;
	case TCA_OPTIONS:
		/* The kind comes first; the numbers inside mean something else with each kind. */
		if (!strcmp(f->kind, "bpf"))
			return mnl_attr_parse_nested(attr, parse_bpf_option, f);
		break;
	}
	return MNL_CB_OK;
}

/*
 * A dump also shows the list that holds the filters (handle 0) and u32's hash tables (no node number).  u32 keeps all
 * its filters of a qdisc together and shows those of one priority with every list of that priority, be it of another
 * chain or of egress; they count more than once then.
 */
static bool is_a_filter(const struct filter *f)
{
	return f->handle && (strcmp(f->kind, "u32") || (f->handle & 0xfff));
}

static int append_filter(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct filter_list *list = data;
	struct filter f = { .handle = tc->tcm_handle,
			    .priority = TC_H_MAJ(tc->tcm_info) >> 16,
			    .protocol = TC_H_MIN(tc->tcm_info) };

	if (nlh->nlmsg_type != RTM_NEWTFILTER || mnl_attr_parse(nlh, sizeof(*tc), parse_filter_attr, &f) < 0)
		return MNL_CB_OK;
	if (!is_a_filter(&f))
		return MNL_CB_OK;
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct filter *more = realloc(list->filters, room * sizeof(*more));

		if (!more) {
			errno = ENOMEM;
			return MNL_CB_ERROR;
		}
		list->filters = more;
		list->room = room;
	}
	list->filters[list->count++] = f;
	return MNL_CB_OK;
}

/* In the order they run.  Without a qdisc, or a device, there are none. */
static int list_filters(__u32 ifindex, __u32 parent, struct filter_list *list, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO))), name[24];
	struct error why;
	int err;

	err = rtnl_talk(tc_request(buf, RTM_GETTFILTER, NLM_F_DUMP, ifindex, parent), append_filter, list, &why);
	if (!err || err == -ENODEV)
		return 0;
	return rtnl_refused(e, err, &why, link_name(ifindex, name), "list its tc filters");
}

static bool in_our_place(const struct filter *f)
{
	return f->chain == 0 && f->priority == ATTACH_PRIORITY && f->handle == ATTACH_HANDLE;
}

static bool is_ours(const struct filter *f, __u32 prog_id)
{
	return in_our_place(f) && f->prog_id && (f->prog_id == prog_id || has_our_name(f->prog_id));
}

/* A priority holds filters of one kind and one protocol. */
static bool keeps_us_out(const struct filter *f)
{
	return f->chain == 0 && f->priority == ATTACH_PRIORITY &&
	       (strcmp(f->kind, "bpf") || f->protocol != htons(ETH_P_ALL) || (in_our_place(f) && !is_ours(f, 0)));
}

static int find_ingress(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	__u32 *ifindex = data;

	/* A dump is of all devices. */
	if (tc->tcm_ifindex == (int)*ifindex && tc->tcm_parent == TC_H_INGRESS)
		*ifindex = 0;
	return MNL_CB_OK;
}

bool attach_has_qdisc(__u32 ifindex)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	__u32 seen = ifindex;
	struct error why;

	return !rtnl_talk(tc_request(buf, RTM_GETQDISC, NLM_F_DUMP, ifindex, 0), find_ingress, &seen, &why) && !seen;
}

static int add_qdisc(__u32 ifindex, bool *made, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO))), name[24];
	struct nlmsghdr *nlh = tc_request(buf, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, ifindex,
					  TC_H_CLSACT);
	struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct error why;
	int err;

	tc->tcm_handle = CLSACT_HANDLE;
	mnl_attr_put_strz(nlh, TCA_KIND, "clsact");
	err = rtnl_talk(nlh, NULL, NULL, &why);
	*made = !err;
	/* EEXIST is also an ingress qdisc's answer; it takes filters for the same hook. */
	if (!err || err == -EEXIST)
		return 0;
	return rtnl_refused(e, err, &why, link_name(ifindex, name), "add the clsact qdisc");
}

static int delete_qdisc(__u32 ifindex, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO))), name[24];
	struct nlmsghdr *nlh = tc_request(buf, RTM_DELQDISC, NLM_F_ACK, ifindex, TC_H_CLSACT);
	struct error why;
	int err;

	/* The kind makes the kernel refuse to delete an ingress qdisc that has taken the place of ours. */
	mnl_attr_put_strz(nlh, TCA_KIND, "clsact");
	err = rtnl_talk(nlh, NULL, NULL, &why);
	if (!err || err == -ENOENT || err == -ENODEV || err == -EINVAL)
		return 0;
	return rtnl_refused(e, err, &why, link_name(ifindex, name), "delete the clsact qdisc");
}

static int put_filter(int prog_fd, __u32 ifindex, bool replace, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO))), name[24];
	struct nlmsghdr *nlh;
	struct nlattr *options;
	struct error why;
	int err;

	nlh = our_filter_request(buf, RTM_NEWTFILTER, NLM_F_CREATE | (replace ? 0 : NLM_F_EXCL), ifindex);
	options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	mnl_attr_put_u32(nlh, TCA_BPF_FD, prog_fd);
	mnl_attr_put_strz(nlh, TCA_BPF_NAME, ATTACH_PROGRAM);
	mnl_attr_put_u32(nlh, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
	mnl_attr_nest_end(nlh, options);
	err = rtnl_talk(nlh, NULL, NULL, &why);
	return err ? rtnl_refused(e, err, &why, link_name(ifindex, name), "add the clsact filter") : 0;
}

/* Whether a filter of ours is in our place already; -EBUSY if it is somebody else's. */
static int find_place(__u32 ifindex, bool *taken, struct error *e)
{
	CLEANUP_FILTERS struct filter_list list = { 0 };
	char name[24];
	int err;

	*taken = false;
	err = list_filters(ifindex, INGRESS, &list, e);
	for (size_t i = 0; i < list.count && !err; i++) {
		const struct filter *f = &list.filters[i];

		if (keeps_us_out(f))
			return error_set(e, EBUSY,
					 "%s: ingress pref %u is taken by a %s filter, handle %#x: delete or move it",
					 link_name(ifindex, name), f->priority, f->kind, f->handle);
		*taken = *taken || in_our_place(f);
	}
	return err;
}

int attach_clsact(int prog_fd, __u32 ifindex, bool *made_qdisc, struct error *e)
{
	bool replace;
	struct error ignored;
	int err;

	err = add_qdisc(ifindex, made_qdisc, e);
	if (err)
		return err;
	err = find_place(ifindex, &replace, e);
	if (!err)
		err = put_filter(prog_fd, ifindex, replace, e);
	if (err && *made_qdisc) {
		delete_qdisc(ifindex, &ignored);
		*made_qdisc = false;
	}
	return err;
}

static int delete_our_filter(__u32 ifindex, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO))), name[24];
	struct error why;
	int err;

	err = rtnl_talk(our_filter_request(buf, RTM_DELTFILTER, 0, ifindex), NULL, NULL, &why);
	if (!err || err == -ENOENT || err == -ENODEV)
		return 0;
	return rtnl_refused(e, err, &why, link_name(ifindex, name), "delete the clsact filter");
}

/* A filter that somebody adds between look and deletion is lost: the kernel has no "delete if empty". */
static int delete_empty_qdisc(__u32 ifindex, struct error *e)
{
	CLEANUP_FILTERS struct filter_list list = { 0 };
	int err;

	err = list_filters(ifindex, INGRESS, &list, e);
	if (!err)
		err = list_filters(ifindex, EGRESS, &list, e);
	return err || list.count ? err : delete_qdisc(ifindex, e);
}

int detach_clsact(__u32 ifindex, __u32 prog_id, bool remove_qdisc, struct error *e)
{
	CLEANUP_FILTERS struct filter_list list = { 0 };
	int err;

	err = list_filters(ifindex, INGRESS, &list, e);
	for (size_t i = 0; i < list.count && !err; i++) {
		if (is_ours(&list.filters[i], prog_id))
			err = delete_our_filter(ifindex, e);
	}
	return err || !remove_qdisc ? err : delete_empty_qdisc(ifindex, e);
}

/* --- what is there ---------------------------------------------------------------------------------------------- */

static void count_one(struct attach_state *s, enum port_attach how, __u32 prog_id, bool ours)
{
	if (s->how == PORT_ATTACH_NONE && ours) {
		s->how = how;
		s->prog_id = prog_id;
	} else if (s->how == PORT_ATTACH_NONE) {
		s->before++;
	} else {
		s->after++;
	}
}

/* The program asked for, else one of our name. */
static __u32 ours_of(const struct tcx_hook *hook, __u32 our_prog_id)
{
	for (__u32 i = 0; i < hook->count; i++) {
		if (hook->prog_ids[i] == our_prog_id)
			return our_prog_id;
	}
	for (__u32 i = 0; i < hook->count; i++) {
		if (has_our_name(hook->prog_ids[i]))
			return hook->prog_ids[i];
	}
	return 0;
}

static int query_clsact(__u32 ifindex, __u32 our_prog_id, struct attach_state *s, struct error *e)
{
	CLEANUP_FILTERS struct filter_list list = { 0 };
	int err;

	err = list_filters(ifindex, INGRESS, &list, e);
	for (size_t i = 0; i < list.count && !err; i++) {
		const struct filter *f = &list.filters[i];

		if (f->chain == 0)
			count_one(s, PORT_ATTACH_CLSACT, f->prog_id, is_ours(f, our_prog_id));
	}
	return err;
}

int attach_query(__u32 ifindex, __u32 our_prog_id, struct attach_state *s, struct error *e)
{
	struct tcx_hook hook = { 0 };
	char name[24];
	__u32 ours;
	int err;

	memset(s, 0, sizeof(*s));
	if (!if_indextoname(ifindex, name))
		return error_set(e, ENODEV, "device %u: no such network device", ifindex);
	err = attach_has_tcx() ? query_tcx(ifindex, &hook) : 0;
	if (err)
		return error_set(e, -err, "%s: cannot read its TCX ingress hook: %s", name, strerror(-err));
	ours = ours_of(&hook, our_prog_id);
	for (__u32 i = 0; i < hook.count; i++)
		count_one(s, PORT_ATTACH_TCX, hook.prog_ids[i], hook.prog_ids[i] == ours);
	return query_clsact(ifindex, our_prog_id, s, e);
}
