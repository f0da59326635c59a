// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new mask array in the place of the old one.
 *
 * An update of a map of maps stores the pointer and then waits for a grace period (maybe_wait_bpf_programs() in
 * kernel/bpf/syscall.c).  Who only changes an order need not hold the datapath's lock for that: a thread waits, and
 * dp_close() for the thread, once the lock was let go.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dp.h"
#include "mask_table.h"
#include "util.h"

/* An update that packets see, but that has not returned. */
struct dp_swap {
	pthread_t thread;
	int masks_fd, array_fd;
	__u32 class, array_id;
	int err;
	bool returned;
	struct dp_swap *next;
};

/* A map of its own for the array. */
static int make_array(struct dp *dp, enum packet_class class, const struct mask_array *array, struct error *e)
{
	__u32 zero = 0;
	CLEANUP_FD int fd = dp_create_array(dp, "mask_array", "mask_array", 1, 0, e);

	if (fd >= 0 && bpf_map_update_elem(fd, &zero, array, 0))
		return error_set(e, errno, "masks of class %s: cannot be written (%s)", packet_class_name(class),
				 strerror(errno));
	return TAKE_FD(fd);
}

static int refuse_swap(enum packet_class class, int err, struct error *e)
{
	return error_set(e, -err, "masks of class %s: cannot be put in place (%s)", packet_class_name(class),
			 strerror(-err));
}

/*
 * The mask that a packet tries before it asks for the array.  Stored before the array, so that the grace period which
 * follows that one's update is also one for packets that still try the old first mask.
 */
static void set_first_mask(struct dp *dp, enum packet_class class, const struct mask_array *array)
{
	__atomic_store_n(&dp->info->first_mask[class], array->count ? array->mask[0].id : MASK_NONE, __ATOMIC_RELEASE);
}

int dp_swap_masks(struct dp *dp, enum packet_class class, const struct mask_array *array, struct error *e)
{
	__u32 key = class;
	CLEANUP_FD int fd = -1;

	if (array->count) {
		fd = make_array(dp, class, array, e);
		if (fd < 0)
			return fd;
	}
	set_first_mask(dp, class, array);
	if (!array->count) {
		if (bpf_map_delete_elem(dp->map_fd[DP_MAP_MASKS], &key) && errno != ENOENT)
			return error_set(e, errno, "masks of class %s: cannot be removed (%s)",
					 packet_class_name(class), strerror(errno));
		return 0;
	}
	return bpf_map_update_elem(dp->map_fd[DP_MAP_MASKS], &key, &fd, 0) ? refuse_swap(class, -errno, e) : 0;
}

static void *run_swap(void *arg)
{
	struct dp_swap *s = arg;

	s->err = bpf_map_update_elem(s->masks_fd, &s->class, &s->array_fd, 0) ? -errno : 0;
	__atomic_store_n(&s->returned, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Until packets see the array; the outer map tells the id of the one that it holds. */
static int await_swap(struct dp_swap *s)
{
	__u32 id = 0;

	while (!__atomic_load_n(&s->returned, __ATOMIC_ACQUIRE)) {
		if (!bpf_map_lookup_elem(s->masks_fd, &s->class, &id) && id == s->array_id)
			return 0;
		usleep(20);
	}
	return s->err;
}

static void free_swap(struct dp_swap *s)
{
	pthread_join(s->thread, NULL);
	close(s->array_fd);
	free(s);
}

/* Takes the array's descriptor, also when it fails. */
static int start_swap(struct dp *dp, enum packet_class class, int array_fd, struct dp_swap **out)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	struct dp_swap *s = malloc(sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (!err && bpf_obj_get_info_by_fd(array_fd, &info, &len))
		err = -errno;
	if (!err) {
		*s = (struct dp_swap){
			.masks_fd = dp->map_fd[DP_MAP_MASKS], .array_fd = array_fd, .class = class, .array_id = info.id
		};
		err = -pthread_create(&s->thread, NULL, run_swap, s);
	}
	if (err) {
		close(array_fd);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

int dp_swap_order(struct dp *dp, enum packet_class class, const struct mask_array *array, struct error *e)
{
	struct dp_swap *s;
	int fd = make_array(dp, class, array, e), err;

	if (fd < 0)
		return fd;
	set_first_mask(dp, class, array);
	err = start_swap(dp, class, fd, &s);
	if (err)
		return refuse_swap(class, err, e);
	err = await_swap(s);
	if (err) {
		free_swap(s);
		return refuse_swap(class, err, e);
	}
	s->next = dp->swaps;
	dp->swaps = s;
	return 0;
}

void dp_end_swaps(struct dp *dp)
{
	struct dp_swap *s;

	if (dp->swaps)
		flock(dp->dir_fd, LOCK_UN);
	while ((s = dp->swaps)) {
		dp->swaps = s->next;
		free_swap(s);
	}
}
