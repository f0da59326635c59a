/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A match: what a flow applies to.  Bits of the key that the mask does not have are zero.
 *
 * Tags are always exact: an untagged flow has the whole vlan_tci_be in its mask, with the value 0, a tagged one at
 * least VLAN_TAG_PRESENT and the TPID; likewise the inner tag of a tagged flow.
 */
#pragma once

#include <stdbool.h>

#include "flow_key.h"

enum {
	MATCH_TAGS_MAX = 2,
};

struct match {
	struct flow_key key;
	struct flow_key mask;
	__u8 ufid[16];
	bool has_ufid;
	__u64 present; /* a bit per enum attribute (field.h) that the text named; 0 only if it was a UFID alone */
	__u64 foreign; /* those of them that say something of packets which this datapath cannot match */
};

/*
 * One nesting level of a match's text.  Outside encap() of a tagged flow, eth_type_be is the TPID and vlan_tci_be the
 * tag of that level; in the innermost level eth_type_be is the type of what is carried, and there is no tag.
 */
struct match_level {
	struct flow_key key;
	struct flow_key mask;
	__u64 present;
};
