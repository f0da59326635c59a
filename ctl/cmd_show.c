// SPDX-License-Identifier: GPL-2.0-only
/*
 * show, drops.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd.h"
#include "dp.h"
#include "mask_table.h"
#include "port.h"
#include "session.h"
#include "stats.h"
#include "util.h"

/* Where nothing is unusual, only the kind of attachment; programs of others run before or after ours on the same hook. */
static void show_attachment(struct cmd *c, const struct port_view *v)
{
	static const char *const names[] = { "detached", "tcx", "clsact" };
	const struct attach_state *a = &v->attached;
	const char *how = v->elsewhere ? "in another namespace" : v->gone ? "gone" : names[a->how];

	emit_text(&c->emit, " (%s%s", v->info.host_ifindex ? "internal, " : "", how);
	if (!v->gone && a->before)
		emit_text(&c->emit, ", %u other%s before", a->before, a->before == 1 ? "" : "s");
	if (!v->gone && a->after)
		emit_text(&c->emit, ", %u other%s after", a->after, a->after == 1 ? "" : "s");
	emit_text(&c->emit, v->info.flags & PORT_PEER ? ", peer)\n" : ")\n");
	emit_str(&c->emit, "attached", NULL, how);
	emit_bool(&c->emit, "peer", v->info.flags & PORT_PEER);
	emit_u64(&c->emit, "others_before", NULL, a->before);
	emit_u64(&c->emit, "others_after", NULL, a->after);
}

/* The bracket that ovs-dpctl puts behind byte counts from 1 KiB up. */
static void show_bytes(struct cmd *c, const char *key, const char *fmt, __u64 bytes)
{
	static const char *const units[] = { "", "KiB", "MiB", "GiB", "TiB" };
	double n = bytes;
	int unit = 0;

	emit_u64(&c->emit, key, fmt, bytes);
	for (; n >= 1024 && unit < 4; unit++)
		n /= 1024;
	if (unit)
		emit_text(&c->emit, " (%.1f %s)", n, units[unit]);
}

/* The device's own counters, as ovs-dpctl show -s prints them. */
static void show_port_stats(struct cmd *c, const struct port_view *v)
{
	const struct rtnl_link_stats64 *s = &v->link.stats;
	struct emit *e = &c->emit;

	if (!v->link.has_stats || v->gone)
		return;
	emit_u64(e, "rx_packets", "    RX packets:%" PRIu64, s->rx_packets);
	emit_u64(e, "rx_errors", " errors:%" PRIu64, s->rx_errors);
	emit_u64(e, "rx_dropped", " dropped:%" PRIu64, s->rx_dropped);
	emit_u64(e, "rx_over_errors", " overruns:%" PRIu64, s->rx_over_errors);
	emit_u64(e, "rx_frame_errors", " frame:%" PRIu64 "\n", s->rx_frame_errors);
	emit_u64(e, "tx_packets", "    TX packets:%" PRIu64, s->tx_packets);
	emit_u64(e, "tx_errors", " errors:%" PRIu64, s->tx_errors);
	emit_u64(e, "tx_dropped", " dropped:%" PRIu64, s->tx_dropped);
	emit_u64(e, "tx_aborted_errors", " aborted:%" PRIu64, s->tx_aborted_errors);
	emit_u64(e, "tx_carrier_errors", " carrier:%" PRIu64 "\n", s->tx_carrier_errors);
	emit_u64(e, "collisions", "    collisions:%" PRIu64 "\n", s->collisions);
	show_bytes(c, "rx_bytes", "    RX bytes:%" PRIu64, s->rx_bytes);
	show_bytes(c, "tx_bytes", "  TX bytes:%" PRIu64, s->tx_bytes);
	emit_text(e, "\n");
}

static void show_port(struct cmd *c, const struct port_view *v)
{
	emit_open_object(&c->emit, NULL);
	emit_u64(&c->emit, "number", "  port %" PRIu64 ":", v->number);
	emit_str(&c->emit, "name", " %s", v->name);
	emit_str(&c->emit, "type", NULL, v->info.host_ifindex ? "internal" : "system");
	emit_u64(&c->emit, "ifindex", NULL, v->info.ifindex);
	show_attachment(c, v);
	if (c->statistics)
		show_port_stats(c, v);
	emit_close(&c->emit);
}

static void show_counters(struct cmd *c, struct dp *dp, const struct dp_counters *n)
{
	__u64 lookups = n->hit + n->missed, masks = mask_count(dp->masks, MASKS_MAX);
	struct emit *e = &c->emit;

	emit_u64(e, "hit", "  lookups: hit:%" PRIu64, n->hit);
	emit_u64(e, "missed", " missed:%" PRIu64, n->missed);
	emit_u64(e, "lost", " lost:%" PRIu64 "\n", n->lost);
	emit_u64(e, "flows", "  flows: %" PRIu64 "\n", dp->info->flows);
	emit_u64(e, "mask_hit", "  masks: hit:%" PRIu64, n->mask_hit);
	emit_u64(e, "masks", " total:%" PRIu64, masks);
	emit_real(e, "mask_hit_per_packet", " hit/pkt:%.2f\n", lookups ? (double)n->mask_hit / lookups : 0.0);
	if (masks * 10 >= dp->info->max_masks * 9UL)
		emit_str(e, "masks_warning", "  warning: %s\n",
			 "nine tenths of max_masks are in use; add-flow will be refused at the limit");
	emit_u64(e, "cache_hit", "  cache: hit:%" PRIu64, n->cache_hit);
	emit_real(e, "cache_hit_rate", " hit-rate:%.2f%%\n", lookups ? 100.0 * n->cache_hit / lookups : 0.0);
	emit_u64(e, "masks_cache_size", "  caches:\n    masks-cache: size:%" PRIu64 "\n", dp->info->cache_size);
	if (c->statistics || e->json) {
		emit_u64(e, "forwarded", "  frames: forwarded:%" PRIu64, n->forwarded);
		emit_u64(e, "dropped", " dropped:%" PRIu64 "\n", n->dropped);
		emit_u64(e, "copies", "  copies: sent:%" PRIu64, n->copies);
		emit_u64(e, "copies_dropped", " dropped:%" PRIu64 "\n", n->copies_dropped);
		emit_u64(e, "sets_skipped", n->sets_skipped ? "  sets without their header:%" PRIu64 "\n" : NULL,
			 n->sets_skipped);
		emit_u64(e, "drops_unlisted", n->drops_unlisted ? "  drops not listed:%" PRIu64 "\n" : NULL,
			 n->drops_unlisted);
		emit_u64(e, "max_flows", "  limits: flows:%" PRIu64, dp->info->max_flows);
		emit_u64(e, "max_masks", " masks:%" PRIu64, dp->info->max_masks);
		emit_u64(e, "max_reactive_masks", " reactive masks:%" PRIu64, dp->info->max_reactive_masks);
		emit_u64(e, "max_port_masks", " of one port:%" PRIu64 "\n", dp->info->max_port_masks);
		emit_u64(e, "reactive_masks", NULL, mask_count_reactive(dp->masks, MASKS_MAX));
	}
}

static int show_one(struct cmd *c, const char *name, struct error *e)
{
	CLEANUP_FREE struct port_view *ports = NULL;
	struct dp_counters n;
	struct dp *dp;
	size_t count;
	int err = session_open(name, DP_READ, &dp, e);

	if (err)
		return err;
	err = stats_counters(dp, &n, e);
	if (!err)
		err = port_list(dp, true, &ports, &count, e);
	if (!err) {
		emit_open_object(&c->emit, NULL);
		emit_str(&c->emit, "name", "tcvs@%s:\n", dp->name);
		show_counters(c, dp, &n);
		emit_open_array(&c->emit, "ports");
		for (size_t i = 0; i < count; i++)
			show_port(c, &ports[i]);
		emit_close(&c->emit);
		emit_close(&c->emit);
	}
	dp_close(&dp);
	return err;
}

/* Each datapath is shown, whatever happened to those before it; the last failure is the command's. */
static int show_all(struct cmd *c, char **names, size_t count, bool all, struct error *e)
{
	struct error why;
	int failed = 0;

	for (size_t i = 0; i < count; i++) {
		int err = show_one(c, names[i], &why);

		/* One of all that goes away while we look is no failure. */
		if (!err || (all && err == -ENODEV))
			continue;
		if (failed)
			cmd_complain(c, e);
		failed = err;
		*e = why;
	}
	return failed;
}

int cmd_show(struct cmd *c, struct error *e)
{
	char **names = NULL;
	size_t count = 0;
	int err;

	emit_open_array(&c->emit, "datapaths");
	if (c->argc) {
		err = show_all(c, c->argv, c->argc, false, e);
	} else {
		err = dp_list(&names, &count, e);
		if (!err)
			err = show_all(c, names, count, true, e);
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	emit_close(&c->emit);
	return err;
}

int cmd_drops(struct cmd *c, struct error *e)
{
	CLEANUP_FREE struct drop_count *drops = NULL;
	size_t count = 0;
	struct dp *dp;
	int err = session_open(c->argc ? c->argv[0] : NULL, DP_READ, &dp, e);

	if (err)
		return err;
	err = stats_drops(dp, &drops, &count, e);
	emit_open_array(&c->emit, "drops");
	for (size_t i = 0; i < count; i++) {
		emit_open_object(&c->emit, NULL);
		if (drops[i].key.port == PORT_NONE)
			emit_text(&c->emit, "no port: ");
		else
			emit_text(&c->emit, "port %u: ", drops[i].key.port);
		emit_u64(&c->emit, "port", NULL, drops[i].key.port);
		emit_str(&c->emit, "reason", "%s:", stats_reason_name(drops[i].key.reason));
		emit_u64(&c->emit, "count", "%" PRIu64 "\n", drops[i].count);
		emit_close(&c->emit);
	}
	emit_close(&c->emit);
	dp_close(&dp);
	return err;
}
