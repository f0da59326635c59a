/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches from JSON, in the form that match_json() (match_text.h) makes.
 *
 * It is the flow text in another dress: an attribute is a member, its body is an object of fields or one value.  So it is
 * read by way of the text, and what text can say, JSON can.  A value is a number, a string as flow text has it, or
 * {"value": V, "mask": M}; mpls is an array, a label stack entry each.
 */
#pragma once

#include <jansson.h>

#include "match_text.h"

/* One attribute as text, as ipv4(ttl=64), on its way to a parser. */
int attribute_json_write(FILE *out, const char *name, const json_t *body, struct error *e);

/* A name and its fields, or its one value, as push_vlan(vid=1,pcp=0). */
int fields_json_write(FILE *out, const char *name, const json_t *fields, struct error *e);

/* ufid: NULL, or the flow's name as text; match: NULL if there is a UFID alone. */
int match_from_json(const json_t *match, const char *ufid, const struct port_names *names, struct match *m,
		    struct error *e);
