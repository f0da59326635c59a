// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random lists of keys.  Their text reads back as the same records; their steps do to a frame, of any length, what the
 * keys do one by one, up to the key that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "action_text.h"
#include "error.h"
#include "pedit_field.h"
#include "pedit_steps.h"
#include "pedit_text.h"
#include "tests/unit/pedit_model.h"
#include "util.h"

enum {
	ROUNDS = 20000,
	HEADROOM = 16,
	FRAME_MIN = 14, /* what arrives has an Ethernet header */
	FRAME_MAX = 90,
};

static unsigned int below(unsigned int n)
{
	return (unsigned int)random() % n;
}

/* Numbers with few bits, many, or whole bytes. */
static __u32 word(void)
{
	__u32 r = (__u32)random() << 16 ^ (__u32)random();

	switch (below(6)) {
	case 0:
		return 0;
	case 1:
		return ~0U;
	case 2:
		return 0xffU << 8 * below(4);
	case 3:
		return ~(0xffU << 8 * below(4));
	default:
		return r;
	}
}

static unsigned int random_key(unsigned int mode, struct flow_action *key)
{
	bool ex = mode & ACTION_F_EX, far = !below(50);
	int offset = far ? 4 * ((int)below(16384) - 8192) : 4 * ((int)below(16) - 6);

	*key = pedit_key(ex ? below(PEDIT_BASES) : PEDIT_NETWORK, offset, ex && !below(4), word(), word());
	if (!below(8)) {
		key->key.offmask = 1 + below(255);
		key->key.shift = below(32);
		key->pedit_key.at = far ? (int)below(65536) - 32768 : (int)below(40) - 10;
	}
	return 1;
}

/* What text of a field gives. */
static unsigned int field_keys(unsigned int mode, struct flow_action *key)
{
	struct pedit_munge m = { .number = word(), .retain = below(4) ? ~0U : word() };
	const struct pedit_field *f = NULL;
	unsigned int i;

	while (!f) {
		unsigned int position = below(40);

		f = pedit_field_next(mode, &position);
	}
	m.field = *f;
	for (i = 0; i < sizeof(m.bytes); i++)
		m.bytes[i] = random();
	if (m.retain == ~0U)
		m.retain = f->retain;
	m.command = below(4) ? PEDIT_SET : below(PEDIT_COMMANDS);
	if (m.command == PEDIT_PRESERVE)
		m.retain = 0;
	if (!(mode & ACTION_F_EX) && (m.command == PEDIT_ADD || m.command == PEDIT_DEC_BY_ONE))
		m.command = PEDIT_INVERT;
	if (m.command == PEDIT_PRESERVE && f->kind >= PEDIT_MAC)
		m.command = PEDIT_CLEAR;
	return pedit_pack(&m, mode, key);
}

static void random_list(struct action_list *l)
{
	static const unsigned int modes[] = { 0, ACTION_F_EX, ACTION_F_COMPAT, ACTION_F_EX | ACTION_F_COMPAT };
	unsigned int most = below(100) ? 1 + below(10) : PEDIT_KEYS_MAX, mode = modes[below(4)], count;
	struct error e;

	memset(l, 0, sizeof(*l));
	l->action[0].type = ACTION_PEDIT;
	l->action[0].flags = mode;
	for (count = 0; count < most;) {
		struct flow_action key[PEDIT_MUNGE_KEYS];
		unsigned int n = below(2) ? random_key(mode, key) : field_keys(mode, key);

		if (count + n > most)
			n = most - count;
		memcpy(&l->action[1 + count], key, n * sizeof(*key));
		count += n;
	}
	l->action[0].pedit.keys = count;
	l->count = 1 + count;
	assert_int_equal(pedit_steps_append(l, 0, &e), 0);
}

static void text_gives_the_same_records(void **state)
{
	unsigned int round, named = 0, keys = 0;

	(void)state;
	srandom(1);
	for (round = 0; round < ROUNDS; round++) {
		static struct action_list l, again;
		CLEANUP_FREE char *text = NULL;
		const char *at;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct error e;

		random_list(&l);
		assert_ptr_equal(pedit_print(out, l.action), &l.action[l.count]);
		fclose(out);
		memset(&again, 0, sizeof(again));
		if (pedit_parse((struct text){ text + 6, size - 7 }, &again, &e))
			fail_msg("%s: %s", text, e.text);
		if (memcmp(&l, &again, sizeof(l)))
			fail_msg("other records: %s", text);
		keys += l.action[0].pedit.keys;
		for (at = text; (at = strstr(at, "munge ")); at++)
			named += at[6] >= 'a' && (at[8] == ' ' || at[9] == ' ');
	}
	printf("# pedit: %u lists of %u keys, %u munges with a field's name\n", round, keys, named);
	assert_true(named > ROUNDS);
}

static void random_frame(struct pedit_model *m, __u8 *memory)
{
	int i;

	m->headroom = below(3) ? 0 : below(HEADROOM + 1);
	m->len = FRAME_MIN + below(below(3) ? FRAME_MAX - FRAME_MIN + 1 : 4);
	m->frame = memory + HEADROOM;
	for (i = 0; i < HEADROOM + FRAME_MAX; i++)
		memory[i] = below(3) ? random() : 0xff * below(2);
	m->base[PEDIT_ETH] = 0;
	m->base[PEDIT_NETWORK] = m->base[PEDIT_IP4] = m->base[PEDIT_IP6] = below(2) ? 14 : 18;
	m->base[PEDIT_TCP] = m->base[PEDIT_UDP] = below(8) ? PEDIT_MODEL_BY_IHL : PEDIT_MODEL_NO_HEADER;
	if (below(8))
		m->frame[m->base[PEDIT_NETWORK]] = 0x45 + below(4);
}

static void steps_do_what_the_keys_do(void **state)
{
	unsigned int round, failed = 0, keys = 0, steps = 0;

	(void)state;
	srandom(2);
	for (round = 0; round < 4 * ROUNDS; round++) {
		static struct action_list l;
		__u8 by_keys[HEADROOM + FRAME_MAX], by_steps[HEADROOM + FRAME_MAX];
		struct pedit_model m;
		unsigned int count, i;
		int err;

		random_list(&l);
		count = l.action[0].pedit.keys;
		random_frame(&m, by_keys);
		memcpy(by_steps, by_keys, sizeof(by_keys));
		err = pedit_model_keys(&m, &l.action[1], count);
		m.frame = by_steps + HEADROOM;
		assert_int_equal(pedit_model_steps(&m, &l.action[1 + count]), err);
		assert_memory_equal(by_keys, by_steps, sizeof(by_keys));
		failed += err != 0;
		keys += count;
		for (i = 1 + count; i < l.count; i++)
			steps += l.action[i].type != ACTION_PEDIT_MASK;
	}
	printf("# pedit: %u frames, %u keys as %u steps; in %u frames a key failed\n", round, keys, steps, failed);
	assert_true(failed > ROUNDS && failed < 3 * ROUNDS);
	assert_true(steps < keys);
}

/* Runs of words that follow each other, which is what merges: every length of frame, so that each word is the last. */
static void every_end_of_a_frame(void **state)
{
	static const char text[] =
		"compat ex munge ip6 src set 2001:db8::1 munge ip6 src invert munge ip6 dst set 2001:db8::2 "
		"munge eth src set 02:00:00:00:00:01 munge eth dst set 02:00:00:00:00:02 munge eth type set 1 "
		"munge offset 36 u32 invert munge offset 40 u32 clear munge offset 36 u16 set 1 "
		"munge ip6 payload_len add 255 munge ip6 flow_lbl set 5";
	struct action_list l = { .count = 0 };
	struct error e;
	int len;

	(void)state;
	assert_int_equal(pedit_parse(text_of(text), &l, &e), 0);
	for (len = FRAME_MIN; len <= FRAME_MAX; len++) {
		__u8 by_keys[HEADROOM + FRAME_MAX], by_steps[HEADROOM + FRAME_MAX];
		struct pedit_model m;
		int err;

		random_frame(&m, by_keys);
		memcpy(by_steps, by_keys, sizeof(by_keys));
		m.len = len;
		err = pedit_model_keys(&m, &l.action[1], l.action[0].pedit.keys);
		m.frame = by_steps + HEADROOM;
		assert_int_equal(pedit_model_steps(&m, &l.action[1 + l.action[0].pedit.keys]), err);
		assert_memory_equal(by_keys, by_steps, sizeof(by_keys));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_gives_the_same_records),
		cmocka_unit_test(steps_do_what_the_keys_do),
		cmocka_unit_test(every_end_of_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
