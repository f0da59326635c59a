// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-dp, del-dp, dump-dps.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "cmd_port.h"
#include "dp.h"
#include "port.h"
#include "session.h"
#include "util.h"

static int parse_limit(const char *word, const char *key, __u32 max, __u32 *value, struct error *e)
{
	const char *text = word + strlen(key) + 1;
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n < 1 || n > max)
		return error_set(e, EINVAL, "%s=%s: a number from 1 to %u is wanted", key, text, max);
	*value = n;
	return 0;
}

static bool has_key(const char *word, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] == '=';
}

/* DP[,max_flows=N][,max_masks=N][,attach=tcx|clsact]; the words are cut apart in place. */
static int parse_dp(char *arg, struct dp_options *o, struct error *e)
{
	char *word, *rest = arg;
	int err = 0;

	*o = (struct dp_options){ .max_flows = FLOWS_DEFAULT, .max_masks = MASKS_MAX };
	strsep(&rest, ",");
	while (!err && (word = strsep(&rest, ","))) {
		if (has_key(word, "max_flows"))
			err = parse_limit(word, "max_flows", FLOWS_LIMIT, &o->max_flows, e);
		else if (has_key(word, "max_masks"))
			err = parse_limit(word, "max_masks", MASKS_MAX, &o->max_masks, e);
		else if (has_key(word, "max_reactive_masks"))
			err = parse_limit(word, "max_reactive_masks", MASKS_MAX, &o->max_reactive_masks, e);
		else if (has_key(word, "max_port_masks"))
			err = parse_limit(word, "max_port_masks", MASKS_MAX, &o->max_port_masks, e);
		else if (!strcmp(word, "attach=tcx"))
			o->attach = PORT_ATTACH_TCX;
		else if (!strcmp(word, "attach=clsact"))
			o->attach = PORT_ATTACH_CLSACT;
		else
			err = error_set(
				e, EINVAL,
				"%s: not an option of add-dp; known are max_flows=N, max_masks=N, max_reactive_masks=N, max_port_masks=N, attach=tcx and attach=clsact",
				word);
	}
	/* Unless said: three quarters, and a quarter for one port. */
	if (!o->max_reactive_masks)
		o->max_reactive_masks = DIV_ROUND_UP(o->max_masks * 3, 4);
	if (!o->max_port_masks)
		o->max_port_masks = DIV_ROUND_UP(o->max_masks, 4);
	if (!err && o->attach == PORT_ATTACH_TCX && !attach_has_tcx())
		err = error_set(
			e, EOPNOTSUPP,
			"attach=tcx: this kernel has no TCX (it came with Linux 6.6); leave it out or use attach=clsact");
	return err;
}

/* The local port needs the name: a device that has it, and no datapath behind it, is somebody else's. */
static int check_name_free(const char *name, struct error *e)
{
	struct dp *dp = NULL;
	struct error ignored;
	struct link_info l;
	int err = dp_check_name(name, e);

	if (err || link_get(name, &l, &ignored))
		return err;
	err = session_open(name, DP_READ, &dp, &ignored);
	dp_close(&dp);
	if (err != -ENODEV || link_get(name, &l, &ignored))
		return 0;
	return error_set(
		e, EEXIST,
		"add_dp (File exists): a network device named %s is there already, and the local port needs the name",
		name);
}

int cmd_add_dp(struct cmd *c, struct error *e)
{
	const char *name = c->argv[0];
	struct dp_options options;
	struct dp *dp;
	int err = parse_dp(c->argv[0], &options, e);

	if (!err)
		err = check_name_free(name, e);
	if (!err)
		err = session_create(name, &options, &dp, e);
	if (err)
		return err;
	err = port_add_local(dp, e);
	for (int i = 1; !err && i < c->argc; i++)
		err = port_add_text(dp, c->argv[i], e);
	if (err) {
		session_abandon(&dp);
		return err;
	}
	dp_write(dp);
	dp_close(&dp);
	return 0;
}

int cmd_del_dp(struct cmd *c, struct error *e)
{
	return session_destroy(c->argv[0], e);
}

int cmd_dump_dps(struct cmd *c, struct error *e)
{
	char **names;
	size_t count;
	int err = dp_list(&names, &count, e);

	if (err)
		return err;
	emit_open_array(&c->emit, "datapaths");
	for (size_t i = 0; i < count; i++) {
		emit_str(&c->emit, NULL, "tcvs@%s\n", names[i]);
		free(names[i]);
	}
	emit_close(&c->emit);
	free(names);
	return 0;
}
