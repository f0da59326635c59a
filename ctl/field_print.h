/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of one attribute, from bits of a key and of a mask to text and to JSON.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "field.h"
#include "net_text.h"

struct field_writer {
	bool more; /* wild fields, too */
	const struct port_names *names;
	enum attribute attr;
	const void *key; /* a struct flow_key, or a struct foreign_key if the attribute has a why_not */
	const void *mask;
};

/* What stands between the parentheses, of so many label stack entries; 1 for other attributes. */
void fields_print(FILE *out, const struct field_writer *w, unsigned int entries);

/* An object; the value itself where an attribute is one. */
json_t *fields_json(const struct field_writer *w, unsigned int entry);
