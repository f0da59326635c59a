// SPDX-License-Identifier: GPL-2.0-only
#include "overlap_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow_hash.h"
#include "mask_table.h"

/* cell->tag: a hash has the lowest bit clear and another one set. */
#define TAG_GROUP 1U
#define TAG_HASH  2U

/* cell->what: FLOWS_LIMIT places, and so many sides. */
#define PLACE_BITS 22

#define LINE_SIZE (LINE_CELLS * sizeof(struct overlap_cell))

_Static_assert(FLOWS_LIMIT <= 1 << PLACE_BITS && MASKS_MAX <= 1 << (32 - PLACE_BITS), "both fit a word");

enum {
	LINE_CELLS = 8,
	CELLS_MIN = 2 * LINE_CELLS,
	LINKS_MIN = 16,
	GROUPS_MIN = 16,
	NO_GROUP = 0xffffffff,
};

bool overlap_keys(const struct flow_key *key, const struct flow_key *mask, const struct flow_key *other,
		  const struct flow_key *other_mask)
{
	const __u64 *x = (const __u64 *)key, *m = (const __u64 *)mask;
	const __u64 *y = (const __u64 *)other, *n = (const __u64 *)other_mask;

	for (int i = 0; i < KEY_WORDS; i++)
		if ((x[i] ^ y[i]) & m[i] & n[i])
			return false;
	return true;
}

/* realloc() within the room. */
static void *resize(struct overlap_set *s, void *old, size_t old_size, size_t size)
{
	void *new;

	if (size > old_size && size - old_size > *s->room)
		return NULL;
	new = realloc(old, size);
	if (new)
		*s->room += old_size - size;
	return new;
}

static void release(struct overlap_set *s, void *memory, size_t size)
{
	if (memory)
		*s->room += size;
	free(memory);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static struct overlap_side *side_of(const struct overlap_set *s, const struct overlap_cell *cell)
{
	return &s->sides[cell->what >> PLACE_BITS];
}

static __u32 number_of(const struct overlap_cell *cell)
{
	return cell->what & ((1U << PLACE_BITS) - 1);
}

static struct overlap_group *group_of(const struct overlap_set *s, const struct overlap_cell *cell)
{
	return cell->tag & TAG_GROUP ? &side_of(s, cell)->groups[number_of(cell)] : NULL;
}

static __u32 first_place(const struct overlap_set *s, const struct overlap_cell *cell)
{
	const struct overlap_group *g = group_of(s, cell);

	return g ? g->head : number_of(cell);
}

/* The first cell of the line where a value belongs. */
static __u32 home_of(const struct overlap_set *s, __u32 tag)
{
	return (tag >> 2) * LINE_CELLS & (s->size - 1);
}

__u32 overlap_set_hash(const struct overlap_set *s, const struct flow_key *key)
{
	__u32 hash = flow_hash((const __u64 *)key, (const __u64 *)&s->common, s->words, s->seed) >> 32;

	hash = (hash & ~TAG_GROUP) | TAG_HASH;
	__builtin_prefetch(&s->cells[home_of(s, hash)]);
	return hash;
}

static bool same_value(const struct overlap_set *s, const struct overlap_cell *cell, const struct flow_key *key)
{
	const struct overlap_mask *mask = side_of(s, cell)->mask;
	const __u64 *x = (const __u64 *)key, *y = (const __u64 *)mask->members[first_place(s, cell)].key;
	const __u64 *c = (const __u64 *)&s->common;
	__u64 differ = 0;

	for (__u32 i = 0; i < s->words; i++)
		differ |= (x[i] ^ y[i]) & c[i];
	return !differ;
}

/*
 * A value stands as near to its home as it could, with no empty cell between; as homes are the beginnings of cache lines,
 * all that is looked at is mostly one of them.
 */
static struct overlap_cell *find_cell(struct overlap_set *s, __u32 side, const struct flow_key *key, __u32 hash)
{
	for (__u32 i = home_of(s, hash);; i = (i + 1) & (s->size - 1)) {
		struct overlap_cell *cell = &s->cells[i];

		if (!cell->tag)
			return cell;
		if ((cell->tag & ~TAG_GROUP) == hash && cell->what >> PLACE_BITS == side && same_value(s, cell, key))
			return cell;
	}
}

static int make_cells(struct overlap_set *s, __u32 size)
{
	struct overlap_cell *old = s->cells, *cells;
	__u32 old_size = s->size;

	cells = size * sizeof(*cells) > *s->room ? NULL : aligned_alloc(LINE_SIZE, size * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	memset(cells, 0, size * sizeof(*cells));
	*s->room -= size * sizeof(*cells);
	s->size = size;
	for (__u32 n = 0; n < old_size; n++) {
		__u32 i = home_of(s, old[n].tag);

		if (!old[n].tag)
			continue;
		while (cells[i].tag)
			i = (i + 1) & (size - 1);
		cells[i] = old[n];
	}
	release(s, old, old_size * sizeof(*old));
	s->cells = cells;
	return 0;
}

/* Closes the gap, so that every value is still found from its home on. */
static void clear_cell(struct overlap_set *s, struct overlap_cell *cell)
{
	__u32 mask = s->size - 1, gap = cell - s->cells;

	for (__u32 i = (gap + 1) & mask; s->cells[i].tag; i = (i + 1) & mask) {
		if (((i - home_of(s, s->cells[i].tag)) & mask) < ((i - gap) & mask))
			continue;
		s->cells[gap] = s->cells[i];
		gap = i;
	}
	s->cells[gap].tag = 0;
	s->used--;
}

int overlap_set_init(struct overlap_set *s, const struct flow_key *common, __u64 seed, size_t *room)
{
	*s = (struct overlap_set){ .common = *common, .seed = seed, .room = room };
	s->words = mask_words(common);
	return make_cells(s, CELLS_MIN);
}

void overlap_set_end(struct overlap_set *s)
{
	for (__u32 i = 0; i < s->side_count; i++)
		overlap_set_close_side(s, i);
	release(s, s->sides, s->side_count * sizeof(*s->sides));
	release(s, s->cells, s->size * sizeof(*s->cells));
	s->sides = NULL;
	s->side_count = 0;
	s->cells = NULL;
	s->size = 0;
}

/* --- sides -------------------------------------------------------------------------------------------------------- */

int overlap_set_open_side(struct overlap_set *s, const struct overlap_mask *mask, __u32 *side)
{
	struct overlap_side *sides;

	for (*side = 0; *side < s->side_count; ++*side)
		if (!s->sides[*side].mask)
			break;
	if (*side == s->side_count) {
		sides = resize(s, s->sides, *side * sizeof(*sides), (*side + 1) * sizeof(*sides));
		if (!sides)
			return -ENOMEM;
		s->sides = sides;
		s->side_count++;
	}
	s->sides[*side] = (struct overlap_side){ .mask = mask, .free_group = NO_GROUP };
	return 0;
}

void overlap_set_close_side(struct overlap_set *s, __u32 side)
{
	struct overlap_side *d = &s->sides[side];

	release(s, d->links, d->links_size * sizeof(*d->links));
	release(s, d->groups, d->groups_size * sizeof(*d->groups));
	*d = (struct overlap_side){};
}

static int make_links(struct overlap_set *s, struct overlap_side *d, __u32 place)
{
	__u32 size = d->links_size ? d->links_size : LINKS_MIN;
	void *links;

	while (size <= place)
		size *= 2;
	if (size == d->links_size)
		return 0;
	links = resize(s, d->links, d->links_size * sizeof(*d->links), size * sizeof(*d->links));
	if (!links)
		return -ENOMEM;
	d->links = links;
	d->links_size = size;
	return 0;
}

static int make_free_groups(struct overlap_set *s, struct overlap_side *d)
{
	__u32 old = d->groups_size, size = old ? 2 * old : GROUPS_MIN;
	void *groups = resize(s, d->groups, old * sizeof(*d->groups), size * sizeof(*d->groups));

	if (!groups)
		return -ENOMEM;
	d->groups = groups;
	d->groups_size = size;
	for (__u32 i = old; i < size; i++)
		d->groups[i].head = i + 1 < size ? i + 1 : NO_GROUP;
	d->free_group = old;
	return 0;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static const void *actions_at(const struct overlap_side *d, __u32 place)
{
	return d->mask->members[place].actions;
}

static void link_after(struct overlap_side *d, __u32 place, __u32 prev)
{
	__u32 next = d->links[prev].next;

	d->links[place] = (struct overlap_link){ .next = next, .prev = prev };
	d->links[prev].next = place;
	d->links[next].prev = place;
}

static void unlink_place(struct overlap_side *d, __u32 place)
{
	struct overlap_link l = d->links[place];

	d->links[l.prev].next = l.next;
	d->links[l.next].prev = l.prev;
}

/* Of the cell's only flow. */
static int make_group(struct overlap_set *s, struct overlap_cell *cell)
{
	struct overlap_side *d = side_of(s, cell);
	__u32 place = number_of(cell), n;
	int err = make_links(s, d, place);

	if (!err && d->free_group == NO_GROUP)
		err = make_free_groups(s, d);
	if (err)
		return err;
	n = d->free_group;
	d->free_group = d->groups[n].head;
	d->groups[n] = (struct overlap_group){ .head = place, .count = 1, .same = 1 };
	d->links[place] = (struct overlap_link){ .next = place, .prev = place };
	cell->tag |= TAG_GROUP;
	cell->what += n - place;
	return 0;
}

static int join_group(struct overlap_set *s, struct overlap_cell *cell, __u32 place)
{
	struct overlap_side *d = side_of(s, cell);
	struct overlap_group *g = group_of(s, cell);
	bool same = g->same && actions_at(d, place) == actions_at(d, g->head);
	int err = make_links(s, d, place);

	if (err)
		return err;
	link_after(d, place, same ? g->head : d->links[g->head].prev);
	g->count++;
	g->same += same;
	return 0;
}

/* When the last one with the head's actions leaves, whoever comes next is the head, and nothing is known of the rest. */
static void leave_group(struct overlap_set *s, struct overlap_cell *cell, __u32 place)
{
	struct overlap_side *d = side_of(s, cell);
	struct overlap_group *g = group_of(s, cell);

	if (g->same && actions_at(d, place) == actions_at(d, g->head))
		g->same--;
	if (g->head == place)
		g->head = d->links[place].next;
	unlink_place(d, place);
	if (--g->count > 1)
		return;
	cell->tag &= ~TAG_GROUP;
	cell->what += g->head - (g - d->groups);
	g->head = d->free_group;
	d->free_group = g - d->groups;
}

/* Brings those with the head's actions together, and counts them. */
static void sort_group(struct overlap_side *d, struct overlap_group *g)
{
	__u32 place = d->links[g->head].next;

	g->same = 1;
	while (place != g->head) {
		__u32 next = d->links[place].next;

		if (actions_at(d, place) == actions_at(d, g->head)) {
			unlink_place(d, place);
			link_after(d, place, g->head);
			g->same++;
		}
		place = next;
	}
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

int overlap_set_insert(struct overlap_set *s, __u32 side, __u32 place, const struct flow_key *key, __u32 hash)
{
	struct overlap_cell *cell;
	int err = 0;

	if (4 * (__u64)(s->used + 1) > 3 * (__u64)s->size)
		err = make_cells(s, 2 * s->size);
	if (err)
		return err;
	cell = find_cell(s, side, key, hash);
	if (!cell->tag) {
		*cell = (struct overlap_cell){ .tag = hash, .what = side << PLACE_BITS | place };
		s->used++;
		return 0;
	}
	if (!(cell->tag & TAG_GROUP))
		err = make_group(s, cell);
	return err ? err : join_group(s, cell, place);
}

void overlap_set_remove(struct overlap_set *s, __u32 side, __u32 place, const struct flow_key *key, __u32 hash)
{
	struct overlap_cell *cell = find_cell(s, side, key, hash);

	if (cell->tag & TAG_GROUP)
		leave_group(s, cell, place);
	else if (cell->tag)
		clear_cell(s, cell);
}

/* One of the cell's flows that has other actions. */
static const struct overlap_member *other_actions(struct overlap_set *s, struct overlap_cell *cell, const void *actions)
{
	struct overlap_side *d = side_of(s, cell);
	struct overlap_group *g = group_of(s, cell);
	__u32 place = first_place(s, cell);

	if (actions_at(d, place) != actions)
		return &d->mask->members[place];
	if (g && !g->same)
		sort_group(d, g);
	return g && g->same < g->count ? &d->mask->members[d->links[place].prev] : NULL;
}

const struct overlap_member *overlap_set_find(struct overlap_set *s, const struct overlap_meeting *meetings,
					      const struct flow_key *key, __u32 hash, const void *actions)
{
	for (__u32 i = home_of(s, hash);; i = (i + 1) & (s->size - 1)) {
		struct overlap_cell *cell = &s->cells[i];
		const struct overlap_member *found;

		if (!cell->tag)
			return NULL;
		if ((cell->tag & ~TAG_GROUP) != hash || meetings[side_of(s, cell)->mask->id].set != s ||
		    !same_value(s, cell, key))
			continue;
		found = other_actions(s, cell, actions);
		if (found)
			return found;
	}
}
