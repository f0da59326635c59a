/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assertions about calls that say why they refuse: the call's last argument is `e`, which these provide.
 */
#pragma once

#include "error.h"

/* clang-format off */
#define assert_ok(call) \
	do { \
		struct error said_ = { "" }; \
		struct error *e = &said_; \
		int err_ = (call); \
		if (err_) \
			fail_msg("%s: %d: %s", #call, err_, said_.text); \
	} while (0)

/* With this errno, and in one line that has part in it. */
#define assert_refused(call, errnum, part) \
	do { \
		struct error said_ = { "" }; \
		struct error *e = &said_; \
		int err_ = (call); \
		if (err_ != -(errnum) || !strstr(said_.text, part) || strchr(said_.text, '\n')) \
			fail_msg("%s: %d: %s", #call, err_, said_.text); \
	} while (0)
/* clang-format on */
