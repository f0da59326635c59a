// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "controller.h"
#include "mask_table.h"

/* 4, 0.5, 2s or 100ms. */
static int parse_interval(const char *text, __u64 *ns, struct error *e)
{
	char *unit;
	double n = strtod(text, &unit);

	if (unit != text && !strcmp(unit, "ms"))
		n /= 1000;
	else if (unit == text || (*unit && strcmp(unit, "s")))
		return error_set(e, EINVAL, "--interval %s: a time is wanted, as 4, 0.5 or 100ms", text);
	if (!(n >= CONTROLLER_INTERVAL_MIN_MS / 1000.0 && n <= 86400))
		return error_set(e, ERANGE, "--interval %s: from %dms to 86400 seconds", text,
				 CONTROLLER_INTERVAL_MIN_MS);
	*ns = n * 1e9;
	return 0;
}

static double tries(double n, double hits)
{
	return hits ? n / hits : 0.0;
}

static void log_text(FILE *out, const char *dp_name, const char *class, const struct reorder_class *k)
{
	fprintf(out, "%s: %s: %u masks reordered, tries per hit %.2f -> %.2f\n", dp_name, class, k->masks,
		tries(k->gain.before, k->gain.hits), tries(k->gain.after, k->gain.hits));
}

static void log_json(FILE *out, const char *dp_name, const char *class, const struct reorder_class *k)
{
	json_t *line = json_pack("{s:s, s:s, s:i, s:f, s:f}", "datapath", dp_name, "class", class, "masks",
				 (int)k->masks, "tries_before", tries(k->gain.before, k->gain.hits), "tries_after",
				 tries(k->gain.after, k->gain.hits));

	json_dumpf(line, out, JSON_COMPACT);
	putc('\n', out);
	json_decref(line);
}

/* A line for each class that moved, in JSON an object a line. */
static void log_moved(void *ctx, const char *dp_name, const struct reorder *r)
{
	struct emit *e = ctx;

	for (__u32 class = 0; class < PACKET_CLASSES_END; class ++)
		if (r->class[class].moved)
			(e->json ? log_json : log_text)(e->out, dp_name, packet_class_name(class), &r->class[class]);
	fflush(e->out);
}

int cmd_run(struct cmd *c, struct error *e)
{
	struct controller_options o = {
		.interval_ns = 4000000000ULL,
		.names = c->argv,
		.name_count = c->argc,
		.moved = c->quiet ? NULL : log_moved,
		.ctx = &c->emit,
	};
	int err = c->interval ? parse_interval(c->interval, &o.interval_ns, e) : 0;

	return err ? err : controller_run(&o, e);
}
