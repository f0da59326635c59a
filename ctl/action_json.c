// SPDX-License-Identifier: GPL-2.0-only
#include "action_json.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "match_json.h"
#include "util.h"

/* A word that cannot be read as more than one. */
static int word_write(FILE *out, const json_t *word, const char *what, struct error *e)
{
	const char *s = json_string_value(word);

	if (json_is_integer(word))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(word));
	else if (s && *s && !s[strcspn(s, "(), \t\r\n")])
		fputs(s, out);
	else
		return error_set(e, EINVAL, "actions: %s: not a number or a word", what);
	return 0;
}

static int output_write(FILE *out, const json_t *port, struct error *e)
{
	return word_write(out, port, "output", e);
}

static int set_write(FILE *out, const json_t *body, struct error *e)
{
	void *first = json_object_iter((json_t *)body);
	int err;

	if (json_object_size(body) != 1)
		return error_set(e, EINVAL, "actions: set: not an object with one header");
	fputs("set(", out);
	err = attribute_json_write(out, json_object_iter_key(first), json_object_iter_value(first), e);
	putc(')', out);
	return err;
}

static int push_vlan_write(FILE *out, const json_t *body, struct error *e)
{
	return fields_json_write(out, "push_vlan", body, e);
}

static int pop_vlan_write(FILE *out, const json_t *body, struct error *e)
{
	if (!json_is_true(body))
		return error_set(e, EINVAL, "actions: pop_vlan: only true is possible");
	fputs("pop_vlan", out);
	return 0;
}

static int csum_write(FILE *out, const json_t *body, struct error *e)
{
	json_t *word;
	size_t i;

	if (!json_array_size(body))
		return error_set(e, EINVAL, "actions: csum: not an array of protocols");
	fputs("csum(", out);
	json_array_foreach (body, i, word) {
		fputs(i ? "," : "", out);
		if (word_write(out, word, "csum", e))
			return -EINVAL;
	}
	putc(')', out);
	return 0;
}

/* One key, as pedit() prints those for which it has no better words. */
static int key_write(FILE *out, json_t *key, struct error *e)
{
	const char *htype, *cmd, *value, *mask;
	int offset, at, shift, at_mask;
	json_error_t why;
	json_t *place = NULL;

	if (json_unpack_ex(key, &why, JSON_STRICT, "{s:s, s:i, s:s, s:s, s:s, s?o}", "htype", &htype, "offset", &offset,
			   "cmd", &cmd, "val", &value, "mask", &mask, "at", &place))
		return error_set(e, EINVAL, "actions: pedit: a key is {htype, offset, cmd, val, mask[, at]} (%s)",
				 text_quote(text_of(why.text)).text);
	if (htype[strspn(htype, "abcdefghijklmnopqrstuvwxyz0123456789")] || strspn(value, "0123456789abcdef") != 8 ||
	    strspn(mask, "0123456789abcdef") != 8 || value[8] || mask[8] || (strcmp(cmd, "set") && strcmp(cmd, "add")))
		return error_set(e, EINVAL, "actions: pedit: a key has a form that is not like \"set\", \"0a000000\"");
	fprintf(out, " munge ");
	fprintf(out, strcmp(htype, "network") ? "%s%+d" : "%.0s%d", htype, offset);
	fprintf(out, " %s %s mask %s", strcmp(cmd, "set") ? "add" : "val", value, mask);
	if (place && json_unpack_ex(place, &why, JSON_STRICT, "{s:i, s:i, s:i}", "offset", &at, "mask", &at_mask,
				    "shift", &shift))
		return error_set(e, EINVAL, "actions: pedit: at is {offset, mask, shift} (%s)",
				 text_quote(text_of(why.text)).text);
	if (place)
		fprintf(out, " at %d %x %d", at, at_mask, shift);
	return 0;
}

static int pedit_write(FILE *out, const json_t *body, struct error *e)
{
	int ex = 0, compat = 0;
	json_t *keys, *key;
	size_t i;

	if (json_unpack((json_t *)body, "{s?b, s?b, s:o!}", "ex", &ex, "compat", &compat, "keys", &keys) ||
	    !json_is_array(keys))
		return error_set(e, EINVAL, "actions: pedit: not {ex, compat, keys: [...]}");
	fprintf(out, "pedit(%s%s", compat ? "compat " : "", ex ? "ex " : "");
	json_array_foreach (keys, i, key) {
		int err = key_write(out, key, e);

		if (err)
			return err;
	}
	putc(')', out);
	return 0;
}

static const struct {
	const char *name;
	int (*write)(FILE *out, const json_t *body, struct error *e);
} kinds[] = {
	{ "output", output_write },	{ "set", set_write },	{ "push_vlan", push_vlan_write },
	{ "pop_vlan", pop_vlan_write }, { "csum", csum_write }, { "pedit", pedit_write },
};

static int action_write(FILE *out, const json_t *action, struct error *e)
{
	void *first = json_object_iter((json_t *)action);

	for (size_t i = 0; json_object_size(action) == 1 && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(json_object_iter_key(first), kinds[i].name))
			return kinds[i].write(out, json_object_iter_value(first), e);
	return error_set(e, EINVAL,
			 "actions: an action is an object with one member, as {\"output\": PORT}, or a string");
}

static int list_write(FILE *out, const json_t *actions, struct error *e)
{
	const json_t *action;
	size_t i;
	int err = 0;

	if (json_is_string(actions))
		fputs(json_string_value(actions), out);
	else if (!json_is_array(actions))
		err = error_set(e, EINVAL, "actions: not an array of actions, or a string");
	else if (!json_array_size(actions))
		fputs("drop", out);
	json_array_foreach (actions, i, action) {
		fputs(i ? "," : "", out);
		if (json_is_string(action))
			fputs(json_string_value(action), out);
		else
			err = action_write(out, action, e);
		if (err)
			break;
	}
	return err;
}

int actions_from_json(const json_t *actions, const struct port_names *names, struct action_list *l, struct error *e)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = out ? list_write(out, actions, e) : error_set(e, ENOMEM, "out of memory");

	if (out && fclose(out) && !err)
		err = error_set(e, ENOMEM, "out of memory");
	return err ? err : actions_parse(text, names, l, e);
}
