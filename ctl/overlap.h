/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows that overlap: some packet fits both.  With different actions its fate would depend on the order of masks, which
 * the controller changes, so such a flow is refused unless the user takes both.
 *
 * A check looks at every flow; that is a few milliseconds for 200000.  Between overlap_begin() and overlap_end() more
 * than a few checks make an index, which flow_table.c keeps up to date; nobody else changes flows under the lock.
 */
#pragma once

#include "action_text.h"
#include "dp.h"
#include "match.h"

/* Before flow_add().  -EEXIST, and the other flow is named; 0 if the same key and mask are there: flow_add() says so. */
int overlap_check_new(struct dp *dp, const struct match *match, const struct action_list *actions, struct error *e);

/* Before flow_set_actions().  Actions that the flow has already are no new conflict. */
int overlap_check_change(struct dp *dp, __u32 slot, const struct action_list *actions, struct error *e);

/* Many checks are to come.  Without memory they are slow. */
void overlap_begin(struct dp *dp);
void overlap_end(struct dp *dp);

/* A flow with this key will be checked. */
void overlap_prefetch(struct dp *dp, const struct flow_key *key);

/* What changed in the table, if anybody wants to know. */
void overlap_added(struct dp *dp, __u32 slot);
void overlap_removed(struct dp *dp, __u32 slot); /* before its entry changes */
void overlap_changed(struct dp *dp, __u32 slot);
