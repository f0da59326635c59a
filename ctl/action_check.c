// SPDX-License-Identifier: GPL-2.0-only
#include "action_check.h"

#include <arpa/inet.h>
#include <errno.h>

#include "action_set.h"
#include "error.h"
#include "field.h"

static int eth_type_check(const struct match *m, const struct attribute_info *a, struct error *e)
{
	__u16 eth_type = ntohs(m->key.eth_type_be);

	if (!a->eth_type[0])
		return 0;
	if (m->mask.eth_type_be == 0xffff && (eth_type == a->eth_type[0] || eth_type == a->eth_type[1]))
		return 0;
	if (a->eth_type[1])
		return error_set(e, EINVAL, "set: %s needs a flow that matches eth_type(0x%04x) or eth_type(0x%04x)",
				 a->name, a->eth_type[0], a->eth_type[1]);
	return error_set(e, EINVAL, "set: %s needs a flow that matches eth_type(0x%04x)", a->name, a->eth_type[0]);
}

static int ip_proto_check(const struct match *m, const struct attribute_info *a, struct error *e)
{
	if (!a->ip_proto || (m->mask.ip_proto == 0xff && m->key.ip_proto == a->ip_proto))
		return 0;
	return error_set(e, EINVAL, "set: %s needs a flow that matches proto=%u, exact", a->name, a->ip_proto);
}

/* proto and frag, which a set() only names: the masked key has to say the same. */
static int named_check(const struct match *m, const struct match_level *set, struct error *e)
{
	if (set->mask.ip_proto && set->key.ip_proto != m->key.ip_proto)
		return error_set(e, EINVAL, "set: ipv4 proto=%u is not what the flow matches; leave out proto and frag",
				 set->key.ip_proto);
	if (set->mask.ip_frag && set->key.ip_frag != m->key.ip_frag)
		return error_set(e, EINVAL, "set: ipv4 frag is not what the flow matches; leave out proto and frag");
	return 0;
}

static int set_check(const struct match *m, const struct flow_action *a, struct error *e)
{
	struct match_level set;
	const struct attribute_info *info = attribute_info(set_attribute(a, &set));
	int err = eth_type_check(m, info, e);

	if (!err)
		err = ip_proto_check(m, info, e);
	return err ? err : named_check(m, &set, e);
}

int actions_check(const struct match *m, const struct action_list *l, struct error *e)
{
	const struct flow_action *a;
	int err = 0;

	for (a = l->action; !err && a->type != ACTION_END; a = action_next(a)) {
		if (a->type == ACTION_SET)
			err = set_check(m, a, e);
	}
	return err;
}
