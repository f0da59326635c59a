/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of the flow key as text knows them: one table of attributes, each with its fields and its prerequisites.
 *
 * Parser, printer, JSON, masks and rules are all driven by it.  A new field is one row; a new attribute is one entry,
 * at the place where it is printed.  What is said of a flow here is said of one nesting level of it (match.h).
 */
#pragma once

#include <stdbool.h>

#include "flow_key.h"
#include "match.h"
#include "net_text.h"

/* In the order in which Open vSwitch prints them. */
enum attribute {
	ATTR_RECIRC_ID,
	ATTR_DP_HASH,
	ATTR_SKB_PRIORITY,
	ATTR_TUNNEL,
	ATTR_IN_PORT,
	ATTR_SKB_MARK,
	ATTR_CT_STATE,
	ATTR_CT_ZONE,
	ATTR_CT_MARK,
	ATTR_CT_LABEL,
	ATTR_CT_TUPLE4,
	ATTR_CT_TUPLE6,
	ATTR_PACKET_TYPE,
	ATTR_ETH,
	ATTR_ETH_TYPE,
	ATTR_VLAN,
	ATTR_ENCAP,
	ATTR_MPLS,
	ATTR_IPV4,
	ATTR_IPV6,
	ATTR_ARP,
	ATTR_TCP,
	ATTR_UDP,
	ATTR_SCTP,
	ATTR_ICMP,
	ATTR_ICMPV6,
	ATTR_ND,
	ATTR_ND_EXT,
	ATTR_TCP_FLAGS,
	ATTR_NSH,
	ATTR_KEY32,
	ATTRIBUTES
};

enum field_kind {
	FIELD_DEC,
	FIELD_HEX,
	FIELD_HEX0,  /* 0 has its 0x, too */
	FIELD_HEX16, /* four digits, always */
	FIELD_PORT,
	FIELD_FRAG,
	FIELD_TCP_FLAGS,
	FIELD_CT_STATE,
	FIELD_TUNNEL_FLAGS, /* flags(df|key) */
	FIELD_OCTETS,	    /* 00 00 */
	FIELD_GROUP,	    /* name(fields), of no value */
	FIELD_GENEVE,	    /* struct geneve_options */
	/* arrays of bytes from here on */
	FIELD_MAC,
	FIELD_IPV4,
	FIELD_IPV6,
	FIELD_LONG, /* hexadecimal, up to 128 bits */
};

/* Names for bits that other names stand for already. */
enum field_alias {
	FIELD_NO_ALIAS,
	FIELD_ALIAS,	/* taken, never printed */
	FIELD_IMPLIED1, /* is 1 where nothing else is said; only a 0 is printed */
};

struct field {
	const char *name; /* NULL: the attribute is this one value, as in_port(1) */
	enum field_kind kind;
	__u16 offset; /* in struct flow_key; of an attribute with why_not, in struct foreign_key */
	__u8 size;    /* of the member, bytes; 0 ends a list of fields */
	bool big_endian;
	__u8 shift; /* of a number in its member */
	__u8 bits;
	__u8 mask_bits; /* that a mask may have in text, if more than bits: the surplus is dropped */
	bool fills;	/* nothing else is in the member: an exact mask covers all of it */
	bool undivided; /* the mask is all or nothing */
	enum field_alias alias;
	const struct field *group; /* of FIELD_GROUP */
};

enum {
	ATTR_OUTERMOST = 1 << 0,      /* not inside encap() */
	ATTR_ALWAYS_PRINTED = 1 << 1, /* also when nothing of it is matched */
	ATTR_REFINES = 1 << 2,	      /* with a mask of zero it may stand anywhere, as in the kernel */
	ATTR_LABEL_STACK = 1 << 3,    /* the fields repeat, a label stack entry each */
	ATTR_OF_PAYLOAD = 1 << 4,     /* its prerequisites are in the innermost level, wherever it stands */
	ATTR_SHY = 1 << 5,	      /* what is wild of it is not shown even with more */
};

struct attribute_info {
	const char *name;
	const struct field *fields;
	unsigned int flags;
	__u16 eth_type[2];   /* one of these is needed; 0 = no more, host order */
	__u8 ip_proto;	     /* is needed; 0 = any */
	__u8 icmp_type[2];   /* one of these is needed */
	const char *why_not; /* this datapath cannot match it: the reason; a mask of zero is taken */
};

/* A number, or bytes as they stand in the key. */
struct field_value {
	__u32 number;
	__u8 bytes[16];
};

enum field_match {
	FIELD_WILD,
	FIELD_PARTIAL,
	FIELD_EXACT,
};

const struct attribute_info *attribute_info(enum attribute attr);

/* -ENOENT if there is none of this name. */
int attribute_find(struct text name);

/* The same, quick if it is a likely one or stands soon after that. */
int attribute_find_near(struct text name, int likely);

static inline bool field_is_bytes(const struct field *f)
{
	return f->kind >= FIELD_MAC;
}

/* Is it written name(...), not name=...? */
static inline bool field_is_nested(const struct field *f)
{
	return f->kind == FIELD_GROUP || f->kind == FIELD_GENEVE || f->kind == FIELD_TUNNEL_FLAGS;
}

__u32 field_full(const struct field *f); /* all bits of a number */

/*
 * Keys and masks below are a struct flow_key; of an attribute with why_not, a struct foreign_key.  entry counts label
 * stack entries; it is 0 for all other fields.  Groups and Geneve options have no one value.
 */
struct field_value field_get(const void *key, const struct field *f, unsigned int entry);
void field_put(void *key, const struct field *f, unsigned int entry, const struct field_value *v);

/* As field_put, for a value that is a mask. */
void field_put_mask(void *mask, const struct field *f, unsigned int entry, const struct field_value *v);
enum field_match field_match(const void *mask, const struct field *f, unsigned int entry);

/* How many label stack entries have a mask; for other attributes 1 if there is a mask, else 0. */
unsigned int attribute_entries(const void *mask, enum attribute attr);

bool eth_type_is_tag(__be16 eth_type_be);

/* Does the level match packets of which the attribute tells something? */
bool attribute_applies(const struct match_level *l, enum attribute attr);

/* No header of the transport layer: neither ports nor flags. */
bool later_fragment(const struct match_level *l);

bool eth_type_fits(const struct match_level *l, enum attribute attr);
bool icmp_type_fits(const struct match_level *l, enum attribute attr);
