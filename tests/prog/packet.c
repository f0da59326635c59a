// SPDX-License-Identifier: GPL-2.0-only
#include "packet.h"

#include <stdlib.h>
#include <string.h>

static const __u8 mac_a[] = MAC_A, mac_b[] = MAC_B;
static const __u8 ip_a[] = { IPV4_A }, ip_b[] = { IPV4_B };
static const __u8 ip6_a[] = IPV6_A, ip6_b[] = IPV6_B, ip6_t[] = IPV6_T;

static void put(struct layer *l, const void *data, __u32 len)
{
	if (l->len + len > LAYER_MAX)
		abort();
	memcpy(l->byte + l->len, data, len);
	l->len += len;
}

static void put8(struct layer *l, __u8 value)
{
	put(l, &value, 1);
}

static void put16(struct layer *l, __u16 value)
{
	put8(l, value >> 8);
	put8(l, value);
}

static void put32(struct layer *l, __u32 value)
{
	put16(l, value >> 16);
	put16(l, value);
}

static void put_zeros(struct layer *l, __u32 len)
{
	static const __u8 zero[LAYER_MAX];

	put(l, zero, len);
}

struct frame frame_of(const struct layer *layers, __u32 count)
{
	struct frame f = { 0 };

	for (__u32 i = 0; i < count; i++) {
		if (f.len + layers[i].len > FRAME_MAX)
			abort();
		memcpy(f.byte + f.len, layers[i].byte, layers[i].len);
		f.len += layers[i].len;
	}
	return f;
}

struct frame frame_cut(struct frame f, __u32 len)
{
	if (len > f.len)
		abort();
	f.len = len;
	return f;
}

struct frame frame_padded(struct frame f, __u32 len)
{
	if (len > FRAME_MAX)
		abort();
	for (; f.len < len; f.len++)
		f.byte[f.len] = f.len;
	return f;
}

struct layer eth(__u16 type_or_length)
{
	struct layer l = { 0 };

	put(&l, mac_b, 6);
	put(&l, mac_a, 6);
	put16(&l, type_or_length);
	return l;
}

struct layer vlan(__u16 tci, __u16 type)
{
	struct layer l = { 0 };

	put16(&l, tci);
	put16(&l, type);
	return l;
}

struct layer llc(__u8 dsap, __u8 ssap, __u8 control)
{
	struct layer l = { 0 };

	put8(&l, dsap);
	put8(&l, ssap);
	put8(&l, control);
	return l;
}

struct layer snap(__u32 oui, __u16 type)
{
	struct layer l = { 0 };

	put8(&l, oui >> 16);
	put16(&l, oui);
	put16(&l, type);
	return l;
}

struct layer bytes(const void *data, __u32 len)
{
	struct layer l = { 0 };

	put(&l, data, len);
	return l;
}

struct layer zeros(__u32 len)
{
	struct layer l = { 0 };

	put_zeros(&l, len);
	return l;
}

struct layer arp(__u16 op, struct arp_fields kind)
{
	struct layer l = { 0 };

	put16(&l, kind.hrd);
	put16(&l, kind.pro);
	put8(&l, kind.hln);
	put8(&l, kind.pln);
	put16(&l, op);
	put(&l, mac_a, 6);
	put(&l, ip_a, 4);
	put(&l, mac_b, 6);
	put(&l, ip_b, 4);
	return l;
}

struct layer ipv4_layer(__u8 proto, struct ipv4_fields f)
{
	struct layer l = { 0 };

	put8(&l, 0x40 | (f.ihl ? f.ihl : 5 + f.option_words));
	put8(&l, f.tos);
	put16(&l, f.total_length);
	put16(&l, 0);
	put16(&l, f.frag);
	put8(&l, f.ttl);
	put8(&l, proto);
	put16(&l, 0);
	put(&l, ip_a, 4);
	put(&l, ip_b, 4);
	put(&l, f.options ? f.options : "", f.option_words * 4);
	return l;
}

struct layer ipv6_layer(__u8 next, struct ipv6_fields f)
{
	struct layer l = { 0 };

	put32(&l, 6U << 28 | (__u32)f.tclass << 20 | f.label);
	put16(&l, f.payload_length);
	put8(&l, next);
	put8(&l, f.hlimit);
	put(&l, ip6_a, 16);
	put(&l, ip6_b, 16);
	return l;
}

struct layer ip6_option(__u8 next, __u8 units)
{
	struct layer l = { 0 };

	put8(&l, next);
	put8(&l, units);
	put_zeros(&l, (units + 1) * 8 - 2);
	return l;
}

struct layer ip6_auth(__u8 next, __u8 words)
{
	struct layer l = { 0 };

	put8(&l, next);
	put8(&l, words);
	put_zeros(&l, (words + 2) * 4 - 2);
	return l;
}

struct layer ip6_routing(__u8 next, __u8 segments_left)
{
	struct layer l = { 0 };

	put8(&l, next);
	put8(&l, 2);
	put8(&l, 2); /* type 2, RFC 6275: one address */
	put8(&l, segments_left);
	put_zeros(&l, 4);
	put(&l, ip6_t, 16);
	return l;
}

struct layer ip6_fragment(__u8 next, __u16 offset_and_flags)
{
	struct layer l = { 0 };

	put8(&l, next);
	put8(&l, 0xff); /* reserved: no length, and must not be taken for one */
	put16(&l, offset_and_flags);
	put32(&l, 0x12345678);
	return l;
}

struct layer tcp(__u16 src, __u16 dst, __u16 flags)
{
	return tcp_with_offset(src, dst, flags, 5);
}

/* The header as long as it says, and 20 bytes at least. */
struct layer tcp_with_offset(__u16 src, __u16 dst, __u16 flags, __u8 words)
{
	struct layer l = { 0 };

	put16(&l, src);
	put16(&l, dst);
	put32(&l, 0x01020304);
	put32(&l, 0x05060708);
	put16(&l, words << 12 | flags);
	put_zeros(&l, 6);
	if (words > 5)
		put_zeros(&l, words * 4 - 20);
	return l;
}

struct layer udp(__u16 src, __u16 dst)
{
	struct layer l = { 0 };

	put16(&l, src);
	put16(&l, dst);
	put32(&l, 0);
	return l;
}

struct layer sctp(__u16 src, __u16 dst)
{
	struct layer l = { 0 };

	put16(&l, src);
	put16(&l, dst);
	put_zeros(&l, 8);
	return l;
}

struct layer icmp(__u8 type, __u8 code)
{
	struct layer l = { 0 };

	put8(&l, type);
	put8(&l, code);
	put_zeros(&l, 6);
	return l;
}

struct layer nd(__u8 type, __u8 code)
{
	struct layer l = icmp(type, code);

	put(&l, ip6_t, 16);
	return l;
}

/* units 0: eight bytes that say they are none. */
struct layer nd_option(__u8 type, __u8 units, const __u8 mac[6])
{
	struct layer l = { 0 };

	put8(&l, type);
	put8(&l, units);
	put(&l, mac, 6);
	if (units > 1)
		put_zeros(&l, units * 8 - 8);
	return l;
}

struct layer mpls(__u32 label, __u8 tc, __u8 bottom, __u8 ttl)
{
	struct layer l = { 0 };

	put32(&l, label << 12 | tc << 9 | bottom << 8 | ttl);
	return l;
}
