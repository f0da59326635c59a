// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, addresses and pieces of text. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "net_text.h"
#include "util.h"

static void numbers_fit_or_are_refused(void **state)
{
	static const struct {
		const char *text;
		__u64 max;
		int err;
		__u64 number;
	} rows[] = {
		{ "0", 255, 0, 0 },
		{ "255", 255, 0, 255 },
		{ "0xff", 255, 0, 255 },
		{ "0XFf", 255, 0, 255 },
		{ "0x0", 255, 0, 0 },
		{ "0x00ff", 255, 0, 255 },
		{ "18446744073709551615", ~0ull, 0, ~0ull },
		{ "0xffffffffffffffff", ~0ull, 0, ~0ull },
		{ "256", 255, -ERANGE, 0 },
		{ "0x100", 255, -ERANGE, 0 },
		{ "5", 1, -ERANGE, 0 },
		{ "18446744073709551616", ~0ull, -ERANGE, 0 },
		{ "99999999999999999999999", ~0ull, -ERANGE, 0 },
		{ "0x10000000000000000", ~0ull, -ERANGE, 0 },
		{ "010", 255, -EINVAL, 0 },
		{ "00", 255, -EINVAL, 0 },
		{ "", 255, -EINVAL, 0 },
		{ "0x", 255, -EINVAL, 0 },
		{ "-1", 255, -EINVAL, 0 },
		{ "+1", 255, -EINVAL, 0 },
		{ "1 ", 255, -EINVAL, 0 },
		{ "1a", 255, -EINVAL, 0 },
		{ "0xg", 255, -EINVAL, 0 },
		{ "1.5", 255, -EINVAL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error e = { "" };
		__u64 number = 0;
		int err = number_parse(text_of(rows[i].text), "ipv4 ttl", rows[i].max, &number, &e);

		if (err != rows[i].err || number != rows[i].number)
			fail_msg("'%s': %d, %llu", rows[i].text, err, number);
		if (err)
			assert_memory_equal(e.text, "ipv4 ttl: ", strlen("ipv4 ttl: "));
	}
}

static void a_refusal_names_value_and_range(void **state)
{
	struct error e;
	__u64 number;

	(void)state;
	number_parse(text_of("300"), "ipv4 ttl", 255, &number, &e);
	assert_string_equal(e.text, "ipv4 ttl: 300 is out of range, 0 to 255 is possible");
	number_parse(text_of("x"), "ipv4 ttl", 255, &number, &e);
	assert_string_equal(e.text, "ipv4 ttl: 'x' is not a number from 0 to 255");
}

static void addresses_read_back(void **state)
{
	static const char *const macs[] = { "00:00:00:00:00:00", "02:aB:00:ff:10:01", "0:1:2:3:4:5" };
	static const char *const not_macs[] = { "",
						"00:00:00:00:00",
						"00:00:00:00:00:00:",
						"00:00:00:00:00:000",
						"00-00-00-00-00-00",
						"00:00:00:00:00:0g",
						"00:00:00:00:00:00:00",
						":00:00:00:00:00:00",
						"::::::",
						"+0:0:0:0:0:0" };
	char buf[IP_TEXT_SIZE];
	__u8 bytes[16];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(macs); i++)
		assert_int_equal(mac_parse(text_of(macs[i]), bytes), 0);
	assert_string_equal(mac_format(bytes, buf), "00:01:02:03:04:05");
	for (i = 0; i < ARRAY_SIZE(not_macs); i++)
		assert_int_equal(mac_parse(text_of(not_macs[i]), bytes), -EINVAL);

	assert_int_equal(ipv4_parse(text_of("10.0.255.1"), bytes), 0);
	assert_string_equal(ipv4_format(bytes, buf), "10.0.255.1");
	assert_int_equal(ipv4_parse(text_of("10.0.0.256"), bytes), -EINVAL);
	assert_int_equal(ipv4_parse(text_of("10.0.0"), bytes), -EINVAL);
	assert_int_equal(ipv4_parse(text_of("10.0.0.01"), bytes), -EINVAL);
	assert_int_equal(ipv4_parse((struct text){ "10.0.0.1\0x", 10 }, bytes), -EINVAL);

	assert_int_equal(ipv6_parse(text_of("fe80:0::1"), bytes), 0);
	assert_string_equal(ipv6_format(bytes, buf), "fe80::1");
	assert_int_equal(ipv6_parse(text_of("::ffff:1.2.3.4"), bytes), 0);
	assert_int_equal(ipv6_parse(text_of("1::2::3"), bytes), -EINVAL);
	assert_int_equal(ipv6_parse(text_of("0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"), bytes), -EINVAL);
}

/* The system's own reader is the judge; most texts are nearly addresses. */
static void ipv4_addresses_are_what_the_system_takes(void **state)
{
	unsigned int seed = 1, taken = 0, i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		static const char characters[] = "0123456789....x/ -";
		char text[24];
		__u8 ours[4], theirs[4];
		bool right;
		int len = snprintf(text, sizeof(text), "%u.%u.%u.%u", rand_r(&seed) % 300, rand_r(&seed) % 300,
				   rand_r(&seed) % 30, rand_r(&seed) % 300);

		if (rand_r(&seed) % 2)
			text[rand_r(&seed) % len] = characters[rand_r(&seed) % (sizeof(characters) - 1)];
		if (rand_r(&seed) % 4 == 0)
			text[rand_r(&seed) % len] = '\0';
		right = inet_pton(AF_INET, text, theirs) == 1;
		if ((ipv4_parse(text_of(text), ours) == 0) != right)
			fail_msg("'%s'", text);
		if (right)
			assert_memory_equal(ours, theirs, sizeof(ours));
		taken += right;
	}
	assert_in_range(taken, 10000, 190000);
}

static void uuids_read_back(void **state)
{
	static const char uuid[] = "00112233-4455-6677-8899-aabbccddeeff";
	char buf[UUID_TEXT_SIZE];
	__u8 bytes[16];

	(void)state;
	assert_int_equal(uuid_parse(text_of(uuid), bytes), 0);
	assert_int_equal(bytes[0], 0x00);
	assert_int_equal(bytes[15], 0xff);
	assert_string_equal(uuid_format(bytes, buf), uuid);
	assert_int_equal(uuid_parse(text_of("00112233-4455-6677-8899-aabbccddeef"), bytes), -EINVAL);
	assert_int_equal(uuid_parse(text_of("00112233-4455-6677-8899-aabbccddeeffa"), bytes), -EINVAL);
	assert_int_equal(uuid_parse(text_of("00112233x4455-6677-8899-aabbccddeeff"), bytes), -EINVAL);
	assert_int_equal(uuid_parse(text_of("0011223304455066770889900aabbccddeef"), bytes), -EINVAL);
	assert_int_equal(uuid_parse(text_of("00112233-4455-6677-8899-aabbccddeegg"), bytes), -EINVAL);
}

static void quotes_are_one_short_line(void **state)
{
	char longer[200];

	(void)state;
	memset(longer, 'a', sizeof(longer));
	assert_string_equal(text_quote(text_of("a\nb\x01\xff")).text, "a?b??");
	assert_string_equal(text_quote(text_of("")).text, "");
	assert_int_equal(strlen(text_quote((struct text){ longer, sizeof(longer) }).text), sizeof(struct quoted) - 1);
}

static void parentheses_enclose(void **state)
{
	(void)state;
	assert_int_equal(text_enclosed(text_of("()x")), 0);
	assert_int_equal(text_enclosed(text_of("(a(b)c)d)")), 6 - 1);
	assert_int_equal(text_enclosed(text_of("((a)")), -1);
	assert_int_equal(text_enclosed(text_of("(")), -1);
	assert_int_equal(text_enclosed(text_of("")), -1);
}

static int number_of(void *ctx, const char *name, __u32 *port)
{
	(void)ctx;
	if (strcmp(name, "eth1") && strcmp(name, "-1"))
		return -ENOENT;
	*port = 7;
	return 0;
}

static const char *name_of(void *ctx, __u32 port)
{
	static const char *const names[] = { "br0", "eth1", "3", "a,b", "a(b", "" };

	(void)ctx;
	return port < ARRAY_SIZE(names) ? names[port] : NULL;
}

static void ports_have_numbers_and_names(void **state)
{
	const struct port_names names = { .number = number_of, .name = name_of };
	const struct port_names none = { 0 };
	struct error e;
	__u32 port;

	(void)state;
	assert_int_equal(port_parse(text_of("65534"), "in_port", NULL, &port, &e), 0);
	assert_int_equal(port, 65534);
	assert_int_equal(port_parse(text_of("eth1"), "in_port", &names, &port, &e), 0);
	assert_int_equal(port, 7);
	assert_int_equal(port_parse(text_of("-1"), "in_port", &names, &port, &e), 0);
	assert_int_equal(port_parse(text_of("65535"), "in_port", &names, &port, &e), -ERANGE);
	assert_int_equal(port_parse(text_of("eth1"), "in_port", &none, &port, &e), -ENOENT);
	assert_int_equal(port_parse(text_of("eth1"), "in_port", NULL, &port, &e), -ENOENT);
	assert_int_equal(port_parse(text_of("a_name_that_no_device_can_have"), "in_port", &names, &port, &e), -ENOENT);
	assert_int_equal(port_parse(text_of(""), "in_port", &names, &port, &e), -ENOENT);

	assert_string_equal(port_name(1, &names), "eth1");
	/* Names that would be read as something else, or as nothing. */
	for (port = 2; port < 7; port++)
		assert_null(port_name(port, &names));
	assert_null(port_name(1, &none));
	assert_null(port_name(1, NULL));
}

static void tcp_flags_have_names(void **state)
{
	__u16 flag, bit;

	(void)state;
	for (bit = 1; bit <= 0x800; bit <<= 1) {
		assert_int_equal(tcp_flag_parse(text_of(tcp_flag_name(bit)), &flag), 0);
		assert_int_equal(flag, bit);
	}
	assert_int_equal(tcp_flag_parse(text_of(""), &flag), -EINVAL);
	assert_int_equal(tcp_flag_parse(text_of("sy"), &flag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_fit_or_are_refused),
		cmocka_unit_test(a_refusal_names_value_and_range),
		cmocka_unit_test(addresses_read_back),
		cmocka_unit_test(uuids_read_back),
		cmocka_unit_test(ipv4_addresses_are_what_the_system_takes),
		cmocka_unit_test(quotes_are_one_short_line),
		cmocka_unit_test(parentheses_enclose),
		cmocka_unit_test(ports_have_numbers_and_names),
		cmocka_unit_test(tcp_flags_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
