// SPDX-License-Identifier: GPL-2.0-only
#include "pedit_steps.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "action_list.h"
#include "error.h"

/* A write that is being gathered; no words = none is. */
struct write {
	enum pedit_base base;
	int offset; /* of the first word */
	unsigned int words;
	__be32 value_be[PEDIT_WORDS_MAX];
	__be32 mask_be[PEDIT_WORDS_MAX];
};

int pedit_record_append(struct action_list *l, const struct flow_action *a, struct error *e)
{
	struct flow_action *to;

	if (l->count == FLOW_ACTIONS_MAX)
		return error_set(e, E2BIG, "more than %u records are not possible in one flow", FLOW_ACTIONS_MAX);
	to = action_append(l, a->type, e);
	*to = *a;
	return 0;
}

static bool always_there(enum pedit_base base, int offset)
{
	return base == PEDIT_ETH && offset >= 0 && offset <= 8;
}

/* What it writes may be the length of the IP header, by which its own base is found. */
static bool may_move_base(enum pedit_base base, int offset)
{
	return (base == PEDIT_TCP || base == PEDIT_UDP) && offset < 0;
}

/* It may begin before the frame and end in it; the program does such a word by itself. */
static bool may_straddle(enum pedit_base base, int offset)
{
	return (base == PEDIT_NETWORK || base == PEDIT_IP4 || base == PEDIT_IP6) && offset <= -16;
}

static int last_offset(const struct write *w)
{
	return w->offset + 4 * ((int)w->words - 1);
}

/* Words from `first` on, so many of them; what is new keeps the packet as it is. */
static void write_extend(struct write *w, int first, unsigned int words)
{
	struct write old = *w;
	unsigned int i, from = old.words ? (old.offset - first) / 4 : 0;

	w->offset = first;
	w->words = words;
	for (i = 0; i < words; i++) {
		w->value_be[i] = 0;
		w->mask_be[i] = ~(__be32)0;
	}
	memcpy(w->value_be + from, old.value_be, 4 * old.words);
	memcpy(w->mask_be + from, old.mask_be, 4 * old.words);
}

static void write_compose(struct write *w, const struct flow_action *key)
{
	unsigned int i = (key->pedit_key.offset - w->offset) / 4;

	w->value_be[i] = (w->value_be[i] & key->pedit_key.mask_be) ^ key->pedit_key.value_be;
	w->mask_be[i] &= key->pedit_key.mask_be;
}

static bool write_join(struct write *w, const struct flow_action *key)
{
	int offset = key->pedit_key.offset, last = last_offset(w), first = w->offset;

	if (!w->words || w->base != key->key.base || may_move_base(w->base, first) || may_straddle(w->base, first))
		return false;
	if (always_there(w->base, offset) && always_there(w->base, first) && always_there(w->base, last)) {
		first = offset < first ? offset : first;
		last = offset > last ? offset : last;
	} else if (offset == last + 4 && w->words < PEDIT_WORDS_MAX) {
		last = offset;
	} else if (offset != last) {
		return false;
	}
	write_extend(w, first, (last - first) / 4 + 1);
	write_compose(w, key);
	return true;
}

static int write_flush(struct write *w, struct action_list *l, struct error *e)
{
	struct flow_action value, mask;
	unsigned int words = w->words;
	int err;

	w->words = 0;
	if (!words)
		return 0;
	memset(&value, 0, sizeof(value));
	value.type = ACTION_PEDIT_WRITE;
	value.write.base = w->base;
	value.write.words = words;
	memcpy(value.words_be, w->value_be, 4 * words);
	memset(&mask, 0, sizeof(mask));
	mask.type = ACTION_PEDIT_MASK;
	mask.offset = w->offset;
	memcpy(mask.words_be, w->mask_be, 4 * words);
	err = pedit_record_append(l, &value, e);
	return err ? err : pedit_record_append(l, &mask, e);
}

static int key_step(struct write *w, const struct flow_action *key, struct action_list *l, struct error *e)
{
	bool in_place = key->flags & ACTION_F_ADD || key->key.offmask;
	int err;

	if (!in_place && write_join(w, key))
		return 0;
	err = write_flush(w, l, e);
	if (err)
		return err;
	if (in_place)
		return pedit_record_append(l, key, e);
	w->base = key->key.base;
	write_extend(w, key->pedit_key.offset, 1);
	write_compose(w, key);
	return 0;
}

int pedit_steps_append(struct action_list *l, unsigned int header, struct error *e)
{
	unsigned int first_step = l->count, i, last;
	struct write w = { .words = 0 };
	int err;

	for (i = header + 1; i < first_step; i++) {
		err = key_step(&w, &l->action[i], l, e);
		if (err)
			return err;
	}
	err = write_flush(&w, l, e);
	if (err)
		return err;
	last = l->count - 1;
	if (l->action[last].type == ACTION_PEDIT_MASK)
		last--;
	l->action[last].flags |= ACTION_F_STEPS_END;
	return 0;
}
