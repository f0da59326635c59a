// SPDX-License-Identifier: GPL-2.0-only
#include "net_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "flow_key.h"
#include "util.h"

static const char *const tcp_flag_names[] = { "fin", "syn", "rst", "psh",   "ack",   "urg",
					      "ece", "cwr", "ns",  "[200]", "[400]", "[800]" };

/* clang-format off */
const __u8 text_classes[256] = {
	[' '] = TEXT_BLANK, ['\t'] = TEXT_BLANK, ['\r'] = TEXT_BLANK, ['\n'] = TEXT_BLANK,
	[','] = TEXT_COMMA, ['('] = TEXT_OPEN, [')'] = TEXT_CLOSE, ['/'] = TEXT_SLASH, ['='] = TEXT_EQUALS,
	['0' ... '9'] = TEXT_WORD | TEXT_DIGIT, ['a' ... 'z'] = TEXT_WORD, ['_'] = TEXT_WORD,
};
/* clang-format on */

long text_enclosed(struct text t)
{
	long depth = 0;
	size_t i = 0;

	for (i = text_until(t, TEXT_OPEN | TEXT_CLOSE); i < t.len;
	     i += 1 + text_until(text_from(t, i + 1), TEXT_OPEN | TEXT_CLOSE)) {
		depth += t.at[i] == '(' ? 1 : -1;
		if (depth == 0 && t.at[i] == ')')
			return i - 1;
	}
	return -1;
}

struct quoted text_quote(struct text t)
{
	static const char more[] = "...";
	struct quoted q;
	size_t room = sizeof(q.text) - sizeof(more), i;

	for (i = 0; i < t.len && i < room; i++)
		q.text[i] = isprint((unsigned char)t.at[i]) ? t.at[i] : '?';
	memcpy(q.text + i, i < t.len ? more : "", i < t.len ? sizeof(more) : 1);
	return q;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool all_hex(struct text t)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		if (digit_value(t.at[i]) < 0)
			return false;
	}
	return true;
}

static bool has_hex_prefix(struct text t)
{
	return t.len > 2 && t.at[0] == '0' && (t.at[1] == 'x' || t.at[1] == 'X');
}

bool number_like(struct text t)
{
	bool hex = has_hex_prefix(t);
	struct text digits = text_from(t, hex ? 2 : 0);

	return digits.len && (hex ? all_hex(digits) : text_run(digits, TEXT_DIGIT) == digits.len);
}

int number_scan(struct text t, __u64 max, __u64 *number)
{
	bool hex = has_hex_prefix(t);
	__u64 value = 0;
	size_t i = hex ? 2 : 0;

	/* So few digits do not overflow, in either base. */
	if (t.len == 0 || t.len - i > 15 || (!hex && t.len > 1 && t.at[0] == '0'))
		return -EINVAL;
	for (; i < t.len; i++) {
		int digit = digit_value(t.at[i]);

		if (digit < 0 || (!hex && digit > 9))
			return -EINVAL;
		value = value * (hex ? 16 : 10) + digit;
	}
	if (value > max)
		return -EINVAL;
	*number = value;
	return 0;
}

int number_parse(struct text t, const char *what, __u64 max, __u64 *number, struct error *e)
{
	unsigned int base = has_hex_prefix(t) ? 16 : 10;
	__u64 value = 0;
	size_t i;

	if (!number_scan(t, max, number))
		return 0;
	if (!number_like(t))
		return error_set(e, EINVAL, "%s: '%s' is not a number from 0 to %llu", what, text_quote(t).text, max);
	if (base == 10 && t.len > 1 && t.at[0] == '0')
		return error_set(e, EINVAL, "%s: '%s' could be octal, write it without leading zeros or with 0x", what,
				 text_quote(t).text);
	for (i = base == 16 ? 2 : 0; i < t.len; i++) {
		__u64 digit = digit_value(t.at[i]);

		if (digit > max || value > (max - digit) / base)
			return error_set(e, ERANGE, "%s: %s is out of range, 0 to %llu is possible", what,
					 text_quote(t).text, max);
		value = value * base + digit;
	}
	*number = value;
	return 0;
}

int long_parse(struct text t, __u8 *bytes, size_t size)
{
	struct error ignored;
	__u64 number;
	size_t i;

	if (has_hex_prefix(t) && number_like(t)) {
		for (t = text_from(t, 2); t.len > 1 && t.at[0] == '0';)
			t = text_from(t, 1);
		if (t.len > 2 * size)
			return -EINVAL;
		memset(bytes, 0, size);
		for (i = 0; i < t.len; i++)
			bytes[size - 1 - i / 2] |= digit_value(t.at[t.len - 1 - i]) << (i % 2 ? 4 : 0);
		return 0;
	}
	if (number_parse(t, "", size < 8 ? (1ull << 8 * size) - 1 : ~0ull, &number, &ignored))
		return -EINVAL;
	for (i = size; i-- > 0; number >>= 8)
		bytes[i] = number;
	return 0;
}

int mac_parse(struct text t, __u8 mac[6])
{
	int i;

	for (i = 0; i < 6; i++) {
		bool last = i == 5, cut = text_cspan(t, ":") < t.len;
		struct text octet = text_take(&t, ":");

		if (cut == last || octet.len < 1 || octet.len > 2 || !all_hex(octet))
			return -EINVAL;
		mac[i] = octet.len == 1 ? digit_value(octet.at[0])
					: digit_value(octet.at[0]) << 4 | digit_value(octet.at[1]);
	}
	return 0;
}

int ipv4_parse(struct text t, __u8 ip[4])
{
	__u8 octets[4];
	size_t n;

	for (n = 0; n < 4; n++) {
		size_t len = text_run(t, TEXT_DIGIT);
		__u64 octet;

		if (number_scan((struct text){ t.at, len }, 255, &octet) ||
		    (n < 3 && (len == t.len || t.at[len] != '.')))
			return -EINVAL;
		octets[n] = octet;
		t = text_from(t, len + (n < 3));
	}
	if (t.len)
		return -EINVAL;
	memcpy(ip, octets, sizeof(octets));
	return 0;
}

int ipv6_parse(struct text t, __u8 ip[16])
{
	char string[IP_TEXT_SIZE];

	if (t.len >= sizeof(string) || memchr(t.at, '\0', t.len))
		return -EINVAL;
	memcpy(string, t.at, t.len);
	string[t.len] = '\0';
	return inet_pton(AF_INET6, string, ip) == 1 ? 0 : -EINVAL;
}

int uuid_parse(struct text t, __u8 uuid[16])
{
	size_t pos = 0, i;

	if (t.len != UUID_TEXT_SIZE - 1)
		return -EINVAL;
	for (i = 0; i < 16; i++) {
		int high, low;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && t.at[pos++] != '-')
			return -EINVAL;
		high = digit_value(t.at[pos++]);
		low = digit_value(t.at[pos++]);
		if (high < 0 || low < 0)
			return -EINVAL;
		uuid[i] = high << 4 | low;
	}
	return 0;
}

int tcp_flag_parse(struct text t, __u16 *flag)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tcp_flag_names); i++) {
		if (text_is(t, tcp_flag_names[i])) {
			*flag = 1 << i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *tcp_flag_name(__u16 flag)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tcp_flag_names); i++) {
		if (flag == 1 << i)
			return tcp_flag_names[i];
	}
	return "?";
}

/* Two hex digits for each byte, without snprintf: a dump has dozens of them for each flow. */
static char *hex_format(const __u8 *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
	return out;
}

const char *long_format(const __u8 *bytes, size_t size, char *buf)
{
	size_t len = 0, i;

	for (i = 0; i < size; i++) {
		if (len)
			len += sprintf(buf + len, "%02x", bytes[i]);
		else if (bytes[i])
			len = sprintf(buf, "%#x", bytes[i]);
	}
	if (!len)
		strcpy(buf, "0");
	return buf;
}

const char *mac_format(const __u8 mac[6], char buf[static MAC_TEXT_SIZE])
{
	char *out = hex_format(mac, 1, buf);
	int i;

	for (i = 1; i < 6; i++) {
		*out++ = ':';
		out = hex_format(mac + i, 1, out);
	}
	return buf;
}

const char *ipv4_format(const __u8 ip[4], char buf[static IP_TEXT_SIZE])
{
	char *out = buf;
	int i;

	for (i = 0; i < 4; i++) {
		if (ip[i] >= 100)
			*out++ = '0' + ip[i] / 100;
		if (ip[i] >= 10)
			*out++ = '0' + ip[i] / 10 % 10;
		*out++ = '0' + ip[i] % 10;
		*out++ = i < 3 ? '.' : '\0';
	}
	return buf;
}

const char *ipv6_format(const __u8 ip[16], char buf[static IP_TEXT_SIZE])
{
	return inet_ntop(AF_INET6, ip, buf, IP_TEXT_SIZE);
}

const char *uuid_format(const __u8 uuid[16], char buf[static UUID_TEXT_SIZE])
{
	static const __u8 groups[] = { 4, 2, 2, 2, 6 };
	char *out = buf;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (i)
			*out++ = '-';
		out = hex_format(uuid, groups[i], out);
		uuid += groups[i];
	}
	return buf;
}

int port_parse(struct text t, const char *what, const struct port_names *names, __u32 *port, struct error *e)
{
	char name[PORT_NAME_SIZE];
	__u64 number;
	int err;

	if (number_like(t)) {
		err = number_parse(t, what, PORTS_MAX - 1, &number, e);
		if (!err)
			*port = number;
		return err;
	}
	if (names && names->number && t.len && t.len < sizeof(name) && !memchr(t.at, '\0', t.len)) {
		memcpy(name, t.at, t.len);
		name[t.len] = '\0';
		if (!names->number(names->ctx, name, port))
			return 0;
	}
	return error_set(e, ENOENT, "%s: '%s' is not a port: a number from 0 to %u%s", what, text_quote(t).text,
			 PORTS_MAX - 1, names && names->number ? " or a name that show lists" : "");
}

const char *port_name(__u32 port, const struct port_names *names)
{
	const char *name = names && names->name ? names->name(names->ctx, port) : NULL;

	/* A device may be called "2" or "a,b"; then only the number says which port is meant. */
	if (!name || !*name || number_like(text_of(name)) || strpbrk(name, ",/() \t\r\n"))
		return NULL;
	return name;
}
