/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, addresses and port names as text, and pieces of text that stand inside a longer one.
 *
 * Parsers here take a whole piece or refuse it: nothing is skipped, nothing wraps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/types.h>

struct error;

/* A piece of somebody else's string; not terminated. */
struct text {
	const char *at;
	size_t len;
};

/* A piece made fit for an error message: one line, printable, and short. */
struct quoted {
	char text[64];
};

enum {
	MAC_TEXT_SIZE = sizeof("00:11:22:33:44:55"),
	IP_TEXT_SIZE = sizeof("0000:0000:0000:0000:0000:ffff:255.255.255.255"),
	UUID_TEXT_SIZE = sizeof("00112233-4455-6677-8899-aabbccddeeff"),
	PORT_NAME_SIZE = 16,		  /* IFNAMSIZ */
	LONG_TEXT_SIZE = 2 + 2 * 124 + 1, /* the longest are the data of a Geneve option */
};

/* How port names are looked up; a NULL pointer to this, or in it, means: numbers only. */
struct port_names {
	int (*number)(void *ctx, const char *name, __u32 *port); /* 0 or -ENOENT */
	const char *(*name)(void *ctx, __u32 port);		 /* NULL = unknown */
	void *ctx;
};

/* These are called for every few characters of a file of flows, and parsing is much of what adding flows costs. */
static inline struct text text_of(const char *string)
{
	return (struct text){ string, strlen(string) };
}

static inline struct text text_from(struct text t, size_t pos)
{
	return (struct text){ t.at + pos, t.len - pos };
}

static inline bool text_is(struct text t, const char *word)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (word[i] != t.at[i] || !word[i])
			return false;
	return !word[i];
}

static inline bool text_starts(struct text t, const char *prefix)
{
	size_t len = strlen(prefix);

	return t.len >= len && !memcmp(t.at, prefix, len);
}

/* Sets are short, so that a loop is done before a call of strchr would be. */
static inline bool text_in_set(char c, const char *set)
{
	while (*set && *set != c)
		set++;
	return *set;
}

static inline size_t text_span(struct text t, const char *accept)
{
	size_t n = 0;

	while (n < t.len && text_in_set(t.at[n], accept))
		n++;
	return n;
}

static inline size_t text_cspan(struct text t, const char *reject)
{
	size_t n = 0;

	while (n < t.len && !text_in_set(t.at[n], reject))
		n++;
	return n;
}

/*
 * Sets of characters that are asked for at every few bytes of a file of flows: a look into a table instead of a loop over
 * the set.
 */
enum {
	TEXT_BLANK = 1 << 0,
	TEXT_COMMA = 1 << 1,
	TEXT_OPEN = 1 << 2,
	TEXT_CLOSE = 1 << 3,
	TEXT_SLASH = 1 << 4,
	TEXT_EQUALS = 1 << 5,
	TEXT_WORD = 1 << 6, /* a to z, 0 to 9 and _, of which names of attributes are made */
	TEXT_DIGIT = 1 << 7,
};

extern const __u8 text_classes[256];

static inline bool text_is_blank(char c)
{
	return text_classes[(unsigned char)c] & TEXT_BLANK;
}

/* text_span() and text_cspan() of such sets. */
static inline size_t text_run(struct text t, unsigned int accept)
{
	size_t n = 0;

	while (n < t.len && text_classes[(unsigned char)t.at[n]] & accept)
		n++;
	return n;
}

static inline size_t text_until(struct text t, unsigned int reject)
{
	size_t n = 0;

	while (n < t.len && !(text_classes[(unsigned char)t.at[n]] & reject))
		n++;
	return n;
}

/* Takes what stands before the first of the delimiters, and that delimiter; all of it where there is none. */
static inline struct text text_take(struct text *t, const char *delimiters)
{
	size_t len = text_cspan(*t, delimiters);
	struct text taken = { t->at, len };

	*t = text_from(*t, len < t->len ? len + 1 : len);
	return taken;
}

/* The length of what the parenthesis at t.at[0] holds, or -1 if it is never closed. */
long text_enclosed(struct text t);

struct quoted text_quote(struct text t);

/* Decimal or 0x; what names the number in the refusal.  A leading zero is refused: others read it as octal. */
int number_parse(struct text t, const char *what, __u64 max, __u64 *number, struct error *e);

/* The same, with -EINVAL for all that is refused or is long: whoever wants the words asks number_parse(). */
int number_scan(struct text t, __u64 max, __u64 *number);
bool number_like(struct text t);

/* A number of so many bytes, big endian: decimal up to 64 bits, or hexadecimal.  -EINVAL, also if it does not fit. */
int long_parse(struct text t, __u8 *bytes, size_t size);

int mac_parse(struct text t, __u8 mac[6]);
int ipv4_parse(struct text t, __u8 ip[4]);
int ipv6_parse(struct text t, __u8 ip[16]);
int uuid_parse(struct text t, __u8 uuid[16]);
int tcp_flag_parse(struct text t, __u16 *flag);

/* 0x without leading zeros, 0 for 0; of up to 124 bytes. */
const char *long_format(const __u8 *bytes, size_t size, char *buf);

const char *mac_format(const __u8 mac[6], char buf[static MAC_TEXT_SIZE]);
const char *ipv4_format(const __u8 ip[4], char buf[static IP_TEXT_SIZE]);
const char *ipv6_format(const __u8 ip[16], char buf[static IP_TEXT_SIZE]);
const char *uuid_format(const __u8 uuid[16], char buf[static UUID_TEXT_SIZE]);
const char *tcp_flag_name(__u16 flag); /* of one of the 12 bits */

/* A port's number or its name.  -ENOENT if it is neither. */
int port_parse(struct text t, const char *what, const struct port_names *names, __u32 *port, struct error *e);

/* The name, if there is one that port_parse reads as this port; else NULL. */
const char *port_name(__u32 port, const struct port_names *names);
