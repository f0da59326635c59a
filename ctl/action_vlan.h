/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push_vlan(vid=12,pcp=3), push_vlan(tpid=0x88a8,vid=12,pcp=0) and pop_vlan.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "action_list.h"
#include "net_text.h"

struct error;

/* In any order; vid has to be there.  Without the others: pcp=0, tpid=0x8100. */
int push_vlan_parse(struct text body, struct action_list *l, struct error *e);
const struct flow_action *push_vlan_print(FILE *out, const struct flow_action *a);
json_t *push_vlan_json(const struct flow_action *a);

int pop_vlan_parse(struct text body, struct action_list *l, struct error *e);
const struct flow_action *pop_vlan_print(FILE *out, const struct flow_action *a);
json_t *pop_vlan_json(const struct flow_action *a);
