/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * csum(ip,tcp): checksums made anew, as tc's csum action does.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "action_list.h"
#include "net_text.h"

struct error;

/* The words may be apart by commas, blanks, or what tc lets stand between them: csum(ip4h and tcp). */
int csum_parse(struct text body, struct action_list *l, struct error *e);
const struct flow_action *csum_print(FILE *out, const struct flow_action *a);
json_t *csum_json(const struct flow_action *a);
