/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "dp.h"

/* Adds a port described as IF[,port_no=N][,type=system]; text is cut apart in place. */
int port_add_text(struct dp *dp, char *text, struct error *e);
