// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many flows at once: add-flows from a file, beside writing as many entries of their size into a map by batches; and
 * dump-flows, beside reading by batches the maps that it shows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bench.h"
#include "cmd.h"
#include "flow_table.h"
#include "rig.h"
#include "session.h"
#include "util.h"

#define FILE_PATH "/run/flows" /* a tmpfs of our own */

enum {
	FLOWS = 200000,
	MASKS = 64,
	BATCH = 4096,
};

static const char name[] = "bulk";

/* What commands say of single lines; here none fails. */
void cmd_complain(struct cmd *c, const struct error *e)
{
	(void)c;
	fprintf(stderr, "bench: %s\n", e->text);
}

/* MASKS masks in turn, by prefix lengths; no packet fits two of the flows. */
static int write_file(struct error *e)
{
	CLEANUP_FILE FILE *out = fopen(FILE_PATH, "w");

	for (unsigned int i = 0; out && i < FLOWS; i++) {
		unsigned int m = i % MASKS;

		fprintf(out,
			"in_port(1),eth(),eth_type(0x0800),ipv4(src=10.%u.0.0/%u,dst=172.%u.0.0/%u,proto=17,frag=no),udp(src=%u,dst=%u) 2\n",
			m, 17 + m % 8, m, 17 + m / 8, i / MASKS + 1, 80 + m);
	}
	return out && !ferror(out) ? 0 : error_set(e, EIO, "a file of flows cannot be written");
}

static int run(int (*command)(struct cmd *c, struct error *e), int argc, char **argv, struct error *e)
{
	CLEANUP_FILE FILE *nowhere = fopen("/dev/null", "w");
	struct cmd c = { .quiet = true, .argc = argc, .argv = argv };
	int err;

	if (!nowhere)
		return error_set(e, errno, "/dev/null cannot be opened (%s)", strerror(errno));
	emit_init(&c.emit, nowhere, false);
	err = command(&c, e);
	return emit_finish(&c.emit) && !err ? error_set(e, EIO, "writing failed") : err;
}

static int check_flows(__u32 expected, struct error *e)
{
	struct dp *dp = NULL;
	int err = session_open(name, DP_READ, &dp, e);

	if (!err && dp->info->flows != expected)
		err = error_set(e, EPROTO, "%u flows instead of %u", dp->info->flows, expected);
	dp_close(&dp);
	return err;
}

static int time_add(struct samples *s, struct error *e)
{
	char dp_name[DP_NAME_LEN], path[] = FILE_PATH, *argv[] = { dp_name, path };
	double start;
	int err;

	snprintf(dp_name, sizeof(dp_name), "%s", name);
	err = run(cmd_del_flows, 1, argv, e);
	if (err)
		return err;
	start = now_ns();
	err = run(cmd_add_flows, 2, argv, e);
	samples_add(s, (now_ns() - start) / FLOWS);
	return err ? err : check_flows(FLOWS, e);
}

static int time_dump(struct samples *s, struct error *e)
{
	char dp_name[DP_NAME_LEN], *argv[] = { dp_name };
	double start = now_ns();
	int err;

	snprintf(dp_name, sizeof(dp_name), "%s", name);
	err = run(cmd_dump_flows, 1, argv, e);
	samples_add(s, (now_ns() - start) / FLOWS);
	return err;
}

/* Into a hash, which is what a table of flows needs: the key as in `flows`, the value an entry. */
static int time_write_batches(struct samples *s, struct error *e)
{
	CLEANUP_FD int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "bench", sizeof(__u64), sizeof(struct flow), FLOWS, NULL);
	CLEANUP_FREE struct flow *entries = calloc(BATCH, sizeof(*entries));
	__u64 keys[BATCH], seed = 1;
	double ns = 0;

	if (fd < 0 || !entries)
		return error_set(e, ENOMEM, "out of memory");
	for (__u32 done = 0, n; done < FLOWS; done += n) {
		LIBBPF_OPTS(bpf_map_batch_opts, opts);
		double start;

		n = FLOWS - done < BATCH ? FLOWS - done : BATCH;
		for (__u32 i = 0; i < n; i++)
			keys[i] = seed += 0x9e3779b97f4a7c15ULL;
		start = now_ns();
		if (bpf_map_update_batch(fd, keys, entries, &n, &opts))
			return error_set(e, errno, "a batch cannot be written (%s)", strerror(errno));
		ns += now_ns() - start;
	}
	samples_add(s, ns / FLOWS);
	return 0;
}

/* All elements of an array, in one batch. */
static int read_array(__u32 id, void *keys, void *values, __u32 count, struct error *e)
{
	CLEANUP_FD int fd = bpf_map_get_fd_by_id(id);
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	__u32 next, n = count;

	/* -ENOENT says that these were the last. */
	if (fd < 0 || (bpf_map_lookup_batch(fd, NULL, &next, keys, values, &n, &opts) && errno != ENOENT) || n != count)
		return error_set(e, errno, "a table cannot be read by batches (%s)", strerror(errno));
	return 0;
}

static int time_read_batches(struct samples *s, struct error *e)
{
	static const enum dp_map outer[] = { DP_MAP_FLOW_PAGES, DP_MAP_STATS_PAGES };
	CLEANUP_FREE __u32 *keys = NULL;
	CLEANUP_FREE char *values = NULL;
	struct dp *dp = NULL;
	double start;
	int err = session_open(name, DP_READ, &dp, e);
	__u32 cpus = err ? 0 : dp->info->cpu_ids;

	keys = calloc(PAGE_SLOTS * (cpus + 1), sizeof(*keys));
	values = calloc(PAGE_SLOTS * (cpus + 1), sizeof(struct flow));
	if (!err && (!keys || !values))
		err = error_set(e, ENOMEM, "out of memory");
	start = now_ns();
	for (__u32 page = 0; !err && page < dp->info->flow_page_count; page++) {
		const __u32 count[] = { PAGE_SLOTS, PAGE_SLOTS * cpus };

		for (size_t i = 0; !err && i < ARRAY_SIZE(outer); i++) {
			__u32 id;

			if (bpf_map_lookup_elem(dp->map_fd[outer[i]], &page, &id))
				err = error_set(e, errno, "a page cannot be found (%s)", strerror(errno));
			else
				err = read_array(id, keys, values, count[i], e);
		}
	}
	samples_add(s, (now_ns() - start) / FLOWS);
	dp_close(&dp);
	return err;
}

static int make_datapath(struct error *e)
{
	struct dp *dp = NULL;
	__u32 ifindex;
	int err = rig_add_own_datapath(name, &dp, &ifindex, e);

	dp_close(&dp);
	return err ? err : write_file(e);
}

int bench_bulk(const struct options *o, struct report *r, struct error *e)
{
	struct samples add = {}, write = {}, dump = {}, read = {}, warm_up = {};
	int err = make_datapath(e);

	if (!err)
		err = time_add(&warm_up, e);
	for (unsigned int i = 0; !err && i < o->rounds; i++) {
		err = time_write_batches(&write, e);
		if (!err)
			err = time_add(&add, e);
		if (!err)
			err = time_read_batches(&read, e);
		if (!err)
			err = time_dump(&dump, e);
	}
	if (err)
		return err;
	report_rate(r, "entries of a flow's size, by batches", &write)->unit = "M/s";
	report_rate(r, "add-flows of 200000 flows, 64 masks", &add)->unit = "M/s";
	figure_at_least(report_ratio(r, "add-flows to batches alone", &write, &add), 0.3);
	report_rate(r, "flows read by batches", &read)->unit = "M/s";
	report_rate(r, "dump-flows of 200000 flows", &dump)->unit = "M/s";
	figure_at_most(report_ratio(r, "dump-flows, time to batches alone", &dump, &read), 3);
	return 0;
}
