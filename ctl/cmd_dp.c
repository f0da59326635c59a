// SPDX-License-Identifier: GPL-2.0-only
/*
 * add-dp, del-dp, dump-dps.
 */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "cmd_port.h"
#include "dp.h"
#include "net_text.h"
#include "port.h"
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
		else if (!strcmp(word, "attach=tcx"))
			o->attach = PORT_ATTACH_TCX;
		else if (!strcmp(word, "attach=clsact"))
			o->attach = PORT_ATTACH_CLSACT;
		else
			err = error_set(
				e, EINVAL,
				"%s: not an option of add-dp; known are max_flows=N, max_masks=N, attach=tcx and attach=clsact",
				word);
	}
	if (!err && o->attach == PORT_ATTACH_TCX && !attach_has_tcx())
		err = error_set(
			e, EOPNOTSUPP,
			"attach=tcx: this kernel has no TCX (it came with Linux 6.6); leave it out or use attach=clsact");
	return err;
}

/* Leaves nothing behind: neither ports nor pins nor the local device. */
static void undo(struct dp **dp)
{
	struct error ignored;

	port_del_all(*dp, &ignored);
	dp_destroy(*dp, &ignored);
	dp_close(dp);
}

int cmd_add_dp(struct cmd *c, struct error *e)
{
	struct dp_options options;
	struct error ignored;
	struct link_info l;
	struct dp *dp;
	int err = parse_dp(c->argv[0], &options, e);

	if (!err)
		err = dp_check_name(c->argv[0], e);
	if (err)
		return err;
	if (!link_get(c->argv[0], &l, &ignored) && dp_open(c->argv[0], DP_READ, &dp, &ignored))
		return error_set(
			e, EEXIST,
			"add_dp (File exists): a network device named %s is there already, and the local port needs the name",
			c->argv[0]);
	err = dp_create(c->argv[0], &options, &dp, e);
	if (err)
		return err;
	err = port_add_local(dp, e);
	for (int i = 1; !err && i < c->argc; i++)
		err = port_add_text(dp, c->argv[i], e);
	if (err)
		undo(&dp);
	else
		dp_close(&dp);
	return err;
}

int cmd_del_dp(struct cmd *c, struct error *e)
{
	struct dp *dp;
	int err = dp_open(c->argv[0], DP_DESTROY, &dp, e);

	if (err == -ENODEV)
		return err;
	if (err)
		return dp_destroy_foreign(c->argv[0], e);
	err = port_del_all(dp, e);
	if (!err)
		err = dp_destroy(dp, e);
	dp_close(&dp);
	return err;
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
