// SPDX-License-Identifier: GPL-2.0-only
#include "field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stddef.h>
#include <string.h>

#include "error.h"

#define MEMBER(m) .offset = offsetof(struct flow_key, m), .size = sizeof(((struct flow_key *)NULL)->m)
#define NUM(m, n) MEMBER(m), .bits = (n)
#define BE(m, n)  MEMBER(m), .bits = (n), .big_endian = true

#define FIELDS(...) .fields = ((const struct field[]){ __VA_ARGS__, { .size = 0 } })
#define NO_FIELDS   .fields = no_fields

#define PORTS FIELDS({ "src", FIELD_DEC, BE(tp_src_be, 16) }, { "dst", FIELD_DEC, BE(tp_dst_be, 16) })
#define ICMP_FIELDS \
	FIELDS({ "type", FIELD_DEC, BE(tp_src_be, 8), .fills = true }, \
	       { "code", FIELD_DEC, BE(tp_dst_be, 8), .fills = true })

static const struct field no_fields[1];
static const char no_conntrack[] = "conntrack cannot be matched by this datapath";

static const struct attribute_info attributes[ATTRIBUTES] = {
	[ATTR_RECIRC_ID] = { "recirc_id", FIELDS({ NULL, FIELD_HEX, NUM(recirc_id, 32) }), .flags = ATTR_OUTERMOST },
	[ATTR_DP_HASH] = { "dp_hash", FIELDS({ NULL, FIELD_HEX, NUM(dp_hash, 32) }), .flags = ATTR_OUTERMOST },
	[ATTR_SKB_PRIORITY] = { "skb_priority", FIELDS({ NULL, FIELD_HEX, NUM(skb_priority, 32) }),
				.flags = ATTR_OUTERMOST },
	[ATTR_TUNNEL] = { "tunnel", NO_FIELDS, .flags = ATTR_OUTERMOST,
			  .why_not = "tunnel metadata cannot be matched by this datapath" },
	[ATTR_IN_PORT] = { "in_port", FIELDS({ NULL, FIELD_PORT, NUM(in_port, 16), .mask_bits = 32 }),
			   .flags = ATTR_OUTERMOST },
	[ATTR_SKB_MARK] = { "skb_mark", FIELDS({ NULL, FIELD_HEX, NUM(skb_mark, 32) }), .flags = ATTR_OUTERMOST },
	[ATTR_CT_STATE] = { "ct_state", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_CT_ZONE] = { "ct_zone", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_CT_MARK] = { "ct_mark", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_CT_LABEL] = { "ct_label", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_CT_TUPLE4] = { "ct_tuple4", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_CT_TUPLE6] = { "ct_tuple6", NO_FIELDS, .flags = ATTR_OUTERMOST, .why_not = no_conntrack },
	[ATTR_PACKET_TYPE] = { "packet_type", NO_FIELDS, .flags = ATTR_OUTERMOST,
			       .why_not = "every packet of this datapath is Ethernet, packet_type(ns=0,id=0)" },
	[ATTR_ETH] = { "eth", FIELDS({ "src", FIELD_MAC, MEMBER(eth_src) }, { "dst", FIELD_MAC, MEMBER(eth_dst) }),
		       .flags = ATTR_OUTERMOST | ATTR_ALWAYS_PRINTED },
	[ATTR_ETH_TYPE] = { "eth_type", FIELDS({ NULL, FIELD_HEX16, BE(eth_type_be, 16) }) },
	[ATTR_VLAN] = { "vlan",
			FIELDS({ "vid", FIELD_DEC, BE(vlan_tci_be, 12) },
			       { "pcp", FIELD_DEC, BE(vlan_tci_be, 3), .shift = 13 },
			       { "cfi", FIELD_DEC, BE(vlan_tci_be, 1), .shift = 12 },
			       { "tci", FIELD_HEX, BE(vlan_tci_be, 16) }),
			.eth_type = { ETH_P_8021Q, ETH_P_8021AD } },
	[ATTR_ENCAP] = { "encap", NO_FIELDS, .eth_type = { ETH_P_8021Q, ETH_P_8021AD } },
	[ATTR_MPLS] = { "mpls",
			FIELDS({ "label", FIELD_DEC, BE(mpls_lse_be[0], 20), .shift = 12 },
			       { "tc", FIELD_DEC, BE(mpls_lse_be[0], 3), .shift = 9 },
			       { "ttl", FIELD_DEC, BE(mpls_lse_be[0], 8) },
			       { "bos", FIELD_DEC, BE(mpls_lse_be[0], 1), .shift = 8 }),
			.flags = ATTR_LABEL_STACK, .eth_type = { ETH_P_MPLS_UC, ETH_P_MPLS_MC } },
	[ATTR_IPV4] = { "ipv4",
			FIELDS({ "src", FIELD_IPV4, MEMBER(ipv4.src) }, { "dst", FIELD_IPV4, MEMBER(ipv4.dst) },
			       { "proto", FIELD_DEC, NUM(ip_proto, 8) }, { "tos", FIELD_HEX, NUM(ip_tos, 8) },
			       { "ttl", FIELD_DEC, NUM(ip_ttl, 8) }, { "frag", FIELD_FRAG, NUM(ip_frag, 8) }),
			.eth_type = { ETH_P_IP } },
	[ATTR_IPV6] = { "ipv6",
			FIELDS({ "src", FIELD_IPV6, MEMBER(ipv6.src) }, { "dst", FIELD_IPV6, MEMBER(ipv6.dst) },
			       { "label", FIELD_HEX, BE(ipv6_label_be, 20) }, { "proto", FIELD_DEC, NUM(ip_proto, 8) },
			       { "tclass", FIELD_HEX, NUM(ip_tos, 8) }, { "hlimit", FIELD_DEC, NUM(ip_ttl, 8) },
			       { "frag", FIELD_FRAG, NUM(ip_frag, 8) }),
			.eth_type = { ETH_P_IPV6 } },
	/* The kernel keeps the low byte of the opcode's 16-bit mask. */
	[ATTR_ARP] = { "arp",
		       FIELDS({ "sip", FIELD_IPV4, MEMBER(arp.sip) }, { "tip", FIELD_IPV4, MEMBER(arp.tip) },
			      { "op", FIELD_DEC, NUM(ip_proto, 8), .mask_bits = 16 },
			      { "sha", FIELD_MAC, MEMBER(arp.sha) }, { "tha", FIELD_MAC, MEMBER(arp.tha) }),
		       .eth_type = { ETH_P_ARP, ETH_P_RARP } },
	[ATTR_TCP] = { "tcp", PORTS, .eth_type = { ETH_P_IP, ETH_P_IPV6 }, .ip_proto = IPPROTO_TCP },
	[ATTR_UDP] = { "udp", PORTS, .eth_type = { ETH_P_IP, ETH_P_IPV6 }, .ip_proto = IPPROTO_UDP },
	[ATTR_SCTP] = { "sctp", PORTS, .eth_type = { ETH_P_IP, ETH_P_IPV6 }, .ip_proto = IPPROTO_SCTP },
	[ATTR_ICMP] = { "icmp", ICMP_FIELDS, .eth_type = { ETH_P_IP }, .ip_proto = IPPROTO_ICMP },
	[ATTR_ICMPV6] = { "icmpv6", ICMP_FIELDS, .eth_type = { ETH_P_IPV6 }, .ip_proto = IPPROTO_ICMPV6 },
	[ATTR_ND] = { "nd",
		      FIELDS({ "target", FIELD_IPV6, MEMBER(nd_target) }, { "sll", FIELD_MAC, MEMBER(nd_sll) },
			     { "tll", FIELD_MAC, MEMBER(nd_tll) }),
		      .flags = ATTR_REFINES, .eth_type = { ETH_P_IPV6 }, .ip_proto = IPPROTO_ICMPV6,
		      .icmp_type = { 135, 136 } },
	[ATTR_ND_EXT] = { "nd_ext", NO_FIELDS, .why_not = "ND extensions cannot be matched by this datapath" },
	[ATTR_TCP_FLAGS] = { "tcp_flags", FIELDS({ NULL, FIELD_TCP_FLAGS, BE(tcp_flags_be, 12), .mask_bits = 16 }),
			     .flags = ATTR_REFINES, .eth_type = { ETH_P_IP, ETH_P_IPV6 }, .ip_proto = IPPROTO_TCP },
	[ATTR_NSH] = { "nsh", NO_FIELDS, .why_not = "NSH cannot be matched by this datapath" },
	/* OVS_KEY_ATTR_IPV6_EXTHDRS, under the name that Open vSwitch prints */
	[ATTR_KEY32] = { "key32", NO_FIELDS, .why_not = "IPv6 extension headers cannot be matched by this datapath" },
};

const struct attribute_info *attribute_info(enum attribute attr)
{
	return &attributes[attr];
}

int attribute_find(struct text name)
{
	int attr;

	for (attr = 0; attr < ATTRIBUTES; attr++) {
		if (text_is(name, attributes[attr].name))
			return attr;
	}
	return -ENOENT;
}

__u32 field_full(const struct field *f)
{
	return ~0u >> (32 - f->bits);
}

static size_t member_at(const struct field *f, unsigned int entry)
{
	return f->offset + entry * f->size;
}

static __u32 member_get(const struct flow_key *key, const struct field *f, unsigned int entry)
{
	const __u8 *at = (const __u8 *)key + member_at(f, entry);
	__u16 half;
	__u32 word;

	switch (f->size) {
	case sizeof(half):
		memcpy(&half, at, sizeof(half));
		return f->big_endian ? ntohs(half) : half;
	case sizeof(word):
		memcpy(&word, at, sizeof(word));
		return f->big_endian ? ntohl(word) : word;
	default:
		return *at;
	}
}

static void member_put(struct flow_key *key, const struct field *f, unsigned int entry, __u32 number)
{
	__u8 *at = (__u8 *)key + member_at(f, entry);
	__u16 half = f->big_endian ? htons(number) : number;
	__u32 word = f->big_endian ? htonl(number) : number;

	switch (f->size) {
	case sizeof(half):
		memcpy(at, &half, sizeof(half));
		break;
	case sizeof(word):
		memcpy(at, &word, sizeof(word));
		break;
	default:
		*at = number;
	}
}

struct field_value field_get(const struct flow_key *key, const struct field *f, unsigned int entry)
{
	struct field_value v = { 0 };

	if (field_is_bytes(f))
		memcpy(v.bytes, (const __u8 *)key + member_at(f, entry), f->size);
	else
		v.number = member_get(key, f, entry) >> f->shift & field_full(f);
	return v;
}

void field_put(struct flow_key *key, const struct field *f, unsigned int entry, const struct field_value *v)
{
	__u32 others;

	if (field_is_bytes(f)) {
		memcpy((__u8 *)key + member_at(f, entry), v->bytes, f->size);
		return;
	}
	others = member_get(key, f, entry) & ~(field_full(f) << f->shift);
	member_put(key, f, entry, others | (v->number & field_full(f)) << f->shift);
}

void field_put_mask(struct flow_key *mask, const struct field *f, unsigned int entry, const struct field_value *v)
{
	if (f->fills && v->number == field_full(f))
		member_put(mask, f, entry, ~0u);
	else
		field_put(mask, f, entry, v);
}

enum field_match field_match(const struct flow_key *mask, const struct field *f, unsigned int entry)
{
	static const __u8 wild[16];
	struct field_value v = field_get(mask, f, entry);
	size_t i;

	if (!field_is_bytes(f))
		return v.number == field_full(f) ? FIELD_EXACT : v.number ? FIELD_PARTIAL : FIELD_WILD;
	if (!memcmp(v.bytes, wild, f->size))
		return FIELD_WILD;
	for (i = 0; i < f->size; i++) {
		if (v.bytes[i] != 0xff)
			return FIELD_PARTIAL;
	}
	return FIELD_EXACT;
}

static unsigned int entries_max(enum attribute attr)
{
	return attributes[attr].flags & ATTR_LABEL_STACK ? sizeof(((struct flow_key *)NULL)->mpls_lse_be) / 4 : 1;
}

unsigned int attribute_entries(const struct flow_key *mask, enum attribute attr)
{
	const struct field *f;
	unsigned int n;

	for (n = entries_max(attr); n > 0; n--) {
		for (f = attributes[attr].fields; f->size; f++) {
			if (field_match(mask, f, n - 1) != FIELD_WILD)
				return n;
		}
	}
	return 0;
}

bool eth_type_is_tag(__be16 eth_type_be)
{
	return eth_type_be == htons(ETH_P_8021Q) || eth_type_be == htons(ETH_P_8021AD);
}

static bool eth_type_fits(const struct match_level *l, const struct attribute_info *a)
{
	__u16 eth_type = ntohs(l->key.eth_type_be);

	return !a->eth_type[0] || eth_type == a->eth_type[0] || (a->eth_type[1] && eth_type == a->eth_type[1]);
}

static bool icmp_type_fits(const struct match_level *l, const struct attribute_info *a)
{
	__u16 type = ntohs(l->key.tp_src_be);

	return !a->icmp_type[0] || type == a->icmp_type[0] || type == a->icmp_type[1];
}

static bool later_fragment(const struct match_level *l)
{
	return l->mask.ip_frag == 0xff && l->key.ip_frag == IP_FRAG_LATER;
}

bool attribute_applies(const struct match_level *l, enum attribute attr)
{
	const struct attribute_info *a = &attributes[attr];

	if (a->eth_type[0] && (!eth_type_fits(l, a) || l->mask.eth_type_be != 0xffff))
		return false;
	if (a->ip_proto && (l->key.ip_proto != a->ip_proto || l->mask.ip_proto != 0xff || later_fragment(l)))
		return false;
	return !a->icmp_type[0] || (icmp_type_fits(l, a) && l->mask.tp_src_be == 0xffff);
}

static int eth_type_check(const struct match_level *l, const struct attribute_info *a, bool matched, struct error *e)
{
	const char *exact = matched ? ", exact" : "";

	if (!a->eth_type[0] || (eth_type_fits(l, a) && (!matched || l->mask.eth_type_be == 0xffff)))
		return 0;
	if (a->eth_type[1])
		return error_set(e, EINVAL, "%s: needs eth_type(0x%04x) or eth_type(0x%04x) beside it%s", a->name,
				 a->eth_type[0], a->eth_type[1], exact);
	return error_set(e, EINVAL, "%s: needs eth_type(0x%04x) beside it%s", a->name, a->eth_type[0], exact);
}

static int icmp_type_check(const struct match_level *l, const struct attribute_info *a, bool matched, struct error *e)
{
	if (!a->icmp_type[0] || (icmp_type_fits(l, a) && (!matched || l->mask.tp_src_be == 0xffff)))
		return 0;
	return error_set(e, EINVAL, "%s: needs icmpv6(type=%u) or icmpv6(type=%u), exact", a->name, a->icmp_type[0],
			 a->icmp_type[1]);
}

/* The kernel datapath's rules, for what the text names: the right value, and an exact one under a field with a mask. */
int attribute_check(const struct match_level *l, enum attribute attr, struct error *e)
{
	const struct attribute_info *a = &attributes[attr];
	bool matched = attribute_entries(&l->mask, attr);
	int err;

	if (!matched && a->flags & ATTR_REFINES)
		return 0;
	err = eth_type_check(l, a, matched, e);
	if (err)
		return err;
	if (a->ip_proto) {
		if (l->key.ip_proto != a->ip_proto || (matched && l->mask.ip_proto != 0xff))
			return error_set(e, EINVAL, "%s: needs proto=%u in ipv4() or ipv6()%s", a->name, a->ip_proto,
					 matched ? ", exact" : "");
		if (matched && later_fragment(l))
			return error_set(e, EINVAL, "%s: frag=later has no such header, leave it out", a->name);
	}
	return icmp_type_check(l, a, matched, e);
}
