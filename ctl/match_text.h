/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches as text, in the words of Open vSwitch: in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/8).
 *
 * Taken is what ovs-dpctl and ovs-dpctl.py take, and IPv4 and IPv6 prefix lengths; printed is what ovs-dpctl prints.
 * What is printed, plain or with more, is taken back as the same match.
 *
 * Stricter than Open vSwitch: numbers have to fit, none is octal, and an attribute whose prerequisite the text lacks is
 * refused even if nothing of it is matched (but not nd() and tcp_flags(0/0)).  Laxer: an attribute that is missing is
 * wild, ipv4() and tcp_flags() included.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "field.h"
#include "match.h"
#include "net_text.h"

struct error;

struct match_style {
	bool more; /* all fields that apply, also the wild ones */
	const struct port_names *names;
};

/* "ufid:UUID" alone is taken too, as the name of a flow: then m->present is 0, and there is no match. */
int match_parse(const char *text, const struct port_names *names, struct match *m, struct error *e);

/* VALUE or VALUE/MASK of one field, into the key and the mask of l; no rules are checked. */
int match_field_parse(struct text value, const struct port_names *names, enum attribute attr, const struct field *f,
		      struct match_level *l, struct error *e);

/* Without the UFID, and without a trailing comma. */
void match_print(FILE *out, const struct match *m, const struct match_style *style);

/* Without what is wild: {"in_port": 1, "eth": {"src": "02:..", "dst": {"value": "..", "mask": ".."}}, ...}. */
json_t *match_json(const struct match *m);
