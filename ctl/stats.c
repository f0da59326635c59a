// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "util.h"

int stats_counters(struct dp *dp, struct dp_counters *sum, struct error *e)
{
	__u32 cpus = dp->info->possible_cpus, zero = 0;
	CLEANUP_FREE struct cpu_state *cpu = calloc(cpus, sizeof(*cpu));

	memset(sum, 0, sizeof(*sum));
	/* The kernel copies one value for each possible CPU, online or not. */
	if (!cpu || bpf_map_lookup_elem(dp->map_fd[DP_MAP_CPU_STATE], &zero, cpu))
		return error_set(e, errno, "counters of %s: cannot be read (%s)", dp->name, strerror(errno));
	for (__u32 i = 0; i < cpus; i++) {
#define X(name, text) sum->name += cpu[i].count.name;
		DP_COUNTERS(X)
#undef X
	}
	return 0;
}

/* Sum of a per-CPU value of eight bytes. */
static int sum_of(struct dp *dp, enum dp_map map, const void *key, __u64 *sum)
{
	__u32 cpus = dp->info->possible_cpus;
	CLEANUP_FREE __u64 *values = calloc(cpus, sizeof(*values));

	*sum = 0;
	if (!values || bpf_map_lookup_elem(dp->map_fd[map], key, values))
		return -errno;
	for (__u32 i = 0; i < cpus; i++)
		*sum += values[i];
	return 0;
}

static void add_hits(struct mask_hits *sum, const struct mask_hits *per_cpu, __u32 cpus)
{
	memset(sum, 0, sizeof(*sum));
	for (__u32 i = 0; i < cpus; i++) {
		sum->all += per_cpu[i].all;
		sum->walked += per_cpu[i].walked;
	}
}

int stats_mask_hits(struct dp *dp, __u32 id, struct mask_hits *sum)
{
	__u32 cpus = dp->info->possible_cpus;
	CLEANUP_FREE struct mask_hits *per_cpu = calloc(cpus, sizeof(*per_cpu));

	if (!per_cpu || bpf_map_lookup_elem(dp->map_fd[DP_MAP_MASK_HITS], &id, per_cpu))
		return -errno;
	add_hits(sum, per_cpu, cpus);
	return 0;
}

int stats_all_mask_hits(struct dp *dp, struct mask_hits *sums)
{
	__u32 cpus = dp->info->possible_cpus, count = MASKS_MAX, next;
	CLEANUP_FREE struct mask_hits *per_cpu = calloc((size_t)MASKS_MAX * cpus, sizeof(*per_cpu));
	CLEANUP_FREE __u32 *ids = calloc(MASKS_MAX, sizeof(*ids));

	/* ENOENT says that there is no more, which is so after the first batch. */
	if (!per_cpu || !ids ||
	    (bpf_map_lookup_batch(dp->map_fd[DP_MAP_MASK_HITS], NULL, &next, ids, per_cpu, &count, NULL) &&
	     errno != ENOENT))
		return -errno;
	for (__u32 i = 0; i < count; i++)
		add_hits(&sums[ids[i]], &per_cpu[(size_t)i * cpus], cpus);
	return 0;
}

static int by_port_and_reason(const void *a, const void *b)
{
	const struct drop_key *x = &((const struct drop_count *)a)->key, *y = &((const struct drop_count *)b)->key;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->reason < y->reason ? -1 : x->reason > y->reason;
}

int stats_drops(struct dp *dp, struct drop_count **drops, size_t *count, struct error *e)
{
	struct drop_key key, *prev = NULL;

	*drops = NULL;
	*count = 0;
	while (!bpf_map_get_next_key(dp->map_fd[DP_MAP_DROPS], prev, &key)) {
		struct drop_count *grown = realloc(*drops, (*count + 1) * sizeof(**drops));

		if (!grown)
			return error_set(e, ENOMEM, "out of memory");
		*drops = grown;
		grown[*count].key = key;
		prev = &grown[*count].key;
		if (!sum_of(dp, DP_MAP_DROPS, &key, &grown[*count].count))
			(*count)++;
	}
	if (errno != ENOENT)
		return error_set(e, errno, "drops of %s: cannot be read (%s)", dp->name, strerror(errno));
	if (*count)
		qsort(*drops, *count, sizeof(**drops), by_port_and_reason);
	return 0;
}

const char *stats_reason_name(__u32 reason)
{
	static const char *const names[] = {
#define X(id, name, text) [DROP_##id] = #name,
		DROP_REASONS(X)
#undef X
	};

	return reason && reason < DROP_REASONS_END ? names[reason] : "?";
}
