// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices by rtnetlink, and by ioctl where that is the only way to one ethtool flag.
 */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "util.h"

enum {
	REQUEST_LEN = 1024,
	/* The kernel fills a dump up to this much at a time; a device with many virtual functions needs it. */
	ANSWER_LEN = 32768,
	LIST_TRIES = 8,
};

/* --- the exchange ----------------------------------------------------------------------------------------------- */

struct exchange {
	int (*each)(const struct nlmsghdr *, void *);
	void *data;
	struct error *why;
};

static int found_message(const struct nlattr *attr, void *data)
{
	const char **message = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG && mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		*message = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

/* libmnl's own handler would drop the kernel's text. */
static int on_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *answer = mnl_nlmsg_get_payload(nlh);
	struct exchange *x = data;
	const char *message = "";

	/* With NETLINK_CAP_ACK only the request's header comes back in front of the attributes. */
	if ((nlh->nlmsg_flags & NLM_F_ACK_TLVS) && (nlh->nlmsg_flags & NLM_F_CAPPED))
		mnl_attr_parse(nlh, sizeof(*answer), found_message, &message);
	if (!answer->error)
		return MNL_CB_STOP;
	error_set(x->why, 0, "%s", message);
	errno = answer->error < 0 ? -answer->error : answer->error;
	return MNL_CB_ERROR;
}

/* The end of a dump carries its errno. */
static int on_done(const struct nlmsghdr *nlh, void *data)
{
	int err = 0;

	(void)data;
	if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(err))
		memcpy(&err, mnl_nlmsg_get_payload(nlh), sizeof(err));
	if (err >= 0)
		return MNL_CB_STOP;
	errno = -err;
	return MNL_CB_ERROR;
}

static int on_answer(const struct nlmsghdr *nlh, void *data)
{
	struct exchange *x = data;

	return x->each ? x->each(nlh, x->data) : MNL_CB_OK;
}

static int send_and_receive(struct mnl_socket *s, struct nlmsghdr *request, struct exchange *x)
{
	mnl_cb_t control[] = { [NLMSG_ERROR] = on_error, [NLMSG_DONE] = on_done };
	char buf[ANSWER_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	int one = 1, run = MNL_CB_OK;
	ssize_t len;

	/* Both are only there for better words. */
	mnl_socket_setsockopt(s, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(s, NETLINK_CAP_ACK, &one, sizeof(one));
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0 || mnl_socket_sendto(s, request, request->nlmsg_len) < 0)
		return -errno;
	while (run > MNL_CB_STOP) {
		len = mnl_socket_recvfrom(s, buf, sizeof(buf));
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		run = mnl_cb_run2(buf, len, request->nlmsg_seq, mnl_socket_get_portid(s), on_answer, x, control,
				  ARRAY_SIZE(control));
	}
	return run < 0 ? -errno : 0;
}

int rtnl_talk(struct nlmsghdr *request, int (*each)(const struct nlmsghdr *, void *), void *data, struct error *why)
{
	struct exchange x = { .each = each, .data = data, .why = why };
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int err;

	why->text[0] = '\0';
	if (!s)
		return -errno;
	request->nlmsg_seq = 1;
	err = send_and_receive(s, request, &x);
	mnl_socket_close(s);
	return err;
}

int rtnl_refused(struct error *e, int err, const struct error *why, const char *device, const char *what)
{
	return error_set(e, -err, "%s: cannot %s: %s%s%s", device, what, strerror(-err), why->text[0] ? ": " : "",
			 why->text);
}

static struct nlmsghdr *link_request(void *buf, __u16 type, __u16 flags, __u32 ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = ifindex;
	return nlh;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

struct parsed_link {
	struct link_info *link;
	__u32 peer; /* IFLA_LINK: the other end of a veth */
};

static void copy_attr(void *to, size_t size, const struct nlattr *attr)
{
	__u16 len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len < size ? len : size);
}

static int parse_kind(const struct nlattr *attr, void *data)
{
	struct link_info *l = data;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		copy_attr(l->kind, sizeof(l->kind) - 1, attr);
	return MNL_CB_OK;
}

static int parse_link_attr(const struct nlattr *attr, void *data)
{
	struct parsed_link *p = data;
	struct link_info *l = p->link;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		copy_attr(l->name, sizeof(l->name) - 1, attr);
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(l->mac))
			copy_attr(l->mac, sizeof(l->mac), attr);
		break;
	case IFLA_MTU:
		copy_attr(&l->mtu, sizeof(l->mtu), attr);
		break;
	case IFLA_LINK:
		copy_attr(&p->peer, sizeof(p->peer), attr);
		l->peer_ifindex = p->peer;
		break;
	case IFLA_LINK_NETNSID:
		copy_attr(&l->peer_nsid, sizeof(l->peer_nsid), attr);
		l->peer_elsewhere = true;
		break;
	case IFLA_LINKINFO:
		return mnl_attr_parse_nested(attr, parse_kind, l);
	case IFLA_STATS64:
		/* Its length grows with the kernel, and it need not be aligned. */
		copy_attr(&l->stats, sizeof(l->stats), attr);
		l->has_stats = true;
		break;
	}
	return MNL_CB_OK;
}

static int parse_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct parsed_link *p = data;

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	memset(p->link, 0, sizeof(*p->link));
	p->link->ifindex = ifi->ifi_index;
	p->link->flags = ifi->ifi_flags;
	p->link->type = ifi->ifi_type;
	return mnl_attr_parse(nlh, sizeof(*ifi), parse_link_attr, p);
}

static int get_by_name(const char *name, struct parsed_link *p, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_GETLINK, NLM_F_ACK, 0);
	struct error why;
	int err;

	/* The kernel answers a name that cannot be one with EINVAL or ERANGE. */
	if (!name[0] || strlen(name) >= IFNAMSIZ)
		return error_set(e, ENODEV, "%s: no such network device", name);
	memset(p->link, 0, sizeof(*p->link));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	err = rtnl_talk(nlh, parse_link, p, &why);
	if (err == -ENODEV)
		return error_set(e, ENODEV, "%s: no such network device", name);
	return err ? rtnl_refused(e, err, &why, name, "look up the device") : 0;
}

int link_get(const char *name, struct link_info *l, struct error *e)
{
	struct parsed_link p = { .link = l };

	return get_by_name(name, &p, e);
}

int link_get_by_index(__u32 ifindex, struct link_info *l, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_GETLINK, NLM_F_ACK, ifindex);
	struct parsed_link p = { .link = l };
	char name[24];
	struct error why;
	int err;

	memset(l, 0, sizeof(*l));
	/* The kernel takes index 0 as "by name". */
	err = ifindex ? rtnl_talk(nlh, parse_link, &p, &why) : -ENODEV;
	if (err == -ENODEV)
		return error_set(e, ENODEV, "device %u: no such network device", ifindex);
	return err ? rtnl_refused(e, err, &why, link_name(ifindex, name), "look up the device") : 0;
}

const char *link_name(__u32 ifindex, char buf[static 24])
{
	if (!if_indextoname(ifindex, buf))
		snprintf(buf, 24, "device %u", ifindex);
	return buf;
}

int link_get_peer_mac(const struct link_info *l, __u8 mac[6], struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_GETLINK, NLM_F_ACK, l->peer_ifindex);
	struct link_info peer = {};
	struct parsed_link p = { .link = &peer };
	struct error why;
	int err;

	mnl_attr_put_u32(nlh, IFLA_TARGET_NETNSID, l->peer_nsid);
	err = rtnl_talk(nlh, parse_link, &p, &why);
	if (err)
		return rtnl_refused(e, err, &why, l->name, "look up the other end");
	memcpy(mac, peer.mac, sizeof(peer.mac));
	return 0;
}

struct link_array {
	struct link_info *links;
	size_t count, room;
};

static int append_link(const struct nlmsghdr *nlh, void *data)
{
	struct link_array *a = data;
	struct parsed_link p = { 0 };

	if (a->count == a->room) {
		size_t room = a->room ? 2 * a->room : 16;
		struct link_info *more = realloc(a->links, room * sizeof(*more));

		if (!more) {
			errno = ENOMEM;
			return MNL_CB_ERROR;
		}
		a->links = more;
		a->room = room;
	}
	p.link = &a->links[a->count++];
	return parse_link(nlh, &p);
}

int link_list(struct link_info **links, size_t *count, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct link_array a = { 0 };
	struct error why;
	int err = -EINTR;

	/* The list is inconsistent whenever a device came or went while it was made. */
	for (int i = 0; err == -EINTR && i < LIST_TRIES; i++) {
		a.count = 0;
		err = rtnl_talk(link_request(buf, RTM_GETLINK, NLM_F_DUMP, 0), append_link, &a, &why);
	}
	if (err) {
		free(a.links);
		return rtnl_refused(e, err, &why, "network devices", "list them");
	}
	*links = a.links;
	*count = a.count;
	return 0;
}

/* --- changing --------------------------------------------------------------------------------------------------- */

static int create_veth(const char *name, const char *peer_pattern, struct error *why)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, 0);
	struct nlattr *info, *data, *peer;

	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, peer_pattern);
	mnl_attr_nest_end(nlh, peer);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	return rtnl_talk(nlh, NULL, NULL, why);
}

int link_add_veth(const char *name, const char *peer_pattern, struct link_info *l, struct link_info *peer,
		  struct error *e)
{
	struct parsed_link p = { .link = l };
	struct error why;
	int err;

	if (!name[0] || strlen(name) >= IFNAMSIZ)
		return error_set(e, EINVAL, "%s: a device name has 1 to %d characters", name, IFNAMSIZ - 1);
	/* The kernel would number the device, and br%d become br0. */
	if (strchr(name, '%'))
		return error_set(e, EINVAL, "%s: a device name has no %%", name);
	if (strlen(peer_pattern) >= IFNAMSIZ)
		return error_set(e, EINVAL, "%s: a device name has 1 to %d characters", peer_pattern, IFNAMSIZ - 1);
	err = create_veth(name, peer_pattern, &why);
	if (err == -EEXIST)
		return error_set(e, EEXIST, "%s: a network device of this name exists already",
				 if_nametoindex(name) ? name : peer_pattern);
	if (err)
		return rtnl_refused(e, err, &why, name, "make the veth pair");
	err = get_by_name(name, &p, e);
	return err ? err : link_get_by_index(p.peer, peer, e);
}

int link_del(__u32 ifindex, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct error why;
	char name[24];
	int err;

	/* Index 0 without a name or group would be refused as EINVAL. */
	err = ifindex ? rtnl_talk(link_request(buf, RTM_DELLINK, NLM_F_ACK, ifindex), NULL, NULL, &why) : -ENODEV;
	if (err == -ENODEV)
		return error_set(e, ENODEV, "device %u: no such network device", ifindex);
	return err ? rtnl_refused(e, err, &why, link_name(ifindex, name), "delete the device") : 0;
}

static int set_flag(__u32 ifindex, __u32 flag, bool on, const char *what, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_NEWLINK, NLM_F_ACK, ifindex);
	struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct error why;
	char name[24];
	int err;

	ifi->ifi_change = flag;
	ifi->ifi_flags = on ? flag : 0;
	err = ifindex ? rtnl_talk(nlh, NULL, NULL, &why) : -ENODEV;
	if (err == -ENODEV)
		return error_set(e, ENODEV, "device %u: no such network device", ifindex);
	return err ? rtnl_refused(e, err, &why, link_name(ifindex, name), what) : 0;
}

int link_set_up(__u32 ifindex, bool up, struct error *e)
{
	return set_flag(ifindex, IFF_UP, up, up ? "set the device up" : "set the device down", e);
}

int link_set_mtu(__u32 ifindex, __u32 mtu, struct error *e)
{
	char buf[REQUEST_LEN] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = link_request(buf, RTM_NEWLINK, NLM_F_ACK, ifindex);
	struct error why;
	char name[24];
	int err;

	mnl_attr_put_u32(nlh, IFLA_MTU, mtu);
	err = rtnl_talk(nlh, NULL, NULL, &why);
	return err ? rtnl_refused(e, err, &why, link_name(ifindex, name), "set the MTU") : 0;
}

int link_set_promisc(__u32 ifindex, bool on, bool *changed, struct error *e)
{
	struct link_info l;
	int err;

	*changed = false;
	err = link_get_by_index(ifindex, &l, e);
	if (err || !!(l.flags & IFF_PROMISC) == on)
		return err;
	err = set_flag(ifindex, IFF_PROMISC, on, on ? "set promiscuous mode" : "clear promiscuous mode", e);
	*changed = !err;
	return err;
}

static int ethtool_flags(int fd, const char *name, __u32 command, __u32 *flags)
{
	struct ethtool_value value = { .cmd = command, .data = *flags };
	struct ifreq ifr = { .ifr_data = (char *)&value };

	strncpy(ifr.ifr_name, name, sizeof(ifr.ifr_name) - 1);
	if (ioctl(fd, SIOCETHTOOL, &ifr) < 0)
		return -errno;
	*flags = value.data;
	return 0;
}

bool link_has_lro(const char *name)
{
	CLEANUP_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	__u32 flags = 0;

	return fd >= 0 && !ethtool_flags(fd, name, ETHTOOL_GFLAGS, &flags) && (flags & ETH_FLAG_LRO);
}

int link_set_lro(const char *name, bool on, bool *changed, struct error *e)
{
	CLEANUP_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	__u32 flags = 0;
	int err;

	*changed = false;
	if (fd < 0)
		return error_set(e, errno, "%s: cannot open a socket: %s", name, strerror(errno));
	err = ethtool_flags(fd, name, ETHTOOL_GFLAGS, &flags);
	if (!err && !!(flags & ETH_FLAG_LRO) != on) {
		flags ^= ETH_FLAG_LRO;
		err = ethtool_flags(fd, name, ETHTOOL_SFLAGS, &flags);
		/* The kernel says yes even where the driver then keeps its mind. */
		if (!err)
			err = ethtool_flags(fd, name, ETHTOOL_GFLAGS, &flags);
		*changed = !err && !!(flags & ETH_FLAG_LRO) == on;
	}
	if (err == -EOPNOTSUPP)
		return 0;
	return err ? error_set(e, -err, "%s: cannot turn LRO %s: %s", name, on ? "on" : "off", strerror(-err)) : 0;
}

int link_disable_ipv6(const char *name)
{
	char path[64 + IFNAMSIZ];
	CLEANUP_FD int fd = -1;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return write(fd, "1", 1) == 1 ? 0 : -errno;
}
