// SPDX-License-Identifier: GPL-2.0-only
#include "mix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "mix_frame.h"
#include "rig.h"
#include "util.h"

enum {
	FIRST_UDP_PORT = 1,
};

/* splitmix64: any seed will do. */
double mix_random(__u64 *seed)
{
	__u64 x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return ((x ^ x >> 31) >> 11) * 0x1p-53;
}

struct ranked {
	double weight;
	unsigned int mask;
};

static int by_weight(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->mask < y->mask ? -1 : 1;
}

void mix_hot_masks_last(struct mix *m)
{
	struct ranked rank[MIX_MASKS_MAX] = {};
	unsigned int place[MIX_MASKS_MAX];

	for (unsigned int i = 0; i < m->mask_count; i++)
		rank[i].mask = i;
	for (unsigned int i = 0; i < m->flow_count; i++)
		rank[m->mask_of[i]].weight += m->weight[i];
	qsort(rank, m->mask_count, sizeof(rank[0]), by_weight);
	for (unsigned int i = 0; i < m->mask_count; i++)
		place[rank[i].mask] = i;
	for (unsigned int i = 0; i < m->flow_count; i++)
		m->mask_of[i] = place[m->mask_of[i]];
}

/* Masks differ in their prefix lengths, and the source address tells which one a frame is for; the port tells the flow. */
static int add_flow(struct dp *dp, unsigned int flow, unsigned int mask, struct error *e)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "in_port(1),eth(),eth_type(0x0800),ipv4(src=10.%u.0.0/%u,dst=" FRAME_IPV4_DST
		 "/%u,proto=17),udp(src=%u)",
		 mask, 17 + mask % 16, 17 + mask / 16, FIRST_UDP_PORT + flow);
	return rig_add_flow(dp, text, "2", e);
}

int mix_add_flows(const struct mix *m, struct dp *dp, struct error *e)
{
	int err = 0;

	for (unsigned int mask = 0; !err && mask < m->mask_count; mask++)
		for (unsigned int i = 0; !err && i < m->flow_count; i++)
			if (m->mask_of[i] == mask)
				err = add_flow(dp, i, mask, e);
	return err ? err : dp_commit(dp, e);
}

/* The first flow whose part of the sum reaches so far. */
static unsigned int flow_at(const double *sum, unsigned int count, double at)
{
	unsigned int low = 0, high = count - 1;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (sum[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int mix_draw(const struct mix *m, struct bench_mix_bpf *program, __u64 seed, struct error *e)
{
	int fd = bpf_map__fd(program->maps.frames);
	CLEANUP_FREE double *sum = calloc(m->flow_count, sizeof(*sum));
	struct mix_frame *frames = dp_map_memory(fd, MIX_FRAMES_MAX * sizeof(*frames));

	if (!sum || !frames)
		return error_set(e, ENOMEM, "no memory for a mix of frames");
	for (unsigned int i = 0; i < m->flow_count; i++)
		sum[i] = m->weight[i] + (i ? sum[i - 1] : 0);
	for (__u32 n = 0; n < program->rodata->frame_count; n++) {
		unsigned int i = flow_at(sum, m->flow_count, mix_random(&seed) * sum[m->flow_count - 1]);

		frames[n] = (struct mix_frame){
			.src = htonl(10U << 24 | m->mask_of[i] << 16),
			.udp_src = htons(FIRST_UDP_PORT + i),
		};
	}
	munmap(frames, MIX_FRAMES_MAX * sizeof(*frames));
	return 0;
}

int mix_load(const struct mix *m, int target_fd, __u32 frame_count, struct bench_mix_bpf **out, struct error *e)
{
	struct bench_mix_bpf *program = bench_mix_bpf__open();
	__u32 zero = 0;

	*out = program;
	if (!program)
		return error_set(e, errno, "the mixing program cannot be opened (%s)", strerror(errno));
	program->rodata->frame_count = frame_count;
	if (bench_mix_bpf__load(program) ||
	    bpf_map_update_elem(bpf_map__fd(program->maps.target), &zero, &target_fd, 0))
		return error_set(e, errno, "the mixing program cannot be loaded (%s)", strerror(errno));
	return mix_draw(m, program, MIX_SEED, e);
}
