// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

#include <string.h>

#include "model_csum.h"
#include "seal.h"

static bool is_tag(__u16 type)
{
	return type == ETH_P_8021Q || type == ETH_P_8021AD;
}

static __u16 type_at(const struct frame *f, __u32 at)
{
	__u16 type = at + 2 <= f->len ? get16(f->byte + at) : 0;

	return type < 0x600 ? ETH_TYPE_802_2 : type;
}

static void put_tag(struct frame *f, __u16 tpid, __u16 tci)
{
	memmove(f->byte + 16, f->byte + 12, f->len - 12);
	put_be16(f->byte + 12, tpid);
	put_be16(f->byte + 14, tci);
	f->len += 4;
}

static void take_tag(struct frame *f)
{
	memmove(f->byte + 12, f->byte + 16, f->len - 16);
	f->len -= 4;
}

/* --- headers ---------------------------------------------------------------------------------------------------- */

static void find_ipv4(const struct frame *f, struct model_headers *h)
{
	const __u8 *ip = f->byte + h->l3;
	__u32 len;

	h->ipv4 = true;
	if (h->l3 + 20 > f->len)
		return;
	len = (ip[0] & 15) * 4;
	if (len < 20 || h->l3 + len > f->len)
		return;
	h->l3_len = len;
	h->fragment = get16(ip + 6) & 0x3fff;
	h->later = get16(ip + 6) & 0x1fff;
	h->proto = ip[9];
	h->l4 = h->later ? 0 : h->l3 + len;
}

/* Returns where the chain ends; *proto: 59 for one that is malformed. */
__u32 model_skip_ext(const struct frame *f, __u32 at, __u8 *proto, struct model_headers *h)
{
	__u8 next = *proto;

	for (int i = 0; i < 12; i++) {
		const __u8 *e = f->byte + at;

		if (next != 0 && next != 43 && next != 44 && next != 51 && next != 60) {
			*proto = next;
			return at;
		}
		*proto = 59;
		if (at + 2 > f->len)
			return at;
		if (next == 44) {
			h->fragment = true;
			if (at + 4 > f->len)
				return at;
			if (get16(e + 2) & 0xfff8) {
				*proto = 44;
				h->later = true;
				return at;
			}
			at += 8;
		} else {
			if (next == 43 && at + 4 <= f->len && e[3])
				h->rerouted = true;
			at += next == 51 ? (e[1] + 2) * 4U : (e[1] + 1) * 8U;
		}
		next = e[0];
	}
	*proto = next == 0 || next == 43 || next == 44 || next == 51 || next == 60 ? 59 : next;
	return at;
}

static void find_ipv6(const struct frame *f, struct model_headers *h)
{
	h->ipv6 = true;
	if (h->l3 + 40 > f->len)
		return;
	h->l3_len = 40;
	h->proto = f->byte[h->l3 + 6];
	h->l4 = model_skip_ext(f, h->l3 + 40, &h->proto, h);
	if (h->later)
		h->l4 = 0;
}

static void find_headers(struct model *m)
{
	struct model_headers *h = &m->at;
	__u32 at = 12, tags = m->tagged;
	__u16 type = type_at(&m->f, at);

	memset(h, 0, sizeof(*h));
	for (; tags < 2 && is_tag(type) && at + 6 <= m->f.len; tags++, at += 4)
		type = type_at(&m->f, at + 4);
	h->l3 = at + 2;
	if (type == ETH_P_IP)
		find_ipv4(&m->f, h);
	else if (type == ETH_P_IPV6)
		find_ipv6(&m->f, h);
}

/* --- set -------------------------------------------------------------------------------------------------------- */

/* A checksum in the frame follows one 16-bit word (RFC 1624). */
static void follow(struct frame *f, __u32 sum_at, __u16 old, __u16 new)
{
	__u32 sum = (__u16)~get16(f->byte + sum_at) + (__u16)~old + new;

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put_be16(f->byte + sum_at, ~sum);
}

static void follow_bytes(struct frame *f, __u32 sum_at, const __u8 *old, const __u8 *new, __u32 len)
{
	for (__u32 i = 0; i < len; i += 2)
		follow(f, sum_at, get16(old + i), get16(new + i));
}

static void follow_udp(struct frame *f, __u32 l4, const __u8 *old, const __u8 *new, __u32 len)
{
	if (!get16(f->byte + l4 + 6))
		return;
	follow_bytes(f, l4 + 6, old, new, len);
	if (!get16(f->byte + l4 + 6))
		put_be16(f->byte + l4 + 6, 0xffff);
}

static void follow_address(struct model *m, const __u8 *old, const __u8 *new, bool is_dst)
{
	struct model_headers *h = &m->at;
	__u32 rest = h->l4 && h->l4 <= m->f.len ? m->f.len - h->l4 : 0;

	if (!h->l4 || (is_dst && h->rerouted))
		return;
	if (h->proto == IPPROTO_TCP && rest >= 20)
		follow_bytes(&m->f, h->l4 + 16, old, new, 4);
	else if (h->proto == IPPROTO_UDP && rest >= 8)
		follow_udp(&m->f, h->l4, old, new, 4);
	else if (h->proto == IPPROTO_ICMPV6 && h->ipv6 && rest >= 8)
		follow_bytes(&m->f, h->l4 + 2, old, new, 4);
}

static void mask_bytes(__u8 *at, const __u8 *value, const __u8 *mask, __u32 len)
{
	for (__u32 i = 0; i < len; i++)
		at[i] = (at[i] & ~mask[i]) | value[i];
}

static void set_address(struct model *m, __u32 at, const struct flow_action *a, bool is_dst)
{
	__u8 old[4];

	memcpy(old, m->f.byte + at, 4);
	mask_bytes(m->f.byte + at, a->data, a->data + 4, 4);
	follow_address(m, old, m->f.byte + at, is_dst);
	if (m->at.ipv4)
		follow_bytes(&m->f, m->at.l3 + 10, old, m->f.byte + at, 4);
}

/* One byte of the IPv4 header; off is its offset in it. */
static void set_ipv4_byte(struct model *m, __u32 off, const struct flow_action *a)
{
	__u8 *word = m->f.byte + m->at.l3 + (off & ~1U), old[2];

	memcpy(old, word, 2);
	mask_bytes(word + (off & 1), a->data, a->data + 1, 1);
	follow_bytes(&m->f, m->at.l3 + 10, old, word, 2);
}

static void set_ipv6_class(__u8 *ip, const struct flow_action *a)
{
	__u8 old = ip[0] << 4 | ip[1] >> 4, new = (old & ~a->byte.mask) | a->byte.value;

	ip[0] = (ip[0] & 0xf0) | new >> 4;
	ip[1] = (ip[1] & 0x0f) | new << 4;
}

/* Of the bytes that SCTP's checksum covers: not what pads a frame, and what there is of one that is cut. */
static __u32 sctp_crc_of(const struct model *m)
{
	static __u8 whole[0x20000];
	const struct model_headers *h = &m->at;
	__u32 len = m->f.len - h->l4;

	if (!h->fragment) {
		__u32 end = h->l3 + (h->ipv4 ? get16(m->f.byte + h->l3 + 2) : get16(m->f.byte + h->l3 + 4) + 40);

		if (end >= h->l4 + 12 && end <= m->f.len)
			len = end - h->l4;
	}
	memcpy(whole, m->f.byte + h->l4, len);
	memset(whole + 8, 0, 4);
	return ~crc32c(whole, len, ~0U);
}

static void set_port(struct model *m, __u8 proto, __u32 off, const struct flow_action *a)
{
	struct model_headers *h = &m->at;
	__u32 whole = proto == IPPROTO_TCP ? 20 : proto == IPPROTO_UDP ? 8 : 12, crc, sum;
	__u8 *port, old[2];

	if (!h->l4 || h->proto != proto || h->l4 + whole > m->f.len) {
		m->sets_skipped++;
		return;
	}
	port = m->f.byte + h->l4 + off;
	memcpy(old, port, 2);
	crc = proto == IPPROTO_SCTP ? sctp_crc_of(m) : 0;
	mask_bytes(port, a->data, a->data + 2, 2);
	if (!memcmp(old, port, 2))
		return;
	if (proto == IPPROTO_TCP)
		follow_bytes(&m->f, h->l4 + 16, old, port, 2);
	else if (proto == IPPROTO_UDP)
		follow_udp(&m->f, h->l4, old, port, 2);
	else {
		memcpy(&sum, m->f.byte + h->l4 + 8, 4);
		sum ^= crc ^ sctp_crc_of(m);
		memcpy(m->f.byte + h->l4 + 8, &sum, 4);
	}
}

static bool set_in_ip(struct model *m, const struct flow_action *a)
{
	__u8 *ip = m->f.byte + m->at.l3;
	bool ipv6 = a->set.field >= SET_IPV6_SRC;

	if (!m->at.l3_len || (ipv6 ? !m->at.ipv6 : !m->at.ipv4))
		return false;
	switch (a->set.field) {
	case SET_IPV4_SRC:
		set_address(m, m->at.l3 + 12, a, false);
		break;
	case SET_IPV4_DST:
		set_address(m, m->at.l3 + 16, a, true);
		break;
	case SET_IPV4_TOS:
		set_ipv4_byte(m, 1, a);
		break;
	case SET_IPV4_TTL:
		set_ipv4_byte(m, 8, a);
		break;
	case SET_IPV6_SRC:
		set_address(m, m->at.l3 + 8 + a->set.part * 4, a, false);
		break;
	case SET_IPV6_DST:
		set_address(m, m->at.l3 + 24 + a->set.part * 4, a, true);
		break;
	case SET_IPV6_TCLASS:
		set_ipv6_class(ip, a);
		break;
	case SET_IPV6_LABEL:
		mask_bytes(ip, a->data, a->data + 4, 4);
		break;
	case SET_IPV6_HLIMIT:
		mask_bytes(ip + 7, a->data, a->data + 1, 1);
		break;
	}
	return true;
}

static void model_set(struct model *m, const struct flow_action *a)
{
	__u32 off = a->set.field == SET_TCP_DST || a->set.field == SET_UDP_DST || a->set.field == SET_SCTP_DST ? 2 : 0;

	switch (a->set.field) {
	case SET_ETH:
		memcpy(m->f.byte, a->data, 12);
		break;
	case SET_ETH_DST:
	case SET_ETH_SRC:
		mask_bytes(m->f.byte + (a->set.field == SET_ETH_SRC ? 6 : 0), a->data, a->data + 6, 6);
		break;
	case SET_PRIORITY:
		m->priority = (m->priority & ~a->word.mask) | a->word.value;
		break;
	case SET_MARK:
		m->mark = (m->mark & ~a->word.mask) | a->word.value;
		break;
	case SET_TCP_SRC:
	case SET_TCP_DST:
		set_port(m, IPPROTO_TCP, off, a);
		break;
	case SET_UDP_SRC:
	case SET_UDP_DST:
		set_port(m, IPPROTO_UDP, off, a);
		break;
	case SET_SCTP_SRC:
	case SET_SCTP_DST:
		set_port(m, IPPROTO_SCTP, off, a);
		break;
	default:
		m->sets_skipped += !set_in_ip(m, a);
	}
}

/* --- tags ------------------------------------------------------------------------------------------------------- */

static void move_headers(struct model_headers *h, int by)
{
	h->l3 += by;
	if (h->l4)
		h->l4 += by;
}

static void model_push(struct model *m, const struct flow_action *a)
{
	if (m->tagged) {
		put_tag(&m->f, m->tpid, m->tci);
		m->protocol = m->tpid;
		move_headers(&m->at, 4);
	}
	m->tagged = true;
	m->tpid = ntohs(a->vlan.tpid_be);
	m->tci = ntohs(a->vlan.tci_be) & 0xefff;
}

static void model_pop(struct model *m)
{
	if (m->tagged)
		m->tagged = false;
	else if (!is_tag(m->protocol))
		return;
	if (!is_tag(m->protocol))
		return;
	if (m->f.len < 18) {
		m->dropped = DROP_VLAN;
		return;
	}
	m->tagged = true;
	m->tpid = m->protocol;
	m->tci = get16(m->f.byte + 14);
	take_tag(&m->f);
	m->protocol = type_at(&m->f, 12);
	move_headers(&m->at, -4);
}

/* --- pedit ------------------------------------------------------------------------------------------------------ */

/* -1: there is no such header. */
static int pedit_base(struct model *m, __u8 base)
{
	const __u8 *ip = m->f.byte + m->at.l3;
	__u8 want = base == PEDIT_TCP ? IPPROTO_TCP : IPPROTO_UDP, proto;
	struct model_headers ignored = { 0 };
	__u32 at;

	if (base == PEDIT_ETH)
		return 0;
	if (base != PEDIT_TCP && base != PEDIT_UDP)
		return m->at.l3;
	if (m->at.ipv4) {
		if (m->at.l3 + 20 > m->f.len || (ip[0] & 15) < 5 || ip[9] != want || (get16(ip + 6) & 0x1fff))
			return -1;
		return m->at.l3 + (ip[0] & 15) * 4;
	}
	if (!m->at.ipv6 || m->at.l3 + 40 > m->f.len)
		return -1;
	proto = ip[6];
	at = model_skip_ext(&m->f, m->at.l3 + 40, &proto, &ignored);
	return proto == want ? (int)at : -1;
}

/* One word.  Returns false if it is not all in the frame. */
static bool pedit_word(struct model *m, int at, __be32 value_be, __be32 mask_be, bool add)
{
	__u32 now, value = value_be;

	if (at < 0 || at + 4 > (int)m->f.len)
		return false;
	memcpy(&now, m->f.byte + at, 4);
	if (add)
		value = (now + value) & ~mask_be;
	now = (now & mask_be) ^ value;
	memcpy(m->f.byte + at, &now, 4);
	return true;
}

static bool pedit_key(struct model *m, const struct flow_action *a)
{
	int base = pedit_base(m, a->key.base), offset = a->pedit_key.offset;

	if (base < 0)
		return false;
	if (a->key.offmask) {
		int at = base + a->pedit_key.at;

		if (at < 0 || at >= (int)m->f.len)
			return false;
		offset += (m->f.byte[at] & a->key.offmask) >> a->key.shift;
	}
	if (offset % 4)
		return false;
	return pedit_word(m, base + offset, a->pedit_key.value_be, a->pedit_key.mask_be, a->flags & ACTION_F_ADD);
}

static bool pedit_write(struct model *m, const struct flow_action *a)
{
	int base = pedit_base(m, a->write.base);

	for (__u32 i = 0; base >= 0 && i < a->write.words; i++)
		if (!pedit_word(m, base + a[1].offset + i * 4, a->words_be[i], a[1].words_be[i], false))
			return false;
	return base >= 0;
}

/* Returns the number of records. */
static __u32 model_pedit(struct model *m, const struct flow_action *a)
{
	__u32 i = 1 + a->pedit.keys;
	bool good = true, end = false;

	m->pedited = true;
	while (!end) {
		bool write = a[i].type == ACTION_PEDIT_WRITE;

		if (good)
			good = write ? pedit_write(m, &a[i]) : pedit_key(m, &a[i]);
		end = a[i].flags & ACTION_F_STEPS_END;
		i += write ? 2 : 1;
	}
	m->overlimits += !good;
	return i;
}

/* --- the list --------------------------------------------------------------------------------------------------- */

static void send_copy(struct model *m)
{
	struct frame *copy = &m->copy[m->copies++];

	*copy = m->f;
	if (m->tagged)
		put_tag(copy, m->tpid, m->tci);
}

void model_run(struct model *m, const struct frame *in, const struct flow_action *list, __u32 count)
{
	m->f = *in;
	if (is_tag(type_at(in, 12)) && in->len >= 18) {
		m->tagged = true;
		m->tpid = get16(in->byte + 12);
		m->tci = get16(in->byte + 14);
		take_tag(&m->f);
	}
	m->protocol = type_at(&m->f, 12);
	find_headers(m);
	for (__u32 i = 0; i < count && !m->dropped;) {
		const struct flow_action *a = &list[i];

		if (a->type == ACTION_PEDIT) {
			i += model_pedit(m, a);
			continue;
		}
		if (a->type == ACTION_OUTPUT)
			send_copy(m);
		else if (a->type == ACTION_SET)
			model_set(m, a);
		else if (a->type == ACTION_PUSH_VLAN)
			model_push(m, a);
		else if (a->type == ACTION_POP_VLAN)
			model_pop(m);
		else if (a->type == ACTION_CSUM)
			m->dropped = model_csum(m, a->csum.what);
		i++;
	}
}
