// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "util.h"

#define NETNS_DIR "/run/netns"

int netns_cookie(__u64 *cookie, struct error *e)
{
	CLEANUP_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len) < 0)
		return error_set(e, errno, "network namespace: cannot read its cookie: %s", strerror(errno));
	return 0;
}

/* The cookie of a namespace is known only inside of it: enter and look.  True if it is the one. */
static bool try_namespace(const char *path, __u64 cookie)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error ignored;
	__u64 there;

	return fd >= 0 && !setns(fd, CLONE_NEWNET) && !netns_cookie(&there, &ignored) && there == cookie;
}

/* Tries NAME/suffix for all entries of a directory. */
static bool try_directory(const char *dir_path, const char *suffix, __u64 cookie)
{
	DIR *dir = opendir(dir_path);
	struct dirent *d;
	char path[512];
	bool found = false;

	if (!dir)
		return false;
	while (!found && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || (*suffix && strspn(d->d_name, "0123456789") != strlen(d->d_name)))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", dir_path, d->d_name, suffix);
		found = try_namespace(path, cookie);
	}
	closedir(dir);
	return found;
}

int netns_enter(__u64 cookie)
{
	CLEANUP_FD int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	struct error ignored;
	__u64 mine;

	if (here < 0)
		return -errno;
	if ((!netns_cookie(&mine, &ignored) && mine == cookie) || try_directory(NETNS_DIR, "", cookie) ||
	    try_directory("/proc", "/ns/net", cookie))
		return TAKE_FD(here);
	/* The search went through namespaces. */
	setns(here, CLONE_NEWNET);
	return -ENOENT;
}

void netns_return(int fd)
{
	setns(fd, CLONE_NEWNET);
	close(fd);
}

int netns_enter_name(const char *name, struct error *e)
{
	CLEANUP_FD int fd = -1;
	char path[512];

	snprintf(path, sizeof(path), strchr(name, '/') ? "%s" : NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "--netns %s: no such network namespace (%s: %s)", name, path,
				 strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		return error_set(e, errno, "--netns %s: cannot be entered (%s)", name, strerror(errno));
	return 0;
}
