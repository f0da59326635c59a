/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Action lists as text, for tests: each call fails the test that makes it if it cannot do what it says.
 */
#pragma once

#include "action_text.h"

/* The caller frees. */
char *actions_printed(const struct flow_action *a, const struct port_names *names);

void actions_parsed(const char *text, struct action_list *l);

/* What is printed for a text, plain and as JSON; NULL: the same text, JSON is not looked at.  Both read back the same. */
void assert_actions_print(const char *text, const char *expected, const char *json);

/* Rows of a text and a part of what it is refused with. */
void assert_actions_refused(const char *const rows[][2], size_t n, const struct port_names *names);
