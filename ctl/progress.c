// SPDX-License-Identifier: GPL-2.0-only
#include "progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "util.h"

#define SECOND	    1000000000ULL
#define PAUSE	    (SECOND / 10) /* between two lines */
#define CLEAR_LINE  "\r\033[K"
#define CLOCK_STEPS 256 /* as many as take far less than a pause */

void progress_begin(struct progress *p, const char *what, bool quiet)
{
	*p = (struct progress){ .what = what, .out = !quiet && isatty(STDERR_FILENO) ? stderr : NULL };
	p->next_ns = clock_ns(CLOCK_MONOTONIC) + SECOND;
}

void progress_at(struct progress *p, uint64_t done, uint64_t now_ns)
{
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + PAUSE;
	p->shown = true;
	fprintf(p->out, CLEAR_LINE "%s: %" PRIu64 " of %" PRIu64, p->what, done, p->total);
	fflush(p->out);
}

void progress_step(struct progress *p, uint64_t done)
{
	if (p->out && ++p->steps % CLOCK_STEPS == 0)
		progress_at(p, done, clock_ns(CLOCK_MONOTONIC));
}

void progress_clear(struct progress *p)
{
	if (!p->shown)
		return;
	fputs(CLEAR_LINE, p->out);
	fflush(p->out);
	p->shown = false;
}
