// SPDX-License-Identifier: GPL-2.0-only
#include "overlap_class.h"

#include <stdlib.h>
#include <string.h>

#include "flow_hash.h"

static __u32 count_actions(const struct flow_action *actions)
{
	__u32 n = 0;

	while (actions[n].type != ACTION_END)
		n++;
	return n;
}

/* As flow_hash(), with one chain. */
__u32 overlap_hash(const void *bytes, size_t size, __u64 seed)
{
	__u64 h = seed, word;

	for (size_t at = 0; at < size; at += sizeof(word)) {
		memcpy(&word, (const char *)bytes + at, sizeof(word));
		h = __builtin_bswap64((h ^ word) * FLOW_HASH_K1) * FLOW_HASH_K2;
	}
	return h >> 32;
}

/* Where a list like this hangs, or would. */
static struct overlap_class **find(const struct overlap_classes *cs, const struct flow_action *actions, __u32 count,
				   __u32 hash)
{
	struct overlap_class *const *at = &cs->bucket[hash % OVERLAP_CLASS_BUCKETS];

	while (*at && ((*at)->hash != hash || (*at)->count != count ||
		       memcmp((*at)->actions, actions, count * sizeof(*actions))))
		at = &(*at)->next;
	return (struct overlap_class **)at;
}

const struct overlap_class *overlap_class_find(const struct overlap_classes *cs, const struct flow_action *actions)
{
	__u32 count = count_actions(actions);

	return *find(cs, actions, count, overlap_hash(actions, count * sizeof(*actions), cs->seed));
}

const struct overlap_class *overlap_class_get(struct overlap_classes *cs, const struct flow_action *actions)
{
	__u32 count = count_actions(actions), hash = overlap_hash(actions, count * sizeof(*actions), cs->seed);
	struct overlap_class **at = find(cs, actions, count, hash);

	if (!*at) {
		*at = malloc(sizeof(**at) + count * sizeof(*actions));
		if (!*at)
			return NULL;
		**at = (struct overlap_class){ .hash = hash, .count = count };
		memcpy((*at)->actions, actions, count * sizeof(*actions));
	}
	(*at)->flows++;
	return *at;
}

void overlap_class_put(struct overlap_classes *cs, const struct overlap_class *class)
{
	struct overlap_class **at = find(cs, class->actions, class->count, class->hash), *gone = *at;

	if (--gone->flows)
		return;
	*at = gone->next;
	free(gone);
}

void overlap_classes_end(struct overlap_classes *cs)
{
	for (__u32 i = 0; i < OVERLAP_CLASS_BUCKETS; i++) {
		while (cs->bucket[i]) {
			struct overlap_class *class = cs->bucket[i];

			cs->bucket[i] = class->next;
			free(class);
		}
	}
}
