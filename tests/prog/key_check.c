// SPDX-License-Identifier: GPL-2.0-only
#include "key_check.h"

#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

/* The kernel runs none with a bare Ethernet header. */
#define SHORTEST 15

static const struct dp_options few = { .max_flows = 16, .max_masks = 16 };

int key_world(void **state)
{
	return enter_private_world(state) ? -1 : world_make(state, 2, &few);
}

int key_world_end(void **state)
{
	return world_end(state) ? -1 : leave_private_world(state);
}

/* One whose key has something nearly everywhere, to be left over if the next one's does not. */
static void run_rich_frame(struct world *w)
{
	static const __u8 mac[] = { 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa };
	struct frame f = FRAME(eth(ETH_P_8021AD), vlan(0xffff, ETH_P_8021Q), vlan(0xffff, ETH_P_IPV6),
			       ipv6(44, .tclass = 0xff, .hlimit = 0xff, .label = 0xfffff),
			       ip6_fragment(IPPROTO_ICMPV6, IPV6_MF), nd(135, 0), nd_option(1, 1, mac),
			       nd_option(2, 1, mac));
	__u32 mark = w->mark, priority = w->priority;

	w->mark = w->priority = 0xffffffff;
	run_frame(w, 1, &f);
	w->mark = mark;
	w->priority = priority;
}

/* There are no flows: each frame that the parser takes is a miss. */
static void assert_missed(struct world *w, int verdict, const char *what)
{
	struct dp_counters count = cpu_state_read(w).count;

	if (verdict == TC_ACT_SHOT && !count.dropped && count.missed == w->received)
		return;
	fail_msg("%s: verdict %d, %llu of %llu missed, %llu dropped", what, verdict, count.missed, w->received,
		 count.dropped);
}

static void assert_key_once(struct world *w, int (*run)(struct world *, __u32, const struct frame *),
			    const struct frame *f, const struct flow_key *want, const char *how)
{
	char what[64];

	snprintf(what, sizeof(what), "%u bytes, %s", f->len, how);
	assert_missed(w, run(w, 1, f), what);
	assert_key_is(w, want, what);
}

void assert_key(struct world *w, struct frame f, struct flow_key k)
{
	k.in_port = 1;
	k.skb_mark = w->mark;
	k.skb_priority = w->priority;
	run_rich_frame(w);
	assert_key_once(w, run_frame, &f, &k, "after a rich frame");
	poison_key(w);
	assert_key_once(w, run_frame, &f, &k, "after poison");
	poison_key(w);
	assert_key_once(w, run_inline, &f, &k, "tags in the bytes");
}

void assert_cuts(struct world *w, struct frame f, const struct step *steps, __u32 count)
{
	for (__u32 len = SHORTEST; len <= f.len; len++) {
		__u32 i = count - 1;

		while (i && steps[i].len > len)
			i--;
		assert_key(w, frame_cut(f, len), steps[i].key);
	}
}
