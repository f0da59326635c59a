// SPDX-License-Identifier: GPL-2.0-only
#include "mask_print.h"

#include <arpa/inet.h>

#include "field.h"
#include "net_text.h"

static void partial_print(FILE *out, const struct field *f, const struct field_value *mask)
{
	char buf[IP_TEXT_SIZE];

	if (!field_is_bytes(f))
		fprintf(out, "/%#x", mask->number);
	else if (f->kind == FIELD_MAC)
		fprintf(out, "/%s", mac_format(mask->bytes, buf));
	else
		fprintf(out, "/%s",
			f->kind == FIELD_IPV4 ? ipv4_format(mask->bytes, buf) : ipv6_format(mask->bytes, buf));
}

static void attribute_print(FILE *out, const struct flow_key *mask, enum attribute attr, const char *comma)
{
	const struct attribute_info *a = attribute_info(attr);
	const char *between = "";

	fprintf(out, "%s%s", comma, a->name);
	for (unsigned int entry = 0; entry < attribute_entries(mask, attr); entry++) {
		for (const struct field *f = a->fields; f->size; f++) {
			enum field_match match = field_match(mask, f, entry);
			struct field_value value = field_get(mask, f, entry);

			if (match == FIELD_WILD || f->alias)
				continue;
			if (f->name)
				fprintf(out, "%s%s", *between ? between : "(", f->name);
			between = f->name ? "," : "";
			if (match == FIELD_PARTIAL)
				partial_print(out, f, &value);
		}
	}
	if (*between)
		putc(')', out);
}

void mask_print(FILE *out, const struct flow_key *mask, const struct flow_key *sample)
{
	struct match_level level = { .key = *sample, .mask = *mask };
	const char *comma = "";

	/* What the layers are is known from the sample, whether or not the mask looks at it. */
	level.mask.eth_type_be = 0xffff;
	level.mask.ip_proto = 0xff;
	for (enum attribute attr = 0; attr < ATTRIBUTES; attr++) {
		const struct attribute_info *a = attribute_info(attr);

		if (a->why_not || !a->fields || !attribute_entries(mask, attr))
			continue;
		if (attr != ATTR_VLAN && !attribute_applies(&level, attr))
			continue;
		attribute_print(out, mask, attr, comma);
		comma = ",";
	}
	if (!*comma)
		fputs("any", out);
}
