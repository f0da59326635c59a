// SPDX-License-Identifier: GPL-2.0-only
#include "flow_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "field.h"
#include "field_text.h"
#include "util.h"

#define BLANKS " \t\r\n"

enum {
	WORDS_MAX = 64,
	NO_VLAN = 0xffff, /* dl_vlan=0xffff, OpenFlow 1.0 for: untagged */
};

/* Words that stand for a type and a protocol. */
static const struct protocol {
	const char *name;
	__u16 eth_type;
	__u8 ip_proto; /* 0 = any */
} protocols[] = {
	{ "ip", ETH_P_IP, 0 },
	{ "ip4", ETH_P_IP, 0 },
	{ "ipv4", ETH_P_IP, 0 },
	{ "ip6", ETH_P_IPV6, 0 },
	{ "ipv6", ETH_P_IPV6, 0 },
	{ "arp", ETH_P_ARP, 0 },
	{ "rarp", ETH_P_RARP, 0 },
	{ "mpls", ETH_P_MPLS_UC, 0 },
	{ "mplsm", ETH_P_MPLS_MC, 0 },
	{ "icmp", ETH_P_IP, IPPROTO_ICMP },
	{ "icmp4", ETH_P_IP, IPPROTO_ICMP },
	{ "icmp6", ETH_P_IPV6, IPPROTO_ICMPV6 },
	{ "tcp", ETH_P_IP, IPPROTO_TCP },
	{ "tcp4", ETH_P_IP, IPPROTO_TCP },
	{ "tcp6", ETH_P_IPV6, IPPROTO_TCP },
	{ "udp", ETH_P_IP, IPPROTO_UDP },
	{ "udp4", ETH_P_IP, IPPROTO_UDP },
	{ "udp6", ETH_P_IPV6, IPPROTO_UDP },
	{ "sctp", ETH_P_IP, IPPROTO_SCTP },
	{ "sctp4", ETH_P_IP, IPPROTO_SCTP },
	{ "sctp6", ETH_P_IPV6, IPPROTO_SCTP },
};

/* Parts of fields that OpenFlow has words for and flow text has not. */
#define PART(m) .offset = offsetof(struct flow_key, m), .size = sizeof(((struct flow_key *)NULL)->m)
static const struct field dscp = { NULL, FIELD_DEC, PART(ip_tos), .shift = 2, .bits = 6 };
static const struct field dscp_in_place = { NULL, FIELD_HEX, PART(ip_tos), .bits = 8 };
static const struct field ecn = { NULL, FIELD_DEC, PART(ip_tos), .bits = 2 };
static const struct field vid_and_present = { NULL, FIELD_HEX, PART(vlan_tci_be), .big_endian = true, .bits = 13 };

enum {
	WORD_ANYWHERE = 1 << 0, /* what the attribute needs in flow text is not needed here */
	WORD_TAGGED = 1 << 1,	/* says, too, that there is a tag */
	WORD_DSCP = 1 << 2,	/* of the byte, only the DSCP counts */
};

/* A word that means several fields has a row for each; the first whose protocol the filter names is meant. */
static const struct word {
	const char *name;
	enum attribute attr;
	const char *field;	  /* of the attribute; NULL: the attribute is the value, or there is a part */
	const struct field *part; /* instead of a field */
	unsigned int flags;
	const char *needs; /* of the first row of a word */
} words[] = {
	{ "recirc_id", ATTR_RECIRC_ID, .flags = WORD_ANYWHERE },
	{ "dp_hash", ATTR_DP_HASH, .flags = WORD_ANYWHERE },
	{ "skb_priority", ATTR_SKB_PRIORITY, .flags = WORD_ANYWHERE },
	{ "pkt_mark", ATTR_SKB_MARK, .flags = WORD_ANYWHERE },
	{ "skb_mark", ATTR_SKB_MARK, .flags = WORD_ANYWHERE },
	{ "in_port", ATTR_IN_PORT, .flags = WORD_ANYWHERE },
	{ "dl_src", ATTR_ETH, "src", .flags = WORD_ANYWHERE },
	{ "eth_src", ATTR_ETH, "src", .flags = WORD_ANYWHERE },
	{ "dl_dst", ATTR_ETH, "dst", .flags = WORD_ANYWHERE },
	{ "eth_dst", ATTR_ETH, "dst", .flags = WORD_ANYWHERE },
	{ "dl_type", ATTR_ETH_TYPE, .flags = WORD_ANYWHERE },
	{ "eth_type", ATTR_ETH_TYPE, .flags = WORD_ANYWHERE },
	{ "dl_vlan", ATTR_VLAN, "vid", .flags = WORD_ANYWHERE | WORD_TAGGED },
	{ "dl_vlan_pcp", ATTR_VLAN, "pcp", .flags = WORD_ANYWHERE | WORD_TAGGED },
	{ "vlan_pcp", ATTR_VLAN, "pcp", .flags = WORD_ANYWHERE | WORD_TAGGED },
	{ "vlan_tci", ATTR_VLAN, "tci", .flags = WORD_ANYWHERE },
	{ "vlan_vid", ATTR_VLAN, .part = &vid_and_present, .flags = WORD_ANYWHERE },
	{ "mpls_label", ATTR_MPLS, "label", .needs = "mpls or mplsm" },
	{ "mpls_tc", ATTR_MPLS, "tc", .needs = "mpls or mplsm" },
	{ "mpls_bos", ATTR_MPLS, "bos", .needs = "mpls or mplsm" },
	{ "mpls_ttl", ATTR_MPLS, "ttl", .needs = "mpls or mplsm" },
	{ "nw_src", ATTR_IPV4, "src", .needs = "ip, tcp, udp, sctp, icmp, arp or rarp" },
	{ "nw_src", ATTR_ARP, .field = "sip" },
	{ "ip_src", ATTR_IPV4, "src", .needs = "ip, tcp, udp, sctp or icmp" },
	{ "nw_dst", ATTR_IPV4, "dst", .needs = "ip, tcp, udp, sctp, icmp, arp or rarp" },
	{ "nw_dst", ATTR_ARP, .field = "tip" },
	{ "ip_dst", ATTR_IPV4, "dst", .needs = "ip, tcp, udp, sctp or icmp" },
	{ "ipv6_src", ATTR_IPV6, "src", .needs = "ipv6, tcp6, udp6, sctp6 or icmp6" },
	{ "ipv6_dst", ATTR_IPV6, "dst", .needs = "ipv6, tcp6, udp6, sctp6 or icmp6" },
	{ "ipv6_label", ATTR_IPV6, "label", .needs = "ipv6, tcp6, udp6, sctp6 or icmp6" },
	{ "nw_proto", ATTR_IPV4, "proto", .needs = "ip, ipv6, arp or rarp" },
	{ "nw_proto", ATTR_IPV6, .field = "proto" },
	{ "nw_proto", ATTR_ARP, .field = "op" },
	{ "ip_proto", ATTR_IPV4, "proto", .needs = "ip or ipv6" },
	{ "ip_proto", ATTR_IPV6, .field = "proto" },
	{ "nw_tos", ATTR_IPV4, .part = &dscp_in_place, .flags = WORD_DSCP, .needs = "ip or ipv6" },
	{ "nw_tos", ATTR_IPV6, .part = &dscp_in_place, .flags = WORD_DSCP },
	{ "ip_dscp", ATTR_IPV4, .part = &dscp, .needs = "ip or ipv6" },
	{ "ip_dscp", ATTR_IPV6, .part = &dscp },
	{ "ip_ecn", ATTR_IPV4, .part = &ecn, .needs = "ip or ipv6" },
	{ "ip_ecn", ATTR_IPV6, .part = &ecn },
	{ "nw_ecn", ATTR_IPV4, .part = &ecn, .needs = "ip or ipv6" },
	{ "nw_ecn", ATTR_IPV6, .part = &ecn },
	{ "nw_ttl", ATTR_IPV4, "ttl", .needs = "ip or ipv6" },
	{ "nw_ttl", ATTR_IPV6, .field = "hlimit" },
	{ "ip_frag", ATTR_IPV4, "frag", .needs = "ip or ipv6" },
	{ "ip_frag", ATTR_IPV6, .field = "frag" },
	{ "nw_frag", ATTR_IPV4, "frag", .needs = "ip or ipv6" },
	{ "nw_frag", ATTR_IPV6, .field = "frag" },
	{ "arp_op", ATTR_ARP, "op", .needs = "arp or rarp" },
	{ "arp_spa", ATTR_ARP, "sip", .needs = "arp or rarp" },
	{ "arp_tpa", ATTR_ARP, "tip", .needs = "arp or rarp" },
	{ "arp_sha", ATTR_ARP, "sha", .needs = "arp or rarp" },
	{ "arp_tha", ATTR_ARP, "tha", .needs = "arp or rarp" },
	{ "tp_src", ATTR_TCP, "src", .needs = "tcp, udp, sctp, icmp or one of these with a 6" },
	{ "tp_src", ATTR_UDP, .field = "src" },
	{ "tp_src", ATTR_SCTP, .field = "src" },
	{ "tp_src", ATTR_ICMP, .field = "type" },
	{ "tp_src", ATTR_ICMPV6, .field = "type" },
	{ "tp_dst", ATTR_TCP, "dst", .needs = "tcp, udp, sctp, icmp or one of these with a 6" },
	{ "tp_dst", ATTR_UDP, .field = "dst" },
	{ "tp_dst", ATTR_SCTP, .field = "dst" },
	{ "tp_dst", ATTR_ICMP, .field = "code" },
	{ "tp_dst", ATTR_ICMPV6, .field = "code" },
	{ "tcp_src", ATTR_TCP, "src", .needs = "tcp or tcp6" },
	{ "tcp_dst", ATTR_TCP, "dst", .needs = "tcp or tcp6" },
	{ "tcp_flags", ATTR_TCP_FLAGS, .needs = "tcp or tcp6" },
	{ "udp_src", ATTR_UDP, "src", .needs = "udp or udp6" },
	{ "udp_dst", ATTR_UDP, "dst", .needs = "udp or udp6" },
	{ "sctp_src", ATTR_SCTP, "src", .needs = "sctp or sctp6" },
	{ "sctp_dst", ATTR_SCTP, "dst", .needs = "sctp or sctp6" },
	{ "icmp_type", ATTR_ICMP, "type", .needs = "icmp or icmp6" },
	{ "icmp_type", ATTR_ICMPV6, .field = "type" },
	{ "icmp_code", ATTR_ICMP, "code", .needs = "icmp or icmp6" },
	{ "icmp_code", ATTR_ICMPV6, .field = "code" },
	{ "icmpv6_type", ATTR_ICMPV6, "type", .needs = "icmp6" },
	{ "icmpv6_code", ATTR_ICMPV6, "code", .needs = "icmp6" },
	{ "nd_target", ATTR_ND, "target", .needs = "icmp6, and icmp_type=135 or icmp_type=136," },
	{ "nd_sll", ATTR_ND, "sll", .needs = "icmp6, and icmp_type=135 or icmp_type=136," },
	{ "nd_tll", ATTR_ND, "tll", .needs = "icmp6, and icmp_type=135 or icmp_type=136," },
};

struct parser {
	const struct port_names *names;
	struct error *e;
	struct match_level *want;
};

/* NAME or NAME=VALUE. */
struct token {
	struct text name;
	struct text value;
	bool has_value;
	bool done;
};

static const struct word *word_find(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_is(name, words[i].name))
			return &words[i];
	return NULL;
}

static const struct protocol *protocol_find(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (text_is(name, protocols[i].name))
			return &protocols[i];
	return NULL;
}

static const struct field *word_field(const struct word *w)
{
	const struct field *f = attribute_info(w->attr)->fields;

	if (w->part)
		return w->part;
	while (w->field && strcmp(f->name, w->field))
		f++;
	return f;
}

/* The row that is meant, among those of one name from w on; NULL if the filter names no protocol that has it. */
static const struct word *word_choose(const struct match_level *want, const struct word *w)
{
	const char *name = w->name;

	for (; w < words + ARRAY_SIZE(words) && !strcmp(w->name, name); w++)
		if (w->flags & WORD_ANYWHERE || attribute_applies(want, w->attr))
			return w;
	return NULL;
}

/* Adds bits to what is wanted, or says that they contradict it. */
static int wanted_add(struct parser *p, const char *name, const struct match_level *more)
{
	const __u64 *key = (const __u64 *)&more->key, *mask = (const __u64 *)&more->mask;
	__u64 *want = (__u64 *)&p->want->key, *want_mask = (__u64 *)&p->want->mask;

	for (unsigned int i = 0; i < KEY_WORDS; i++)
		if ((want[i] ^ key[i]) & want_mask[i] & mask[i])
			return error_set(p->e, EINVAL, "filter: %s: contradicts what the filter says elsewhere", name);
	for (unsigned int i = 0; i < KEY_WORDS; i++) {
		want[i] |= key[i] & mask[i];
		want_mask[i] |= mask[i];
	}
	return 0;
}

static int protocol_apply(struct parser *p, const struct protocol *protocol)
{
	struct match_level l = { .key = { .eth_type_be = htons(protocol->eth_type), .ip_proto = protocol->ip_proto },
				 .mask = { .eth_type_be = 0xffff, .ip_proto = protocol->ip_proto ? 0xff : 0 } };

	return wanted_add(p, protocol->name, &l);
}

/* dl_vlan=0xffff means what vlan_tci=0 does. */
static bool says_untagged(const struct word *w, struct text value)
{
	struct error ignored;
	__u64 number;

	return !strcmp(w->name, "dl_vlan") && !number_parse(value, "", NO_VLAN, &number, &ignored) && number == NO_VLAN;
}

static int word_apply(struct parser *p, const struct word *w, struct text value)
{
	const __be16 present = htons(VLAN_TAG_PRESENT);
	struct match_level l = { 0 };
	struct field_reader r = {
		.names = p->names, .e = p->e, .attr = w->attr, .group = "", .key = &l.key, .mask = &l.mask
	};
	const __u8 no_dscp = 0x03;
	int err = 0;

	if (says_untagged(w, value))
		l.mask.vlan_tci_be = 0xffff;
	else
		err = field_parse(&r, word_field(w), 0, value);
	if (err)
		return error_prefix(p->e, err, "filter: %s", w->name);
	if (w->flags & WORD_TAGGED && !says_untagged(w, value)) {
		l.key.vlan_tci_be |= present;
		l.mask.vlan_tci_be |= present;
	}
	if (w->flags & WORD_DSCP && l.key.ip_tos & no_dscp)
		return error_set(p->e, EINVAL, "filter: %s: 0x%02x has ECN bits; for these there is ip_ecn", w->name,
				 l.key.ip_tos);
	if (w->flags & WORD_DSCP)
		l.mask.ip_tos &= ~no_dscp;
	return wanted_add(p, w->name, &l);
}

static int token_check(struct parser *p, const struct token *t)
{
	struct quoted name = text_quote(t->name);
	const struct word *w = word_find(t->name);

	if (!w && !protocol_find(t->name))
		return error_set(p->e, EINVAL, "filter: unknown word '%s'", name.text);
	if (w && !t->has_value)
		return error_set(p->e, EINVAL, "filter: %s: a value is missing, as %s=...", name.text, name.text);
	if (!w && t->has_value)
		return error_set(p->e, EINVAL, "filter: %s: takes no value", name.text);
	return 0;
}

/* Splits at commas and blanks, which no value has in it. */
static int tokens_split(struct parser *p, struct text t, struct token tokens[WORDS_MAX], unsigned int *count)
{
	for (t = text_from(t, text_span(t, "," BLANKS)); t.len; t = text_from(t, text_span(t, "," BLANKS))) {
		struct text value = text_take(&t, "," BLANKS);
		bool has_value = text_cspan(value, "=") < value.len;
		struct text name = text_take(&value, "=");
		int err;

		if (*count == WORDS_MAX)
			return error_set(p->e, E2BIG, "filter: more than %u words", WORDS_MAX);
		tokens[*count] = (struct token){ .name = name, .value = value, .has_value = has_value };
		err = token_check(p, &tokens[*count]);
		if (err)
			return err;
		++*count;
	}
	return 0;
}

/* Applies a token if the protocol that it needs was named so far. */
static int token_try(struct parser *p, struct token *t)
{
	const struct word *w = word_find(t->name);

	if (t->done)
		return 0;
	if (w)
		w = word_choose(p->want, w);
	else
		t->done = true;
	if (t->done)
		return protocol_apply(p, protocol_find(t->name));
	if (!w)
		return 0;
	t->done = true;
	return word_apply(p, w, t->value);
}

/* Was the token applied, and does what it needs hold still?  Ports do not, if ip_frag=later came behind them. */
static bool token_holds(const struct parser *p, const struct token *t)
{
	const struct word *w = word_find(t->name);

	return t->done && (!w || word_choose(p->want, w));
}

int flow_filter_parse(const char *text, const struct port_names *names, struct flow_filter *f, struct error *e)
{
	struct parser p = { .names = names, .e = e, .want = &f->want };
	struct token tokens[WORDS_MAX];
	/* What a word needs may stand behind it: the type, then the protocol, then the ICMP type, then what is in it. */
	unsigned int passes = 4, count = 0, i;
	int err;

	memset(f, 0, sizeof(*f));
	err = tokens_split(&p, text_of(text), tokens, &count);
	while (!err && passes--)
		for (i = 0; !err && i < count; i++)
			err = token_try(&p, &tokens[i]);
	for (i = 0; !err && i < count; i++)
		if (!token_holds(&p, &tokens[i]))
			err = error_set(e, EINVAL, "filter: %s: needs %s beside it", text_quote(tokens[i].name).text,
					word_find(tokens[i].name)->needs);
	return err;
}

bool flow_filter_shows(const struct flow_filter *f, const struct match *m)
{
	const __u64 *want = (const __u64 *)&f->want.key, *want_mask = (const __u64 *)&f->want.mask;
	const __u64 *key = (const __u64 *)&m->key, *mask = (const __u64 *)&m->mask;

	for (unsigned int i = 0; i < KEY_WORDS; i++)
		if ((want[i] ^ key[i]) & want_mask[i] & mask[i])
			return false;
	return true;
}

int flow_types_parse(const char *text, bool *shown, struct error *e)
{
	static const struct {
		const char *name;
		bool shown;
	} types[] = {
		{ "all", true },
		{ "tcvs", true },
		/* "ovs" is the datapath itself, and nothing of a tcvs datapath was given to flower rules or to a NIC. */
		{ "ovs", true },
		{ "non-offloaded", true },
		{ "non-partially-offloaded", true },
		{ "tc", false },
		{ "dpdk", false },
		{ "offloaded", false },
		{ "partially-offloaded", false },
	};
	struct text t = text_of(text);
	bool more = true;

	*shown = false;
	while (more) {
		struct text word;
		size_t i = 0;

		more = text_cspan(t, ",") < t.len;
		word = text_take(&t, ",");
		while (i < ARRAY_SIZE(types) && !text_is(word, types[i].name))
			i++;
		if (i == ARRAY_SIZE(types))
			return error_set(e, EINVAL,
					 "type: '%s' is not all, tcvs, ovs, [non-][partially-]offloaded, tc or dpdk",
					 text_quote(word).text);
		*shown |= types[i].shown;
	}
	return 0;
}
