// SPDX-License-Identifier: GPL-2.0-only
#include "seal.h"

#include <string.h>

enum {
	HOP_BY_HOP = 0,
	ROUTING = 43,
	FRAGMENT = 44,
	AUTH = 51,
	DEST_OPTIONS = 60,
};

__u16 get16(const __u8 *p)
{
	return p[0] << 8 | p[1];
}

void put_be16(__u8 *p, __u16 value)
{
	p[0] = value >> 8;
	p[1] = value;
}

__u16 ones_sum(const __u8 *data, __u32 len, __u32 sum)
{
	for (__u32 i = 0; i < len; i++)
		sum += i % 2 ? data[i] : data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Bit by bit, as RFC 3309 defines it. */
__u32 crc32c(const __u8 *data, __u32 len, __u32 crc)
{
	for (__u32 i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return crc;
}

static void lay_out_ipv4(const struct frame *f, struct layout *l)
{
	const __u8 *h = f->byte + l->l3;
	__u32 ihl = (h[0] & 0xf) * 4;

	l->proto = h[9];
	l->dst = h + 16;
	l->fragment = get16(h + 6) & 0x3fff;
	l->end = l->l3 + get16(h + 2);
	if (!(get16(h + 6) & 0x1fff))
		l->l4 = l->l3 + ihl;
}

static void lay_out_ipv6(const struct frame *f, struct layout *l)
{
	const __u8 *h = f->byte + l->l3;
	__u32 at = l->l3 + 40;
	__u8 next = h[6];

	l->dst = h + 24;
	l->end = l->l3 + 40 + get16(h + 4);
	while (at + 8 <= f->len &&
	       (next == HOP_BY_HOP || next == ROUTING || next == FRAGMENT || next == AUTH || next == DEST_OPTIONS)) {
		const __u8 *e = f->byte + at;

		if (next == ROUTING && e[3])
			l->dst = e + 8;
		l->fragment |= next == FRAGMENT;
		at += next == FRAGMENT ? 8 : next == AUTH ? (e[1] + 2) * 4U : (e[1] + 1) * 8U;
		if (next == FRAGMENT && (get16(e + 2) & 0xfff8)) {
			l->proto = FRAGMENT;
			return;
		}
		next = e[0];
	}
	l->proto = next;
	l->l4 = at;
}

/* Where the protocol's checksum is, 0 if it has none that is known here. */
static __u32 sum_offset(const struct layout *l)
{
	switch (l->proto) {
	case IPPROTO_TCP:
		return 16;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return 6;
	case IPPROTO_ICMP:
	case IPPROTO_IGMP:
		return l->ipv4 ? 2 : 0;
	case IPPROTO_ICMPV6:
		return l->ipv6 ? 2 : 0;
	default:
		return 0;
	}
}

static __u32 l4_header(const struct layout *l)
{
	return l->proto == IPPROTO_TCP ? 20 : l->proto == IPPROTO_SCTP ? 12 : sum_offset(l) ? 8 : 0;
}

bool frame_layout(const struct frame *f, struct layout *l)
{
	__u32 at = 12;
	__u16 type;

	memset(l, 0, sizeof(*l));
	while (at + 6 <= f->len && (get16(f->byte + at) == ETH_P_8021Q || get16(f->byte + at) == ETH_P_8021AD)) {
		l->tags++;
		at += 4;
	}
	type = get16(f->byte + at);
	l->l3 = at + 2;
	l->ipv4 = type == ETH_P_IP && l->l3 + 20 <= f->len && (f->byte[l->l3] & 0xf) >= 5;
	l->ipv6 = type == ETH_P_IPV6 && l->l3 + 40 <= f->len;
	if (l->ipv4)
		lay_out_ipv4(f, l);
	else if (l->ipv6)
		lay_out_ipv6(f, l);
	l->cut = l->end > f->len || l->l4 + l4_header(l) > l->end;
	if (l->end > f->len)
		l->end = f->len;
	if (l->l4 > l->end)
		l->l4 = 0;
	return l->ipv4 || l->ipv6;
}

static __u32 pseudo_sum(const struct frame *f, const struct layout *l)
{
	__u32 width = l->ipv4 ? 4 : 16, sum = l->proto + (l->end - l->l4);

	if (l->proto == IPPROTO_ICMP || l->proto == IPPROTO_IGMP)
		return 0;
	return ones_sum(f->byte + l->l3 + (l->ipv4 ? 12 : 8), width, 0) + ones_sum(l->dst, width, 0) + sum;
}

/* The L4 sum over all that it covers, its own field as it stands. */
static __u16 l4_sum(const struct frame *f, const struct layout *l)
{
	return ones_sum(f->byte + l->l4, l->end - l->l4, pseudo_sum(f, l));
}

static __u32 sctp_crc(const struct frame *f, const struct layout *l)
{
	static const __u8 zeros[4];
	const __u8 *h = f->byte + l->l4;
	__u32 crc = crc32c(h, 8, ~0U);

	crc = crc32c(zeros, 4, crc);
	return ~crc32c(h + 12, l->end - l->l4 - 12, crc);
}

static void sum_l4(struct frame *f, const struct layout *l)
{
	__u32 at = sum_offset(l), crc;
	__u8 *field = f->byte + l->l4 + at;
	__u16 sum;

	if (l->proto == IPPROTO_SCTP && l->end >= l->l4 + 12) {
		crc = sctp_crc(f, l);
		memcpy(f->byte + l->l4 + 8, &crc, 4);
	}
	if (!at || l->l4 + at + 2 > l->end)
		return;
	put_be16(field, 0);
	sum = ~l4_sum(f, l);
	put_be16(field, l->proto == IPPROTO_UDP && !sum ? 0xffff : sum);
}

struct frame resummed(struct frame f)
{
	struct layout l;
	__u8 *ip;

	if (!frame_layout(&f, &l))
		return f;
	ip = f.byte + l.l3;
	if (l.l4 && !(l.proto == IPPROTO_UDP && !get16(f.byte + l.l4 + 6)))
		sum_l4(&f, &l);
	if (!l.ipv4)
		return f;
	put_be16(ip + 10, 0);
	put_be16(ip + 10, ~ones_sum(ip, (ip[0] & 0xf) * 4, 0));
	return f;
}

struct frame sealed(struct frame f)
{
	struct layout l;

	if (!frame_layout(&f, &l))
		return f;
	if (l.ipv4)
		put_be16(f.byte + l.l3 + 2, f.len - l.l3);
	else
		put_be16(f.byte + l.l3 + 4, f.len - l.l3 - 40);
	frame_layout(&f, &l);
	if (l.l4 && (l.proto == IPPROTO_UDP || l.proto == IPPROTO_UDPLITE)) {
		put_be16(f.byte + l.l4 + 4, f.len - l.l4);
		put_be16(f.byte + l.l4 + 6, 1);
	}
	return resummed(f);
}

struct frame with_payload(struct frame f, __u32 bytes)
{
	return sealed(frame_padded(f, f.len + bytes));
}

bool sums_are_right(const struct frame *f)
{
	struct layout l;
	__u32 at, crc;

	if (!frame_layout(f, &l))
		return true;
	if (l.cut)
		return false;
	if (l.ipv4 && ones_sum(f->byte + l.l3, (f->byte[l.l3] & 0xf) * 4, 0) != 0xffff)
		return false;
	if (!l.l4 || l.fragment)
		return true;
	if (l.proto == IPPROTO_SCTP) {
		crc = sctp_crc(f, &l);
		return !memcmp(f->byte + l.l4 + 8, &crc, 4);
	}
	at = sum_offset(&l);
	if (!at || (l.proto == IPPROTO_UDP && l.ipv4 && !get16(f->byte + l.l4 + at)))
		return true;
	return l4_sum(f, &l) == 0xffff;
}
