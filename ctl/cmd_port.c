// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-if, del-if, set-if.
 */
#include "cmd_port.h"

#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "session.h"
#include "port.h"

struct port_words {
	const char *device;
	const char *type; /* NULL: not said */
	__u32 port_no;	  /* PORT_NONE: not said */
	__u32 flags, flags_said;
};

/* IF[,port_no=N][,type=T][,peer=on|off]; text is cut apart in place. */
static int parse_port(char *text, struct port_words *w, struct error *e)
{
	char *rest = text, *word, *end;

	*w = (struct port_words){ .device = strsep(&rest, ","), .port_no = PORT_NONE };
	if (!*w->device || strlen(w->device) >= IFNAMSIZ)
		return error_set(e, EINVAL, "%s is not a valid network device name: 1 to %d characters",
				 *w->device ? w->device : "''", IFNAMSIZ - 1);
	while ((word = strsep(&rest, ","))) {
		unsigned long n;

		if (!strncmp(word, "type=", 5)) {
			w->type = word + 5;
			continue;
		}
		if (!strcmp(word, "peer=on") || !strcmp(word, "peer=off")) {
			w->flags_said = PORT_PEER;
			w->flags = strcmp(word, "peer=on") ? 0 : PORT_PEER;
			continue;
		}
		if (strncmp(word, "port_no=", 8))
			return error_set(
				e, EINVAL,
				"%s: not an option of a port; known are port_no=N, type=system, peer=on and peer=off",
				word);
		n = strtoul(word + 8, &end, 10);
		if (word[8] < '0' || word[8] > '9' || *end || n < 1 || n >= PORTS_MAX)
			return error_set(e, EINVAL, "%s: a number from 1 to %d is wanted", word, PORTS_MAX - 1);
		w->port_no = n;
	}
	return 0;
}

/* The selftest's ovs-dpctl.py calls an existing device netdev, ovs-dpctl system. */
static bool is_system(const char *type)
{
	return !strcmp(type, "system") || !strcmp(type, "netdev");
}

int port_add_text(struct dp *dp, char *text, struct error *e)
{
	struct port_words w;
	int err = parse_port(text, &w, e);

	if (err)
		return err;
	if (w.type && !is_system(w.type))
		return error_set(
			e, EOPNOTSUPP,
			"adding %s to %s failed (Operation not supported): type=%s; only system, an existing device, can be added",
			w.device, dp->name, w.type);
	return port_add(dp, w.device, w.port_no, w.flags, e);
}

static int set_text(struct dp *dp, char *text, struct error *e)
{
	struct port_words w;
	const char *type;
	__u32 port_no;
	int err = parse_port(text, &w, e);

	if (!err)
		err = port_find(dp, w.device, &port_no, e);
	if (err)
		return err;
	type = port_no == PORT_LOCAL ? "internal" : "system";
	if (w.type && strcmp(w.type, type) && (port_no == PORT_LOCAL || !is_system(w.type)))
		return error_set(e, EINVAL, "%s: can't change type from %s to %s", w.device, type, w.type);
	if (w.port_no != PORT_NONE && w.port_no != port_no)
		return error_set(e, EINVAL, "%s: can't change port number from %u to %u", w.device, port_no, w.port_no);
	return w.flags_said ? port_set_flags(dp, port_no, w.flags, e) : 0;
}

static int del_text(struct dp *dp, char *text, struct error *e)
{
	__u32 port_no;
	int err = port_find(dp, text, &port_no, e);

	return err ? err : port_del(dp, port_no, e);
}

/* As in ovs-dpctl, each interface is tried, whatever happened to those before it; the last failure is the command's. */
static int for_each_if(struct cmd *c, int (*one)(struct dp *, char *, struct error *), struct error *e)
{
	struct error last;
	struct dp *dp;
	int failed = 0, err = session_open(c->argv[0], DP_WRITE, &dp, e);

	if (err)
		return err;
	for (int i = 1; i < c->argc; i++) {
		err = one(dp, c->argv[i], e);
		if (!err)
			continue;
		if (failed)
			cmd_complain(c, &last);
		failed = err;
		last = *e;
	}
	dp_close(&dp);
	if (failed)
		*e = last;
	return failed;
}

int cmd_add_if(struct cmd *c, struct error *e)
{
	return for_each_if(c, port_add_text, e);
}

int cmd_del_if(struct cmd *c, struct error *e)
{
	return for_each_if(c, del_text, e);
}

int cmd_set_if(struct cmd *c, struct error *e)
{
	return for_each_if(c, set_text, e);
}
