/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of one attribute as text: what stands between its parentheses, to bits of a key and of a mask.  No rule is
 * applied here but that values have the form of their field and fit it; key bits outside the mask stay.
 */
#pragma once

#include "field.h"
#include "net_text.h"

struct error;

struct field_reader {
	const struct port_names *names;
	struct error *e;
	enum attribute attr;
	const char *group; /* " erspan" inside tunnel(erspan()), for refusals; else "" */
	void *key;	   /* a struct flow_key, or a struct foreign_key if the attribute has a why_not */
	void *mask;
};

int fields_parse(struct field_reader *r, struct text body);

/* VALUE or VALUE/MASK of one field; entry counts label stack entries. */
int field_parse(struct field_reader *r, const struct field *f, unsigned int entry, struct text t);
