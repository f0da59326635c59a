/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A datapath as the control side holds it: its pinned maps, the small ones mapped into memory, under a lock.
 *
 * State lives under BPFFS/tcvs/NAME/, nothing else is kept anywhere.  The lock is flock(2) on that directory: shared to
 * read, exclusive to write, and gone with the process that held it.  A writer marks the datapath dirty while it works;
 * whoever opens it next and finds the mark, repairs first (session.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dp_maps.h"
#include "error.h"

/* X(id, name) for each pinned map. */
#define DP_MAPS(X) \
	X(DATAPATH, datapath) \
	X(PORTS, ports) \
	X(IF_PORT, if_port) \
	X(PORT_INFO, port_info) \
	X(MASKS, masks) \
	X(MASK_INFO, mask_info) \
	X(MASK_HITS, mask_hits) \
	X(FLOWS, flows) \
	X(FLOW_PAGES, flow_pages) \
	X(ACTION_PAGES, action_pages) \
	X(STATS_PAGES, stats_pages) \
	X(FLOW_SLOTS, flow_slots) \
	X(ACTION_SLOTS, action_slots) \
	X(FILTER, filter) \
	X(MASK_CACHE, mask_cache) \
	X(CPU_STATE, cpu_state) \
	X(DROPS, drops)

enum dp_map {
#define X(id, name) DP_MAP_##id,
	DP_MAPS(X)
#undef X
	DP_MAPS_END
};

#define DP_PATH_LEN 64

/* What datapath.dirty says. */
enum dp_dirty {
	DP_CLEAN,
	DP_WRITING,
	DP_UNFINISHED, /* being made or deleted: nothing of it is to stay */
};

struct dp {
	char name[DP_NAME_LEN];
	char path[DP_PATH_LEN]; /* of its directory */
	int dir_fd;		/* holds the lock */
	int map_fd[DP_MAPS_END];
	int prog_fd; /* tcvs_ingress */
	__u32 prog_id;
	struct datapath *info; /* these six are the maps themselves */
	struct port *ports;
	struct mask_info *masks;
	struct slot_page *flow_slots;
	struct slot_page *action_slots;
	__u64 *filter;
	void **pages[3]; /* enum dp_pages; of flows and statistics all from the start, of actions when asked for */
	size_t pages_size[3];
	struct btf *btf;     /* the program's types, for maps that are made later */
	__u32 stale_classes; /* whose mask arrays must be made anew: dp_commit() */
	bool writing;
	bool keep_mark;		  /* something is still half done: dp_close() leaves the datapath dirty */
	bool was_dirty;		  /* a writer was killed: repair before anything else */
	enum flow_origin origin;  /* of flows that are added now */
	__u32 slot_hint;	  /* no flow slot is free before it */
	struct ufid_index *ufids; /* NULL until it pays; freed as one block */
	__u32 ufid_scans;
	struct overlap *overlap; /* NULL unless overlap_begin() */
	struct flow_bulk *bulk;	 /* NULL unless flow_bulk_begin() */
	__u32 expected;		 /* flows that a command may be about to add; a guess */
	struct dp_swap *swaps;	 /* whose grace periods dp_close() waits for */
};

enum dp_pages {
	DP_FLOW_PAGES,
	DP_ACTION_PAGES,
	DP_STATS_PAGES,
};

struct dp_options {
	__u32 max_flows;
	__u32 max_masks;
	__u32 max_reactive_masks;
	__u32 max_port_masks;
	enum port_attach attach; /* PORT_ATTACH_NONE: what the kernel has */
};

enum dp_mode {
	DP_READ,
	DP_WRITE,
	DP_TRY_WRITE, /* -EAGAIN instead of waiting for others for long */
	DP_DESTROY,   /* exclusive, and also what is unfinished; changes nothing yet */
};

/* Makes an empty datapath without ports and returns it open for writing; unfinished until dp_write(). */
int dp_create(const char *name, const struct dp_options *options, struct dp **dp, struct error *e);

/* Opens and locks; name NULL: the only one there is.  -ENODEV if there is none, -ESTALE if it is unfinished. */
int dp_open(const char *name, enum dp_mode mode, struct dp **dp, struct error *e);

/* Changes a reader's lock into a writer's; was_dirty is looked at again. */
int dp_lock_exclusive(struct dp *dp, struct error *e);

/* The datapath is whole, and from now on a kill is repaired; until then what dp_create() made is undone. */
void dp_write(struct dp *dp);

/* Ends a writer's work (marks the datapath clean), unlocks and frees. */
void dp_close(struct dp **dp);

/* From here on nothing of the datapath is to stay, whatever happens to this process. */
void dp_unfinish(struct dp *dp);

/* Removes the pins; the maps go with the last program that uses them. */
int dp_destroy(struct dp *dp, struct error *e);

/*
 * Removes a datapath that dp_open() refuses: half made, or of another version.  Its filters are found by its program,
 * in the caller's namespace; TCX links go with their pins.  What else it made (devices, flags) is not known.
 */
int dp_destroy_foreign(const char *name, struct error *e);

/*
 * A pinned map of another datapath, opened without its lock: what is read there may change at once.  Waiting for a second
 * lock while holding one would make two commands wait for each other.  -errno if it cannot be opened.
 */
int dp_peek_map(const char *name, enum dp_map map);

/*
 * Keeps others from making datapaths and from adding ports to any.  Taken while a datapath is locked, so nobody may wait
 * for a datapath's lock while holding it, but for the lock of one that nobody else can know yet.
 */
int dp_lock_root(struct error *e);

/* The names of all datapaths, sorted; the caller frees each and the array. */
int dp_list(char ***names, size_t *count, struct error *e);

int dp_check_name(const char *name, struct error *e);

/* Page n of a kind; for stats a table of cpu_ids * PAGE_SLOTS.  NULL if it does not exist or cannot be mapped. */
void *dp_map_page(struct dp *dp, enum dp_pages kind, __u32 n);

/* Mostly it is mapped already, and this is asked several times for each flow. */
static inline void *dp_page(struct dp *dp, enum dp_pages kind, __u32 n)
{
	return n < ACTION_PAGES_MAX && dp->pages[kind][n] ? dp->pages[kind][n] : dp_map_page(dp, kind, n);
}

/* Makes the next flow page with its statistics, or the next action page. */
int dp_add_flow_page(struct dp *dp, struct error *e);
int dp_add_action_page(struct dp *dp, struct error *e);

/* Waits until no packet can still see what was unreachable before, and makes retired slots and masks free. */
int dp_reclaim(struct dp *dp, struct error *e);

/* Waits until every packet that runs now has left the program. */
int dp_grace_period(struct dp *dp, struct error *e);

/* Swaps in a new mask array for each stale class, one update a class. */
int dp_commit(struct dp *dp, struct error *e);

/* Puts an array in the place of the class's present one, or none if its count is 0. */
int dp_swap_masks(struct dp *dp, enum packet_class class, const struct mask_array *array, struct error *e);

/*
 * The same for an array that only has another order: returns when packets see it.  The waiting for the grace period is
 * left to dp_close(), which lets go of the lock first.
 */
int dp_swap_order(struct dp *dp, enum packet_class class, const struct mask_array *array, struct error *e);

/* The mask array of a class; count 0 if the class has none.  0 or -errno. */
int dp_mask_array(struct dp *dp, enum packet_class class, struct mask_array *array);

static inline struct flow *dp_flow(struct dp *dp, __u32 slot)
{
	struct flow *page = dp_page(dp, DP_FLOW_PAGES, slot >> PAGE_SHIFT);

	return page ? &page[slot & (PAGE_SLOTS - 1)] : NULL;
}

static inline struct flow_action *dp_actions(struct dp *dp, struct flow *flow)
{
	struct flow_action *page;

	if (flow->actions == ACTIONS_INLINE)
		return flow->inline_actions;
	page = dp_page(dp, DP_ACTION_PAGES, flow->actions >> PAGE_SHIFT);
	return page ? &page[flow->actions & (PAGE_SLOTS - 1)] : NULL;
}

static inline struct flow_stats *dp_flow_stats(struct dp *dp, __u32 slot, __u32 cpu)
{
	struct flow_stats *page = dp_page(dp, DP_STATS_PAGES, slot >> PAGE_SHIFT);

	return page ? &page[cpu * PAGE_SLOTS + (slot & (PAGE_SLOTS - 1))] : NULL;
}

/* For the other dp_*.c. */
void dp_path(const char *root, bool unfinished, const char *name, char path[DP_PATH_LEN]);
void dp_sweep(const char *root);
struct dp *dp_alloc(const char *name, const char *root);
int dp_open_tables(struct dp *dp, struct error *e);
int dp_create_array(struct dp *dp, const char *name, const char *type, __u32 entries, __u32 flags, struct error *e);
void dp_end_swaps(struct dp *dp);
void *dp_map_memory(int fd, size_t size);
__u32 dp_flow_pages_max(__u32 max_flows);
__u32 dp_filter_words(__u32 flows); /* of the filter for so many */
void dp_free_(struct dp **dp);
#define CLEANUP_DP __attribute__((cleanup(dp_free_)))
