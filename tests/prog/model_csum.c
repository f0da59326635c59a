// SPDX-License-Identifier: GPL-2.0-only
#include "model_csum.h"

#include <string.h>

#include "seal.h"

static const struct {
	__u8 proto;
	__u8 what;
	__u8 header;
	__u8 sum_at;
	bool ipv4, ipv6;
	bool pseudo;
} protos[] = {
	{ IPPROTO_TCP, CSUM_TCP, 20, 16, true, true, true },
	{ IPPROTO_UDP, CSUM_UDP, 8, 6, true, true, true },
	{ IPPROTO_UDPLITE, CSUM_UDPLITE, 8, 6, true, true, true },
	{ IPPROTO_SCTP, CSUM_SCTP, 12, 8, true, true, false },
	{ IPPROTO_ICMP, CSUM_ICMP, 8, 2, true, false, false },
	{ IPPROTO_IGMP, CSUM_IGMP, 8, 2, true, false, false },
	{ IPPROTO_ICMPV6, CSUM_ICMP, 8, 2, false, true, true },
};

static __u16 sum_of(const struct model *m, __u32 l4, __u32 covered, __u8 proto, __u32 len, bool pseudo)
{
	const __u8 *ip = m->f.byte + m->at.l3;
	__u32 sum = 0;

	if (pseudo)
		sum = ones_sum(ip + (m->at.ipv4 ? 12 : 8), m->at.ipv4 ? 8 : 32, proto + len);
	return ~ones_sum(m->f.byte + l4, covered, sum);
}

static void sum_udp(struct model *m, __u32 l4, __u32 len, __u8 proto)
{
	__u8 *h = m->f.byte + l4;
	__u32 says = get16(h + 4), covered = says;
	__u16 sum;

	if (proto == IPPROTO_UDP && m->at.ipv4 && !get16(h + 6))
		return;
	put_be16(h + 6, 0);
	if (proto == IPPROTO_UDP && says != len)
		return;
	if (proto == IPPROTO_UDPLITE && says && (says < 8 || says > len))
		return;
	if (!says)
		covered = len;
	sum = sum_of(m, l4, covered, proto, says, true);
	put_be16(h + 6, sum ? sum : 0xffff);
}

static void sum_crc(struct model *m, __u32 l4, __u32 len)
{
	__u32 crc = 0;

	memcpy(m->f.byte + l4 + 8, &crc, 4);
	crc = ~crc32c(m->f.byte + l4, len, ~0U);
	memcpy(m->f.byte + l4 + 8, &crc, 4);
}

static enum drop_reason sum_l4(struct model *m, __u8 what, __u8 proto, __u32 l4, int len)
{
	for (size_t i = 0; i < sizeof(protos) / sizeof(*protos); i++) {
		__u8 *field = m->f.byte + l4 + protos[i].sum_at;

		if (protos[i].proto != proto || !(what & protos[i].what) ||
		    !(m->at.ipv4 ? protos[i].ipv4 : protos[i].ipv6))
			continue;
		if (len < protos[i].header || l4 + len > m->f.len)
			return DROP_CSUM;
		if (proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE) {
			sum_udp(m, l4, len, proto);
		} else if (proto == IPPROTO_SCTP) {
			sum_crc(m, l4, len);
		} else {
			put_be16(field, 0);
			put_be16(field, sum_of(m, l4, len, proto, len, protos[i].pseudo));
		}
	}
	return DROP_NONE;
}

static enum drop_reason sum_ipv4(struct model *m, __u8 what)
{
	__u8 *ip = m->f.byte + m->at.l3;
	enum drop_reason reason = DROP_NONE;
	__u32 ihl;

	if (m->at.l3 + 20 > m->f.len)
		return DROP_CSUM;
	ihl = (ip[0] & 15) * 4;
	if (!(get16(ip + 6) & 0x1fff))
		reason = sum_l4(m, what, ip[9], m->at.l3 + ihl, (int)get16(ip + 2) - (int)ihl);
	if (reason || !(what & CSUM_IPV4))
		return reason;
	if (ihl < 20 || m->at.l3 + ihl > m->f.len)
		return DROP_CSUM;
	put_be16(ip + 10, 0);
	put_be16(ip + 10, ~ones_sum(ip, ihl, 0));
	return DROP_NONE;
}

static enum drop_reason sum_ipv6(struct model *m, __u8 what)
{
	__u8 *ip = m->f.byte + m->at.l3, proto;
	struct model_headers h = { 0 };
	__u32 l4;

	if (m->at.l3 + 40 > m->f.len)
		return DROP_CSUM;
	proto = ip[6];
	l4 = model_skip_ext(&m->f, m->at.l3 + 40, &proto, &h);
	if (h.fragment)
		return DROP_NONE;
	return sum_l4(m, what, proto, l4, (int)get16(ip + 4) - (int)(l4 - m->at.l3 - 40));
}

enum drop_reason model_csum(struct model *m, __u8 what)
{
	m->summed = true;
	return m->at.ipv4 ? sum_ipv4(m, what) : m->at.ipv6 ? sum_ipv6(m, what) : DROP_NONE;
}
