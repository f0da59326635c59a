// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump-masks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>

#include "cmd.h"
#include "dp.h"
#include "mask_print.h"
#include "mask_table.h"
#include "session.h"
#include "stats.h"
#include "util.h"

/* A packet of the class. */
static struct flow_key sample_of(enum packet_class class)
{
	static const struct {
		__u16 eth_type;
		__u8 ip_proto;
	} kinds[] = {
		[CLASS_ARP] = { ETH_P_ARP, 0 },
		[CLASS_IPV4] = { ETH_P_IP, IPPROTO_ICMP },
		[CLASS_IPV4_TCP] = { ETH_P_IP, IPPROTO_TCP },
		[CLASS_IPV4_UDP] = { ETH_P_IP, IPPROTO_UDP },
		[CLASS_IPV6] = { ETH_P_IPV6, IPPROTO_ICMPV6 },
		[CLASS_IPV6_TCP] = { ETH_P_IPV6, IPPROTO_TCP },
		[CLASS_IPV6_UDP] = { ETH_P_IPV6, IPPROTO_UDP },
		[CLASS_MPLS] = { ETH_P_MPLS_UC, 0 },
	};
	struct flow_key key = {};

	if (class < ARRAY_SIZE(kinds)) {
		key.eth_type_be = htons(kinds[class].eth_type);
		key.ip_proto = kinds[class].ip_proto;
	}
	return key;
}

static int show_mask(struct cmd *c, struct dp *dp, enum packet_class class, const struct mask *mask, __u32 position,
		     __u64 lookups)
{
	const struct flow_key sample = sample_of(class);
	const struct mask_info *info = &dp->masks[mask->id];
	CLEANUP_FREE char *fields = NULL;
	size_t size;
	FILE *text = open_memstream(&fields, &size);
	struct emit *e = &c->emit;
	struct mask_hits hits;

	if (!text)
		return -ENOMEM;
	mask_print(text, &mask->key, &sample);
	fclose(text);
	if (stats_mask_hits(dp, mask->id, &hits))
		return -EIO;
	emit_open_object(e, NULL);
	emit_u64(e, "position", "  %" PRIu64 ": ", position);
	emit_u64(e, "id", "id:%" PRIu64, mask->id);
	emit_u64(e, "flows", ", flows:%" PRIu64, info->class_flows[class]);
	emit_u64(e, "hits", ", hits:%" PRIu64, hits.all - info->born.all);
	emit_u64(e, "walked", NULL, hits.walked - info->born.walked);
	emit_real(e, "share", ", share:%.1f%%", lookups ? 100.0 * (hits.all - info->born.all) / lookups : 0.0);
	emit_u64(e, "period", ", period:%" PRIu64, info->period.all);
	emit_str(e, "fields", ", fields:%s\n", fields);
	emit_close(e);
	return 0;
}

static int show_class(struct cmd *c, struct dp *dp, enum packet_class class, struct mask_array *array, __u64 lookups,
		      struct error *e)
{
	int err = dp_mask_array(dp, class, array);

	if (err)
		return error_set(e, -err, "masks of class %s: cannot be read (%s)", packet_class_name(class),
				 strerror(-err));
	if (!array->count)
		return 0;
	emit_open_object(&c->emit, NULL);
	emit_str(&c->emit, "class", "%s:\n", packet_class_name(class));
	emit_open_array(&c->emit, "masks");
	for (__u32 i = 0; !err && i < array->count; i++)
		err = show_mask(c, dp, class, &array->mask[i], i, lookups);
	emit_close(&c->emit);
	emit_close(&c->emit);
	return err ? error_set(e, -err, "mask hits of %s: cannot be read (%s)", dp->name, strerror(-err)) : 0;
}

/* Hits, and their share of all lookups, are of all classes together: a mask has one counter, whatever packet it matched. */
int cmd_dump_masks(struct cmd *c, struct error *e)
{
	CLEANUP_FREE struct mask_array *array = malloc(sizeof(*array));
	struct dp_counters n;
	struct dp *dp;
	int err = array ? session_open(c->argc ? c->argv[0] : NULL, DP_READ, &dp, e)
			: error_set(e, ENOMEM, "out of memory");

	if (err)
		return err;
	err = stats_counters(dp, &n, e);
	emit_open_array(&c->emit, "classes");
	for (__u32 class = 0; !err && class < PACKET_CLASSES_END; class ++)
		err = show_class(c, dp, class, array, n.hit + n.missed, e);
	emit_close(&c->emit);
	dp_close(&dp);
	return err;
}
