// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a text to a match: the kernel datapath's rules, while the key still has the bits that the mask does not; then the
 * levels become one key and one mask.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "error.h"
#include "field.h"
#include "mask_table.h"
#include "match_text.h"

/* Types below are lengths of IEEE 802.3 frames. */
#define ETH_TYPE_MIN 0x0600

enum {
	ICMPV6_PROTO = 58,
	NSH_MD_TYPE1 = 1,
};

struct rules {
	struct match_text *t;
	unsigned int tags; /* the level of the payload */
	struct error *e;
};

static bool is_present(const struct match_level *l, enum attribute attr)
{
	return l->present >> attr & 1;
}

static bool is_matched(const struct match_text *t, unsigned int depth, enum attribute attr)
{
	const struct match_level *l = &t->level[depth];

	return is_present(l, attr) &&
	       attribute_entries(attribute_info(attr)->why_not ? (const void *)&t->foreign_mask : &l->mask, attr);
}

static int eth_type_needed(const struct match_level *l, enum attribute attr, bool matched, struct error *e)
{
	const struct attribute_info *a = attribute_info(attr);
	const char *exact = matched ? ", exact" : "";

	if (!a->eth_type[0] || (eth_type_fits(l, attr) && (!matched || l->mask.eth_type_be == 0xffff)))
		return 0;
	if (a->eth_type[1])
		return error_set(e, EINVAL, "%s: needs eth_type(0x%04x) or eth_type(0x%04x) beside it%s", a->name,
				 a->eth_type[0], a->eth_type[1], exact);
	return error_set(e, EINVAL, "%s: needs eth_type(0x%04x) beside it%s", a->name, a->eth_type[0], exact);
}

static int ip_proto_needed(const struct match_level *l, enum attribute attr, bool matched, struct error *e)
{
	const struct attribute_info *a = attribute_info(attr);

	if (!a->ip_proto)
		return 0;
	if (l->key.ip_proto != a->ip_proto || (matched && l->mask.ip_proto != 0xff))
		return error_set(e, EINVAL, "%s: needs proto=%u in ipv4() or ipv6()%s", a->name, a->ip_proto,
				 matched ? ", exact" : "");
	if (matched && later_fragment(l))
		return error_set(e, EINVAL, "%s: frag=later has no such header, leave it out", a->name);
	return 0;
}

static int icmp_type_needed(const struct match_level *l, enum attribute attr, bool matched, struct error *e)
{
	const struct attribute_info *a = attribute_info(attr);

	if (!a->icmp_type[0] || (icmp_type_fits(l, attr) && (!matched || l->mask.tp_src_be == 0xffff)))
		return 0;
	return error_set(e, EINVAL, "%s: needs icmpv6(type=%u) or icmpv6(type=%u), exact", a->name, a->icmp_type[0],
			 a->icmp_type[1]);
}

static bool any(const void *a, const void *b, size_t size)
{
	static const __u8 zero[16];

	return memcmp(a, zero, size) || memcmp(b, zero, size);
}

/* A tunnel has one peer, by one protocol, and a TTL to reach it. */
static int tunnel_check(const struct rules *r, const struct match_level *l)
{
	const struct foreign_key *k = &r->t->foreign_key, *m = &r->t->foreign_mask;
	bool ipv4 = any(k->tun.src, m->tun.src, 4) || any(k->tun.dst, m->tun.dst, 4);
	bool ipv6 = any(k->tun.ipv6_src, m->tun.ipv6_src, 16) || any(k->tun.ipv6_dst, m->tun.ipv6_dst, 16);
	int blocks = !!k->tun.geneve.len + (m->tun.gbp_id || m->tun.gbp_flags) + !!m->tun.erspan_ver;

	(void)l;
	if (ipv4 && ipv6)
		return error_set(r->e, EINVAL, "tunnel: src and dst do not go with ipv6_src and ipv6_dst");
	if (!any(k->tun.dst, k->tun.dst, 4) && !any(k->tun.ipv6_dst, k->tun.ipv6_dst, 16))
		return error_set(r->e, EINVAL, "tunnel: %s is missing or zero", ipv6 ? "ipv6_dst" : "dst");
	if (!k->tun.ttl && !m->tun.ttl)
		return error_set(r->e, EINVAL, "tunnel: ttl is missing");
	if (blocks > 1)
		return error_set(r->e, EINVAL, "tunnel: of geneve(), vxlan() and erspan() only one is possible");
	return 0;
}

/* The kernel keeps both in one place. */
static int ct_tuple6_check(const struct rules *r, const struct match_level *l)
{
	if (l->key.ip_proto != ICMPV6_PROTO || !icmp_type_fits(l, ATTR_ND))
		return 0;
	return error_set(r->e, EINVAL, "ct_tuple6: does not go with icmpv6(type=%u), which has nd()",
			 ntohs(l->key.tp_src_be));
}

static int nsh_check(const struct rules *r, const struct match_level *l)
{
	const struct foreign_key *k = &r->t->foreign_key, *m = &r->t->foreign_mask;

	(void)l;
	if (k->nsh.mdtype == NSH_MD_TYPE1 || !any(k->nsh.context, m->nsh.context, sizeof(k->nsh.context)))
		return 0;
	return error_set(r->e, EINVAL, "nsh: c1 to c4 are those of mdtype=%u, not of mdtype=%u", NSH_MD_TYPE1,
			 k->nsh.mdtype);
}

/* It is for other datapaths, and refused before anything else can be. */
static int nd_ext_check(const struct rules *r, const struct match_level *l)
{
	(void)l;
	return error_set(r->e, EINVAL, "nd_ext: %s; leave it out or give it mask 0",
			 attribute_info(ATTR_ND_EXT)->why_not);
}

static int attribute_check(const struct rules *r, unsigned int depth, enum attribute attr)
{
	static int (*const own[ATTRIBUTES])(const struct rules *r, const struct match_level *l) = {
		[ATTR_TUNNEL] = tunnel_check,
		[ATTR_CT_TUPLE6] = ct_tuple6_check,
		[ATTR_ND_EXT] = nd_ext_check,
		[ATTR_NSH] = nsh_check,
	};
	const struct attribute_info *a = attribute_info(attr);
	const struct match_level *l = &r->t->level[a->flags & ATTR_OF_PAYLOAD ? r->tags : depth];
	bool matched;
	int err;

	/* Whether something of it is matched makes no difference then. */
	if (!own[attr] && attribute_applies(l, attr))
		return 0;
	matched = is_matched(r->t, depth, attr);
	if (!matched && a->flags & ATTR_REFINES)
		return 0;
	err = eth_type_needed(l, attr, matched, r->e);
	if (!err)
		err = ip_proto_needed(l, attr, matched, r->e);
	if (!err)
		err = icmp_type_needed(l, attr, matched, r->e);
	return err || !matched || !own[attr] ? err : own[attr](r, l);
}

static int eth_type_check(struct match_level *l, struct error *e)
{
	__u16 eth_type = ntohs(l->key.eth_type_be);

	if (!l->mask.eth_type_be)
		return 0;
	/* ETH_TYPE_802_2 is what a frame without a type has in its key. */
	if (eth_type < ETH_TYPE_MIN && eth_type != ETH_TYPE_802_2)
		return error_set(e, EINVAL, "eth_type: 0x%04x is no type, those are from 0x%04x", eth_type,
				 ETH_TYPE_MIN);
	l->mask.eth_type_be = 0xffff;
	return 0;
}

static bool mask_is_zero(const struct flow_key *mask)
{
	static const struct flow_key zero;

	return !memcmp(mask, &zero, sizeof(zero));
}

static int tag_check(const struct rules *r, unsigned int depth)
{
	struct match_level *l = &r->t->level[depth];
	const __be16 present = htons(VLAN_TAG_PRESENT);

	if (l->mask.eth_type_be != 0xffff)
		return error_set(r->e, EINVAL, "eth_type: the type of a tag, 0x%04x, has to be exact",
				 ntohs(l->key.eth_type_be));
	if (!is_present(l, ATTR_VLAN) || !is_present(l, ATTR_ENCAP))
		return error_set(r->e, EINVAL, "eth_type: 0x%04x needs vlan() and encap() beside it",
				 ntohs(l->key.eth_type_be));
	if (l->mask.vlan_tci_be & present && !(l->key.vlan_tci_be & present))
		return error_set(r->e, EINVAL, "vlan: cfi=0 would mean that there is no tag; leave vlan() out, or cfi");
	if (mask_is_zero(&r->t->level[depth + 1].mask))
		return error_set(r->e, EINVAL,
				 "encap: nothing in it is matched, which Open vSwitch refuses too; give it eth_type()");
	l->key.vlan_tci_be |= present;
	l->mask.vlan_tci_be |= present;
	return 0;
}

static bool is_tagged(const struct match_text *t, unsigned int depth)
{
	/* The type of a third tag is the innermost type that the key has. */
	return depth < MATCH_TAGS_MAX && is_present(&t->level[depth], ATTR_ETH_TYPE) &&
	       eth_type_is_tag(t->level[depth].key.eth_type_be);
}

static int level_check(const struct rules *r, unsigned int depth)
{
	struct match_level *l = &r->t->level[depth];
	__u64 left;
	int err;

	if (depth == MATCH_TAGS_MAX && is_present(l, ATTR_VLAN))
		return error_set(r->e, EINVAL, "vlan: more than %u tags cannot be matched", MATCH_TAGS_MAX);
	if (l->mask.in_port)
		l->mask.in_port = 0xffff;
	err = depth < r->tags ? tag_check(r, depth) : eth_type_check(l, r->e);
	for (left = l->present; !err && left; left &= left - 1)
		err = attribute_check(r, depth, __builtin_ctzll(left));
	return err;
}

static void key_or(struct flow_key *to, const struct flow_key *from)
{
	__u64 words[KEY_WORDS], more[KEY_WORDS];
	size_t i;

	memcpy(words, to, sizeof(words));
	memcpy(more, from, sizeof(more));
	for (i = 0; i < KEY_WORDS; i++)
		words[i] |= more[i];
	memcpy(to, words, sizeof(words));
}

static void tag_move(struct flow_key *k, unsigned int depth)
{
	__be16 tpid = k->eth_type_be, tci = k->vlan_tci_be;

	k->eth_type_be = 0;
	k->vlan_tci_be = 0;
	*(depth ? &k->cvlan_tpid_be : &k->vlan_tpid_be) = tpid;
	*(depth ? &k->cvlan_tci_be : &k->vlan_tci_be) = tci;
}

/* That every packet of this datapath is Ethernet is no news. */
static bool says_ethernet(const struct match_text *t)
{
	const struct foreign_key *k = &t->foreign_key, *m = &t->foreign_mask;

	return !(k->packet_type.ns & m->packet_type.ns) && !(k->packet_type.id & m->packet_type.id);
}

static __u64 foreign_matched(const struct match_text *t)
{
	__u64 matched = 0, left;

	for (left = t->foreign; left; left &= left - 1) {
		enum attribute attr = __builtin_ctzll(left);

		if (attribute_entries(&t->foreign_mask, attr) && !(attr == ATTR_PACKET_TYPE && says_ethernet(t)))
			matched |= 1ull << attr;
	}
	return matched;
}

/* An attribute is in one level only, so the levels add up. */
static void levels_join(const struct rules *r, struct match *m)
{
	unsigned int depth;

	/* As most flows are. */
	if (r->tags == 0) {
		m->key = r->t->level[0].key;
		m->mask = r->t->level[0].mask;
		m->present = r->t->level[0].present;
	}
	for (depth = 0; r->tags && depth <= r->tags; depth++) {
		struct match_level *l = &r->t->level[depth];

		if (depth < r->tags) {
			tag_move(&l->key, depth);
			tag_move(&l->mask, depth);
		}
		key_or(&m->key, &l->key);
		key_or(&m->mask, &l->mask);
		m->present |= l->present;
	}
	m->foreign = foreign_matched(r->t);
	if (r->tags == 0)
		m->mask.vlan_tci_be = 0xffff;
	if (r->tags == 1)
		m->mask.cvlan_tci_be = 0xffff;
	key_apply_mask(&m->key, &m->key, &m->mask);
}

int match_text_check(struct match_text *t, struct match *m, struct error *e)
{
	struct rules r = { .t = t, .e = e };
	unsigned int depth;

	memset(m, 0, sizeof(*m));
	memcpy(m->ufid, t->ufid, sizeof(m->ufid));
	m->has_ufid = t->has_ufid;
	if (!t->level[0].present)
		return 0;
	while (is_tagged(t, r.tags))
		r.tags++;
	for (depth = 0; depth <= r.tags; depth++) {
		int err = level_check(&r, depth);

		if (err)
			return err;
	}
	levels_join(&r, m);
	return 0;
}

int match_supported(const struct match *m, struct error *e)
{
	const struct attribute_info *a;

	if (!m->foreign)
		return 0;
	a = attribute_info(__builtin_ctzll(m->foreign));
	return error_set(e, EINVAL, "%s: %s; leave it out or give it mask 0", a->name, a->why_not);
}
