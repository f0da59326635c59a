// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <errno.h>

#include "port.h"
#include "repair.h"

/* Takes an exclusively open datapath apart, and closes it.  Whatever fails, the rest goes, and a next try goes on. */
static int take_apart(struct dp **dp, struct error *e)
{
	int err;

	dp_unfinish(*dp);
	err = port_del_all(*dp, e);
	if (!err)
		err = dp_destroy(*dp, e);
	dp_close(dp);
	return err;
}

int session_destroy(const char *name, struct error *e)
{
	struct dp *dp;
	int err = dp_open(name, DP_DESTROY, &dp, e);

	/* Another version's, or one whose first pin is missing; other failures are failures. */
	if (err == -EPROTO || err == -ENOENT)
		return dp_destroy_foreign(name, e);
	return err ? err : take_apart(&dp, e);
}

void session_abandon(struct dp **dp)
{
	struct error ignored;

	take_apart(dp, &ignored);
}

/* What dp_open() called unfinished, unless it has been finished meanwhile: then 0. */
static int remove_unfinished(const char *name, struct error *e)
{
	struct dp *dp;
	int err = dp_open(name, DP_DESTROY, &dp, e);

	if (err)
		return err;
	if (dp->info->dirty != DP_UNFINISHED) {
		dp_close(&dp);
		return 0;
	}
	err = take_apart(&dp, e);
	return err ? err
		   : error_set(
			     e, ENODEV,
			     "opening datapath %s (No such device): a command that was killed left it unfinished; what there was of it is removed now",
			     name);
}

/* A port that cannot be put right is no reason to refuse everything else; the mark stays, and the next one tries again. */
static int repair(struct dp *dp, enum dp_mode mode, struct error *e)
{
	struct error ignored;
	int err = mode == DP_READ ? dp_lock_exclusive(dp, e) : 0;

	if (err || !dp->was_dirty)
		return err;
	dp_write(dp);
	err = repair_tables(dp, e);
	if (err || port_repair(dp, &ignored))
		dp->keep_mark = true;
	return err;
}

int session_open(const char *name, enum dp_mode mode, struct dp **dp, struct error *e)
{
	int err = dp_open(name, mode, dp, e);

	while (err == -ESTALE) {
		err = remove_unfinished(name, e);
		if (!err)
			err = dp_open(name, mode, dp, e);
	}
	if (err || !(*dp)->was_dirty)
		return err;
	err = repair(*dp, mode, e);
	if (err)
		dp_close(dp);
	return err;
}

int session_create(const char *name, const struct dp_options *options, struct dp **dp, struct error *e)
{
	struct error why;
	struct dp *old = NULL;
	int err = dp_create(name, options, dp, e);

	if (err != -EEXIST)
		return err;
	/* Opening it tells whether it is whole, and removes it if not. */
	if (session_open(name, DP_READ, &old, &why) == -ENODEV)
		return dp_create(name, options, dp, e);
	dp_close(&old);
	return err;
}
