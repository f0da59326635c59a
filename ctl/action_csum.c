// SPDX-License-Identifier: GPL-2.0-only
#include "action_csum.h"

#include <errno.h>

#include "error.h"
#include "util.h"

#define DELIMITERS ", \t\r\n"

/* The first name of each is printed. */
static const struct {
	const char *name;
	enum csum_what what;
} words[] = {
	{ "ip", CSUM_IPV4 },	     { "ip4h", CSUM_IPV4 }, { "iph", CSUM_IPV4 }, { "ipv4h", CSUM_IPV4 },
	{ "icmp", CSUM_ICMP },	     { "igmp", CSUM_IGMP }, { "tcp", CSUM_TCP },  { "udp", CSUM_UDP },
	{ "udplite", CSUM_UDPLITE }, { "sctp", CSUM_SCTP },
};

static bool is_filler(struct text t)
{
	return text_is(t, "and") || text_is(t, "or") || text_is(t, "+");
}

static int word_parse(struct text t, __u8 *what, struct error *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words) && !text_is(t, words[i].name); i++)
		;
	if (i == ARRAY_SIZE(words))
		return error_set(e, EINVAL,
				 "csum: unknown word '%s', it takes ip, icmp, igmp, tcp, udp, udplite and sctp",
				 text_quote(t).text);
	if (*what & words[i].what)
		return error_set(e, EINVAL, "csum: %s is given twice", text_quote(t).text);
	*what |= words[i].what;
	return 0;
}

int csum_parse(struct text body, struct action_list *l, struct error *e)
{
	struct flow_action *a;
	__u8 what = 0;

	for (body = text_from(body, text_span(body, DELIMITERS)); body.len;
	     body = text_from(body, text_span(body, DELIMITERS))) {
		struct text t = text_take(&body, DELIMITERS);
		int err = is_filler(t) ? 0 : word_parse(t, &what, e);

		if (err)
			return err;
	}
	if (!what)
		return error_set(e, EINVAL,
				 "csum: nothing is named, it takes ip, icmp, igmp, tcp, udp, udplite and sctp");
	a = action_append(l, ACTION_CSUM, e);
	if (!a)
		return -E2BIG;
	a->csum.what = what;
	return 0;
}

const struct flow_action *csum_print(FILE *out, const struct flow_action *a)
{
	__u8 left = a->csum.what;
	const char *comma = "";
	size_t i;

	fputs("csum(", out);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!(left & words[i].what))
			continue;
		fprintf(out, "%s%s", comma, words[i].name);
		left &= ~words[i].what;
		comma = ",";
	}
	putc(')', out);
	return a + 1;
}

json_t *csum_json(const struct flow_action *a)
{
	json_t *list = json_array();
	__u8 left = a->csum.what;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (left & words[i].what)
			json_array_append_new(list, json_string(words[i].name));
		left &= ~words[i].what;
	}
	return list;
}
