/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic of many flows in several masks, each with its share, by test run: frames are drawn by weight, independently of
 * each other, from the same random numbers in each run.
 */
#pragma once

#include "bench_mix.skel.h"
#include "dp.h"
#include "measure.h"

enum {
	MIX_FLOWS_MAX = 10000,
	MIX_MASKS_MAX = 64,
};

/* frame_count random numbers from 1 on are the frames; others make another sample of the same traffic. */
enum {
	MIX_SEED = 1,
};

struct mix {
	unsigned int flow_count, mask_count;
	double weight[MIX_FLOWS_MAX];	     /* of a flow */
	unsigned int mask_of[MIX_FLOWS_MAX]; /* a flow */
};

/* Renumbers the masks by their traffic, the busiest one last. */
void mix_hot_masks_last(struct mix *m);

/* In order of masks, which is then lookup order. */
int mix_add_flows(const struct mix *m, struct dp *dp, struct error *e);

/* The mixing program in front of another one. */
int mix_load(const struct mix *m, int target_fd, __u32 frame_count, struct bench_mix_bpf **program, struct error *e);

/* Draws the frames anew. */
int mix_draw(const struct mix *m, struct bench_mix_bpf *program, __u64 seed, struct error *e);

/* A number from 0 up to 1, and the next seed. */
double mix_random(__u64 *seed);
