/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches as text, in the words of Open vSwitch: in_port(1),eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/8).
 *
 * Taken is what ovs-dpctl and ovs-dpctl.py take, and IPv4 and IPv6 prefix lengths; printed is what ovs-dpctl prints.
 * What is printed, plain or with more, is taken back as the same match.
 *
 * Reading has two steps.  First the form: a text is taken as it stands, and can be shown again in the one canonical
 * form, key bits outside the mask included.  Then the rules of the kernel datapath, which make a match of it.
 *
 * Stricter than Open vSwitch: numbers have to fit, none is octal, and an attribute whose prerequisite the text lacks is
 * refused even if nothing of it is matched (but not nd(), tcp_flags(0/0) and what this datapath cannot match).  Laxer: an
 * attribute that is missing is wild, ipv4() and tcp_flags() included.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "field.h"
#include "foreign_key.h"
#include "match.h"
#include "net_text.h"

struct error;
struct match_memo;

struct match_style {
	bool more; /* all fields that apply, also the wild ones */
	const struct port_names *names;
};

/* A text as it stands. */
struct match_text {
	struct match_level level[MATCH_TAGS_MAX + 1];
	struct foreign_key foreign_key; /* an attribute is in one level only, so one is enough */
	struct foreign_key foreign_mask;
	__u64 foreign; /* the attributes of these that are present, a bit each */
	__u8 ufid[16];
	bool has_ufid;
};

/* "ufid:UUID" alone is taken too, as the name of a flow: then no attribute is present, in no level. */
int match_text_parse(const char *text, const struct port_names *names, struct match_text *t, struct error *e);

/* The rules; t is used up.  Of a UFID alone there is no match, and m->present is 0. */
int match_text_check(struct match_text *t, struct match *m, struct error *e);

/* Both steps. */
int match_parse(const char *text, const struct port_names *names, struct match *m, struct error *e);

/* The same for many texts, which have much in common (match_memo.h). */
int match_recall(const char *text, const struct port_names *names, struct match_memo *memo, struct match *m,
		 struct error *e);

/* Refuses, by its name, what this datapath cannot match; for whoever wants to install a flow. */
int match_supported(const struct match *m, struct error *e);

/* All without the UFID, and without a trailing comma. */
void match_text_print(FILE *out, const struct match_text *t, const struct match_style *style);
void match_print(FILE *out, const struct match *m, const struct match_style *style);

/* Without what is wild: {"in_port": 1, "eth": {"src": "02:..", "dst": {"value": "..", "mask": ".."}}, ...}. */
json_t *match_text_json(const struct match_text *t);
json_t *match_json(const struct match *m);

/*
 * One attribute, as set() has it.  The body is what its parentheses hold; key bits outside the mask stay in the level,
 * for whoever wants to refuse them.  Ports have no names here.
 */
int attribute_parse(struct text body, enum attribute attr, struct match_level *l, struct error *e);
void attribute_print(FILE *out, enum attribute attr, const struct match_level *l); /* with its name */
json_t *attribute_fields_json(enum attribute attr, const struct match_level *l);
