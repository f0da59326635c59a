// SPDX-License-Identifier: GPL-2.0-only
#include "action_vlan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>

#include "error.h"
#include "util.h"

#define BLANKS " \t\r\n"

enum {
	PCP_SHIFT = 13,
	VID_MASK = 0xfff,
};

enum word {
	VID,
	PCP,
	CFI,
	TPID,
	WORDS
};

static const struct {
	const char *name, *label;
	__u32 max;
} words[WORDS] = {
	[VID] = { "vid", "push_vlan vid", 0xfff },
	[PCP] = { "pcp", "push_vlan pcp", 7 },
	[CFI] = { "cfi", "push_vlan cfi", 1 },
	[TPID] = { "tpid", "push_vlan tpid", 0xffff },
};

static int word_parse(struct text t, __u64 *value, unsigned int *given, struct error *e)
{
	struct text name;
	unsigned int i;

	t = text_from(t, text_span(t, BLANKS));
	name = text_take(&t, "=");
	for (i = 0; i < WORDS && !text_is(name, words[i].name); i++)
		;
	if (i == WORDS)
		return error_set(e, EINVAL, "push_vlan: unknown word '%s', it takes vid, pcp, cfi and tpid",
				 text_quote(name).text);
	if (*given & 1u << i)
		return error_set(e, EINVAL, "push_vlan: %s is given twice", words[i].name);
	*given |= 1u << i;
	return number_parse(t, words[i].label, words[i].max, &value[i], e);
}

int push_vlan_parse(struct text body, struct action_list *l, struct error *e)
{
	__u64 value[WORDS] = { [CFI] = 1, [TPID] = ETH_P_8021Q };
	unsigned int given = 0;
	struct flow_action *a;
	bool more = true;
	int err = 0;

	while (!err && more) {
		more = text_cspan(body, ",") < body.len;
		err = word_parse(text_take(&body, ","), value, &given, e);
	}
	if (err)
		return err;
	if (!(given & 1u << VID))
		return error_set(e, EINVAL, "push_vlan: vid is missing");
	if (value[TPID] != ETH_P_8021Q && value[TPID] != ETH_P_8021AD)
		return error_set(e, EINVAL, "push_vlan: tpid 0x%04x is no tag's type, 0x8100 and 0x88a8 are",
				 (unsigned int)value[TPID]);
	if (!value[CFI])
		return error_set(e, EINVAL, "push_vlan: cfi=0 would mean that there is no tag; leave it out");
	a = action_append(l, ACTION_PUSH_VLAN, e);
	if (!a)
		return -E2BIG;
	a->vlan.tpid_be = htons(value[TPID]);
	a->vlan.tci_be = htons(value[PCP] << PCP_SHIFT | value[VID]);
	return 0;
}

const struct flow_action *push_vlan_print(FILE *out, const struct flow_action *a)
{
	unsigned int tpid = ntohs(a->vlan.tpid_be), tci = ntohs(a->vlan.tci_be);

	fputs("push_vlan(", out);
	if (tpid != ETH_P_8021Q)
		fprintf(out, "tpid=0x%04x,", tpid);
	fprintf(out, "vid=%u,pcp=%u)", tci & VID_MASK, tci >> PCP_SHIFT);
	return a + 1;
}

json_t *push_vlan_json(const struct flow_action *a)
{
	unsigned int tci = ntohs(a->vlan.tci_be);

	return json_pack("{s:i, s:i, s:i}", "tpid", ntohs(a->vlan.tpid_be), "vid", tci & VID_MASK, "pcp",
			 tci >> PCP_SHIFT);
}

int pop_vlan_parse(struct text body, struct action_list *l, struct error *e)
{
	(void)body;
	return action_append(l, ACTION_POP_VLAN, e) ? 0 : -E2BIG;
}

const struct flow_action *pop_vlan_print(FILE *out, const struct flow_action *a)
{
	fputs("pop_vlan", out);
	return a + 1;
}

json_t *pop_vlan_json(const struct flow_action *a)
{
	(void)a;
	return json_true();
}
