// SPDX-License-Identifier: GPL-2.0-only
#include "match_json.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "field.h"
#include "util.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

struct writer {
	FILE *out;
	struct error *e;
};

/* What was to be a value, for refusals. */
static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_REAL:
		return "a number with a fraction";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

/* Keeps what a string holds from being read as anything but one value, or one name. */
static int string_write(struct writer *w, const char *what, const char *s)
{
	if (s[strcspn(s, "(),= \t\r\n")])
		return error_set(w->e, EINVAL, "%s: '%s' is not one value", what, text_quote(text_of(s)).text);
	fputs(s, w->out);
	return 0;
}

static int scalar_write(struct writer *w, const char *what, const json_t *v)
{
	if (json_is_string(v))
		return string_write(w, what, json_string_value(v));
	if (!json_is_integer(v))
		return error_set(w->e, EINVAL, "%s: %s is not a value: a whole number, a string, or value and mask",
				 what, type_name(v));
	fprintf(w->out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return 0;
}

static bool is_masked(const json_t *v)
{
	return json_object_size(v) == 2 && json_object_get(v, "value") && json_object_get(v, "mask");
}

static int value_write(struct writer *w, const char *what, const json_t *v)
{
	int err;

	if (!is_masked(v))
		return scalar_write(w, what, v);
	err = scalar_write(w, what, json_object_get(v, "value"));
	putc('/', w->out);
	return err ? err : scalar_write(w, what, json_object_get(v, "mask"));
}

static int name_write(struct writer *w, const char *name)
{
	if (!*name || name[strspn(name, NAME_CHARS)])
		return error_set(w->e, EINVAL, "match: '%s' is no name of a field", text_quote(text_of(name)).text);
	fputs(name, w->out);
	return 0;
}

/* skip: a field that is written already, or NULL. */
static int fields_write(struct writer *w, const char *attr, const json_t *fields, const char *skip)
{
	const char *comma = skip ? "," : "", *name;
	json_t *v;

	/* jansson's loop has no form for const; nothing is changed. */
	json_object_foreach ((json_t *)fields, name, v) {
		char what[64];
		int err;

		if (skip && !strcmp(name, skip))
			continue;
		fputs(comma, w->out);
		comma = ",";
		snprintf(what, sizeof(what), "%s %s", attr, name);
		err = name_write(w, name);
		putc('=', w->out);
		if (!err)
			err = value_write(w, what, v);
		if (err)
			return err;
	}
	return 0;
}

/* A field that comes again begins the next entry of the text, so each entry has its first field, if need be a wild one. */
static int entry_write(struct writer *w, const struct attribute_info *a, const json_t *entry)
{
	const char *first = a->fields->name;
	const json_t *v = json_object_get(entry, first);
	char what[64];
	int err;

	if (!json_is_object(entry))
		return error_set(w->e, EINVAL, "%s: an entry is an object of fields, not %s", a->name,
				 json_is_string(entry) || json_is_integer(entry) ? "a value" : type_name(entry));
	snprintf(what, sizeof(what), "%s %s", a->name, first);
	fprintf(w->out, "%s=", first);
	if (!v)
		fputs("0/0", w->out);
	err = v ? value_write(w, what, v) : 0;
	return err ? err : fields_write(w, a->name, entry, first);
}

static int stack_write(struct writer *w, const struct attribute_info *a, const json_t *stack)
{
	size_t i;

	for (i = 0; i < json_array_size(stack); i++) {
		int err = entry_write(w, a, json_array_get(stack, i));

		if (err)
			return err;
		if (i + 1 < json_array_size(stack))
			putc(',', w->out);
	}
	return 0;
}

static int level_write(struct writer *w, const json_t *level, unsigned int depth);

static int body_write(struct writer *w, const char *name, const json_t *v, unsigned int depth)
{
	int attr = attribute_find(text_of(name));

	if (attr == ATTR_ENCAP)
		return level_write(w, v, depth + 1);
	if (attr >= 0 && attribute_info(attr)->flags & ATTR_LABEL_STACK && json_is_array(v))
		return stack_write(w, attribute_info(attr), v);
	if (json_is_object(v) && !is_masked(v))
		return fields_write(w, name, v, NULL);
	return value_write(w, name, v);
}

static int attribute_write(struct writer *w, const char *name, const json_t *v, unsigned int depth)
{
	int err = name_write(w, name);

	putc('(', w->out);
	if (!err)
		err = body_write(w, name, v, depth);
	putc(')', w->out);
	return err;
}

static int level_write(struct writer *w, const json_t *level, unsigned int depth)
{
	const char *name;
	json_t *v;

	if (!json_is_object(level))
		return error_set(w->e, EINVAL, "%s: an object of attributes is needed", depth ? "encap" : "match");
	if (depth > MATCH_TAGS_MAX)
		return error_set(w->e, EINVAL, "encap: more than %u tags cannot be matched", MATCH_TAGS_MAX);
	json_object_foreach ((json_t *)level, name, v) {
		int err = attribute_write(w, name, v, depth);

		if (err)
			return err;
		putc(',', w->out);
	}
	return 0;
}

int attribute_json_write(FILE *out, const char *name, const json_t *body, struct error *e)
{
	struct writer w = { .out = out, .e = e };

	return attribute_write(&w, name, body, 0);
}

int fields_json_write(FILE *out, const char *name, const json_t *fields, struct error *e)
{
	struct writer w = { .out = out, .e = e };
	int err;

	if (!json_is_object(fields))
		return error_set(e, EINVAL, "actions: %s: not an object of fields", name);
	fprintf(out, "%s(", name);
	err = fields_write(&w, name, fields, NULL);
	putc(')', out);
	return err;
}

int match_from_json(const json_t *match, const char *ufid, const struct port_names *names, struct match *m,
		    struct error *e)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	struct writer w = { .out = open_memstream(&text, &size), .e = e };
	int err = 0;

	if (!w.out)
		return error_set(e, ENOMEM, "out of memory");
	if (ufid) {
		fputs("ufid:", w.out);
		err = string_write(&w, "ufid", ufid);
		putc(',', w.out);
	}
	if (!err && match)
		err = level_write(&w, match, 0);
	if (fclose(w.out) && !err)
		err = error_set(e, ENOMEM, "out of memory");
	return err ? err : match_parse(text, names, m, e);
}
