/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a table in tests/data: columns apart by tabs, lines that begin with # are comments.
 */
#pragma once

#include <stdio.h>

enum {
	VECTOR_COLUMNS = 12,
};

struct vectors {
	FILE *file;
	char *line;
	size_t size;
	char *column[VECTOR_COLUMNS]; /* of the current row; those that it has not are "" */
};

/* Found from the program's own place, build/tests/unit, or from the top of the tree; fails the test if it is not there. */
void vectors_open(struct vectors *v, const char *name);

/* The next row; 0 at the end, where all is closed. */
int vectors_next(struct vectors *v);
