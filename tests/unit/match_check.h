/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches as text, for tests: each call fails the test that makes it if it cannot do what it says.
 */
#pragma once

#include "match_text.h"

/* The caller frees. */
char *match_printed(const struct match *m, const struct match_style *style);

char *match_text_printed(const struct match_text *t, const struct match_style *style);

void match_parsed(const char *text, const struct port_names *names, struct match *m);

/* What is printed in this style is the same match again. */
void assert_match_reads_back(const struct match *m, const struct port_names *names, const struct match_style *style);

/* So is its JSON. */
void assert_match_reads_back_from_json(const struct match *m);
