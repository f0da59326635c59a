// SPDX-License-Identifier: GPL-2.0-only
/* pedit() as text: each field's bytes, what is refused and why, what is printed, and which keys become one write. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "action_text.h"
#include "error.h"
#include "pedit_text.h"
#include "tests/unit/pedit_model.h"
#include "util.h"

static void parse(const char *words, struct action_list *l)
{
	struct error e;

	memset(l, 0, sizeof(*l));
	if (pedit_parse(text_of(words), l, &e))
		fail_msg("'%s': %s", words, e.text);
}

static char *printed(const struct action_list *l)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_ptr_equal(pedit_print(out, l->action), &l->action[l->count]);
	fclose(out);
	return text;
}

/* Words, and what is printed for them; NULL: the same. */
static const char *const texts[][2] = {
	{ "ex munge eth src set 02:00:00:00:00:01 munge eth dst set 02:00:00:00:00:02", NULL },
	{ "ex munge eth type set 0x88a8", NULL },
	{ "ex munge eth src invert munge eth dst clear",
	  "ex munge eth src invert munge eth dst set 00:00:00:00:00:00" },
	{ "ex munge eth src add 00:00:00:00:00:01", NULL },
	{ "compat ex munge eth dst invert", "compat ex munge eth dst set ff:00:00:00:00:00" },
	{ "ex munge ip src set 10.0.0.1 munge ip dst set 0.0.0.2 retain 0xff", NULL },
	{ "munge ip src set 10.0.0.1 munge ip ttl set 64", NULL },
	{ "ex munge ip tos set 0xb8 retain 0xfc munge ip ttl add 254 munge ip ttl add 255",
	  "ex munge ip tos set 0xb8 retain 0xfc munge ip ttl add 254 munge ip ttl decrement" },
	{ "ex munge ip precedence set 5", NULL },
	{ "ex munge ip dsfield set 0x10", "ex munge ip tos set 0x10" },
	{ "ex munge ip ihl set 5 munge ip ihl set 69 retain 0xff", NULL },
	{ "ex munge ip df set 0x40 munge ip mf set 0x20 munge ip ce set 0x80", NULL },
	{ "ex munge ip nofrag set 0x3f munge ip firstfrag set 0x1f munge ip protocol set 17", NULL },
	{ "munge ip sport set 1 munge ip dport set 65535", NULL },
	{ "munge ip icmp_type set 8", NULL },
	{ "munge ip icmp_code set 3", NULL },
	{ "ex munge ip6 src set 2001:db8::1 munge ip6 dst set 2001:db8::2", NULL },
	{ "ex munge ip6 src invert", NULL },
	{ "compat ex munge ip6 src invert", "compat ex munge ip6 src set ff00::" },
	{ "ex munge ip6 flow_lbl set 0xfffff munge ip6 traffic_class set 0x40 munge ip6 traffic_class invert", NULL },
	{ "compat ex munge ip6 flow_lbl set 0x7ffff", NULL },
	{ "ex munge ip6 payload_len set 1 munge ip6 nexthdr set 6 munge ip6 hoplimit decrement", NULL },
	{ "ex munge tcp sport set 1 munge tcp dport add 2 munge tcp flags set 0x16", NULL },
	{ "ex munge udp sport set 1 munge udp dport invert", NULL },
	{ "munge offset -14 u16 set 0x1 munge offset -12 u32 set 0x2 munge offset 35 u8 invert", NULL },
	{ "ex munge offset 16 u8 add 0xf munge offset 0 u32 preserve", NULL },
	{ "munge offset 12 u16 at 12 ffff 1 set 0xaaaa", "munge offset 12 u16 at 12 ff 1 set 0xaaaa" },
	{ "munge offset 24 u32 at -2 f0 40 set 7 retain 0xf", "munge offset 27 u8 at -2 f0 31 set 0x7 retain 0xf" },
	{ "munge offset 40 u32 set 0x90abcdef retain 0xff00ff00",
	  "munge offset 40 u32 set 0x9000cd00 retain 0xff00ff00" },
	/* keys that no field's text gives */
	{ "ex munge ipv4+8 add 01ff0000 mask ff00ffff", NULL },
	{ "ex munge eth-4 val 00000001 mask ffffffff", NULL },
	{ "ex munge tcp+4 val 00000001 mask 00000000 at 12 f0 2", NULL },
	{ "munge 12 val ff000001 mask 00ffffff", NULL },
	/* a key as tc lists it, which has a name */
	{ "ex munge ipv4+8 val 0a000000 mask 00ffffff", "ex munge ip ttl set 10" },
	{ "munge -16 val 0x0 mask 0xffff0000", "munge offset -14 u16 set 0x0" },
	/* abbreviations */
	{ " e\tmun ip ttl s 0x1   r 0xf\npip ", "ex munge ip ttl set 1 retain 0xf" },
	{ "ex munge ip d set 4 munge ip to set 5", "ex munge ip tos set 0x4 munge ip tos set 0x5" },
	{ "munge o 0 u set 1 munge o 0 u1 set 2", "munge offset 0 u32 set 0x1 munge offset 0 u16 set 0x2" },
	{ "compat munge ip prec set 0x60", "compat munge ip tos set 0x60" },
	{ "ex munge ip p set 3 munge ip6 hop set 4", "ex munge ip precedence set 3 munge ip6 hoplimit set 4" },
	{ "compat munge ip tos preserve retain 0xff", "compat munge ip tos set 0x0" },
	{ "munge ip ttl set 7 retain 0xffffffff", "munge ip ttl set 7" },
};

static void texts_are_read_and_printed(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		CLEANUP_FREE char *text = NULL;
		const char *expected = texts[i][1] ? texts[i][1] : texts[i][0];
		struct action_list l;

		parse(texts[i][0], &l);
		text = printed(&l);
		text[strlen(text) - 1] = '\0';
		if (strncmp(text, "pedit(", 6) || strcmp(text + 6, expected))
			fail_msg("'%s' is printed as '%s'", texts[i][0], text);
	}
}

static const char *const refusals[][2] = {
	{ "", "actions: pedit: at least one munge is needed" },
	{ "ex", "at least one munge is needed" },
	{ "munge", "munge 0: nothing follows" },
	{ "munge ip ttl set 1 munge", "munge 1: nothing follows" },
	{ "munge ip ttl set", "munge 0: ip ttl: a value is missing" },
	{ "munge ip ttl", "ip ttl: '' is not set, add" },
	{ "munge ip ttl put 1", "ip ttl: 'put' is not set, add, decrement, invert, clear or preserve" },
	{ "munge ip", "'' is not a field of ip" },
	{ "munge ip colour set 1", "'colour' is not a field of ip" },
	{ "ex munge ip6 traffic set 1 munge ip t set 1", "'t' could be more than one field of ip" },
	{ "munge arp op set 1", "'arp' is not a header: eth, ip, ip6, tcp, udp, or offset" },
	{ "ex munge icmp type set 1", "icmp has no fields, in tc neither" },
	{ "munge eth type set 1", "eth type is possible only with ex" },
	{ "munge tcp sport set 1", "tcp sport is possible only with ex" },
	{ "ex munge ip sport set 1", "ip sport is possible only without ex; tcp and udp" },
	{ "munge ip ttl add 1", "ip ttl: add is possible only with ex" },
	{ "munge ip ttl decrement", "ip ttl: decrement is possible only with ex" },
	{ "ex munge ip tos decrement", "ip tos: only ip ttl and ip6 hoplimit can be decremented" },
	{ "ex munge eth src preserve", "eth src: preserve is not possible for fields longer than 32 bits" },
	{ "ex munge eth src set 02:00:00:00:00", "eth src: '02:00:00:00:00' is not a MAC address" },
	{ "munge ip src set 10.1", "ip src: '10.1' is not an IPv4 address" },
	{ "ex munge ip6 dst set 10.0.0.1", "ip6 dst: '10.0.0.1' is not an IPv6 address" },
	{ "ex munge ip precedence set 8", "ip precedence: 8 is out of range, 0 to 7" },
	{ "ex munge ip precedence set 8 retain 0xe0", "ip precedence: 8 is out of range, 0 to 7" },
	{ "ex munge ip precedence set 7 retain 0xe0", "ip precedence: retain: 0xe0 is out of range, 0 to 7" },
	{ "ex munge ip6 flow_lbl set 0x100000", "ip6 flow_lbl: 0x100000 is out of range, 0 to 1048575" },
	{ "munge ip ttl preserve retain 1", "ip ttl: preserve with retain changes what it names" },
	{ "munge ip ttl set 010", "could be octal" },
	{ "munge ip ttl set 1 retain x", "ip ttl: retain: 'x' is not a number" },
	{ "munge ip ttl set 1 retain", "ip ttl: retain: a number is missing" },
	{ "munge offset 1 u32 set 1", "offset: u32 at 1 is not inside one word" },
	{ "munge offset 3 u16 set 1", "offset: u16 at 3 is not inside one word" },
	{ "munge offset 0 u64 set 1", "offset: 'u64' is not a width: u8, u16, u32" },
	{ "munge offset 32768 u8 set 1", "offset: 32768 is beyond 16 bits, where no packet has bytes" },
	{ "munge offset -32769 u8 set 1", "offset: -32769 is beyond 16 bits" },
	{ "munge offset 0x100000000 u8 set 1", "offset: 0x100000000 is beyond 16 bits" },
	{ "munge offset two u8 set 1", "offset: 'two' is not a number of bytes" },
	{ "munge offset 0 u8 at 70000 ff 0 set 1", "at: 70000 is beyond 16 bits" },
	{ "munge offset 0 u8 at 1 f00 0 set 1", "at: mask: f00 has no bit of the byte" },
	{ "munge offset 0 u8 at 1 offmask ff shift 0 set 1",
	  "at: mask: 'offmask' is not a number of up to 8 hex digits" },
	{ "munge offset 0 u8 at 1 ff set 1", "at: shift: 'set' is not a number" },
	{ "munge 2 val 0 mask 0", "offset: 2 is not a multiple of 4" },
	{ "munge 4 set 0 mask 0", "'set' is neither val nor add" },
	{ "munge 4 val 0 retain 0", "'retain' stands where the word mask should" },
	{ "munge 4 val 123456789 mask 0", "val: '123456789' is not a number of up to 8 hex digits" },
	{ "munge 4 val 0x mask 0", "val: '0x' is not a number of up to 8 hex digits" },
	{ "munge ipv4+4 val 0 mask 0", "keys with a header or with add need ex" },
	{ "munge 4 add 0 mask 0", "keys with a header or with add need ex" },
	{ "munge ipv4+ val 0 mask 0", "offset: '' is not a number of bytes" },
	{ "munge ip ttl set 1 drop", "drop is not possible here: the flow's next actions decide; only pipe is" },
	{ "munge ip ttl set 1 shot", "shot is not possible here" },
	{ "munge ip ttl set 1 p", "pass is not possible here" },
	{ "munge ip ttl set 1 ok", "ok is not possible here" },
	{ "munge ip ttl set 1 trap", "trap is not possible here" },
	{ "munge ip ttl set 1 goto chain 3", "goto is not possible here" },
	{ "munge ip ttl set 1 pipe index 3", "index is not possible here: it belongs to the flow alone" },
	{ "munge ip ttl set 1 cookie c1", "cookie is not possible here" },
	{ "munge ip ttl set 1 ex", "ex has to stand before the first munge" },
	{ "ex compat munge ip ttl set 1", "compat has to stand before the first munge, compat before ex" },
	{ "munge ip ttl set 1 pipe munge ip ttl set 2", "'munge' is not expected" },
	{ "munge ip ttl set 1 2", "'2' is not expected; it should be munge" },
};

static void what_is_refused_is_named(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct action_list l = { .count = 0 };
		struct error e = { "" };

		if (!pedit_parse(text_of(refusals[i][0]), &l, &e))
			fail_msg("'%s' is taken", refusals[i][0]);
		if (strncmp(e.text, "actions: pedit: ", 16) || !strstr(e.text, refusals[i][1]) || strchr(e.text, '\n'))
			fail_msg("'%s' is refused as: %s", refusals[i][0], e.text);
	}
}

static void so_many_keys(void **state)
{
	static const char munge[] = "munge offset 0 u8 set 1 ";
	char words[(PEDIT_KEYS_MAX + 1) * (sizeof(munge) - 1) + 1];
	struct action_list l = { .count = 0 };
	struct error e;
	int i;

	(void)state;
	for (i = 0; i <= PEDIT_KEYS_MAX; i++)
		strcpy(words + i * (sizeof(munge) - 1), munge);
	assert_int_equal(pedit_parse(text_of(words), &l, &e), -E2BIG);
	assert_non_null(strstr(e.text, "munge 128: more than 128 keys are not possible"));
	words[PEDIT_KEYS_MAX * (sizeof(munge) - 1)] = '\0';
	parse(words, &l);
	assert_int_equal(l.action[0].pedit.keys, PEDIT_KEYS_MAX);
	assert_int_equal(l.count, 1 + PEDIT_KEYS_MAX + 2);
	l.count = FLOW_ACTIONS_MAX - 2;
	assert_int_equal(pedit_parse(text_of(munge), &l, &e), -E2BIG);
	assert_non_null(strstr(e.text, "more than 512 records"));
}

/* Words, and how many words each step writes; 0 is a key that is executed in place. */
static const struct {
	const char *words;
	const char *steps;
} merges[] = {
	{ "ex munge eth src set 02:00:00:00:00:01 munge eth dst set 02:00:00:00:00:02", "3" },
	{ "ex munge eth dst set 02:00:00:00:00:02 munge eth src set 02:00:00:00:00:01", "3" },
	{ "ex munge eth dst set 02:00:00:00:00:02 munge eth src set 02:00:00:00:00:01 munge eth type set 1", "31" },
	{ "ex munge eth+8 val 0 mask 0 munge eth+0 val 1 mask 0", "3" },
	{ "ex munge eth src set 02:00:00:00:00:01 munge eth type set 1", "3" },
	{ "ex munge eth type set 1 munge eth src set 02:00:00:00:00:01", "12" },
	{ "ex munge ip ttl set 1 munge ip protocol set 2 munge ip src set 1.2.3.4 munge ip dst set 1.2.3.5", "3" },
	{ "ex munge ip dst set 1.2.3.5 munge ip src set 1.2.3.4", "11" },
	{ "ex munge ip ttl set 1 munge ip ttl add 1 munge ip ttl set 1", "101" },
	{ "ex munge ip ttl set 1 munge ip6 hoplimit set 1", "11" },
	{ "ex munge ip6 src set ::1", "31" },
	{ "ex munge ip6 src set ::1 munge ip6 dst set ::1", "332" },
	{ "munge offset 0 u8 set 1 munge offset 4 u8 at 0 f 2 set 1 munge offset 8 u8 set 1", "101" },
	{ "munge offset 0 u8 set 1 munge offset 8 u8 set 1", "11" },
	{ "ex munge tcp-20 val 45000000 mask 00ffffff munge tcp-20 val 0 mask 0 munge tcp-16 val 0 mask 0", "111" },
	{ "munge offset 32764 u32 set 1 munge offset -32768 u32 set 1", "11" },
};

static void keys_that_may_merge_do(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(merges); i++) {
		const struct flow_action *step;
		struct action_list l;
		char steps[16] = "";
		size_t n = 0;
		bool end;

		parse(merges[i].words, &l);
		step = &l.action[1 + l.action[0].pedit.keys];
		do {
			bool write = step->type == ACTION_PEDIT_WRITE;

			assert_true(write || step->type == ACTION_PEDIT_KEY);
			assert_true(!write || step[1].type == ACTION_PEDIT_MASK);
			end = step->flags & ACTION_F_STEPS_END;
			steps[n++] = write ? '0' + step->write.words : '0';
			step += write ? 2 : 1;
		} while (!end);
		assert_ptr_equal(step, &l.action[l.count]);
		if (strcmp(steps, merges[i].steps))
			fail_msg("'%s': %s, not %s", merges[i].words, steps, merges[i].steps);
	}
}

/* An Ethernet frame with so many options in its IPv4 header, by an action; the frame is then what hex says. */
static void frame_after(const char *words, int options, __u8 *frame, int len, int result)
{
	struct pedit_model m = { .frame = frame, .len = len, .base = { 14, 0, 14, 14, 34 + options, 34 + options } };
	struct action_list l;

	parse(words, &l);
	assert_int_equal(pedit_model_steps(&m, &l.action[1 + l.action[0].pedit.keys]), result);
}

static void bytes_of_a_frame(void **state)
{
	static const __u8 mac[] = { 2, 0x11, 0x22, 0x33, 0x44, 0x55 };
	__u8 frame[64] = { 0 };

	(void)state;
	frame[15] = 3; /* ECN */
	frame[22] = 1;
	frame_after("ex munge eth dst set 02:11:22:33:44:55 munge ip dst set 10.1.2.3 munge udp dport set 258 "
		    "munge ip tos set 0xb8 retain 0xfc munge ip ttl add 255",
		    4, frame, sizeof(frame), 0);
	assert_memory_equal(frame, mac, 6);
	assert_memory_equal(frame + 30, "\x0a\x01\x02\x03", 4);
	assert_memory_equal(frame + 38, "\0\0\x01\x02", 4);
	assert_int_equal(frame[15], 0xbb);
	assert_int_equal(frame[22], 0);
	frame_after("ex munge ip ttl decrement", 4, frame, sizeof(frame), 0);
	assert_int_equal(frame[22], 255);
	assert_int_equal(frame[23], 0);
	/* A window past the end: nothing of it is written, what was before it stays, what is after it is not done. */
	frame_after("ex munge eth dst set 02:00:00:00:00:fe munge offset 28 u32 set 0x41414141 "
		    "munge eth src set 02:00:00:aa:aa:aa",
		    0, frame, 44, -1);
	assert_memory_equal(frame, "\x02\0\0\0\0\xfe\0\0\0\0\0\0", 12);
	assert_memory_equal(frame + 42, "\0\0\0\0", 4);
}

static void json_names_each_key(void **state)
{
	CLEANUP_FREE char *text = NULL;
	struct action_list l;
	json_t *json;

	(void)state;
	parse("ex munge ip ttl add 1 munge offset 0 u8 at 1 f 2 set 3", &l);
	json = pedit_json(l.action);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert_string_equal(
		text, "{\"ex\":true,\"compat\":false,\"keys\":["
		      "{\"htype\":\"ipv4\",\"offset\":8,\"cmd\":\"add\",\"val\":\"01000000\",\"mask\":\"00ffffff\"},"
		      "{\"htype\":\"network\",\"offset\":0,\"cmd\":\"set\",\"val\":\"03000000\",\"mask\":\"00ffffff\","
		      "\"at\":{\"offset\":1,\"mask\":15,\"shift\":2}}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_and_printed),
		cmocka_unit_test(what_is_refused_is_named),
		cmocka_unit_test(so_many_keys),
		cmocka_unit_test(keys_that_may_merge_do),
		cmocka_unit_test(bytes_of_a_frame),
		cmocka_unit_test(json_names_each_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
