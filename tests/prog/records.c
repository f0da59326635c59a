// SPDX-License-Identifier: GPL-2.0-only
#include "records.h"

#include <linux/pkt_cls.h>
#include <string.h>

#include "flow_table.h"
#include "match_text.h"

static struct action_list *list_of(const struct flow_action *list, __u32 count)
{
	struct action_list *l = calloc(1, sizeof(*l));

	assert_true(count <= FLOW_ACTIONS_MAX);
	memcpy(l->action, list, count * sizeof(*list));
	l->count = count;
	return l;
}

static __u32 add_match(struct world *w, const struct match *m, const struct flow_action *list, __u32 count)
{
	CLEANUP_FREE struct action_list *l = list_of(list, count);
	__u32 slot;

	assert_ok(flow_add(w->dp, m, l, e));
	assert_int_equal(flow_find(w->dp, m, &slot), 0);
	commit(w);
	return slot;
}

__u32 add_list(struct world *w, const char *match, const struct flow_action *list, __u32 count)
{
	struct match m;

	assert_ok(match_parse(match, NULL, &m, e));
	return add_match(w, &m, list, count);
}

__u32 add_list_for_port(struct world *w, __u32 port, const struct flow_action *list, __u32 count)
{
	struct match m = { .key.in_port = port, .mask.in_port = 0xffff };

	return add_match(w, &m, list, count);
}

void set_list(struct world *w, __u32 slot, const struct flow_action *list, __u32 count)
{
	CLEANUP_FREE struct action_list *l = list_of(list, count);

	assert_ok(flow_set_actions(w->dp, slot, l, e));
}

struct flow_action output(__u32 port)
{
	return (struct flow_action){ .type = ACTION_OUTPUT, .port = port };
}

struct flow_action last(__u32 port)
{
	return (struct flow_action){ .type = ACTION_OUTPUT, .flags = ACTION_F_LAST, .port = port };
}

static struct flow_action set(enum set_field field)
{
	struct flow_action a = { .type = ACTION_SET };

	a.set.field = field;
	return a;
}

struct flow_action set_macs(const __u8 dst[6], const __u8 src[6])
{
	struct flow_action a = set(SET_ETH);

	memcpy(a.eth_pair.dst, dst, 6);
	memcpy(a.eth_pair.src, src, 6);
	return a;
}

struct flow_action set_mac(enum set_field field, const __u8 value[6], const __u8 mask[6])
{
	struct flow_action a = set(field);

	memcpy(a.mac.value, value, 6);
	memcpy(a.mac.mask, mask, 6);
	return a;
}

struct flow_action set_host(enum set_field field, __u32 value, __u32 mask)
{
	struct flow_action a = set(field);

	a.word.value = value;
	a.word.mask = mask;
	return a;
}

struct flow_action set_word(enum set_field field, __u32 value, __u32 mask)
{
	return set_host(field, htonl(value), htonl(mask));
}

struct flow_action set_part(enum set_field field, __u8 part, __u32 value, __u32 mask)
{
	struct flow_action a = set_word(field, value, mask);

	a.set.part = part;
	return a;
}

struct flow_action set_half(enum set_field field, __u16 value, __u16 mask)
{
	struct flow_action a = set(field);

	a.half.value_be = htons(value);
	a.half.mask_be = htons(mask);
	return a;
}

struct flow_action set_byte(enum set_field field, __u8 value, __u8 mask)
{
	struct flow_action a = set(field);

	a.byte.value = value;
	a.byte.mask = mask;
	return a;
}

struct flow_action push_vlan(__u16 tpid, __u16 tci)
{
	struct flow_action a = { .type = ACTION_PUSH_VLAN };

	a.vlan.tpid_be = htons(tpid);
	a.vlan.tci_be = htons(tci | VLAN_TAG_PRESENT);
	return a;
}

struct flow_action pop_vlan(void)
{
	return (struct flow_action){ .type = ACTION_POP_VLAN };
}

struct flow_action pedit(void)
{
	return (struct flow_action){ .type = ACTION_PEDIT };
}

static void put_words(struct flow_action *a, __u32 x, __u32 y, __u32 z)
{
	a->words_be[0] = htonl(x);
	a->words_be[1] = htonl(y);
	a->words_be[2] = htonl(z);
}

struct flow_action write_words(enum pedit_base base, __u32 words, __u32 x, __u32 y, __u32 z)
{
	struct flow_action a = { .type = ACTION_PEDIT_WRITE };

	a.write.base = base;
	a.write.words = words;
	put_words(&a, x, y, z);
	return a;
}

struct flow_action write_masks(__s16 offset, __u32 x, __u32 y, __u32 z)
{
	struct flow_action a = { .type = ACTION_PEDIT_MASK };

	a.offset = offset;
	put_words(&a, x, y, z);
	return a;
}

struct flow_action at_key(enum pedit_base base, __s16 offset, __u32 value, __u32 mask, __s16 at, __u8 offmask,
			  __u8 shift)
{
	struct flow_action a = { .type = ACTION_PEDIT_KEY };

	a.key.base = base;
	a.key.shift = shift;
	a.key.offmask = offmask;
	a.pedit_key.value_be = htonl(value);
	a.pedit_key.mask_be = htonl(mask);
	a.pedit_key.offset = offset;
	a.pedit_key.at = at;
	return a;
}

struct flow_action add_key(enum pedit_base base, __s16 offset, __u32 value, __u32 mask)
{
	struct flow_action a = at_key(base, offset, value, mask, 0, 0, 0);

	a.flags = ACTION_F_ADD;
	return a;
}

struct flow_action steps_end(struct flow_action a)
{
	a.flags |= ACTION_F_STEPS_END;
	return a;
}

struct flow_action csum(__u8 what)
{
	struct flow_action a = { .type = ACTION_CSUM };

	a.csum.what = what;
	return a;
}

__u64 overlimits(struct world *w, __u32 slot)
{
	struct flow_counts counts;

	flow_counts(w->dp, slot, &counts);
	return counts.overlimits;
}

void assert_becomes(struct world *w, const struct frame *in, const struct frame *out)
{
	assert_int_equal(run_frame(w, 1, in), TC_ACT_REDIRECT);
	assert_heard(w, 2, *out);
}
