/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands: a row of a table each, one function each.
 */
#pragma once

#include <stdbool.h>

#include "emit.h"
#include "error.h"

struct cmd {
	struct emit emit;
	bool more;	 /* -m */
	bool statistics; /* -s */
	bool names;	 /* --names */
	bool clear;
	bool may_create;
	bool reactive;	      /* --reactive */
	bool overlap;	      /* --overlap */
	bool partial;	      /* a failure that left results: JSON shows both */
	bool quiet;	      /* -q */
	bool check;	      /* --check */
	const char *interval; /* --interval: NULL = not said */
	const char *netns;    /* --netns: NULL = where we are */
	int argc;	      /* what follows the command's name */
	char **argv;
};

struct command {
	const char *name;
	const char *args;
	int min_args;
	int max_args; /* -1: any */
	int (*run)(struct cmd *c, struct error *e);
	const char *help;
};

/* Says that one of several things failed, and goes on. */
void cmd_complain(struct cmd *c, const struct error *e);

int cmd_add_dp(struct cmd *c, struct error *e);
int cmd_del_dp(struct cmd *c, struct error *e);
int cmd_dump_dps(struct cmd *c, struct error *e);
int cmd_show(struct cmd *c, struct error *e);
int cmd_drops(struct cmd *c, struct error *e);
int cmd_add_if(struct cmd *c, struct error *e);
int cmd_del_if(struct cmd *c, struct error *e);
int cmd_add_flow(struct cmd *c, struct error *e);
int cmd_mod_flow(struct cmd *c, struct error *e);
int cmd_get_flow(struct cmd *c, struct error *e);
int cmd_del_flow(struct cmd *c, struct error *e);
int cmd_set_if(struct cmd *c, struct error *e);
int cmd_add_flows(struct cmd *c, struct error *e);
int cmd_mod_flows(struct cmd *c, struct error *e);
int cmd_del_flows(struct cmd *c, struct error *e);
int cmd_dump_flows(struct cmd *c, struct error *e);
int cmd_cache_get_size(struct cmd *c, struct error *e);
int cmd_cache_set_size(struct cmd *c, struct error *e);
int cmd_rebalance(struct cmd *c, struct error *e);
int cmd_run(struct cmd *c, struct error *e);
int cmd_parse_flow(struct cmd *c, struct error *e);
int cmd_parse_actions(struct cmd *c, struct error *e);
int cmd_dump_masks(struct cmd *c, struct error *e);
