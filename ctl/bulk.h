/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of flows: a line each, [add|modify|delete] FLOW [ACTIONS], as ovs-dpctl has them; or JSON (flow_json.h), if the
 * first character that is no blank is [ or {.  A flow's text begins with neither.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

enum bulk_verb {
	BULK_ADD,
	BULK_MODIFY,
	BULK_DELETE,
};

struct bulk_line {
	unsigned long number; /* from 1; of JSON, the flow's place in the array */
	enum bulk_verb verb;
	char *flow;
	char *actions;	    /* "" if there are none */
	const json_t *json; /* of JSON, the flow, and there are no texts; else NULL */
};

struct bulk {
	char *whole; /* what bulk_open() read; bulk_next() cuts it up */
	size_t size;
	char *next;	     /* line */
	json_t *flows;	     /* of JSON: the array; else NULL */
	enum bulk_verb verb; /* of lines that do not say */
	unsigned long number;
};

/*
 * Opens a file, "-" for standard input, and reads it to its end: whoever feeds a pipe slowly, or waits for our output
 * before he goes on, does not do so while a datapath is locked.
 */
int bulk_open(struct bulk *b, const char *path, struct error *e);

/* The same for lines that are in memory, with a NUL behind them; takes the memory, which is freed by bulk_end(). */
void bulk_take_lines(struct bulk *b, char *lines, size_t size);

/*
 * The next line that says something; blank ones and those that begin with # are skipped.  flow and actions stand until
 * bulk_end().  False at the end.
 */
bool bulk_next(struct bulk *b, struct bulk_line *line);

/* How many lines the file has, or flows if it is JSON; before the first bulk_next(). */
unsigned long bulk_lines(const struct bulk *b);

/* About as many, without reading all of it. */
unsigned long bulk_lines_about(const struct bulk *b);

void bulk_end(struct bulk *b);
