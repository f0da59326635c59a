// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache-get-size, cache-set-size, rebalance.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd.h"
#include "mask_table.h"
#include "reorder.h"
#include "session.h"

int cmd_cache_get_size(struct cmd *c, struct error *e)
{
	struct dp *dp;
	int err = session_open(c->argc ? c->argv[0] : NULL, DP_READ, &dp, e);

	if (err)
		return err;
	emit_str(&c->emit, "name", "tcvs@%s:\n", dp->name);
	emit_u64(&c->emit, "masks_cache_size", "  caches:\n    masks-cache: size:%" PRIu64 "\n", dp->info->cache_size);
	dp_close(&dp);
	return 0;
}

static int parse_size(const char *text, __u32 *size, struct error *e)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return error_set(e, EINVAL, "size is malformed (Invalid argument): '%s' is no number", text);
	if (n > CACHE_MAX || (n & (n - 1)))
		return error_set(
			e, EINVAL,
			"Setting cache size failed (Invalid argument): %lu is neither 0 nor a power of two up to %d", n,
			CACHE_MAX);
	*size = n;
	return 0;
}

int cmd_cache_set_size(struct cmd *c, struct error *e)
{
	struct dp *dp;
	__u32 size = 0;
	int err;

	if (strcmp(c->argv[1], "masks-cache"))
		return error_set(e, EINVAL,
				 "Cache name \"%s\" not found on dpif (Invalid argument): masks-cache is the only one",
				 c->argv[1]);
	err = parse_size(c->argv[2], &size, e);
	if (!err)
		err = session_open(c->argv[0], DP_WRITE, &dp, e);
	if (err)
		return err;
	/* Entries that are not in reach of the new size stay; each is checked against its flow before it counts. */
	dp->info->cache_size = size;
	dp_close(&dp);
	emit_u64(&c->emit, "masks_cache_size", "Setting cache size successful, new size %" PRIu64 "\n", size);
	return 0;
}

int cmd_rebalance(struct cmd *c, struct error *e)
{
	struct reorder r;
	struct dp *dp;
	int err = session_open(c->argc ? c->argv[0] : NULL, DP_WRITE, &dp, e);

	if (err)
		return err;
	err = reorder_masks(dp, &r, e);
	dp_close(&dp);
	if (err)
		return err;
	emit_open_array(&c->emit, "classes");
	for (__u32 class = 0; class < PACKET_CLASSES_END; class ++) {
		const struct reorder_class *k = &r.class[class];

		if (!k->masks)
			continue;
		emit_open_object(&c->emit, NULL);
		emit_str(&c->emit, "class", "%s:", packet_class_name(class));
		emit_u64(&c->emit, "masks", " masks:%" PRIu64, k->masks);
		emit_bool(&c->emit, "moved", k->moved);
		emit_text(&c->emit, " %s", k->moved ? "reordered" : "unchanged");
		emit_real(&c->emit, "tries_before", ", tries per hit:%.2f",
			  k->gain.hits ? k->gain.before / k->gain.hits : 0.0);
		emit_real(&c->emit, "tries_sorted", " sorted:%.2f\n",
			  k->gain.hits ? k->gain.after / k->gain.hits : 0.0);
		emit_close(&c->emit);
	}
	emit_close(&c->emit);
	return 0;
}
