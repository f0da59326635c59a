// SPDX-License-Identifier: GPL-2.0-only
#include "overlap_index.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "flow_table.h"
#include "mask_table.h"
#include "overlap_class.h"
#include "overlap_filter.h"
#include "overlap_set.h"
#include "slots.h"
#include "util.h"

enum {
	BUCKETS = 1 << 14,
	MEMBERS_MIN = 8,
	/* So few flows are looked at faster than a set is. */
	MEMBERS_SEARCHED = 8,
	/* A mask's flows are searched so often before they are filed: that costs as much, and many pairs hardly meet. */
	SEARCHES_PER_SET = 2,
	SEARCHES_BY_NEW = 16,
	/* The filter is made so much larger than it has to be, if as many flows are expected. */
	FILTER_GROWTH = 16,
	/* A check without the filter costs as much as adding so many flows to it. */
	FILTERED_PER_CHECK = 64,
	NO_PLACE = 0xffffffff,
};

struct filing {
	struct overlap_set *set;
	__u32 side;
};

/* A mask that has flows. */
struct indexed_mask {
	struct overlap_mask base;
	const struct flow_key *key; /* in the table of masks */
	__u32 flows;
	__u32 free; /* the first free place, chained by slot */
	__u32 end;  /* no place from here on is taken */
	__u32 size;
	const struct overlap_class *only; /* the actions that all its flows have, or NULL */
	struct filing *filings;		  /* the sets that its flows are in */
	__u32 filing_count;
	struct overlap_meeting meetings[MASKS_MAX]; /* by the other mask's id */
};

struct overlap_index {
	struct indexed_mask *mask[MASKS_MAX]; /* in no order */
	__u32 mask_count;
	struct indexed_mask *by_id[MASKS_MAX];
	__u32 ids_end; /* no mask has an id from here on */
	__u32 *place;  /* by slot */
	__u32 place_size;
	__u32 expected; /* flows that may come; a guess */
	__u64 seed;
	size_t room;
	__u32 flows;
	struct overlap_filter filter;
	bool unfit;		 /* a mask came that does not fit the filter */
	__u32 unfiltered;	 /* checks since then */
	__u64 searched_new;	 /* flows looked at one by one for masks that had none */
	__u64 check;		 /* the last one's number, which the sets bear that it looked into, */
	struct flow_key checked; /* and its key, of which they have the hash */
	struct overlap_classes classes;
	struct overlap_set *sets[BUCKETS]; /* by their common masks */
};

/* --- sets --------------------------------------------------------------------------------------------------------- */

static struct overlap_set *set_get(struct overlap_index *x, const struct flow_key *common)
{
	__u32 hash = overlap_hash(common, sizeof(*common), x->seed);
	struct overlap_set **bucket = &x->sets[hash % BUCKETS], *s = *bucket;

	while (s && (s->hash != hash || memcmp(&s->common, common, sizeof(*common))))
		s = s->next;
	if (!s) {
		s = malloc(sizeof(*s));
		if (!s)
			return NULL;
		/* Without room it is of no use, and nobody tries again. */
		overlap_set_init(s, common, x->seed, &x->room);
		s->hash = hash;
		s->next = *bucket;
		*bucket = s;
	}
	s->users++;
	return s;
}

static void set_put(struct overlap_index *x, struct overlap_set *s)
{
	struct overlap_set **at = &x->sets[s->hash % BUCKETS];

	if (--s->users)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	overlap_set_end(s);
	free(s);
}

/* Puts all flows of a mask into a set. */
static void fill_side(const struct indexed_mask *m, const struct filing *f)
{
	for (__u32 place = 0; place < m->end; place++) {
		const struct flow_key *key = m->base.members[place].key;

		if (key && overlap_set_insert(f->set, f->side, place, key, overlap_set_hash(f->set, key))) {
			overlap_set_end(f->set);
			return;
		}
	}
}

/* The set for this common mask, with the flows of a mask in it; NULL = no memory. */
static struct overlap_set *file_mask(struct overlap_index *x, struct indexed_mask *m, const struct flow_key *common)
{
	struct filing *filings = realloc(m->filings, (m->filing_count + 1) * sizeof(*filings)), *new;
	struct overlap_set *set = filings ? set_get(x, common) : NULL;

	if (filings)
		m->filings = filings;
	if (!set)
		return NULL;
	for (__u32 i = 0; i < m->filing_count; i++) {
		if (filings[i].set == set) {
			set_put(x, set);
			return set;
		}
	}
	new = &filings[m->filing_count++];
	new->set = set;
	if (set->cells && !overlap_set_open_side(set, &m->base, &new->side))
		fill_side(m, new);
	else
		overlap_set_end(set);
	return set;
}

/* The hashes of a flow's values, all of them before the first is looked at: memory is slow, but not one by one. */
static void hash_values(struct overlap_index *x, const struct indexed_mask *m, const struct flow_key *key)
{
	/* Most flows have just been checked. */
	bool checked = m->filing_count && !memcmp(key, &x->checked, sizeof(*key));

	for (__u32 i = 0; i < m->filing_count; i++) {
		struct overlap_set *set = m->filings[i].set;

		if (!set->cells || (checked && set->check == x->check))
			continue;
		set->value = overlap_set_hash(set, key);
		set->check = 0;
	}
}

static void insert_into_sets(struct overlap_index *x, const struct indexed_mask *m, __u32 place)
{
	const struct flow_key *key = m->base.members[place].key;

	hash_values(x, m, key);
	for (__u32 i = 0; i < m->filing_count; i++) {
		const struct filing *f = &m->filings[i];

		if (f->set->cells && overlap_set_insert(f->set, f->side, place, key, f->set->value))
			overlap_set_end(f->set);
	}
}

static void remove_from_sets(struct overlap_index *x, const struct indexed_mask *m, __u32 place)
{
	const struct flow_key *key = m->base.members[place].key;

	hash_values(x, m, key);
	for (__u32 i = 0; i < m->filing_count; i++) {
		const struct filing *f = &m->filings[i];

		if (f->set->cells)
			overlap_set_remove(f->set, f->side, place, key, f->set->value);
	}
}

/* --- masks -------------------------------------------------------------------------------------------------------- */

static void mask_free(struct overlap_index *x, struct indexed_mask *m)
{
	for (__u32 i = 0; i < m->filing_count; i++) {
		const struct filing *f = &m->filings[i];

		if (f->set->cells)
			overlap_set_close_side(f->set, f->side);
		set_put(x, f->set);
	}
	free(m->filings);
	free(m->base.members);
	free(m);
}

static struct indexed_mask *mask_make(struct overlap_index *x, struct dp *dp, __u32 id)
{
	struct indexed_mask *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->base.id = id;
	m->key = &dp->masks[id].mask.key;
	m->free = NO_PLACE;
	x->unfit |= !overlap_filter_fits(&x->filter, m->key);
	x->by_id[id] = m;
	if (x->ids_end <= id)
		x->ids_end = id + 1;
	x->mask[x->mask_count++] = m;
	return m;
}

/* Its id may be another mask's soon. */
static void mask_drop(struct overlap_index *x, struct indexed_mask *m)
{
	__u32 at = 0;

	while (x->mask[at] != m)
		at++;
	x->mask[at] = x->mask[--x->mask_count];
	x->by_id[m->base.id] = NULL;
	for (__u32 i = 0; i < x->mask_count; i++)
		x->mask[i]->meetings[m->base.id] = (struct overlap_meeting){};
	mask_free(x, m);
}

static int claim_place(struct indexed_mask *m, __u32 *place)
{
	if (m->free != NO_PLACE) {
		*place = m->free;
		m->free = m->base.members[*place].slot;
		return 0;
	}
	if (m->end == m->size) {
		__u32 size = m->size ? 2 * m->size : MEMBERS_MIN;
		void *members = realloc(m->base.members, size * sizeof(*m->base.members));

		if (!members)
			return -ENOMEM;
		m->base.members = members;
		m->size = size;
	}
	*place = m->end++;
	return 0;
}

/* --- the filter --------------------------------------------------------------------------------------------------- */

static void make_filter(struct overlap_index *x)
{
	struct flow_key always;
	__u32 flows = FILTER_GROWTH * x->flows;

	if (flows > x->flows + x->expected)
		flows = x->flows + x->expected;
	if (flows < 2 * x->flows)
		flows = 2 * x->flows;
	memset(&always, 0xff, sizeof(always));
	for (__u32 i = 0; i < x->mask_count; i++)
		key_apply_mask(&always, &always, x->mask[i]->key);
	overlap_filter_make(&x->filter, &always, flows);
	for (__u32 i = 0; i < x->mask_count; i++) {
		const struct indexed_mask *m = x->mask[i];

		for (__u32 place = 0; place < m->end; place++)
			if (m->base.members[place].key)
				overlap_filter_add(&x->filter, m->base.members[place].key, m->base.id);
	}
	x->unfit = false;
	x->unfiltered = 0;
}

static void add_to_filter(struct overlap_index *x, const struct indexed_mask *m, const struct flow_key *key)
{
	if (x->unfit)
		return;
	if (x->filter.flows > x->filter.size / 2)
		make_filter(x);
	else
		overlap_filter_add(&x->filter, key, m->base.id);
}

/* Masks may come one by one, each with fewer bits: the filter is made anew when it has been missed for long enough. */
static __u64 look_into_filter(struct overlap_index *x, const struct flow_key *key, const struct flow_key *mask)
{
	if (x->unfit && (__u64)++x->unfiltered * FILTERED_PER_CHECK >= x->flows)
		make_filter(x);
	return x->unfit ? ~0ULL : overlap_filter_look(&x->filter, key, mask);
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

static int make_places(struct overlap_index *x, struct dp *dp)
{
	__u32 size = dp->info->flow_page_count * PAGE_SLOTS;
	void *places;

	if (size == x->place_size)
		return 0;
	places = realloc(x->place, size * sizeof(*x->place));
	if (!places)
		return -ENOMEM;
	x->place = places;
	x->place_size = size;
	return 0;
}

int overlap_index_add(struct overlap_index *x, struct dp *dp, __u32 slot)
{
	struct flow *flow = dp_flow(dp, slot);
	struct indexed_mask *m = x->by_id[flow->mask_id];
	const struct overlap_class *class;
	__u32 place;

	if (make_places(x, dp) || (!m && !(m = mask_make(x, dp, flow->mask_id))) || claim_place(m, &place))
		return -ENOMEM;
	class = overlap_class_get(&x->classes, dp_actions(dp, flow));
	if (!class)
		return -ENOMEM;
	m->base.members[place] = (struct overlap_member){ .key = &flow->key, .actions = class, .slot = slot };
	x->place[slot] = place;
	if (!m->flows)
		m->only = class;
	else if (m->only != class)
		m->only = NULL;
	m->flows++;
	x->flows++;
	insert_into_sets(x, m, place);
	add_to_filter(x, m, &flow->key);
	return 0;
}

void overlap_index_remove(struct overlap_index *x, struct dp *dp, __u32 slot)
{
	struct indexed_mask *m = x->by_id[dp_flow(dp, slot)->mask_id];
	__u32 place = x->place[slot];
	struct overlap_member *member = &m->base.members[place];

	x->flows--;
	m->flows--;
	remove_from_sets(x, m, place);
	overlap_class_put(&x->classes, member->actions);
	*member = (struct overlap_member){ .slot = m->free };
	m->free = place;
	if (!m->flows)
		mask_drop(x, m);
}

/* --- the search --------------------------------------------------------------------------------------------------- */

static const struct overlap_member *search_members(const struct indexed_mask *m, const struct flow_key *key,
						   const struct flow_key *mask, const struct overlap_class *class)
{
	for (__u32 place = 0; place < m->end; place++) {
		const struct overlap_member *member = &m->base.members[place];

		if (member->key && member->actions != class && overlap_keys(key, mask, member->key, m->key))
			return member;
	}
	return NULL;
}

/* Where a flow that overlaps may be. */
struct suspect {
	struct overlap_set *set;   /* or */
	struct indexed_mask *mask; /* whose flows are looked at one by one */
};

struct search {
	const struct flow_key *key;
	const struct flow_key *mask;
	const struct overlap_class *class; /* NULL = no flow has these actions */
	struct overlap_meeting *meetings;  /* of the mask, by the id of the other one */
	__u32 count;
	struct suspect suspect[MASKS_MAX];
};

/* The set where the flow meets those of a mask, or NULL if it is not worth one yet. */
static struct overlap_set *meeting_set(struct overlap_index *x, struct search *q, struct indexed_mask *m)
{
	struct overlap_meeting *meeting = &q->meetings[m->base.id];
	struct flow_key common;

	if (meeting->set || m->end <= MEMBERS_SEARCHED)
		return meeting->set;
	meeting->searched += m->end;
	if (meeting->searched / SEARCHES_PER_SET < m->end)
		return NULL;
	key_apply_mask(&common, m->key, q->mask);
	meeting->set = file_mask(x, m, &common);
	return meeting->set;
}

static void suspect_mask(struct overlap_index *x, struct search *q, struct indexed_mask *m)
{
	struct overlap_set *set = meeting_set(x, q, m);

	if (!set || !set->cells) {
		q->suspect[q->count++] = (struct suspect){ .mask = m };
	} else if (set->check != x->check) {
		set->check = x->check;
		set->value = overlap_set_hash(set, q->key);
		q->suspect[q->count++] = (struct suspect){ .set = set };
	}
}

/* Different keys under one mask differ in a bit of it, and equal actions are no conflict. */
static void list_suspects(struct overlap_index *x, struct search *q, const struct indexed_mask *own)
{
	__u64 may_be = look_into_filter(x, q->key, q->mask);

	x->check++;
	x->checked = *q->key;
	for (; may_be; may_be &= may_be - 1) {
		for (__u32 id = __builtin_ctzll(may_be); id < x->ids_end; id += OVERLAP_FILTER_BITS) {
			struct indexed_mask *m = x->by_id[id];

			if (m && m != own && !(m->only && m->only == q->class))
				suspect_mask(x, q, m);
		}
	}
}

/* Memory became short after the set was suspected. */
static const struct overlap_member *search_lost_set(struct overlap_index *x, struct search *q,
						    const struct overlap_set *set)
{
	const struct overlap_member *found = NULL;

	for (__u32 i = 0; !found && i < x->mask_count; i++)
		if (q->meetings[x->mask[i]->base.id].set == set)
			found = search_members(x->mask[i], q->key, q->mask, q->class);
	return found;
}

static __u32 search_suspects(struct overlap_index *x, struct search *q)
{
	for (__u32 i = 0; i < q->count; i++) {
		const struct suspect *s = &q->suspect[i];
		const struct overlap_member *found;

		if (!s->set)
			found = search_members(s->mask, q->key, q->mask, q->class);
		else if (!s->set->cells)
			found = search_lost_set(x, q, s->set);
		else
			found = overlap_set_find(s->set, q->meetings, q->key, s->set->value, q->class);
		if (found)
			return found->slot;
	}
	return SLOT_NONE;
}

/*
 * A mask that has no flow yet knows no other.  Most get one soon; but if all flows of such masks are refused, they may not
 * search one by one for ever.
 */
static void meet_all(struct overlap_index *x, struct overlap_meeting *meetings)
{
	bool patient = x->searched_new / SEARCHES_BY_NEW <= x->flows;

	if (patient)
		x->searched_new += x->flows;
	for (__u32 i = 0; i < x->mask_count; i++)
		meetings[x->mask[i]->base.id] =
			(struct overlap_meeting){ .searched = patient ? 0 : FLOWS_LIMIT * SEARCHES_PER_SET };
}

__u32 overlap_index_find(struct overlap_index *x, const struct flow_key *key, const struct flow_key *mask,
			 __u32 mask_id, const struct flow_action *actions)
{
	struct overlap_meeting meetings[MASKS_MAX];
	struct indexed_mask *own = mask_id == MASK_NONE ? NULL : x->by_id[mask_id];
	struct search q;

	q.key = key;
	q.mask = mask;
	q.class = overlap_class_find(&x->classes, actions);
	q.meetings = own ? own->meetings : meetings;
	q.count = 0;
	if (!own)
		meet_all(x, meetings);
	list_suspects(x, &q, own);
	return search_suspects(x, &q);
}

void overlap_index_prefetch(const struct overlap_index *x, const struct flow_key *key)
{
	if (!x->unfit)
		overlap_filter_prefetch(&x->filter, key);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

struct overlap_index *overlap_index_make(struct dp *dp, size_t room)
{
	struct overlap_index *x = calloc(1, sizeof(*x));
	int err = 0;

	if (!x)
		return NULL;
	x->room = room;
	x->expected = dp->expected;
	/* Secret, lest somebody who can name flows makes them collide; none (early in boot) is no other answer. */
	if (getrandom(&x->seed, sizeof(x->seed), GRND_NONBLOCK) < 0)
		x->seed = 0;
	x->filter.seed = x->classes.seed = x->seed;
	x->unfit = true;
	for (__u32 slot = flow_next(dp, 0); !err && slot != SLOT_NONE; slot = flow_next(dp, slot + 1))
		err = overlap_index_add(x, dp, slot);
	if (err)
		overlap_index_free(TAKE_PTR(x));
	else
		make_filter(x);
	return x;
}

void overlap_index_free(struct overlap_index *x)
{
	if (!x)
		return;
	for (__u32 i = 0; i < x->mask_count; i++)
		mask_free(x, x->mask[i]);
	overlap_classes_end(&x->classes);
	overlap_filter_end(&x->filter);
	free(x->place);
	free(x);
}
