/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a command says, as text or as JSON, from one call: each value has a key for JSON and a format for text.  Both
 * are written when the command has ended, so that no datapath is locked while somebody is slow to read; a command that
 * failed emits {"error": "..."} instead of its JSON.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EMIT_DEPTH_MAX 8

struct emit {
	FILE *out;
	FILE *text; /* what text there is so far */
	char *text_buffer;
	size_t text_size;
	bool json;
	json_t *stack[EMIT_DEPTH_MAX]; /* the open containers, the root first */
	int depth;
};

void emit_init(struct emit *e, FILE *out, bool json);

/* Containers: key NULL inside an array, or for an object that is all a command says.  Text has none. */
void emit_open_object(struct emit *e, const char *key);
void emit_open_array(struct emit *e, const char *key);
void emit_close(struct emit *e);

/* fmt: how text shows the value (%s; PRIu64); NULL = not at all. */
void emit_str(struct emit *e, const char *key, const char *fmt, const char *value);
void emit_u64(struct emit *e, const char *key, const char *fmt, uint64_t value);
void emit_bool(struct emit *e, const char *key, bool value);
void emit_real(struct emit *e, const char *key, const char *fmt, double value);

/* JSON only; takes the reference. */
void emit_json(struct emit *e, const char *key, json_t *value);

/* Text only. */
void emit_text(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The stream for text, NULL when JSON is wanted. */
FILE *emit_stream(struct emit *e);

/* Writes what is still to be written.  0, or -EIO if it could not be. */
int emit_finish(struct emit *e);
int emit_error(struct emit *e, const char *text);
