/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a command gets hold of a datapath: opened, locked, and with all put right that a killed command left half done.
 */
#pragma once

#include "dp.h"

/* As dp_open() in modes DP_READ and DP_WRITE.  What was half made or half deleted is removed first: -ENODEV. */
int session_open(const char *name, enum dp_mode mode, struct dp **dp, struct error *e);

/* As dp_create(), in the place of an unfinished datapath of that name. */
int session_create(const char *name, const struct dp_options *options, struct dp **dp, struct error *e);

/* Removes a datapath that was being made, and closes it. */
void session_abandon(struct dp **dp);

/* Removes a datapath with its ports, whatever state it is in.  -ENODEV if there is none. */
int session_destroy(const char *name, struct error *e);
