// SPDX-License-Identifier: GPL-2.0-only
#include "bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "flow_json.h"
#include "net_text.h"
#include "util.h"

#define BLANKS	  " \t\r\n"
#define READ_SIZE 65536

#define SAMPLE_SIZE 65536 /* to guess the number of lines from */

static char *skip_blanks(char *at)
{
	while (text_is_blank(*at))
		at++;
	return at;
}

/* A blank, or the end.  A flow's text is long and has a space behind it: any other blank is looked for up to there. */
static char *first_blank(char *at)
{
	char *end = strchrnul(at, ' '), *other;

	while ((other = memchr(at, '\t', end - at)) || (other = memchr(at, '\r', end - at)))
		end = other;
	return end;
}

/* Cuts the first word off; what is left has no blanks in front or behind. */
static char *cut_word(char **rest)
{
	char *word = skip_blanks(*rest), *end = first_blank(word);

	*rest = skip_blanks(end);
	*end = '\0';
	return word;
}

static int verb_of(const char *word)
{
	static const char *const verbs[] = { [BULK_ADD] = "add", [BULK_MODIFY] = "modify", [BULK_DELETE] = "delete" };

	for (int i = BULK_ADD; i <= BULK_DELETE; i++)
		if (*word == *verbs[i] && !strcmp(word, verbs[i]))
			return i;
	return -ENOENT;
}

/* With a NUL behind it. */
static int read_all(int fd, char **whole, size_t *size)
{
	struct stat st;
	size_t room = (fstat(fd, &st) ? 0 : st.st_size) + READ_SIZE;

	*size = 0;
	*whole = malloc(room);
	prefer_huge_pages(*whole, room);
	while (*whole) {
		ssize_t n = read(fd, *whole + *size, room - *size - 1);
		char *grown;

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0) {
			(*whole)[*size] = '\0';
			return 0;
		}
		*size += n > 0 ? n : 0;
		if (room - *size > 1)
			continue;
		grown = realloc(*whole, room *= 2);
		if (!grown)
			return -ENOMEM;
		*whole = grown;
	}
	return -ENOMEM;
}

static int read_file(struct bulk *b, const char *path)
{
	CLEANUP_FD int opened = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (opened < 0 && strcmp(path, "-"))
		return -errno;
	return read_all(opened < 0 ? STDIN_FILENO : opened, &b->whole, &b->size);
}

int bulk_open(struct bulk *b, const char *path, struct error *e)
{
	int err = read_file(b, path);
	const char *first = err ? "" : b->whole + strspn(b->whole, BLANKS);

	if (err)
		return error_set(e, -err, "%s: cannot be read (%s)", path, strerror(-err));
	b->next = b->whole;
	if (*first != '[' && *first != '{')
		return 0;
	err = flows_json_load(b->whole, b->size, &b->flows, e);
	return err ? error_prefix(e, err, "%s", path) : 0;
}

void bulk_take_lines(struct bulk *b, char *lines, size_t size)
{
	b->whole = b->next = lines;
	b->size = size;
}

static bool next_json(struct bulk *b, struct bulk_line *line)
{
	const json_t *flow = json_array_get(b->flows, b->number);

	if (flow)
		*line = (struct bulk_line){ .number = ++b->number, .verb = b->verb, .json = flow };
	return flow;
}

/* Cuts the next line off, without the blanks behind it; NULL at the end.  A NUL in it would hide what follows. */
static char *cut_line(struct bulk *b)
{
	char *line = b->next, *file_end = b->whole + b->size, *end, *c;

	if (line == file_end)
		return NULL;
	end = memchr(line, '\n', file_end - line);
	b->next = end ? end + 1 : file_end;
	end = end ? end : file_end;
	while ((c = memchr(line, '\0', end - line)))
		*c = '?';
	while (end > line && text_is_blank(end[-1]))
		end--;
	*end = '\0';
	b->number++;
	return line;
}

bool bulk_next(struct bulk *b, struct bulk_line *line)
{
	char *rest, *word;
	int verb;

	if (b->flows)
		return next_json(b, line);
	while ((rest = cut_line(b))) {
		word = cut_word(&rest);
		if (!*word || *word == '#')
			continue;
		verb = verb_of(word);
		*line = (struct bulk_line){ .number = b->number, .verb = verb < 0 ? b->verb : (enum bulk_verb)verb };
		line->flow = verb < 0 ? word : cut_word(&rest);
		line->actions = rest;
		return true;
	}
	return false;
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

unsigned long bulk_lines_about(const struct bulk *b)
{
	size_t sample = b->size < SAMPLE_SIZE ? b->size : SAMPLE_SIZE, lines = 1;

	if (b->flows)
		return json_array_size(b->flows);
	for (size_t i = 0; i < sample; i++)
		lines += b->whole[i] == '\n';
	return sample ? lines * (b->size / sample) : 0;
}

void bulk_end(struct bulk *b)
{
	json_decref(b->flows);
	free(b->whole);
	*b = (struct bulk){ .verb = b->verb };
}
