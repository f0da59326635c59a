// SPDX-License-Identifier: GPL-2.0-only
#include "slots.h"

#include <string.h>

static __u32 claim_in_page(struct slot_page *page, __u32 n, __u32 from)
{
	__u8 *at = page->state + from, *end = page->state + PAGE_SLOTS;

	while ((at = memchr(at, SLOT_FREE, end - at))) {
		__u32 run = 1;

		while (run < n && at + run < end && at[run] == SLOT_FREE)
			run++;
		if (run == n) {
			memset(at, SLOT_USED, n);
			return at - page->state;
		}
		at += run;
		if (at == end)
			break;
	}
	return SLOT_NONE;
}

__u32 slots_claim(struct slot_page *pages, __u32 page_count, __u32 n, __u32 from)
{
	for (__u32 i = from >> PAGE_SHIFT; i < page_count; i++) {
		__u32 at = claim_in_page(&pages[i], n, i == from >> PAGE_SHIFT ? from & (PAGE_SLOTS - 1) : 0);

		if (at != SLOT_NONE)
			return i << PAGE_SHIFT | at;
	}
	return SLOT_NONE;
}

void slots_set(struct slot_page *pages, __u32 slot, __u32 n, enum slot_state state)
{
	memset(&pages[slot >> PAGE_SHIFT].state[slot & (PAGE_SLOTS - 1)], state, n);
}

void slots_reclaim(struct slot_page *pages, __u32 page_count)
{
	for (__u32 i = 0; i < page_count; i++)
		for (__u32 j = 0; j < PAGE_SLOTS; j++)
			if (pages[i].state[j] == SLOT_RETIRED)
				pages[i].state[j] = SLOT_FREE;
}

__u32 slots_count(const struct slot_page *pages, __u32 page_count, enum slot_state state)
{
	__u32 n = 0;

	for (__u32 i = 0; i < page_count; i++)
		for (__u32 j = 0; j < PAGE_SLOTS; j++)
			n += pages[i].state[j] == state;
	return n;
}
