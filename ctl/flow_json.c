// SPDX-License-Identifier: GPL-2.0-only
#include "flow_json.h"

#include <errno.h>
#include <string.h>

#include "action_json.h"
#include "error.h"
#include "match_json.h"
#include "util.h"

static const char *const ignored[] = { "packets", "bytes", "used", "flags", "overlimits", "page", "slot" };
static const char *const known[] = { "ufid", "match", "actions", "origin" };

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The array as it is, what an object calls its flows, or an object as the only flow. */
static json_t *flows_of(json_t *root)
{
	json_t *flows = json_object_get(root, "flows");

	if (json_is_array(root))
		return json_incref(root);
	if (json_is_array(flows) && json_object_size(root) == 1)
		return json_incref(flows);
	return flows || !json_is_object(root) ? NULL : json_pack("[O]", root);
}

int flows_json_load(const char *text, size_t size, json_t **flows, struct error *e)
{
	json_error_t why;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);

	if (!root)
		return error_set(e, EINVAL, "line %d, column %d: not JSON (%s)", why.line, why.column,
				 text_quote(text_of(why.text)).text);
	*flows = flows_of(root);
	json_decref(root);
	return *flows ? 0 : error_set(e, EINVAL, "not an array of flows, nor {\"flows\": [...]} and nothing else");
}

static int members_check(const json_t *flow, struct error *e)
{
	const char *name;
	json_t *v;

	if (!json_is_object(flow))
		return error_set(e, EINVAL, "a flow is an object with match and actions");
	json_object_foreach ((json_t *)flow, name, v) {
		if (!is_among(name, known, ARRAY_SIZE(known)) && !is_among(name, ignored, ARRAY_SIZE(ignored)))
			return error_set(e, EINVAL, "unknown member '%s'", text_quote(text_of(name)).text);
	}
	return 0;
}

static int origin_parse(const json_t *origin, struct flow_json *f, struct error *e)
{
	const char *name = json_string_value(origin);

	if (!name || (strcmp(name, "hand") && strcmp(name, "reactive")))
		return error_set(e, EINVAL, "origin: not \"hand\" or \"reactive\"");
	f->has_origin = true;
	f->origin = strcmp(name, "hand") ? FLOW_REACTIVE : FLOW_BY_HAND;
	return 0;
}

int flow_from_json(const json_t *flow, const struct port_names *names, struct flow_json *f, struct error *e)
{
	const json_t *ufid = json_object_get(flow, "ufid"), *match = json_object_get(flow, "match"),
		     *actions = json_object_get(flow, "actions"), *origin = json_object_get(flow, "origin");
	int err;

	memset(f, 0, sizeof(*f));
	err = members_check(flow, e);
	if (!err && ufid && !json_is_string(ufid))
		err = error_set(e, EINVAL, "ufid: not a string like \"01234567-89ab-cdef-0123-456789abcdef\"");
	if (!err && !match && !ufid)
		err = error_set(e, EINVAL, "match is missing");
	if (!err && origin)
		err = origin_parse(origin, f, e);
	if (err)
		return err;
	err = match_from_json(match, ufid ? json_string_value(ufid) : NULL, names, &f->match, e);
	if (err)
		return error_prefix(e, err, "parsing flow key (%s)", strerror(-err));
	f->has_actions = actions;
	err = actions ? actions_from_json(actions, names, &f->actions, e) : 0;
	return err ? error_prefix(e, err, "parsing actions (%s)", strerror(-err)) : 0;
}
