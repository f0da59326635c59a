/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ownership as syntax: a variable that owns something says so, and leaving its scope gives it back.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))

static inline void close_fd_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void free_ptr_(void *p)
{
	free(*(void **)p);
}

static inline void close_file_(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define CLEANUP_FD   __attribute__((cleanup(close_fd_)))
#define CLEANUP_FREE __attribute__((cleanup(free_ptr_)))
#define CLEANUP_FILE __attribute__((cleanup(close_file_)))

/* malloc() takes so much from the system alone, so that nothing else shares the pages. */
#define HUGE_PAGES_MIN (2 << 20)

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* For a large table that is looked into at random: with pages of 4 KB half of a look is finding the page. */
static inline void prefer_huge_pages(void *memory, size_t size)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = ((uintptr_t)memory + page - 1) & -page;
	uintptr_t end = ((uintptr_t)memory + size) & -page;

	if (memory && size >= HUGE_PAGES_MIN)
		madvise((void *)start, end - start, MADV_HUGEPAGE); /* a hint: without it, things are slower */
}

/* Hands an owned value on: the variable no longer owns it. */
#define TAKE_PTR(p) \
	({ \
		__typeof__(p) taken_ = (p); \
		(p) = NULL; \
		taken_; \
	})
#define TAKE_FD(fd) \
	({ \
		int taken_ = (fd); \
		(fd) = -1; \
		taken_; \
	})
