// SPDX-License-Identifier: GPL-2.0-only
#include "action_json.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "util.h"

/* What stands before the next comma that is in no parentheses. */
static struct text action_take(struct text *t)
{
	struct text action = { t->at, 0 };
	int depth = 0;

	for (; action.len < t->len && (depth || t->at[action.len] != ','); action.len++)
		depth += (t->at[action.len] == '(') - (t->at[action.len] == ')');
	*t = text_from(*t, action.len < t->len ? action.len + 1 : action.len);
	return action;
}

json_t *actions_json(const struct flow_action *a)
{
	CLEANUP_FREE char *printed = NULL;
	json_t *list = json_array();
	size_t size;
	FILE *out = open_memstream(&printed, &size);
	struct text t;

	if (!out)
		return list;
	actions_print(out, a, NULL);
	fclose(out);
	if (!strcmp(printed, "drop"))
		return list;
	for (t = text_of(printed); t.len;) {
		struct text action = action_take(&t);

		if (number_like(action))
			json_array_append_new(list, json_pack("{s:I}", "output", (json_int_t)atoll(action.at)));
		else
			json_array_append_new(list, json_stringn(action.at, action.len));
	}
	return list;
}

static int output_write(FILE *out, const json_t *action, struct error *e)
{
	const json_t *port = json_object_get(action, "output");

	if (!json_is_object(action) || !port || json_object_size(action) != 1)
		return error_set(e, EINVAL, "actions: an action is {\"output\": PORT} or a string");
	if (json_is_integer(port))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(port));
	else if (json_is_string(port) && !json_string_value(port)[strcspn(json_string_value(port), "(), \t\r\n")])
		fputs(json_string_value(port), out);
	else
		return error_set(e, EINVAL, "actions: output: not a port: a number or a name");
	return 0;
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
			err = output_write(out, action, e);
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
