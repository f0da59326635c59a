// SPDX-License-Identifier: GPL-2.0-only
#include "wire.h"

#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "util.h"

enum {
	TAG_AT = 12,
	TAG_LEN = 4,
	RING_SIZE = 8192, /* one frame */
};

int wire_open(__u32 ifindex)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET,
				    .sll_ifindex = (int)ifindex,
				    .sll_protocol = htons(ETH_P_ALL) };
	CLEANUP_FD int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int on = 1, room = 4 << 20; /* for as many copies as one list can make */

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -1;
	return TAKE_FD(fd);
}

/* The kernel has taken the outer tag out of the bytes. */
static void put_tag_back(struct frame *f, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct tpacket_auxdata aux;
		__be16 tag[2];

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			continue;
		tag[0] = htons(aux.tp_vlan_tpid);
		tag[1] = htons(aux.tp_vlan_tci);
		memmove(f->byte + TAG_AT + TAG_LEN, f->byte + TAG_AT, f->len - TAG_AT);
		memcpy(f->byte + TAG_AT, tag, TAG_LEN);
		f->len += TAG_LEN;
	}
}

int wire_receive(int fd, struct frame *f, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct iovec iov = { .iov_base = f->byte, .iov_len = FRAME_MAX - TAG_LEN };
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t len;

	if (poll(&p, 1, timeout_ms) != 1)
		return -1;
	len = recvmsg(fd, &msg, MSG_DONTWAIT);
	if (len < ETH_HLEN)
		return -1;
	f->len = len;
	put_tag_back(f, &msg);
	return 0;
}

int wire_send(int fd, const struct frame *f)
{
	return send(fd, f->byte, f->len, 0) == (ssize_t)f->len ? 0 : -1;
}

static int open_ring(__u32 ifindex, void **ring)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_ifindex = (int)ifindex };
	struct tpacket_req req = {
		.tp_block_size = RING_SIZE, .tp_block_nr = 1, .tp_frame_size = RING_SIZE, .tp_frame_nr = 1
	};
	CLEANUP_FD int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int version = TPACKET_V2;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -1;
	*ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *ring == MAP_FAILED ? -1 : TAKE_FD(fd);
}

int wire_send_split(__u32 ifindex, const struct frame *f)
{
	void *ring;
	CLEANUP_FD int fd = open_ring(ifindex, &ring);
	struct tpacket2_hdr *h = ring;
	ssize_t sent;

	if (fd < 0)
		return -1;
	memcpy(ring + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll), f->byte, f->len);
	h->tp_len = f->len;
	h->tp_status = TP_STATUS_SEND_REQUEST;
	sent = send(fd, NULL, 0, 0);
	munmap(ring, RING_SIZE);
	return sent == (ssize_t)f->len ? 0 : -1;
}

int wire_send_partial(__u32 ifindex, const struct frame *f, __u16 sum_from, __u16 sum_at, __u16 gso_size, __u8 gso_type)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_ifindex = (int)ifindex };
	CLEANUP_FD int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct virtio_net_hdr h = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = sum_from,
		.csum_offset = sum_at - sum_from,
		.hdr_len = gso_size ? sum_from + 20 : 0,
		.gso_size = gso_size,
		.gso_type = gso_type,
	};
	struct iovec iov[] = { { &h, sizeof(h) }, { (void *)f->byte, f->len } };
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -1;
	return writev(fd, iov, 2) == (ssize_t)(sizeof(h) + f->len) ? 0 : -1;
}

int wire_tagged(const struct frame *f)
{
	__be16 type;

	memcpy(&type, f->byte + TAG_AT, sizeof(type));
	return f->len >= ETH_HLEN + TAG_LEN && (type == htons(ETH_P_8021Q) || type == htons(ETH_P_8021AD));
}
