// SPDX-License-Identifier: GPL-2.0-only
#include "controller.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "session.h"
#include "util.h"

#define RUN_DIR "/run/tcvs"

/* A datapath that is ours to look after; the lock says so to other controllers. */
struct charge {
	char name[DP_NAME_LEN];
	int lock_fd;
	bool seen;    /* by the present search */
	bool failing; /* said once */
};

struct controller {
	const struct controller_options *o;
	struct charge *charges;
	size_t count;
};

static void tell_systemd(const char *state)
{
#ifdef HAVE_SYSTEMD
	sd_notify(0, state);
#else
	(void)state;
#endif
}

/* Is the locked file still the one of that name?  Its last owner may have removed it while we waited to open it. */
static bool is_file(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !stat(path, &there) && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* Who holds it has written its pid into the file; a file without lock is left from a process that is gone. */
static int take_lock(const char *name, struct error *e)
{
	char path[sizeof(RUN_DIR) + 2 * DP_NAME_LEN], pid[16] = "?";
	CLEANUP_FD int fd = -1;

	mkdir(RUN_DIR, 0700);
	snprintf(path, sizeof(path), RUN_DIR "/run-%s.lock", name);
	do {
		close_fd_(&fd);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return error_set(e, errno, "%s: cannot be opened (%s)", path, strerror(errno));
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

			if (n > 0)
				pid[strcspn(pid, "\n")] = 0;
			return error_set(e, EBUSY, "datapath %s has a controller already: process %s", name, pid);
		}
	} while (!is_file(fd, path));
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", getpid()) < 0)
		return error_set(e, errno, "%s: cannot be written (%s)", path, strerror(errno));
	return TAKE_FD(fd);
}

static void let_go(struct controller *c, size_t i)
{
	char path[sizeof(RUN_DIR) + 2 * DP_NAME_LEN];

	/* Removed while still locked; whoever gets the lock of what is no file any more looks again. */
	snprintf(path, sizeof(path), RUN_DIR "/run-%s.lock", c->charges[i].name);
	unlink(path);
	close(c->charges[i].lock_fd);
	c->charges[i] = c->charges[--c->count];
}

static struct charge *find_charge(struct controller *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->charges[i].name, name))
			return &c->charges[i];
	return NULL;
}

static int take_charge(struct controller *c, const char *name, struct error *e)
{
	struct charge *grown;
	int fd;

	if (find_charge(c, name)) {
		find_charge(c, name)->seen = true;
		return 0;
	}
	fd = take_lock(name, e);
	if (fd < 0)
		return fd;
	grown = realloc(c->charges, (c->count + 1) * sizeof(*grown));
	if (!grown) {
		close(fd);
		return error_set(e, ENOMEM, "out of memory");
	}
	c->charges = grown;
	grown[c->count] = (struct charge){ .lock_fd = fd, .seen = true };
	snprintf(grown[c->count++].name, DP_NAME_LEN, "%s", name);
	return 0;
}

static int exists(const char *name, struct error *e)
{
	struct dp *dp;
	int err = session_open(name, DP_READ, &dp, e);

	if (!err)
		dp_close(&dp);
	return err;
}

/* The named ones, which have to be there and free. */
static int take_named(struct controller *c, struct error *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->o->name_count; i++) {
		err = exists(c->o->names[i], e);
		if (!err)
			err = take_charge(c, c->o->names[i], e);
	}
	return err;
}

/* All that there are; one that has a controller of its own is left to it, at the start that is an error. */
static int take_all(struct controller *c, bool strict, struct error *e)
{
	char **names;
	size_t count;
	int err = dp_list(&names, &count, e);

	for (size_t i = 0; i < c->count; i++)
		c->charges[i].seen = false;
	for (size_t i = 0; i < count; i++) {
		struct error ignored;
		int taken = err && strict ? 0 : take_charge(c, names[i], strict ? e : &ignored);

		if (strict && !err)
			err = taken;
		free(names[i]);
	}
	free(names);
	for (size_t i = c->count; i-- > 0;)
		if (!c->charges[i].seen)
			let_go(c, i);
	return err;
}

/* A named datapath that is removed is let go; made again, it is taken up again. */
static void search(struct controller *c)
{
	struct error ignored;

	if (!c->o->name_count) {
		take_all(c, false, &ignored);
		return;
	}
	for (size_t i = 0; i < c->o->name_count; i++)
		if (!find_charge(c, c->o->names[i]) && !exists(c->o->names[i], &ignored))
			take_charge(c, c->o->names[i], &ignored);
}

static void round_of(struct controller *c, size_t i)
{
	const char *name = c->charges[i].name;
	struct reorder r;
	struct error e;
	struct dp *dp;
	bool moved = false;
	int err = session_open(name, DP_TRY_WRITE, &dp, &e);

	if (!err) {
		err = reorder_masks(dp, &r, &e);
		dp_close(&dp);
	}
	if (err == -EAGAIN)
		return; /* somebody is at work there, for as long as it takes; the next round comes */
	if (err == -ENODEV) {
		let_go(c, i);
		return;
	}
	if (err) {
		if (!c->charges[i].failing)
			fprintf(stderr, "tcvsctl: %s: %s\n", name, e.text);
		c->charges[i].failing = true;
		return;
	}
	c->charges[i].failing = false;
	for (int class = 0; class < PACKET_CLASSES_END; class ++)
		moved |= r.class[class].moved;
	if (moved && c->o->moved)
		c->o->moved(c->o->ctx, name, &r);
}

static int loop(struct controller *c, int signal_fd, int timer_fd, struct error *e)
{
	struct pollfd fds[] = { { .fd = signal_fd, .events = POLLIN }, { .fd = timer_fd, .events = POLLIN } };
	__u64 ticks;

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_set(e, errno, "waiting failed (%s)", strerror(errno));
		}
		if (fds[0].revents)
			return 0;
		/* Rounds that were missed are not made up for. */
		if (read(timer_fd, &ticks, sizeof(ticks)) < 0)
			continue;
		search(c);
		for (size_t i = c->count; i-- > 0;)
			round_of(c, i);
	}
}

int controller_run(const struct controller_options *o, struct error *e)
{
	struct itimerspec every = {
		.it_interval = { o->interval_ns / 1000000000, o->interval_ns % 1000000000 },
		.it_value = { o->interval_ns / 1000000000, o->interval_ns % 1000000000 },
	};
	struct controller c = { .o = o };
	CLEANUP_FD int signal_fd = -1, timer_fd = -1;
	sigset_t stop;
	int err;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal_fd = signalfd(-1, &stop, SFD_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (signal_fd < 0 || timer_fd < 0 || timerfd_settime(timer_fd, 0, &every, NULL))
		return error_set(e, errno, "the controller cannot start (%s)", strerror(errno));
	err = o->name_count ? take_named(&c, e) : take_all(&c, true, e);
	if (!err) {
		tell_systemd("READY=1");
		err = loop(&c, signal_fd, timer_fd, e);
		tell_systemd("STOPPING=1");
	}
	while (c.count)
		let_go(&c, c.count - 1);
	free(c.charges);
	return err;
}
