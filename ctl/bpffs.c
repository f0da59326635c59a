// SPDX-License-Identifier: GPL-2.0-only
#include "bpffs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "util.h"

#define BPFFS	  "/sys/fs/bpf"
#define RUN_DIR	  "/run/tcvs"
#define RUN_BPFFS RUN_DIR "/bpf"

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* Two commands that found no bpffs must not both mount one: pins in the lower mount would be out of sight. */
static int lock_mounts(void)
{
	int fd;

	mkdir(RUN_DIR, 0700);
	fd = open(RUN_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

/* Best effort: without it, only `ip netns exec` is served worse. */
static void keep_for_netns_exec(void)
{
	if (is_bpffs(RUN_BPFFS))
		return;
	mkdir(RUN_DIR, 0700);
	mkdir(RUN_BPFFS, 0700);
	mount(BPFFS, RUN_BPFFS, NULL, MS_BIND, NULL);
}

/* /proc/self/ns/mnt differs from init's inside `ip netns exec`; a bpffs mounted there would end with it. */
static bool in_first_mount_ns(void)
{
	struct stat self, init;

	return !stat("/proc/self/ns/mnt", &self) && !stat("/proc/1/ns/mnt", &init) && self.st_ino == init.st_ino;
}

/* Where the bpffs is, mounted if need be; under the lock unless it is there already. */
static int find_or_mount(bool *in_run, struct error *e)
{
	*in_run = false;
	if (is_bpffs(BPFFS)) {
		keep_for_netns_exec();
		return 0;
	}
	*in_run = is_bpffs(RUN_BPFFS);
	if (*in_run)
		return 0;
	if (!in_first_mount_ns())
		return error_set(
			e, ENOENT,
			"no bpffs here to keep a datapath in; run any tcvsctl command once outside of 'ip netns exec'");
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return error_set(e, errno, "%s is not a bpffs and mounting one failed (%s); try: mount -t bpf bpf %s",
				 BPFFS, strerror(errno), BPFFS);
	keep_for_netns_exec();
	return 0;
}

int bpffs_root(const char **path, struct error *e)
{
	bool in_run = false;
	int err = 0;

	if (!is_bpffs(BPFFS) || !is_bpffs(RUN_BPFFS)) {
		CLEANUP_FD int lock = lock_mounts();

		err = find_or_mount(&in_run, e);
	}
	if (err)
		return err;
	*path = in_run ? RUN_BPFFS "/tcvs" : BPFFS "/tcvs";
	if (mkdir(*path, 0700) && errno != EEXIST)
		return error_set(e, errno, "%s: cannot be made (%s)", *path, strerror(errno));
	return 0;
}
