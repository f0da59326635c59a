// SPDX-License-Identifier: GPL-2.0-only
/*
 * shuffle_masks DP MS: puts the masks of every class into a random order, again and again, MS milliseconds apart, until
 * it is told to stop; then prints how many mask arrays were swapped.  A harder life than any traffic gives the order.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "session.h"

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static void shuffle(struct mask_array *array)
{
	for (__u32 i = array->count; i > 1; i--) {
		__u32 j = random() % i;
		struct mask last = array->mask[i - 1];

		array->mask[i - 1] = array->mask[j];
		array->mask[j] = last;
	}
}

static int shuffle_all(const char *name, unsigned long *swaps, struct error *e)
{
	static struct mask_array array;
	struct dp *dp;
	int err = session_open(name, DP_WRITE, &dp, e);

	if (err)
		return err;
	for (__u32 class = 0; !err && class < PACKET_CLASSES_END; class ++) {
		if (dp_mask_array(dp, class, &array) || array.count < 2)
			continue;
		shuffle(&array);
		err = dp_swap_masks(dp, class, &array, e);
		*swaps += !err;
	}
	dp_close(&dp);
	return err;
}

int main(int argc, char **argv)
{
	unsigned long swaps = 0;
	struct error e;
	long ms = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	if (ms < 1) {
		fprintf(stderr, "usage: shuffle_masks DP MS\n");
		return EXIT_FAILURE;
	}
	signal(SIGTERM, on_signal);
	while (!stop) {
		if (shuffle_all(argv[1], &swaps, &e)) {
			fprintf(stderr, "shuffle_masks: %s\n", e.text);
			return EXIT_FAILURE;
		}
		nanosleep(&pause, NULL);
	}
	printf("%lu\n", swaps);
	return EXIT_SUCCESS;
}
