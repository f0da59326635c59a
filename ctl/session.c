// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <errno.h>

#include "port.h"
#include "repair.h"

int session_destroy(const char *name, struct error *e)
{
	struct dp *dp;
	int err = dp_open(name, DP_DESTROY, &dp, e);

	if (err == -ENODEV || err == -EINVAL)
		return err;
	if (err)
		return dp_destroy_foreign(name, e);
	err = port_del_all(dp, e);
	if (!err)
		err = dp_destroy(dp, e);
	else
		dp_write(dp);
	dp_close(&dp);
	return err;
}

static int repair(struct dp *dp, enum dp_mode mode, struct error *e)
{
	int err = mode == DP_READ ? dp_lock_exclusive(dp, e) : 0;

	if (err || !dp->was_dirty)
		return err;
	dp_write(dp);
	err = repair_tables(dp, e);
	return err ? err : port_repair(dp, e);
}

int session_open(const char *name, enum dp_mode mode, struct dp **dp, struct error *e)
{
	struct error why;
	int err = dp_open(name, mode, dp, e);

	if (err == -ESTALE && !session_destroy(name, &why))
		return error_set(
			e, ENODEV,
			"opening datapath %s (No such device): a command that was killed left it unfinished; what there was of it is removed now",
			name);
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
