// SPDX-License-Identifier: GPL-2.0-only
#include "vectors.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

void vectors_open(struct vectors *v, const char *name)
{
	char exe[PATH_MAX] = "", path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int up;

	memset(v, 0, sizeof(*v));
	snprintf(path, sizeof(path), "tests/data/%s", name);
	v->file = fopen(path, "r");
	for (up = 0; !v->file && len > 0 && up < 4; up++) {
		*strrchr(exe, '/') = '\0';
		snprintf(path, sizeof(path), "%s/tests/data/%s", exe, name);
		v->file = fopen(path, "r");
	}
	if (!v->file)
		fail_msg("tests/data/%s is not there", name);
}

static void split(struct vectors *v)
{
	char *at = v->line;
	size_t i;

	at[strcspn(at, "\n")] = '\0';
	for (i = 0; i < VECTOR_COLUMNS; i++) {
		v->column[i] = at;
		at += strcspn(at, "\t");
		if (*at)
			*at++ = '\0';
	}
}

int vectors_next(struct vectors *v)
{
	while (getline(&v->line, &v->size, v->file) >= 0) {
		if (v->line[0] == '#' || v->line[0] == '\n')
			continue;
		split(v);
		return 1;
	}
	fclose(v->file);
	free(v->line);
	return 0;
}
