// SPDX-License-Identifier: GPL-2.0-only
#include "dp.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "bpffs.h"
#include "util.h"

#define PATIENCE_US 100000 /* of DP_TRY_WRITE */

static const char *const map_names[] = {
#define X(id, name) [DP_MAP_##id] = #name,
	DP_MAPS(X)
#undef X
};

__u32 dp_filter_words(__u32 flows)
{
	__u32 words = FILTER_WORDS_MIN;

	while (words * (64 / FILTER_BITS_PER_FLOW) < flows)
		words *= 2;
	return words;
}

__u32 dp_flow_pages_max(__u32 max_flows)
{
	return DIV_ROUND_UP(max_flows, PAGE_SLOTS) + 1; /* one more, for slots that wait for a grace period */
}

void *dp_map_memory(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void dp_free(struct dp *dp)
{
	if (dp->info) {
		for (int kind = 0; kind < 3; kind++) {
			for (__u32 i = 0;
			     dp->pages[kind] && i < ACTION_PAGES_MAX + dp_flow_pages_max(dp->info->max_flows); i++)
				if (dp->pages[kind][i])
					munmap(dp->pages[kind][i], dp->pages_size[kind]);
			free(dp->pages[kind]);
		}
		if (dp->ports)
			munmap(dp->ports, PORTS_MAX * sizeof(struct port));
		if (dp->masks)
			munmap(dp->masks, MASKS_MAX * sizeof(struct mask_info));
		if (dp->flow_slots)
			munmap(dp->flow_slots, dp_flow_pages_max(dp->info->max_flows) * sizeof(struct slot_page));
		if (dp->filter)
			munmap(dp->filter, 2UL * dp->info->filter_words_max * sizeof(*dp->filter));
		if (dp->action_slots)
			munmap(dp->action_slots, ACTION_PAGES_MAX * sizeof(struct slot_page));
		munmap(dp->info, sizeof(*dp->info));
	}
	for (int i = 0; i < DP_MAPS_END; i++)
		close_fd_(&dp->map_fd[i]);
	close_fd_(&dp->prog_fd);
	close_fd_(&dp->dir_fd);
	btf__free(dp->btf);
	free(dp->ufids);
	free(dp);
}

void dp_free_(struct dp **dp)
{
	if (*dp)
		dp_free(*dp);
}
/* bpffs takes no dots; '%' is in no device's name that is not a pattern, and in none of a datapath. */
static void swap_chars(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

void dp_path(const char *root, bool unfinished, const char *name, char path[DP_PATH_LEN])
{
	int len = snprintf(path, DP_PATH_LEN, "%s/%s", root, unfinished ? "%" : "");

	snprintf(path + len, DP_PATH_LEN - len, "%s", name);
	swap_chars(path + len, '.', '%');
}

struct dp *dp_alloc(const char *name, const char *root)
{
	struct dp *dp = calloc(1, sizeof(*dp));

	if (!dp)
		return NULL;
	snprintf(dp->name, sizeof(dp->name), "%s", name);
	dp_path(root, false, name, dp->path);
	dp->dir_fd = dp->prog_fd = -1;
	memset(dp->map_fd, 0xff, sizeof(dp->map_fd));
	return dp;
}

/* Any version can read the ABI number: it is the first word of the map `datapath`, whatever follows. */
static int check_abi(struct dp *dp, struct error *e)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), zero = 0, abi = 0;
	char path[128];
	CLEANUP_FREE __u8 *value = NULL;
	CLEANUP_FD int fd = -1;

	snprintf(path, sizeof(path), "%s/datapath", dp->path);
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return error_set(e, errno, "datapath %s is not whole (%s: %s); remove it with: tcvsctl del-dp %s",
				 dp->name, path, strerror(errno), dp->name);
	value = calloc(1, info.value_size + 8);
	if (!value || bpf_map_lookup_elem(fd, &zero, value))
		return error_set(e, errno, "%s: cannot be read (%s)", path, strerror(errno));
	memcpy(&abi, value, sizeof(abi));
	if (abi == DP_ABI && info.value_size != sizeof(struct datapath))
		return error_set(
			e, EPROTO,
			"datapath %s has tables of another layout than its version %u has; remove it with: tcvsctl del-dp %s",
			dp->name, abi, dp->name);
	if (abi != DP_ABI)
		return error_set(
			e, EPROTO,
			"datapath %s has tables of version %u, this tcvsctl knows version %d; save its flows with "
			"the version that made it, then: tcvsctl del-dp %s",
			dp->name, abi, DP_ABI, dp->name);
	return 0;
}

static int open_pins(struct dp *dp, struct error *e)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	char path[128];

	for (int i = 0; i < DP_MAPS_END; i++) {
		snprintf(path, sizeof(path), "%s/%s", dp->path, map_names[i]);
		dp->map_fd[i] = bpf_obj_get(path);
		if (dp->map_fd[i] < 0)
			return error_set(e, errno, "%s: cannot be opened (%s)", path, strerror(errno));
	}
	snprintf(path, sizeof(path), "%s/tcvs_ingress", dp->path);
	dp->prog_fd = bpf_obj_get(path);
	if (dp->prog_fd < 0 || bpf_obj_get_info_by_fd(dp->prog_fd, &info, &len))
		return error_set(e, errno, "%s: cannot be opened (%s)", path, strerror(errno));
	dp->prog_id = info.id;
	return 0;
}

static int map_tables(struct dp *dp, struct error *e)
{
	__u32 pages;

	dp->info = dp_map_memory(dp->map_fd[DP_MAP_DATAPATH], sizeof(*dp->info));
	if (!dp->info)
		return error_set(e, errno, "datapath %s: its tables cannot be mapped (%s)", dp->name, strerror(errno));
	pages = dp_flow_pages_max(dp->info->max_flows);
	dp->ports = dp_map_memory(dp->map_fd[DP_MAP_PORTS], PORTS_MAX * sizeof(struct port));
	dp->masks = dp_map_memory(dp->map_fd[DP_MAP_MASK_INFO], MASKS_MAX * sizeof(struct mask_info));
	dp->flow_slots = dp_map_memory(dp->map_fd[DP_MAP_FLOW_SLOTS], pages * sizeof(struct slot_page));
	dp->action_slots = dp_map_memory(dp->map_fd[DP_MAP_ACTION_SLOTS], ACTION_PAGES_MAX * sizeof(struct slot_page));
	dp->filter = dp_map_memory(dp->map_fd[DP_MAP_FILTER], 2UL * dp->info->filter_words_max * sizeof(*dp->filter));
	for (int kind = 0; kind < 3; kind++)
		dp->pages[kind] = calloc(ACTION_PAGES_MAX + pages, sizeof(void *));
	dp->pages_size[DP_FLOW_PAGES] = PAGE_SLOTS * sizeof(struct flow);
	dp->pages_size[DP_ACTION_PAGES] = PAGE_SLOTS * sizeof(struct flow_action);
	dp->pages_size[DP_STATS_PAGES] = (size_t)dp->info->cpu_ids * PAGE_SLOTS * sizeof(struct flow_stats);
	if (!dp->ports || !dp->masks || !dp->flow_slots || !dp->action_slots || !dp->filter || !dp->pages[0] ||
	    !dp->pages[1] || !dp->pages[2])
		return error_set(e, ENOMEM, "datapath %s: its tables cannot be mapped", dp->name);
	/* All of them now, so that nobody has to ask later whether a flow that exists can be read. */
	for (__u32 n = 0; n < dp->info->flow_page_count; n++)
		if (!dp_page(dp, DP_FLOW_PAGES, n) || !dp_page(dp, DP_STATS_PAGES, n))
			return error_set(e, ENOMEM, "datapath %s: flow page %u cannot be mapped", dp->name, n);
	return 0;
}

int dp_open_tables(struct dp *dp, struct error *e)
{
	int err = open_pins(dp, e);

	return err ? err : map_tables(dp, e);
}

static void wake(int signal)
{
	(void)signal;
}

/*
 * flock() with an end to its waiting: -1 and EINTR then.  Who only asks again and again gets no lock from commands that
 * follow each other closely, since a lock that is let go is offered to those who wait for it.
 */
static int flock_for_a_while(int fd, int how)
{
	/* Again and again, for the case that the first one comes before the waiting begins. */
	const struct itimerval alarms = { { 0, PATIENCE_US }, { 0, PATIENCE_US } }, none = { 0 };
	const struct sigaction waking = { .sa_handler = wake };
	struct sigaction before;
	int ret, why;

	sigaction(SIGALRM, &waking, &before);
	setitimer(ITIMER_REAL, &alarms, NULL);
	ret = flock(fd, how);
	why = errno;
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &before, NULL);
	errno = why;
	return ret;
}

/* A directory that was removed while we waited for its lock has no links left. */
static int lock_dir(struct dp *dp, enum dp_mode mode, struct error *e)
{
	int (*lock)(int fd, int how) = mode == DP_TRY_WRITE ? flock_for_a_while : flock;
	struct stat st;

	dp->dir_fd = open(dp->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dp->dir_fd >= 0 && lock(dp->dir_fd, mode == DP_READ ? LOCK_SH : LOCK_EX))
		return error_set(e, errno == EINTR ? EAGAIN : errno, "%s: cannot be locked (%s)", dp->path,
				 strerror(errno));
	if (dp->dir_fd < 0 || fstat(dp->dir_fd, &st) || !st.st_nlink)
		return error_set(e, ENODEV, "opening datapath %s (No such device): no datapath of that name exists",
				 dp->name);
	return 0;
}

int dp_lock_exclusive(struct dp *dp, struct error *e)
{
	struct stat st;

	if (flock(dp->dir_fd, LOCK_EX))
		return error_set(e, errno, "%s: cannot be locked (%s)", dp->path, strerror(errno));
	/* The lock was let go for a moment: somebody else may have done it, or removed the datapath. */
	if (fstat(dp->dir_fd, &st) || !st.st_nlink || dp->info->dirty == DP_UNFINISHED)
		return error_set(e, ENODEV, "opening datapath %s (No such device): it is being removed", dp->name);
	dp->was_dirty = dp->info->dirty == DP_WRITING;
	return 0;
}

void dp_write(struct dp *dp)
{
	dp->writing = true;
	dp->info->dirty = DP_WRITING;
}

static int only_datapath(char *name, struct error *e)
{
	char **names = NULL;
	size_t count;
	int err = dp_list(&names, &count, e);

	if (err)
		return err;
	if (count == 1)
		snprintf(name, DP_NAME_LEN, "%s", names[0]);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	if (count == 1)
		return 0;
	return error_set(e, EINVAL, "%s: datapath not found (Invalid argument)",
			 count ? "multiple datapaths, specify one" : "no datapaths exist");
}

/* What a network device may be called, less what bpffs or our pins cannot have. */
static bool plain_name(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || strchr("/:%", *name))
			return false;
	return true;
}

int dp_check_name(const char *name, struct error *e)
{
	size_t len = strlen(name);

	if (!len || len >= DP_NAME_LEN)
		return error_set(e, EINVAL,
				 "%s is not a valid datapath name: 1 to %d characters, as a network device has",
				 len ? name : "''", DP_NAME_LEN - 1);
	if (!plain_name(name) || name[0] == '.')
		return error_set(e, EINVAL,
				 "%s is not a valid datapath name: no space, '/', ':' or '%%', and no '.' at the start",
				 name);
	return 0;
}

int dp_open(const char *name, enum dp_mode mode, struct dp **out, struct error *e)
{
	char only[DP_NAME_LEN] = "";
	CLEANUP_DP struct dp *dp = NULL;
	const char *root;
	int err;

	err = bpffs_root(&root, e);
	if (!err && !name)
		err = only_datapath(only, e);
	if (!name)
		name = only;
	if (!err)
		err = dp_check_name(name, e);
	if (err)
		return err;
	dp = dp_alloc(name, root);
	if (!dp)
		return error_set(e, ENOMEM, "out of memory");
	err = lock_dir(dp, mode, e);
	if (err == -ENODEV)
		dp_sweep(root); /* perhaps a killed command did not come to give it its name, or had taken it away */
	if (!err)
		err = check_abi(dp, e);
	if (!err)
		err = dp_open_tables(dp, e);
	if (!err && mode != DP_DESTROY && dp->info->dirty == DP_UNFINISHED)
		err = error_set(e, ESTALE, "datapath %s is unfinished; remove it with: tcvsctl del-dp %s", dp->name,
				dp->name);
	if (err)
		return err;
	dp->was_dirty = dp->info->dirty == DP_WRITING;
	if (mode == DP_WRITE || mode == DP_TRY_WRITE)
		dp_write(dp);
	*out = TAKE_PTR(dp);
	return 0;
}

void dp_unfinish(struct dp *dp)
{
	dp->writing = false;
	dp->info->dirty = DP_UNFINISHED;
}

void dp_close(struct dp **dp)
{
	struct dp *d = *dp;

	if (!d)
		return;
	if (d->writing && !d->keep_mark && !d->stale_classes && d->info->dirty == DP_WRITING)
		d->info->dirty = DP_CLEAN;
	*dp = NULL;
	dp_end_swaps(d);
	dp_free(d);
}

int dp_peek_map(const char *name, enum dp_map map)
{
	char path[DP_PATH_LEN], pin[128];
	struct error ignored;
	const char *root;
	int fd;

	if (bpffs_root(&root, &ignored))
		return -ENOENT;
	dp_path(root, false, name, path);
	snprintf(pin, sizeof(pin), "%s/%s", path, map_names[map]);
	fd = bpf_obj_get(pin);
	return fd < 0 ? -errno : fd;
}

int dp_lock_root(struct error *e)
{
	const char *root;
	int fd, err = bpffs_root(&root, e);

	if (err)
		return err;
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX)) {
		close_fd_(&fd);
		return error_set(e, errno, "%s: cannot be locked (%s)", root, strerror(errno));
	}
	return fd;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a name to the list; names that begin with '%' are of datapaths that are not whole yet, or no longer. */
static int list_name(char *file, char ***names, size_t *count)
{
	char **grown = realloc(*names, (*count + 1) * sizeof(**names));

	if (!grown)
		return -ENOMEM;
	*names = grown;
	swap_chars(file, '%', '.');
	grown[*count] = strdup(file);
	if (!grown[*count])
		return -ENOMEM;
	(*count)++;
	return 0;
}

int dp_list(char ***names, size_t *count, struct error *e)
{
	const char *root;
	struct dirent *d;
	DIR *dir;
	bool leftovers = false;
	int err = bpffs_root(&root, e);

	*names = NULL;
	*count = 0;
	if (err)
		return err;
	dir = opendir(root);
	if (!dir)
		return error_set(e, errno, "%s: cannot be read (%s)", root, strerror(errno));
	while (!err && (d = readdir(dir))) {
		leftovers |= d->d_name[0] == '%';
		if (d->d_name[0] != '.' && d->d_name[0] != '%')
			err = list_name(d->d_name, names, count);
	}
	closedir(dir);
	if (leftovers)
		dp_sweep(root);
	if (*count)
		qsort(*names, *count, sizeof(**names), by_name);
	return err ? error_set(e, ENOMEM, "out of memory") : 0;
}
