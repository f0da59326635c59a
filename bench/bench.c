// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench [--quick] [--only NAME]: what tcvs costs, as a table and in bench.json beside the folder of this program.
 *
 * The unit R is the time that a test run of a program takes which only redirects, in the same rounds.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bench.h"
#include "rig.h"
#include "util.h"

static const char *const names[] = { "key",	"lookup",  "stages",	"actions", "order",
				     "forward", "control", "explosion", "bulk",	   "rules" };

bool wanted(const struct options *o, const char *name)
{
	return !o->only || !strcmp(o->only, name);
}

static int usage(FILE *out)
{
	fprintf(out, "usage: bench [--quick] [--only NAME]\nNAME is one of:");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		fprintf(out, " %s", names[i]);
	fprintf(out, "\n");
	return out == stderr ? 2 : 0;
}

static int known_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return 1;
	return 0;
}

static int no_output(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

/* build/bench/bench -> build/bench.json */
static int write_json(const struct report *r, struct error *e)
{
	char self[PATH_MAX], path[PATH_MAX + 16];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return error_set(e, errno, "the program's own place is not known (%s)", strerror(errno));
	self[len] = 0;
	snprintf(path, sizeof(path), "%s.json", dirname(self));
	return report_write_json(r, path, e);
}

static int run(const struct options *o, struct error *e)
{
	struct report r = {};
	int err = rig_enter(e);

	if (!err)
		err = bench_programs(o, &r, e);
	if (!err && wanted(o, "forward"))
		err = bench_forward(o, &r, e);
	if (!err && wanted(o, "control"))
		err = bench_control(o, &r, e);
	if (!err && wanted(o, "explosion"))
		err = bench_explosion(o, &r, e);
	if (!err && wanted(o, "bulk"))
		err = bench_bulk(o, &r, e);
	if (!err && o->only && wanted(o, "rules"))
		err = bench_rules(o, &r, e);
	if (err)
		return err;
	report_print(&r);
	return write_json(&r, e);
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "only", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	static const struct options full = {
		.rounds = 9,
		.repeat = 500000,
		.frames = 1 << 17,
		.traffics = 3,
		.forward_rounds = 15,
		.forward_ns = 0.4e9,
		.rest_s = 24,
		.masks_per_command = 8,
	};
	static const struct options quick = {
		.rounds = 3,
		.repeat = 200000,
		.frames = 1 << 15,
		.traffics = 1,
		.forward_rounds = 5,
		.forward_ns = 0.2e9,
		.masks_per_command = 64,
	};
	struct options o = full;
	const char *only = NULL;
	struct error e;
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == 'q')
			o = quick;
		else if (c == 'o' && known_name(optarg))
			only = optarg;
		else
			return usage(c == 'h' ? stdout : stderr);
	}
	if (optind < argc)
		return usage(stderr);
	o.only = only;
	libbpf_set_print(no_output);
	if (run(&o, &e)) {
		fprintf(stderr, "bench: %s\n", e.text);
		return 1;
	}
	return 0;
}
