// SPDX-License-Identifier: GPL-2.0-only
#include "masks.h"

#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "rig.h"

/* Masks differ in two prefix lengths, and in whether TTL and destination port count. */
int mask_add(struct dp *dp, unsigned int i, const char *protocol, bool fits, struct error *e)
{
	char text[192];

	snprintf(text, sizeof(text),
		 "in_port(1),eth(),eth_type(0x0800),ipv4(src=%s/%u,dst=" FRAME_IPV4_DST "/%u,proto=%u%s),%s(%s)",
		 fits ? FRAME_IPV4_SRC : "10.0.0.0", 17 + i % 16, 17 + i / 16 % 16, strcmp(protocol, "udp") ? 6 : 17,
		 i / 512 % 2 ? ",ttl=64" : "", protocol, i / 256 % 2 ? "dst=2000" : "");
	return rig_add_flow(dp, text, "2", e);
}

int masks_add(struct dp *dp, unsigned int count, struct error *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < count; i++)
		err = mask_add(dp, i, "udp", i + 1 == count, e);
	return err ? err : dp_commit(dp, e);
}
