/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which actions a flow may have, given what it matches: the rules of the Open vSwitch kernel datapath.
 */
#pragma once

#include "action_list.h"
#include "match.h"

struct error;

/*
 * A header is written only if the masked key says that the packet has it.  Tags that are pushed or popped on the way do
 * not change that: the type that counts is the innermost.
 */
int actions_check(const struct match *m, const struct action_list *l, struct error *e);
