// SPDX-License-Identifier: GPL-2.0-only
#include "emit.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void emit_init(struct emit *e, FILE *out, bool json)
{
	*e = (struct emit){ .out = out, .json = json };
	e->text = open_memstream(&e->text_buffer, &e->text_size);
	if (!e->text)
		abort(); /* not even these few bytes */
	if (json)
		e->stack[e->depth++] = json_object();
}

static void put(struct emit *e, const char *key, json_t *value)
{
	json_t *container = e->stack[e->depth - 1];

	if (json_is_array(container))
		json_array_append_new(container, value);
	else
		json_object_set_new(container, key, value);
}

static void open_container(struct emit *e, const char *key, json_t *container)
{
	json_t *outer = e->stack[e->depth - 1];

	assert(e->depth < EMIT_DEPTH_MAX);
	/* An object without a key inside an object: the only thing that is said, so it is what is said. */
	if (!key && json_is_object(outer)) {
		json_decref(container);
		container = outer;
	} else {
		put(e, key, container);
	}
	e->stack[e->depth++] = container;
}

/* JSON is UTF-8; names and what people type need not be: what is not becomes question marks. */
static json_t *text_json(const char *value)
{
	json_t *text = json_string(value);
	char *plain = text ? NULL : strdup(value);

	if (!plain)
		return text;
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	text = json_string(plain);
	free(plain);
	return text;
}

void emit_open_object(struct emit *e, const char *key)
{
	if (e->json)
		open_container(e, key, json_object());
}

void emit_open_array(struct emit *e, const char *key)
{
	if (e->json)
		open_container(e, key, json_array());
}

void emit_close(struct emit *e)
{
	if (e->json)
		e->depth--;
}

/* The formats are literals at the callers; the compiler cannot see that from here. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void emit_str(struct emit *e, const char *key, const char *fmt, const char *value)
{
	if (e->json)
		put(e, key, text_json(value));
	else if (fmt)
		fprintf(e->text, fmt, value);
}

void emit_u64(struct emit *e, const char *key, const char *fmt, uint64_t value)
{
	if (e->json)
		put(e, key, json_integer((json_int_t)value));
	else if (fmt)
		fprintf(e->text, fmt, value);
}

void emit_real(struct emit *e, const char *key, const char *fmt, double value)
{
	if (e->json)
		put(e, key, json_real(value));
	else if (fmt)
		fprintf(e->text, fmt, value);
}
#pragma GCC diagnostic pop

void emit_bool(struct emit *e, const char *key, bool value)
{
	if (e->json)
		put(e, key, json_boolean(value));
}

void emit_json(struct emit *e, const char *key, json_t *value)
{
	if (e->json)
		put(e, key, value);
	else
		json_decref(value);
}

void emit_text(struct emit *e, const char *fmt, ...)
{
	va_list ap;

	if (e->json)
		return;
	va_start(ap, fmt);
	vfprintf(e->text, fmt, ap);
	va_end(ap);
}

FILE *emit_stream(struct emit *e)
{
	return e->json ? NULL : e->text;
}

static int flush(struct emit *e)
{
	int lost = fclose(e->text);

	fwrite(e->text_buffer, 1, e->text_size, e->out);
	free(e->text_buffer);
	if (lost)
		return -ENOMEM;
	return fflush(e->out) || ferror(e->out) ? -EIO : 0;
}

int emit_finish(struct emit *e)
{
	json_t *root = e->stack[0];

	if (e->json) {
		if (json_object_size(root)) {
			json_dumpf(root, e->out, JSON_INDENT(2));
			fputc('\n', e->out);
		}
		json_decref(root);
		e->stack[0] = NULL;
	}
	return flush(e);
}

int emit_error(struct emit *e, const char *text)
{
	json_t *root;

	if (!e->json) {
		fprintf(stderr, "tcvsctl: %s\n", text);
		return flush(e);
	}
	root = json_pack("{s:o}", "error", text_json(text));
	json_dumpf(root, e->out, JSON_INDENT(2));
	fputc('\n', e->out);
	json_decref(root);
	json_decref(e->stack[0]);
	return flush(e);
}
