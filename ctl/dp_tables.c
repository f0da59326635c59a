// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of an open datapath that grow or are replaced: pages and mask arrays.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "dp.h"
#include "mask_table.h"
#include "slots.h"
#include "util.h"

void *dp_map_page(struct dp *dp, enum dp_pages kind, __u32 n)
{
	static const enum dp_map outer[] = { DP_MAP_FLOW_PAGES, DP_MAP_ACTION_PAGES, DP_MAP_STATS_PAGES };
	CLEANUP_FD int fd = -1;
	__u32 id;

	if (n >= ACTION_PAGES_MAX + dp_flow_pages_max(dp->info->max_flows))
		return NULL;
	if (dp->pages[kind][n])
		return dp->pages[kind][n];
	if (bpf_map_lookup_elem(dp->map_fd[outer[kind]], &n, &id))
		return NULL;
	fd = bpf_map_get_fd_by_id(id);
	if (fd >= 0)
		dp->pages[kind][n] = dp_map_memory(fd, dp->pages_size[kind]);
	return dp->pages[kind][n];
}

/* Maps that are made after the program must look to the kernel like the template it was verified with, BTF included. */
static int load_btf(struct dp *dp, struct error *e)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (dp->btf)
		return 0;
	if (!bpf_obj_get_info_by_fd(dp->map_fd[DP_MAP_DATAPATH], &info, &len))
		dp->btf = btf__load_from_kernel_by_id(info.btf_id);
	if (!dp->btf)
		return error_set(e, errno, "datapath %s: the types of its tables cannot be read (%s)", dp->name,
				 strerror(errno));
	return 0;
}

int dp_create_array(struct dp *dp, const char *name, const char *type, __u32 entries, __u32 flags, struct error *e)
{
	CLEANUP_FD int btf_fd = -1;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int err = load_btf(dp, e), fd, id;

	if (err)
		return err;
	id = btf__find_by_name_kind(dp->btf, type, BTF_KIND_STRUCT);
	if (id < 0)
		return error_set(e, ENOENT, "datapath %s: type %s is missing", dp->name, type);
	if (!bpf_obj_get_info_by_fd(dp->map_fd[DP_MAP_DATAPATH], &info, &len))
		btf_fd = bpf_btf_get_fd_by_id(info.btf_id);
	if (btf_fd < 0)
		return error_set(e, errno, "datapath %s: the types of its tables cannot be had (%s)", dp->name,
				 strerror(errno));
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags, .btf_fd = btf_fd,
		    .btf_key_type_id = info.btf_key_type_id, .btf_value_type_id = id);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), btf__resolve_size(dp->btf, id), entries, &opts);
	if (fd < 0)
		return error_set(e, errno, "datapath %s: no memory for table %s (%s)", dp->name, name, strerror(errno));
	return fd;
}

struct page_kind {
	enum dp_map outer;
	const char *prefix; /* of map names and pins */
	const char *type;
};

static const struct page_kind page_kinds[] = {
	[DP_FLOW_PAGES] = { DP_MAP_FLOW_PAGES, "flow_page", "flow" },
	[DP_ACTION_PAGES] = { DP_MAP_ACTION_PAGES, "action_page", "flow_action" },
	[DP_STATS_PAGES] = { DP_MAP_STATS_PAGES, "stats_page", "flow_stats" },
};

/* Makes page n, pins it for bpftool and puts it into its outer array.  A page left by a killed command is taken over. */
static int add_page(struct dp *dp, enum dp_pages kind, __u32 n, struct error *e)
{
	const struct page_kind *k = &page_kinds[kind];
	__u32 entries = PAGE_SLOTS * (kind == DP_STATS_PAGES ? dp->info->cpu_ids : 1), id;
	char name[BPF_OBJ_NAME_LEN], path[128];
	CLEANUP_FD int fd = -1;

	if (!bpf_map_lookup_elem(dp->map_fd[k->outer], &n, &id))
		return 0;
	snprintf(name, sizeof(name), "%.11s_%u", k->prefix, n % 1000);
	fd = dp_create_array(dp, name, k->type, entries, BPF_F_MMAPABLE, e);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%s_%u", dp->path, k->prefix, n);
	unlink(path);
	if (bpf_obj_pin(fd, path))
		return error_set(e, errno, "%s: cannot be pinned (%s)", path, strerror(errno));
	if (bpf_map_update_elem(dp->map_fd[k->outer], &n, &fd, 0))
		return error_set(e, errno, "%s: cannot be put in place (%s)", path, strerror(errno));
	return 0;
}

int dp_add_flow_page(struct dp *dp, struct error *e)
{
	__u32 n = dp->info->flow_page_count;
	int err;

	if (n >= dp_flow_pages_max(dp->info->max_flows))
		return error_set(e, ENOSPC, "flow table of %s is full", dp->name);
	err = add_page(dp, DP_STATS_PAGES, n, e);
	if (!err)
		err = add_page(dp, DP_FLOW_PAGES, n, e);
	if (!err)
		dp->info->flow_page_count = n + 1;
	return err;
}

int dp_add_action_page(struct dp *dp, struct error *e)
{
	__u32 n = dp->info->action_page_count;
	int err;

	if (n >= ACTION_PAGES_MAX)
		return error_set(e, ENOSPC,
				 "no room for more action lists of over %d actions in %s: the limit is %d records",
				 FLOW_ACTIONS_INLINE, dp->name, ACTION_PAGES_MAX * PAGE_SLOTS);
	err = add_page(dp, DP_ACTION_PAGES, n, e);
	if (!err)
		dp->info->action_page_count = n + 1;
	return err;
}

/*
 * An update of a map of maps returns after an RCU grace period, on every kernel since 5.0: maybe_wait_bpf_programs() in
 * kernel/bpf/syscall.c.  Putting the first flow page where it is already is such an update.
 */
int dp_grace_period(struct dp *dp, struct error *e)
{
	__u32 zero = 0, id;
	CLEANUP_FD int fd = -1;

	if (!bpf_map_lookup_elem(dp->map_fd[DP_MAP_FLOW_PAGES], &zero, &id))
		fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_map_update_elem(dp->map_fd[DP_MAP_FLOW_PAGES], &zero, &fd, 0))
		return error_set(e, errno, "datapath %s: cannot wait for its packets (%s)", dp->name, strerror(errno));
	return 0;
}

int dp_reclaim(struct dp *dp, struct error *e)
{
	int err = dp_commit(dp, e);

	if (!err)
		err = dp_grace_period(dp, e);
	if (err)
		return err;
	slots_reclaim(dp->flow_slots, dp->info->flow_page_count);
	slots_reclaim(dp->action_slots, dp->info->action_page_count);
	masks_reclaim(dp->masks, MASKS_MAX);
	dp->info->retired = 0;
	dp->slot_hint = 0;
	return 0;
}

int dp_mask_array(struct dp *dp, enum packet_class class, struct mask_array *array)
{
	__u32 key = class, zero = 0, id;
	CLEANUP_FD int fd = -1;

	memset(array, 0, sizeof(*array));
	if (bpf_map_lookup_elem(dp->map_fd[DP_MAP_MASKS], &key, &id))
		return errno == ENOENT ? 0 : -errno;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, array))
		return -errno;
	return 0;
}

static int update_class(struct dp *dp, enum packet_class class, struct mask_array *array, struct error *e)
{
	int err = dp_mask_array(dp, class, array);

	if (err)
		return error_set(e, -err, "masks of class %s: cannot be read (%s)", packet_class_name(class),
				 strerror(-err));
	mask_array_update(array, class, dp->masks, MASKS_MAX);
	return dp_swap_masks(dp, class, array, e);
}

int dp_commit(struct dp *dp, struct error *e)
{
	CLEANUP_FREE struct mask_array *array = NULL;

	if (!dp->stale_classes)
		return 0;
	array = malloc(sizeof(*array));
	if (!array)
		return error_set(e, ENOMEM, "out of memory");
	for (__u32 class = 0; class < PACKET_CLASSES_END; class ++) {
		int err;

		if (!(dp->stale_classes & 1U << class))
			continue;
		err = update_class(dp, class, array, e);
		if (err)
			return err;
		dp->stale_classes &= ~(1U << class);
	}
	return 0;
}
