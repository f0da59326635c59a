/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * set(ipv4(src=10.0.0.1,ttl=64)): a record for each field, or word of an IPv6 address, in the words of matches.
 *
 * set_masked() of ovs-dpctl.py is the same.  A set() of nothing, as set(ipv4()), is one record whose mask is zero.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "action_list.h"
#include "field.h"
#include "net_text.h"

struct error;

int set_parse(struct text body, struct action_list *l, struct error *e);
const struct flow_action *set_print(FILE *out, const struct flow_action *a);
json_t *set_json(const struct flow_action *a);

/* What the set() that begins at a writes, as the key and mask of a level; its proto and frag, if it names them, too. */
enum attribute set_attribute(const struct flow_action *a, struct match_level *l);
