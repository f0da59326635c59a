/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share.  A target dies where a property does not hold; libFuzzer then keeps the input.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "action_text.h"
#include "match_text.h"

/* libFuzzer's entry to a target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a string; the caller frees. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#define fuzz_check(condition, ...) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, __VA_ARGS__); \
			fprintf(stderr, "\n%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* What is printed of a match, as text, in more detail, and as JSON, is the same match again. */
void fuzz_match_reads_back(const struct match *m);
void fuzz_actions_read_back(const struct action_list *l);
