// SPDX-License-Identifier: GPL-2.0-only
#include "bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

/* Cuts the first word off; what is left has no blanks in front or behind. */
static char *cut_word(char **rest)
{
	char *word = *rest + strspn(*rest, BLANKS), *end = word + strcspn(word, BLANKS);

	*rest = end + strspn(end, BLANKS);
	*end = 0;
	return word;
}

static int verb_of(const char *word)
{
	static const char *const verbs[] = { [BULK_ADD] = "add", [BULK_MODIFY] = "modify", [BULK_DELETE] = "delete" };

	for (int i = BULK_ADD; i <= BULK_DELETE; i++)
		if (!strcmp(word, verbs[i]))
			return i;
	return -ENOENT;
}

int bulk_open(struct bulk *b, const char *path)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char part[1 << 16];
	size_t size, n;
	FILE *all = in ? open_memstream(&b->whole, &size) : NULL;
	int err = all ? 0 : -errno;

	while (!err && (n = fread(part, 1, sizeof(part), in)) > 0)
		if (fwrite(part, 1, n, all) != n)
			err = -ENOMEM;
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	if (all && fclose(all) && !err)
		err = -ENOMEM;
	if (in && in != stdin)
		fclose(in);
	/* fmemopen takes no empty buffer on some systems. */
	if (!err)
		b->file = size ? fmemopen(b->whole, size, "r") : fopen("/dev/null", "re");
	return err ? err : b->file ? 0 : -errno;
}

int bulk_next(struct bulk *b, struct bulk_line *line)
{
	while (errno = 0, getline(&b->text, &b->size, b->file) >= 0) {
		char *rest = b->text, *end, *word;
		int verb;

		b->number++;
		end = rest + strlen(rest);
		while (end > rest && strchr(BLANKS, end[-1]))
			*--end = 0;
		word = cut_word(&rest);
		if (!*word || *word == '#')
			continue;
		verb = verb_of(word);
		*line = (struct bulk_line){ .number = b->number, .verb = verb < 0 ? b->verb : (enum bulk_verb)verb };
		line->flow = verb < 0 ? word : cut_word(&rest);
		line->actions = rest;
		return 1;
	}
	return ferror(b->file) ? (errno ? -errno : -EIO) : 0;
}

void bulk_end(struct bulk *b)
{
	free(b->text);
	b->text = NULL;
	if (b->file)
		fclose(b->file);
	b->file = NULL;
	free(b->whole);
	b->whole = NULL;
}
