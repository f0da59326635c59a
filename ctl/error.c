// SPDX-License-Identifier: GPL-2.0-only
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *e, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -errnum;
}

int error_prefix(struct error *e, int err, const char *fmt, ...)
{
	char said[sizeof(e->text)];
	size_t room = sizeof(e->text);
	va_list ap;
	int len;

	memcpy(said, e->text, sizeof(said));
	va_start(ap, fmt);
	len = vsnprintf(e->text, room, fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= room)
		return err;
	/* What does not fit is cut off. */
	strncat(e->text, ": ", room - strlen(e->text) - 1);
	strncat(e->text, said, room - strlen(e->text) - 1);
	return err;
}
