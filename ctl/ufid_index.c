// SPDX-License-Identifier: GPL-2.0-only
#include "ufid_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow_table.h"
#include "slots.h"

enum {
	SCANS_BEFORE_INDEX = 8,
	SIZE_MIN = 1024,
};

/* Open addressing; slots plus one, 0 = empty.  One block of memory: dp_close() frees it. */
struct ufid_index {
	__u32 size; /* a power of two */
	__u32 used;
	__u32 slot[];
};

/*
 * UFIDs are drawn at random or made by hashing, but some count up, in any of their bytes.  Multiplications carry what
 * differs upwards, the swap brings it down to where the index looks.
 */
static __u32 home(const struct ufid_index *index, const __u8 ufid[16])
{
	__u64 a, b;

	memcpy(&a, ufid, 8);
	memcpy(&b, ufid + 8, 8);
	return __builtin_bswap64((a ^ b * 0xd6e8feb86659fd93ULL) * 0x9e3779b97f4a7c15ULL) & (index->size - 1);
}

static void put(struct dp *dp, struct ufid_index *index, __u32 slot)
{
	__u32 i = home(index, dp_flow(dp, slot)->ufid);

	while (index->slot[i])
		i = (i + 1) & (index->size - 1);
	index->slot[i] = slot + 1;
	index->used++;
}

/* Without memory there is no index, and look-ups go on as before. */
static void build(struct dp *dp)
{
	struct ufid_index *index;
	__u32 size = SIZE_MIN;

	while (size < 4 * dp->info->flows)
		size *= 2;
	free(dp->ufids);
	dp->ufids = index = calloc(1, sizeof(*index) + size * sizeof(index->slot[0]));
	if (!index)
		return;
	index->size = size;
	for (__u32 slot = flow_next(dp, 0); slot != SLOT_NONE; slot = flow_next(dp, slot + 1))
		put(dp, index, slot);
}

void ufid_added(struct dp *dp, __u32 slot)
{
	if (!dp->ufids)
		return;
	if (2 * dp->ufids->used >= dp->ufids->size)
		build(dp);
	else
		put(dp, dp->ufids, slot);
}

/* A deleted flow's slot may be free, or have another flow by now. */
static bool has_ufid(struct dp *dp, __u32 slot, const __u8 ufid[16])
{
	return slot_state(dp->flow_slots, slot) == SLOT_USED && !memcmp(dp_flow(dp, slot)->ufid, ufid, 16);
}

static int scan(struct dp *dp, const __u8 ufid[16], __u32 *slot)
{
	for (*slot = flow_next(dp, 0); *slot != SLOT_NONE; *slot = flow_next(dp, *slot + 1))
		if (has_ufid(dp, *slot, ufid))
			return 0;
	return -ENOENT;
}

int ufid_find(struct dp *dp, const __u8 ufid[16], __u32 *slot)
{
	const struct ufid_index *index;

	if (!dp->ufids && ++dp->ufid_scans > SCANS_BEFORE_INDEX)
		build(dp);
	index = dp->ufids;
	if (!index)
		return scan(dp, ufid, slot);
	for (__u32 i = home(index, ufid); index->slot[i]; i = (i + 1) & (index->size - 1)) {
		*slot = index->slot[i] - 1;
		if (has_ufid(dp, *slot, ufid))
			return 0;
	}
	return -ENOENT;
}
