// SPDX-License-Identifier: GPL-2.0-only
#include "geneve_text.h"

#include <errno.h>
#include <string.h>

#include "error.h"

/* One option in key and mask, at its header. */
struct option {
	__u8 *key;
	__u8 *mask;
};

static unsigned int data_len(const __u8 *header)
{
	return 4 * (header[3] & 0x1f);
}

/* VALUE or VALUE/MASK of a number, big endian, of so many bytes. */
static int number_parse_masked(struct text t, const char *what, __u8 *key, __u8 *mask, size_t size, struct error *e)
{
	bool masked = text_cspan(t, "/") < t.len;
	struct text value = text_take(&t, "/");

	if (long_parse(value, key, size))
		return error_set(e, EINVAL, "%s: '%s' is not a number of %zu bytes", what, text_quote(value).text,
				 size);
	memset(mask, 0xff, size);
	if (masked && long_parse(t, mask, size))
		return error_set(e, EINVAL, "%s: mask '%s' is not a number of %zu bytes", what, text_quote(t).text,
				 size);
	return 0;
}

static int len_parse(struct text t, const char *what, __u8 *header, size_t room, struct error *e)
{
	__u64 len;
	int err = number_parse(t, what, GENEVE_DATA_MAX, &len, e);

	if (err)
		return err;
	if (len % 4)
		return error_set(e, EINVAL, "%s: len=%llu is no multiple of 4", what, len);
	if (GENEVE_HEADER + len > room)
		return error_set(e, E2BIG, "%s: more than %zu bytes of options", what,
				 sizeof(((struct geneve_options *)NULL)->bytes));
	header[3] = len / 4;
	return 0;
}

/* What stands between { and }; data comes last, as its length is known then. */
static int option_parse(struct text t, const char *what, const struct option *o, size_t room, struct error *e)
{
	bool has_len = false, has_data = false;
	int err = 0;

	while (!err && t.len) {
		struct text token = text_take(&t, ","), value = token, name = text_take(&value, "=");

		if (has_data)
			return error_set(e, EINVAL, "%s: '%s' after the data", what, text_quote(token).text);
		if (text_is(name, "class")) {
			err = number_parse_masked(value, what, o->key, o->mask, 2, e);
		} else if (text_is(name, "type")) {
			err = number_parse_masked(value, what, o->key + 2, o->mask + 2, 1, e);
		} else if (text_is(name, "len") && !has_len) {
			err = len_parse(value, what, o->key, room, e);
			has_len = true;
		} else if (has_len && data_len(o->key)) {
			err = number_parse_masked(token, what, o->key + GENEVE_HEADER, o->mask + GENEVE_HEADER,
						  data_len(o->key), e);
			has_data = true;
		} else {
			return error_set(e, EINVAL, "%s: '%s' is not like class=0,type=0,len=4,0xa", what,
					 text_quote(token).text);
		}
	}
	if (!err && !has_len)
		return error_set(e, EINVAL, "%s: len= is missing in an option", what);
	return err;
}

int geneve_parse(struct text t, const char *what, struct geneve_options *key, struct geneve_options *mask,
		 struct error *e)
{
	while (t.len) {
		struct option o = { key->bytes + key->len, mask->bytes + key->len };
		size_t room = sizeof(key->bytes) - key->len, end = text_cspan(t, "}");
		int err;

		if (t.at[0] != '{' || end == t.len)
			return error_set(e, EINVAL, "%s: '%s' is not like {class=0,type=0,len=4,0xa}", what,
					 text_quote(t).text);
		if (room < GENEVE_HEADER)
			return error_set(e, E2BIG, "%s: more than %zu bytes of options", what, sizeof(key->bytes));
		err = option_parse((struct text){ t.at + 1, end - 1 }, what, &o, room, e);
		if (err)
			return err;
		key->len += GENEVE_HEADER + data_len(o.key);
		t = text_from(t, end + 1);
	}
	return 0;
}

static bool all_bytes(const __u8 *bytes, size_t size, __u8 value)
{
	while (size && *bytes == value) {
		bytes++;
		size--;
	}
	return !size;
}

/* "0xa/0xff"; "" if it is wild. */
static const char *masked_format(const __u8 *key, const __u8 *mask, size_t size, char buf[static 2 * LONG_TEXT_SIZE])
{
	char *end;

	buf[0] = '\0';
	if (all_bytes(mask, size, 0))
		return buf;
	long_format(key, size, buf);
	end = buf + strlen(buf);
	if (!all_bytes(mask, size, 0xff)) {
		*end = '/';
		long_format(mask, size, end + 1);
	}
	return buf;
}

static void part_print(FILE *out, const char *name, const struct option *o, size_t at, size_t size)
{
	char buf[2 * LONG_TEXT_SIZE];

	if (*masked_format(o->key + at, o->mask + at, size, buf))
		fprintf(out, "%s%s,", name, buf);
}

void geneve_print(FILE *out, const struct geneve_options *key, const struct geneve_options *mask)
{
	unsigned int at, size;

	for (at = 0; at < key->len; at += GENEVE_HEADER + size) {
		const struct option o = { (__u8 *)key->bytes + at, (__u8 *)mask->bytes + at };
		char buf[2 * LONG_TEXT_SIZE];

		size = data_len(o.key);
		putc('{', out);
		part_print(out, "class=", &o, 0, 2);
		part_print(out, "type=", &o, 2, 1);
		fprintf(out, "len=%u", size);
		if (*masked_format(o.key + GENEVE_HEADER, o.mask + GENEVE_HEADER, size, buf))
			fprintf(out, ",%s", buf);
		putc('}', out);
	}
}

static void part_json(json_t *option, const char *name, const struct option *o, size_t at, size_t size)
{
	char buf[2 * LONG_TEXT_SIZE];

	if (*masked_format(o->key + at, o->mask + at, size, buf))
		json_object_set_new(option, name, json_string(buf));
}

json_t *geneve_json(const struct geneve_options *key, const struct geneve_options *mask)
{
	json_t *list = json_array();
	unsigned int at, size;

	for (at = 0; at < key->len; at += GENEVE_HEADER + size) {
		const struct option o = { (__u8 *)key->bytes + at, (__u8 *)mask->bytes + at };
		json_t *option = json_object();

		size = data_len(o.key);
		part_json(option, "class", &o, 0, 2);
		part_json(option, "type", &o, 2, 1);
		json_object_set_new(option, "len", json_integer(size));
		part_json(option, "data", &o, GENEVE_HEADER, size);
		json_array_append_new(list, option);
	}
	return list;
}
