// SPDX-License-Identifier: GPL-2.0-only
#include "field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stddef.h>
#include <string.h>

#include "foreign_key.h"

#define MEMBER_OF(s, m) .offset = offsetof(struct s, m), .size = sizeof(((struct s *)NULL)->m)
#define MEMBER(m)	MEMBER_OF(flow_key, m)
#define NUM(m, n)	MEMBER(m), .bits = (n)
#define BE(m, n)	MEMBER(m), .bits = (n), .big_endian = true
#define FOREIGN(m)	MEMBER_OF(foreign_key, m)
#define FNUM(m, n)	FOREIGN(m), .bits = (n)

#define FIELDS(...) .fields = LIST(__VA_ARGS__)
#define LIST(...)   ((const struct field[]){ __VA_ARGS__, { .size = 0 } })
#define GROUP(...)  .group = LIST(__VA_ARGS__)

#define PORTS FIELDS({ "src", FIELD_DEC, BE(tp_src_be, 16) }, { "dst", FIELD_DEC, BE(tp_dst_be, 16) })
#define ICMP_FIELDS \
	FIELDS({ "type", FIELD_DEC, BE(tp_src_be, 8), .fills = true }, \
	       { "code", FIELD_DEC, BE(tp_dst_be, 8), .fills = true })
/* Open vSwitch reads tp_src in both tuples, and prints src_port in that of IPv6. */
#define CT_TUPLE(m, kind) \
	FIELDS({ "src", kind, FOREIGN(m.src) }, { "dst", kind, FOREIGN(m.dst) }, \
	       { "proto", FIELD_DEC, FNUM(m.proto, 8) }, { "tp_src", FIELD_DEC, FNUM(m.tp_src, 16) }, \
	       { "tp_dst", FIELD_DEC, FNUM(m.tp_dst, 16) }, \
	       { "src_port", FIELD_DEC, FNUM(m.tp_src, 16), .alias = FIELD_ALIAS }, \
	       { "dst_port", FIELD_DEC, FNUM(m.tp_dst, 16), .alias = FIELD_ALIAS })

static const char no_conntrack[] = "conntrack cannot be matched by this datapath";

static const struct attribute_info attributes[ATTRIBUTES] = {
	[ATTR_RECIRC_ID] = { "recirc_id", FIELDS({ NULL, FIELD_HEX, NUM(recirc_id, 32), .undivided = true }),
			     .flags = ATTR_OUTERMOST },
	[ATTR_DP_HASH] = { "dp_hash", FIELDS({ NULL, FIELD_HEX, NUM(dp_hash, 32) }), .flags = ATTR_OUTERMOST },
	[ATTR_SKB_PRIORITY] = { "skb_priority", FIELDS({ NULL, FIELD_HEX, NUM(skb_priority, 32) }),
				.flags = ATTR_OUTERMOST },
	[ATTR_TUNNEL] = { "tunnel",
			  FIELDS({ "tun_id", FIELD_LONG, FOREIGN(tun.id) }, { "src", FIELD_IPV4, FOREIGN(tun.src) },
				 { "dst", FIELD_IPV4, FOREIGN(tun.dst) },
				 { "ipv6_src", FIELD_IPV6, FOREIGN(tun.ipv6_src) },
				 { "ipv6_dst", FIELD_IPV6, FOREIGN(tun.ipv6_dst) },
				 { "tos", FIELD_HEX, FNUM(tun.tos, 8) }, { "ttl", FIELD_DEC, FNUM(tun.ttl, 8) },
				 { "tp_src", FIELD_DEC, FNUM(tun.tp_src, 16) },
				 { "tp_dst", FIELD_DEC, FNUM(tun.tp_dst, 16) },
				 { "geneve", FIELD_GENEVE, FOREIGN(tun.geneve) },
				 { "vxlan", FIELD_GROUP, FOREIGN(tun.gbp_id),
				   GROUP({ "gbp", FIELD_GROUP, FOREIGN(tun.gbp_id),
					   GROUP({ "id", FIELD_DEC, FNUM(tun.gbp_id, 16) },
						 { "flags", FIELD_HEX, FNUM(tun.gbp_flags, 8) }) }) },
				 { "erspan", FIELD_GROUP, FOREIGN(tun.erspan_ver),
				   GROUP({ "ver", FIELD_DEC, FNUM(tun.erspan_ver, 4) },
					 { "idx", FIELD_HEX, FNUM(tun.erspan_idx, 20) },
					 { "dir", FIELD_DEC, FNUM(tun.erspan_dir, 1) },
					 { "hwid", FIELD_HEX, FNUM(tun.erspan_hwid, 6) }) },
				 { "flags", FIELD_TUNNEL_FLAGS, FNUM(tun.flags, 4), .mask_bits = 16 }),
			  .flags = ATTR_OUTERMOST | ATTR_ALWAYS_PRINTED,
			  .why_not = "tunnel metadata cannot be matched by this datapath" },
	[ATTR_IN_PORT] = { "in_port", FIELDS({ NULL, FIELD_PORT, NUM(in_port, 16), .mask_bits = 32 }),
			   .flags = ATTR_OUTERMOST },
	[ATTR_SKB_MARK] = { "skb_mark", FIELDS({ NULL, FIELD_HEX, NUM(skb_mark, 32) }), .flags = ATTR_OUTERMOST },
	[ATTR_CT_STATE] = { "ct_state", FIELDS({ NULL, FIELD_CT_STATE, FNUM(ct.state, 8) }), .flags = ATTR_OUTERMOST,
			    .why_not = no_conntrack },
	[ATTR_CT_ZONE] = { "ct_zone", FIELDS({ NULL, FIELD_HEX, FNUM(ct.zone, 16) }), .flags = ATTR_OUTERMOST,
			   .why_not = no_conntrack },
	[ATTR_CT_MARK] = { "ct_mark", FIELDS({ NULL, FIELD_HEX, FNUM(ct.mark, 32) }), .flags = ATTR_OUTERMOST,
			   .why_not = no_conntrack },
	[ATTR_CT_LABEL] = { "ct_label", FIELDS({ NULL, FIELD_LONG, FOREIGN(ct.label) }), .flags = ATTR_OUTERMOST,
			    .why_not = no_conntrack },
	[ATTR_CT_TUPLE4] = { "ct_tuple4", CT_TUPLE(ct_tuple4, FIELD_IPV4),
			     .flags = ATTR_OUTERMOST | ATTR_REFINES | ATTR_OF_PAYLOAD, .eth_type = { ETH_P_IP },
			     .why_not = no_conntrack },
	[ATTR_CT_TUPLE6] = { "ct_tuple6", CT_TUPLE(ct_tuple6, FIELD_IPV6),
			     .flags = ATTR_OUTERMOST | ATTR_REFINES | ATTR_OF_PAYLOAD, .eth_type = { ETH_P_IPV6 },
			     .why_not = no_conntrack },
	[ATTR_PACKET_TYPE] = { "packet_type",
			       FIELDS({ "ns", FIELD_DEC, FNUM(packet_type.ns, 16) },
				      { "id", FIELD_HEX, FNUM(packet_type.id, 16) }),
			       .flags = ATTR_OUTERMOST,
			       .why_not = "every packet of this datapath is Ethernet, packet_type(ns=0,id=0)" },
	[ATTR_ETH] = { "eth", FIELDS({ "src", FIELD_MAC, MEMBER(eth_src) }, { "dst", FIELD_MAC, MEMBER(eth_dst) }),
		       .flags = ATTR_OUTERMOST | ATTR_ALWAYS_PRINTED },
	[ATTR_ETH_TYPE] = { "eth_type", FIELDS({ NULL, FIELD_HEX16, BE(eth_type_be, 16) }) },
	[ATTR_VLAN] = { "vlan",
			FIELDS({ "vid", FIELD_DEC, BE(vlan_tci_be, 12) },
			       { "pcp", FIELD_DEC, BE(vlan_tci_be, 3), .shift = 13 },
			       { "cfi", FIELD_DEC, BE(vlan_tci_be, 1), .shift = 12, .alias = FIELD_IMPLIED1 },
			       { "tci", FIELD_HEX, BE(vlan_tci_be, 16), .alias = FIELD_ALIAS }),
			.flags = ATTR_ALWAYS_PRINTED, .eth_type = { ETH_P_8021Q, ETH_P_8021AD } },
	[ATTR_ENCAP] = { "encap", FIELDS({ .size = 0 }), .flags = ATTR_ALWAYS_PRINTED,
			 .eth_type = { ETH_P_8021Q, ETH_P_8021AD } },
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
	[ATTR_ND_EXT] = { "nd_ext",
			  FIELDS({ "nd_reserved", FIELD_HEX0, FNUM(nd_ext.reserved, 32) },
				 { "nd_options_type", FIELD_DEC, FNUM(nd_ext.options_type, 8) }),
			  .flags = ATTR_REFINES,
			  .why_not =
				  "ND extensions cannot be matched, neither by this datapath nor by that of the kernel" },
	[ATTR_TCP_FLAGS] = { "tcp_flags", FIELDS({ NULL, FIELD_TCP_FLAGS, BE(tcp_flags_be, 12), .mask_bits = 16 }),
			     .flags = ATTR_REFINES, .eth_type = { ETH_P_IP, ETH_P_IPV6 }, .ip_proto = IPPROTO_TCP },
	[ATTR_NSH] = { "nsh",
		       FIELDS({ "flags", FIELD_DEC, FNUM(nsh.flags, 8) }, { "ttl", FIELD_DEC, FNUM(nsh.ttl, 8) },
			      { "mdtype", FIELD_DEC, FNUM(nsh.mdtype, 8) }, { "np", FIELD_DEC, FNUM(nsh.np, 8) },
			      { "spi", FIELD_HEX, FNUM(nsh.path, 24), .shift = 8 },
			      { "si", FIELD_DEC, FNUM(nsh.path, 8) }, { "c1", FIELD_HEX, FNUM(nsh.context[0], 32) },
			      { "c2", FIELD_HEX, FNUM(nsh.context[1], 32) },
			      { "c3", FIELD_HEX, FNUM(nsh.context[2], 32) },
			      { "c4", FIELD_HEX, FNUM(nsh.context[3], 32) }),
		       .flags = ATTR_REFINES, .eth_type = { ETH_P_NSH },
		       .why_not = "NSH cannot be matched by this datapath" },
	/* OVS_KEY_ATTR_IPV6_EXTHDRS, under the name that Open vSwitch prints */
	[ATTR_KEY32] = { "key32", FIELDS({ NULL, FIELD_OCTETS, FNUM(ipv6_exthdrs, 16) }),
			 .flags = ATTR_REFINES | ATTR_SHY, .eth_type = { ETH_P_IPV6 },
			 .why_not = "IPv6 extension headers cannot be matched by this datapath" },
};

const struct attribute_info *attribute_info(enum attribute attr)
{
	return &attributes[attr];
}

int attribute_find_near(struct text name, int likely)
{
	int i;

	for (i = 0; i < ATTRIBUTES; i++) {
		int attr = likely + i < ATTRIBUTES ? likely + i : likely + i - ATTRIBUTES;

		if (text_is(name, attributes[attr].name))
			return attr;
	}
	return -ENOENT;
}

int attribute_find(struct text name)
{
	return attribute_find_near(name, 0);
}

__u32 field_full(const struct field *f)
{
	return ~0u >> (32 - f->bits);
}

static size_t member_at(const struct field *f, unsigned int entry)
{
	return f->offset + entry * f->size;
}

static __u32 member_get(const void *key, const struct field *f, unsigned int entry)
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

static void member_put(void *key, const struct field *f, unsigned int entry, __u32 number)
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

struct field_value field_get(const void *key, const struct field *f, unsigned int entry)
{
	struct field_value v = { 0 };

	if (field_is_bytes(f))
		memcpy(v.bytes, (const __u8 *)key + member_at(f, entry), f->size);
	else
		v.number = member_get(key, f, entry) >> f->shift & field_full(f);
	return v;
}

void field_put(void *key, const struct field *f, unsigned int entry, const struct field_value *v)
{
	__u32 others;

	if (field_is_bytes(f)) {
		memcpy((__u8 *)key + member_at(f, entry), v->bytes, f->size);
		return;
	}
	others = member_get(key, f, entry) & ~(field_full(f) << f->shift);
	member_put(key, f, entry, others | (v->number & field_full(f)) << f->shift);
}

void field_put_mask(void *mask, const struct field *f, unsigned int entry, const struct field_value *v)
{
	if (f->fills && v->number == field_full(f))
		member_put(mask, f, entry, ~0u);
	else
		field_put(mask, f, entry, v);
}

static enum field_match bytes_match(const __u8 *mask, size_t size)
{
	size_t zeros = 0, ones = 0, i;

	for (i = 0; i < size; i++) {
		zeros += mask[i] == 0;
		ones += mask[i] == 0xff;
	}
	return zeros == size ? FIELD_WILD : ones == size ? FIELD_EXACT : FIELD_PARTIAL;
}

static enum field_match group_match(const void *mask, const struct field *group)
{
	const struct field *f;

	for (f = group; f->size; f++) {
		if (field_match(mask, f, 0) != FIELD_WILD)
			return FIELD_PARTIAL;
	}
	return FIELD_WILD;
}

enum field_match field_match(const void *mask, const struct field *f, unsigned int entry)
{
	__u32 number;

	if (f->kind == FIELD_GROUP)
		return group_match(mask, f->group);
	if (f->kind == FIELD_GENEVE || field_is_bytes(f))
		return bytes_match((const __u8 *)mask + member_at(f, entry), f->size);
	number = field_get(mask, f, entry).number;
	return number == field_full(f) ? FIELD_EXACT : number ? FIELD_PARTIAL : FIELD_WILD;
}

static unsigned int entries_max(enum attribute attr)
{
	return attributes[attr].flags & ATTR_LABEL_STACK ? sizeof(((struct flow_key *)NULL)->mpls_lse_be) / 4 : 1;
}

unsigned int attribute_entries(const void *mask, enum attribute attr)
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

bool eth_type_fits(const struct match_level *l, enum attribute attr)
{
	const __u16 *types = attributes[attr].eth_type, eth_type = ntohs(l->key.eth_type_be);

	return !types[0] || eth_type == types[0] || (types[1] && eth_type == types[1]);
}

bool icmp_type_fits(const struct match_level *l, enum attribute attr)
{
	const __u8 *types = attributes[attr].icmp_type;
	__u16 type = ntohs(l->key.tp_src_be);

	return !types[0] || type == types[0] || type == types[1];
}

bool later_fragment(const struct match_level *l)
{
	return l->mask.ip_frag == 0xff && l->key.ip_frag == IP_FRAG_LATER;
}

bool attribute_applies(const struct match_level *l, enum attribute attr)
{
	const struct attribute_info *a = &attributes[attr];

	if (a->eth_type[0] && (!eth_type_fits(l, attr) || l->mask.eth_type_be != 0xffff))
		return false;
	if (a->ip_proto && (l->key.ip_proto != a->ip_proto || l->mask.ip_proto != 0xff || later_fragment(l)))
		return false;
	return !a->icmp_type[0] || (icmp_type_fits(l, attr) && l->mask.tp_src_be == 0xffff);
}
