// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-if, del-if.
 */
#include "cmd_port.h"

#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "session.h"
#include "port.h"

int port_add_text(struct dp *dp, char *text, struct error *e)
{
	char *rest = text, *device = strsep(&rest, ","), *word;
	__u32 port_no = PORT_NONE;

	if (!*device || strlen(device) >= IFNAMSIZ)
		return error_set(e, EINVAL, "%s is not a valid network device name: 1 to %d characters",
				 *device ? device : "''", IFNAMSIZ - 1);
	while ((word = strsep(&rest, ","))) {
		char *end;
		unsigned long n;

		if (!strcmp(word, "type=system") || !strcmp(word, "type=netdev"))
			continue;
		if (strncmp(word, "port_no=", 8))
			return error_set(e, EINVAL, "%s: not an option of a port; known are port_no=N and type=system",
					 word);
		n = strtoul(word + 8, &end, 10);
		if (word[8] < '0' || word[8] > '9' || *end || n < 1 || n >= PORTS_MAX)
			return error_set(e, EINVAL, "%s: a number from 1 to %d is wanted", word, PORTS_MAX - 1);
		port_no = n;
	}
	return port_add(dp, device, port_no, e);
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
