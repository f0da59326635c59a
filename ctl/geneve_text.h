/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Geneve options as text: {class=0xffff,type=0x80,len=4,0xa/0xff}{...}.  A class, a type or data that is left out is wild.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>

#include "foreign_key.h"
#include "net_text.h"

struct error;

/* what names the options in a refusal. */
int geneve_parse(struct text t, const char *what, struct geneve_options *key, struct geneve_options *mask,
		 struct error *e);
void geneve_print(FILE *out, const struct geneve_options *key, const struct geneve_options *mask);

/* [{"class": "0xffff", "type": "0x1/0x3", "len": 4, "data": "0xa/0xff"}]; without what is wild. */
json_t *geneve_json(const struct geneve_options *key, const struct geneve_options *mask);
