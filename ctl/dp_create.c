// SPDX-License-Identifier: GPL-2.0-only
/*
 * A datapath's beginning and end.  It is made under a hidden name and renamed when whole, so that a killed add-dp leaves
 * nothing that looks like a datapath.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "attach.h"
#include "bpffs.h"
#include "datapath.skel.h"
#include "dp.h"
#include "link.h"
#include "netns.h"
#include "util.h"

static void destroy_skel(struct datapath_bpf **skel)
{
	datapath_bpf__destroy(*skel);
}

static void free_btf(struct btf **btf)
{
	btf__free(*btf);
}

/* Also when another process is at it: what it removed first is gone all the same. */
static int remove_pins(const char *path)
{
	CLEANUP_FD int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *d;
	DIR *dir = dir_fd < 0 ? NULL : fdopendir(dup(dir_fd));

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			unlinkat(dir_fd, d->d_name, 0);
	closedir(dir);
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

/* Out of everybody's sight at once, then piece by piece; what a kill leaves is swept up by the next command. */
static int remove_datapath(const char *root, const char *name)
{
	char path[DP_PATH_LEN], hidden[DP_PATH_LEN];

	dp_path(root, false, name, path);
	dp_path(root, true, name, hidden);
	remove_pins(hidden);
	if (rename(path, hidden))
		return errno == ENOENT ? 0 : -errno;
	return remove_pins(hidden);
}

/*
 * Removes what killed commands left under hidden names.  Whoever makes a datapath holds the root's lock; whoever removes
 * one does not mind help.
 */
void dp_sweep(const char *root)
{
	CLEANUP_FD int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[2 * DP_PATH_LEN];
	struct dirent *d;
	DIR *dir;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return;
	dir = opendir(root);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] != '%')
			continue;
		snprintf(path, sizeof(path), "%s/%.60s", root, d->d_name);
		remove_pins(path);
	}
	if (dir)
		closedir(dir);
}

/*
 * A page of statistics has a part for each possible CPU.  The size of an inner map cannot be set in the object (libbpf
 * 1.1 crashes on it), so its template is made here; the outer map keeps what it needs of it.
 *
 * The template has types, though nobody reads them: Linux before 6.2 compares where template and page have a bpf_timer,
 * and "in no place" (types were looked at) differs from "unknown" (no types); bpf_map_meta_equal in kernel/bpf.
 */
static int make_stats_template(int cpus)
{
	struct btf *btf __attribute__((cleanup(free_btf))) = btf__new_empty();
	int key, value, fd;

	if (!btf)
		return -errno;
	key = btf__add_int(btf, "unsigned int", sizeof(__u32), 0);
	value = btf__add_struct(btf, "flow_stats", sizeof(struct flow_stats));
	if (key < 0 || value < 0 || btf__load_into_kernel(btf))
		return -errno;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE, .btf_fd = btf__fd(btf),
		    .btf_key_type_id = key, .btf_value_type_id = value);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stats_template", sizeof(__u32), sizeof(struct flow_stats),
			    (__u32)cpus * PAGE_SLOTS, &opts);
	return fd < 0 ? -errno : fd;
}

static int set_stats_template(struct datapath_bpf *skel, int cpus)
{
	CLEANUP_FD int fd = make_stats_template(cpus);
	int err;

	if (fd < 0)
		return fd;
	/* It is needed until the load; libbpf does not close it, and a command is short. */
	err = bpf_map__set_inner_map_fd(skel->maps.stats_pages, fd);
	if (!err)
		TAKE_FD(fd);
	return err;
}

/* Sizes that follow from the host and the limits. */
static int set_sizes(struct datapath_bpf *skel, const struct dp_options *o, int cpus)
{
	__u32 pages = dp_flow_pages_max(o->max_flows);

	if (set_stats_template(skel, cpus) ||
	    /* a change of seed files each flow of the mask twice for a moment */
	    bpf_map__set_max_entries(skel->maps.flows, o->max_flows * 2) ||
	    bpf_map__set_max_entries(skel->maps.flow_pages, pages) ||
	    bpf_map__set_max_entries(skel->maps.stats_pages, pages) ||
	    bpf_map__set_max_entries(skel->maps.flow_slots, pages) ||
	    bpf_map__set_max_entries(skel->maps.filter, 2 * dp_filter_words(o->max_flows)) ||
	    bpf_map__set_max_entries(skel->maps.mask_cache, (__u32)cpus * CACHE_MAX))
		return -EINVAL;
	return 0;
}

/*
 * One more than the highest id that a CPU can have: the program indexes by id, and ids may have holes.  Possible CPUs, not
 * online ones: a CPU that comes later counts at once.  The list ends with the highest, as in "0-3,8-11".
 */
static int read_cpu_ids(void)
{
	CLEANUP_FILE FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	char list[4096], *last;

	if (!f || !fgets(list, sizeof(list), f))
		return -ENOENT;
	list[strcspn(list, "\n")] = 0;
	last = list + strlen(list);
	while (last > list && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return *last ? atoi(last) + 1 : -EINVAL;
}

static int load(struct datapath_bpf **out, const struct dp_options *o, __u64 cookie, int cpus, struct error *e)
{
	struct datapath_bpf *skel __attribute__((cleanup(destroy_skel))) = datapath_bpf__open();

	if (!skel)
		return error_set(e, errno, "the datapath program cannot be opened (%s)", strerror(errno));
	if (set_sizes(skel, o, cpus))
		return error_set(e, EINVAL, "tables for max_flows=%u cannot be described", o->max_flows);
	if (o->attach != PORT_ATTACH_CLSACT && attach_has_tcx())
		skel->rodata->netns_cookie = cookie;
	if (getrandom(&skel->rodata->cache_seed, sizeof(skel->rodata->cache_seed), 0) < 0)
		return error_set(e, errno, "no random numbers to be had (%s)", strerror(errno));
	if (datapath_bpf__load(skel))
		return error_set(
			e, errno,
			"loading the datapath program failed (%s): tcvs needs Linux 6.1 or later with CONFIG_BPF_JIT, "
			"CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS; 'tcvsctl --debug add-dp ...' shows the log",
			strerror(errno));
	*out = TAKE_PTR(skel);
	return 0;
}

static int pin(struct datapath_bpf *skel, const char *dir, struct error *e)
{
	struct bpf_map *map;
	char path[128];

	bpf_object__for_each_map(map, skel->obj)
	{
		if (bpf_map__is_internal(map))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, bpf_map__name(map));
		if (bpf_map__pin(map, path))
			return error_set(e, errno, "%s: cannot be pinned (%s)", path, strerror(errno));
	}
	snprintf(path, sizeof(path), "%s/tcvs_ingress", dir);
	if (bpf_program__pin(skel->progs.tcvs_ingress, path))
		return error_set(e, errno, "%s: cannot be pinned (%s)", path, strerror(errno));
	return 0;
}

/* Fills the fresh record before anybody can see it. */
static int describe(struct datapath_bpf *skel, const char *name, const struct dp_options *o, __u64 cookie, int cpu_ids)
{
	struct datapath *info = dp_map_memory(bpf_map__fd(skel->maps.datapath), sizeof(*info));

	if (!info)
		return -errno;
	*info = (struct datapath){
		.abi = DP_ABI,
		.dirty = DP_UNFINISHED,
		.netns_cookie = cookie,
		.max_flows = o->max_flows,
		.max_masks = o->max_masks,
		.max_reactive_masks = o->max_reactive_masks,
		.max_port_masks = o->max_port_masks,
		.possible_cpus = libbpf_num_possible_cpus(),
		.cpu_ids = cpu_ids,
		.force_clsact = o->attach == PORT_ATTACH_CLSACT,
		.filter = FILTER_WORDS_MIN - 1,
		.filter_words_max = dp_filter_words(o->max_flows),
		.cache_size = CACHE_DEFAULT,
		.period_ns = clock_ns(CLOCK_MONOTONIC),
		.created_ns = clock_ns(CLOCK_REALTIME),
	};
	snprintf(info->name, sizeof(info->name), "%s", name);
	for (int class = 0; class < PACKET_CLASSES_END; class ++)
		info->first_mask[class] = MASK_NONE;
	return 0;
}

static int make_pins(const char *name, const char *dir, const struct dp_options *o, struct error *e)
{
	struct datapath_bpf *skel __attribute__((cleanup(destroy_skel))) = NULL;
	int cpu_ids = read_cpu_ids(), err;
	__u64 cookie;

	err = cpu_ids > 0 ? netns_cookie(&cookie, e)
			  : error_set(e, ENOENT, "the host does not tell its CPUs (/sys/devices/system/cpu/possible)");
	if (!err)
		err = load(&skel, o, cookie, cpu_ids, e);
	if (err)
		return err;
	remove_pins(dir); /* of an add-dp that was killed */
	if (mkdir(dir, 0700))
		return error_set(e, errno, "%s: cannot be made (%s)", dir, strerror(errno));
	err = pin(skel, dir, e);
	if (!err && describe(skel, name, o, cookie, cpu_ids))
		err = error_set(e, ENOMEM, "datapath %s: its tables cannot be mapped", name);
	return err;
}

/* Locked before it can be seen: whoever sees it first waits, and does not take it for a killed command's. */
static int publish(struct dp *dp, const char *hidden, struct error *e)
{
	dp->dir_fd = open(hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dp->dir_fd < 0 || flock(dp->dir_fd, LOCK_EX))
		return error_set(e, errno, "%s: cannot be locked (%s)", hidden, strerror(errno));
	if (rename(hidden, dp->path))
		return error_set(e, errno, "%s: cannot be renamed (%s)", hidden, strerror(errno));
	return 0;
}

int dp_create(const char *name, const struct dp_options *o, struct dp **out, struct error *e)
{
	CLEANUP_DP struct dp *dp = NULL;
	CLEANUP_FD int root_fd = -1;
	char hidden[DP_PATH_LEN];
	const char *root;
	int err = dp_check_name(name, e);

	if (!err)
		err = bpffs_root(&root, e);
	if (err)
		return err;
	root_fd = dp_lock_root(e);
	if (root_fd < 0)
		return root_fd;
	dp = dp_alloc(name, root);
	if (!dp)
		return error_set(e, ENOMEM, "out of memory");
	if (!access(dp->path, F_OK))
		return error_set(e, EEXIST, "add_dp (File exists): a datapath named %s is there already", name);
	dp_path(root, true, name, hidden);
	err = make_pins(name, hidden, o, e);
	if (!err)
		err = publish(dp, hidden, e);
	if (err) {
		remove_pins(hidden);
		return err;
	}
	err = dp_open_tables(dp, e);
	if (!err)
		err = dp_add_flow_page(dp, e);
	if (err) {
		remove_datapath(root, name);
		return err;
	}
	*out = TAKE_PTR(dp);
	return 0;
}

int dp_destroy(struct dp *dp, struct error *e)
{
	const char *root;
	int err = bpffs_root(&root, e);

	if (err)
		return err;
	err = remove_datapath(root, dp->name);
	return err ? error_set(e, -err, "%s: cannot be removed (%s)", dp->path, strerror(-err)) : 0;
}

/* The program's id, 0 if even that cannot be had. */
static __u32 pinned_prog_id(const char *path)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	char pin_path[128];
	CLEANUP_FD int fd = -1;

	snprintf(pin_path, sizeof(pin_path), "%s/tcvs_ingress", path);
	fd = bpf_obj_get(pin_path);
	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) ? info.id : 0;
}

int dp_destroy_foreign(const char *name, struct error *e)
{
	CLEANUP_FREE struct link_info *links = NULL;
	CLEANUP_FD int lock = -1;
	char path[DP_PATH_LEN];
	const char *root;
	__u32 prog_id;
	size_t n = 0;
	int err = dp_check_name(name, e);

	if (!err)
		err = bpffs_root(&root, e);
	if (err)
		return err;
	dp_path(root, false, name, path);
	lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX))
		return error_set(e, errno, "%s: cannot be locked (%s)", path, strerror(errno));
	prog_id = pinned_prog_id(path);
	if (prog_id && !link_list(&links, &n, e)) {
		for (size_t i = 0; i < n; i++) {
			struct attach_state s;

			if (!attach_query(links[i].ifindex, prog_id, &s, e) && s.how == PORT_ATTACH_CLSACT &&
			    s.prog_id == prog_id)
				detach_clsact(links[i].ifindex, prog_id, false, e);
		}
	}
	err = remove_datapath(root, name);
	return err ? error_set(e, -err, "%s: cannot be removed (%s)", path, strerror(-err)) : 0;
}
