// SPDX-License-Identifier: GPL-2.0-only
#include "bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "flow_json.h"

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

static int read_whole(const char *path, char **whole, size_t *size)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char part[1 << 16];
	size_t n;
	FILE *all = in ? open_memstream(whole, size) : NULL;
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
	return err;
}

int bulk_open(struct bulk *b, const char *path, struct error *e)
{
	size_t size;
	int err = read_whole(path, &b->whole, &size);
	const char *first = err ? "" : b->whole + strspn(b->whole, BLANKS);

	if (*first == '[' || *first == '{') {
		err = flows_json_load(b->whole, size, &b->flows, e);
		return err ? error_prefix(e, err, "%s", path) : 0;
	}
	/* fmemopen takes no empty buffer on some systems. */
	if (!err)
		b->file = size ? fmemopen(b->whole, size, "r") : fopen("/dev/null", "re");
	if (!err && !b->file)
		err = -errno;
	return err ? error_set(e, -err, "%s: cannot be read (%s)", path, strerror(-err)) : 0;
}

static int next_json(struct bulk *b, struct bulk_line *line)
{
	const json_t *flow = json_array_get(b->flows, b->number);

	if (!flow)
		return 0;
	*line = (struct bulk_line){ .number = ++b->number, .verb = b->verb, .json = flow };
	return 1;
}

/* A NUL would hide what stands behind it; so the line is refused for it. */
static void nul_show(char *line, size_t len)
{
	char *c;

	while ((c = memchr(line, '\0', len)))
		*c = '?';
}

int bulk_next(struct bulk *b, struct bulk_line *line)
{
	ssize_t len;

	if (b->flows)
		return next_json(b, line);
	while (errno = 0, (len = getline(&b->text, &b->size, b->file)) >= 0) {
		char *rest = b->text, *end, *word;
		int verb;

		b->number++;
		nul_show(rest, len);
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

unsigned long bulk_lines(const struct bulk *b)
{
	const char *line = b->whole, *end;
	unsigned long n = 0;

	if (b->flows)
		return json_array_size(b->flows);
	for (; (end = strchr(line, '\n')); line = end + 1)
		n++;
	return n + !!*line;
}

void bulk_end(struct bulk *b)
{
	free(b->text);
	b->text = NULL;
	if (b->file)
		fclose(b->file);
	b->file = NULL;
	json_decref(b->flows);
	b->flows = NULL;
	free(b->whole);
	b->whole = NULL;
}
