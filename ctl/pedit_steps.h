/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program executes for a pedit(): its keys, or writes of up to three words that stand for several of them.
 *
 * A write must be what its keys are one by one, also where the packet ends: a key outside of it fails, those before it
 * stay, those after it are skipped.  The program executes a write that does not fit word by word, upwards, to the first
 * that fails.  So a key joins a write only if it sets, at an offset known here, the write's last word or the one after
 * it.  Two keys of one word compose: ((x & m1) ^ v1) & m2 ^ v2 = x & (m1 & m2) ^ ((v1 & m2) ^ v2).
 *
 * A TCP or UDP key before its header may change the IP header that says where the next key counts from: it stays alone.
 *
 * The first three words of an Ethernet frame are always there, since a frame has 14 bytes: these merge in any order, and
 * setting both MAC addresses is one write.
 */
#pragma once

#include "flow_action.h"

struct action_list;
struct error;

/* Appends the steps of the pedit() that begins at record `header` and whose last key is the last record of the list. */
int pedit_steps_append(struct action_list *l, unsigned int header, struct error *e);

int pedit_record_append(struct action_list *l, const struct flow_action *a, struct error *e);
