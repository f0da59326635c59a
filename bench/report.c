// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <jansson.h>

#include "util.h"

struct figure *report_add(struct report *r, const char *what)
{
	/* The last one is overwritten when there is no room; the table shows it. */
	struct figure *f = &r->figure[r->count < ARRAY_SIZE(r->figure) ? r->count++ : r->count - 1];

	memset(f, 0, sizeof(*f));
	snprintf(f->what, sizeof(f->what), "%s", what);
	f->unit = "";
	return f;
}

struct figure *report_time(struct report *r, const char *what, const struct samples *ns)
{
	struct figure *f = report_add(r, what);

	f->ns = samples_quantile(ns, 0);
	f->ns_median = samples_quantile(ns, 0.5);
	f->value = f->ns / r->r_ns;
	f->unit = "R";
	return f;
}

struct figure *report_rate(struct report *r, const char *what, const struct samples *ns)
{
	struct figure *f = report_time(r, what, ns);

	f->value = 1000 / f->ns_median;
	f->unit = "Mpps";
	return f;
}

struct figure *report_ratio(struct report *r, const char *what, const struct samples *a, const struct samples *b)
{
	struct figure *f = report_add(r, what);
	struct samples ratio = {};

	for (unsigned int i = 0; i < a->count && i < b->count; i++)
		samples_add(&ratio, a->value[i] / b->value[i]);
	f->value = samples_quantile(&ratio, 0.5);
	f->low = samples_quantile(&ratio, 0.25);
	f->high = samples_quantile(&ratio, 0.75);
	f->unit = "x";
	return f;
}

struct figure *report_best_ratio(struct report *r, const char *what, const struct samples *a, const struct samples *b)
{
	struct figure *f = report_ratio(r, what, a, b);

	f->value = samples_quantile(a, 0) / samples_quantile(b, 0);
	return f;
}

void figure_at_most(struct figure *f, double limit)
{
	f->kind = LIMIT_AT_MOST;
	f->limit = limit;
}

void figure_at_least(struct figure *f, double limit)
{
	f->kind = LIMIT_AT_LEAST;
	f->limit = limit;
}

static bool is_met(const struct figure *f)
{
	return f->kind == LIMIT_AT_MOST ? f->value <= f->limit : f->value >= f->limit;
}

static const char *verdict(const struct figure *f)
{
	return f->kind == LIMIT_NONE ? "" : is_met(f) ? "ok" : "MISSED";
}

static void print_figure(const struct figure *f)
{
	printf("%-52s", f->what);
	if (f->ns > 0)
		printf(" %9.2f %9.2f", f->ns, f->ns_median);
	else
		printf(" %9s %9s", "", "");
	if (f->value > 0)
		printf(" %9.3f %-5s", f->value, f->unit);
	else
		printf(" %9s %-5s", "", "");
	if (f->kind != LIMIT_NONE)
		printf("  %s %-5g %s", f->kind == LIMIT_AT_MOST ? "<=" : ">=", f->limit, verdict(f));
	if (f->high > 0)
		printf("   (quartiles %.3f to %.3f)", f->low, f->high);
	printf("\n");
}

void report_print(const struct report *r)
{
	printf("%-52s %9s %9s %9s        limit\n", "what", "best ns", "median ns", "figure");
	for (unsigned int i = 0; i < r->count; i++)
		print_figure(&r->figure[i]);
	if (r->stolen > 0.02)
		printf("This CPU did something else for %.0f %% of the time: do not trust the medians.\n",
		       r->stolen * 100);
}

static json_t *figure_json(const struct figure *f)
{
	json_t *o = json_pack("{s:s}", "what", f->what);

	if (f->ns > 0) {
		json_object_set_new(o, "best_ns", json_real(f->ns));
		json_object_set_new(o, "median_ns", json_real(f->ns_median));
	}
	if (f->value > 0) {
		json_object_set_new(o, "value", json_real(f->value));
		json_object_set_new(o, "unit", json_string(f->unit));
	}
	if (f->high > 0)
		json_object_set_new(o, "quartiles", json_pack("[f,f]", f->low, f->high));
	if (f->kind != LIMIT_NONE) {
		json_object_set_new(o, f->kind == LIMIT_AT_MOST ? "at_most" : "at_least", json_real(f->limit));
		json_object_set_new(o, "ok", json_boolean(is_met(f)));
	}
	return o;
}

/* The first line that starts with prefix, from behind it and what separates it; "unknown" if there is none. */
static void first_line(FILE *from, const char *prefix, char *line, int size)
{
	size_t len = strlen(prefix);

	while (fgets(line, size, from)) {
		if (strncmp(line, prefix, len))
			continue;
		len += strspn(line + len, " \t:");
		line[strcspn(line, "\n")] = 0;
		memmove(line, line + len, strlen(line + len) + 1);
		return;
	}
	snprintf(line, size, "unknown");
}

static void cpu_model(char *line, int size)
{
	CLEANUP_FILE FILE *f = fopen("/proc/cpuinfo", "re");

	snprintf(line, size, "unknown");
	if (f)
		first_line(f, "model name", line, size);
}

static void commit(char *line, int size)
{
	FILE *f = popen("git describe --always --dirty 2>/dev/null", "re");

	snprintf(line, size, "unknown");
	if (!f)
		return;
	first_line(f, "", line, size);
	pclose(f);
}

static json_t *where_and_when(const struct report *r)
{
	char model[256], version[128], date[32];
	time_t now = time(NULL);
	struct utsname u;

	uname(&u);
	cpu_model(model, sizeof(model));
	commit(version, sizeof(version));
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:f}", "date", date, "commit", version, "kernel", u.release,
			 "machine", u.machine, "cpu", model, "compiler", r->compiler, "stolen", r->stolen);
}

int report_write_json(const struct report *r, const char *path, struct error *e)
{
	json_t *root = where_and_when(r), *figures = json_array();
	int err = 0;

	if (!root || !figures)
		err = error_set(e, ENOMEM, "out of memory");
	for (unsigned int i = 0; !err && i < r->count; i++)
		json_array_append_new(figures, figure_json(&r->figure[i]));
	json_object_set_new(root, "figures", figures);
	if (!err && json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(5)))
		err = error_set(e, EIO, "%s: cannot be written", path);
	json_decref(root);
	return err;
}
