/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * After a writer was killed: what can be derived is made anew.
 */
#pragma once

#include "dp.h"

/*
 * The flows map and the entries it names are the truth.  Slot states, masks' users, mask arrays and counts follow from
 * them; slots that nothing names wait for a grace period like any retired one.  Forwarding is not disturbed.
 */
int repair_tables(struct dp *dp, struct error *e);
