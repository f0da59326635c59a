// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/pedit_model.h"

#include <stdbool.h>
#include <string.h>

static bool inside(const struct pedit_model *m, int offset, int bytes)
{
	return offset >= -m->headroom && offset <= m->len - bytes;
}

/* Each key looks for its header again: one before it may have changed where that is. */
static int base_of(const struct pedit_model *m, enum pedit_base base)
{
	int ip = m->base[PEDIT_NETWORK], words;

	if (m->base[base] != PEDIT_MODEL_BY_IHL)
		return m->base[base];
	if (!inside(m, ip, 20))
		return PEDIT_MODEL_NO_HEADER;
	words = m->frame[ip] & 0xf;
	/* Linux 7.3 asks; before, a header of no length was taken. */
	return words < 5 ? PEDIT_MODEL_NO_HEADER : ip + words * 4;
}

/* The sum is that of the words as they lie in memory: on a little-endian host a carry moves to the next byte. */
static __u32 word_changed(__u32 word, const struct flow_action *key)
{
	__u32 value = key->pedit_key.value_be, mask = key->pedit_key.mask_be;

	if (key->flags & ACTION_F_ADD)
		value = (word + value) & ~mask;
	return (word & mask) ^ value;
}

static int key_execute(struct pedit_model *m, const struct flow_action *key)
{
	int base = base_of(m, key->key.base), offset = base + key->pedit_key.offset;
	__u32 word;

	if (base == PEDIT_MODEL_NO_HEADER)
		return -1;
	if (key->key.offmask) {
		int at = base + key->pedit_key.at;

		if (!inside(m, at, 1))
			return -1;
		offset += (m->frame[at] & key->key.offmask) >> key->key.shift;
		/* Counted from the header, not from the frame. */
		if ((offset - base) & 3)
			return -1;
	}
	if (!inside(m, offset, 4))
		return -1;
	memcpy(&word, m->frame + offset, 4);
	word = word_changed(word, key);
	memcpy(m->frame + offset, &word, 4);
	return 0;
}

int pedit_model_keys(struct pedit_model *m, const struct flow_action *key, unsigned int count)
{
	int err = 0;

	for (; count && !err; count--, key++)
		err = key_execute(m, key);
	return err;
}

static int write_execute(struct pedit_model *m, const struct flow_action *write)
{
	const struct flow_action *masks = write + 1;
	int base = base_of(m, write->write.base), i;
	__u32 word;

	if (base == PEDIT_MODEL_NO_HEADER)
		return -1;
	for (i = 0; i < write->write.words; i++) {
		int offset = base + masks->offset + 4 * i;

		if (!inside(m, offset, 4))
			return -1;
		memcpy(&word, m->frame + offset, 4);
		word = (word & masks->words_be[i]) ^ write->words_be[i];
		memcpy(m->frame + offset, &word, 4);
	}
	return 0;
}

int pedit_model_steps(struct pedit_model *m, const struct flow_action *step)
{
	for (;;) {
		int err = step->type == ACTION_PEDIT_WRITE ? write_execute(m, step) : key_execute(m, step);

		if (err || step->flags & ACTION_F_STEPS_END)
			return err;
		step += step->type == ACTION_PEDIT_WRITE ? 2 : 1;
	}
}
