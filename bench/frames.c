// SPDX-License-Identifier: GPL-2.0-only
#include "frames.h"

#include <string.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

enum {
	MIN_BYTES = 64,
};

static void *put(struct frame *f, size_t len)
{
	void *at = f->bytes + f->len;

	f->len += len;
	return at;
}

static void put_ethernet(struct frame *f, __u16 type)
{
	struct ethhdr h = {
		.h_dest = { 0x02, 0, 0, 0, 0, 2 },
		.h_source = { 0x02, 0, 0, 0, 0, 1 },
		.h_proto = htons(type),
	};

	memcpy(put(f, sizeof(h)), &h, sizeof(h));
}

static void put_ipv4(struct frame *f, __u8 proto)
{
	struct iphdr h = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(MIN_BYTES - ETH_HLEN),
		.ttl = 64,
		.protocol = proto,
		.saddr = inet_addr(FRAME_IPV4_SRC),
		.daddr = inet_addr(FRAME_IPV4_DST),
	};

	memcpy(put(f, sizeof(h)), &h, sizeof(h));
}

static void put_ipv6(struct frame *f, __u8 proto)
{
	struct ip6_hdr h = {
		.ip6_flow = htonl(6U << 28),
		.ip6_plen = htons(sizeof(struct tcphdr)),
		.ip6_nxt = proto,
		.ip6_hlim = 64,
		.ip6_src.s6_addr = { 0xfd, [15] = 1 },
		.ip6_dst.s6_addr = { 0xfd, [15] = 2 },
	};

	memcpy(put(f, sizeof(h)), &h, sizeof(h));
}

static void put_udp(struct frame *f)
{
	struct udphdr h = { .source = htons(1000), .dest = htons(2000), .len = htons(MIN_BYTES - f->len) };

	memcpy(put(f, sizeof(h)), &h, sizeof(h));
}

static void put_tcp(struct frame *f)
{
	struct tcphdr h = { .source = htons(1000), .dest = htons(2000), .doff = 5, .ack = 1 };

	memcpy(put(f, sizeof(h)), &h, sizeof(h));
}

void frame_make(struct frame *f, enum frame_kind kind)
{
	memset(f, 0, sizeof(*f));
	put_ethernet(f, kind == FRAME_IPV6_TCP ? ETH_P_IPV6 : ETH_P_IP);
	if (kind == FRAME_IPV6_TCP)
		put_ipv6(f, IPPROTO_TCP);
	else
		put_ipv4(f, kind == FRAME_IPV4_TCP ? IPPROTO_TCP : IPPROTO_UDP);
	if (kind == FRAME_IPV4_UDP)
		put_udp(f);
	else
		put_tcp(f);
	if (f->len < MIN_BYTES)
		f->len = MIN_BYTES;
}
