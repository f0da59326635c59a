// SPDX-License-Identifier: GPL-2.0-only
#include "flag_text.h"

#include <errno.h>
#include <stdio.h>

#include "util.h"

/* From bit 0 on. */
static const char *const ct_state_names[] = { "new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat" };
static const char *const tunnel_flag_names[] = { "oam", "df", "csum", "key" };

static const char *flag_name(const struct field *f, __u32 bit)
{
	unsigned int i = __builtin_ctz(bit);

	if (f->kind == FIELD_TCP_FLAGS)
		return tcp_flag_name(bit);
	return f->kind == FIELD_CT_STATE ? ct_state_names[i] : tunnel_flag_names[i];
}

static int flag_parse(const struct field *f, struct text name, __u32 *flag)
{
	__u32 bit;

	for (bit = 1; bit <= field_full(f); bit <<= 1) {
		if (text_is(name, flag_name(f, bit))) {
			*flag = bit;
			return 0;
		}
	}
	return -EINVAL;
}

/* +syn-ack: the flags that are named. */
static int masked_parse(const struct field *f, struct text t, __u32 *flags, __u32 *mask)
{
	while (t.len) {
		bool set = t.at[0] == '+';
		struct text rest = text_from(t, 1);
		struct text name = { rest.at, text_cspan(rest, "+-") };
		__u32 flag;

		if (text_span(t, "+-") == 0 || flag_parse(f, name, &flag) || *mask & flag)
			return -EINVAL;
		*mask |= flag;
		*flags |= set ? flag : 0;
		t = text_from(rest, name.len);
	}
	return 0;
}

/* syn|ack: these and no others. */
static int exact_parse(const struct field *f, struct text t, __u32 *flags)
{
	bool more;

	do {
		__u32 flag;

		more = text_cspan(t, "|") < t.len;
		if (flag_parse(f, text_take(&t, "|"), &flag))
			return -EINVAL;
		*flags |= flag;
	} while (more);
	return 0;
}

int flags_parse(const struct field *f, struct text t, __u32 *flags, __u32 *mask)
{
	*flags = 0;
	*mask = 0;
	if (text_span(t, "+-"))
		return masked_parse(f, t, flags, mask);
	*mask = field_full(f);
	return exact_parse(f, t, flags);
}

const char *flags_format(const struct field *f, __u32 flags, __u32 mask, char buf[static FLAGS_TEXT_SIZE])
{
	bool exact = mask == field_full(f);
	size_t len = 0;
	__u32 bit;

	snprintf(buf, FLAGS_TEXT_SIZE, "%s", exact ? "0" : "0/0");
	for (bit = 1; bit <= mask; bit <<= 1) {
		const char *mark = !(flags & bit) ? "-" : exact ? len ? "|" : "" : "+";

		if (mask & bit && (!exact || flags & bit))
			len += snprintf(buf + len, FLAGS_TEXT_SIZE - len, "%s%s", mark, flag_name(f, bit));
	}
	return buf;
}

const char *flags_example(const struct field *f)
{
	return f->kind == FIELD_TCP_FLAGS  ? "+syn-ack, syn|ack or 0x002/0x012"
	       : f->kind == FIELD_CT_STATE ? "+trk-new, new|trk or 0x21/0x21"
					   : "+df-csum, df|key or 0xa/0xf";
}
