// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports as they are now: numbers, devices, what is attached; and names for flow texts.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "port.h"
#include "netns.h"
#include "util.h"

static int by_number(const void *a, const void *b)
{
	const struct port_view *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void look_up(struct dp *dp, bool here, bool query, struct port_view *v)
{
	__u32 shown = v->info.host_ifindex ? v->info.host_ifindex : v->info.ifindex;
	struct error ignored;

	snprintf(v->name, sizeof(v->name), "%s", v->info.name);
	v->elsewhere = !here;
	v->gone = !here || link_get_by_index(v->info.ifindex, &v->link, &ignored);
	if (v->gone)
		return;
	if (query)
		attach_query(v->info.ifindex, dp->prog_id, &v->attached, &ignored);
	/* The host's end of the local port may have been moved elsewhere; it is still connected. */
	if (shown == v->info.ifindex || !link_get_by_index(shown, &v->link, &ignored))
		snprintf(v->name, sizeof(v->name), "%s", v->link.name);
}

int port_list(struct dp *dp, bool query, struct port_view **ports, size_t *count, struct error *e)
{
	int fd = dp->map_fd[DP_MAP_PORT_INFO];
	__u32 number, *prev = NULL;
	struct error ignored;
	__u64 cookie;
	bool here = !netns_cookie(&cookie, &ignored) && cookie == dp->info->netns_cookie;

	*ports = NULL;
	*count = 0;
	while (!bpf_map_get_next_key(fd, prev, &number)) {
		struct port_view *grown = realloc(*ports, (*count + 1) * sizeof(**ports)), *v;

		if (!grown) {
			free(*ports);
			*ports = NULL;
			return error_set(e, ENOMEM, "out of memory");
		}
		*ports = grown;
		v = &grown[*count];
		memset(v, 0, sizeof(*v));
		v->number = number;
		prev = &v->number;
		if (bpf_map_lookup_elem(fd, &number, &v->info))
			continue;
		look_up(dp, here, query, v);
		(*count)++;
	}
	if (errno != ENOENT)
		return error_set(e, errno, "ports of %s: cannot be read (%s)", dp->name, strerror(errno));
	if (*count)
		qsort(*ports, *count, sizeof(**ports), by_number);
	return 0;
}

/* Names come from a snapshot: a dump of many flows asks the kernel once. */
struct name_table {
	struct port_view *ports;
	size_t count;
};

static int number_of(void *ctx, const char *name, __u32 *port)
{
	const struct name_table *t = ctx;

	for (size_t i = 0; i < t->count; i++) {
		if (strcmp(t->ports[i].name, name))
			continue;
		*port = t->ports[i].number;
		return 0;
	}
	return -ENOENT;
}

static const char *name_of(void *ctx, __u32 port)
{
	const struct name_table *t = ctx;

	for (size_t i = 0; i < t->count; i++)
		if (t->ports[i].number == port)
			return t->ports[i].name;
	return NULL;
}

int port_names_load(struct dp *dp, struct port_names *names, struct error *e)
{
	struct name_table *t = calloc(1, sizeof(*t));
	int err = t ? port_list(dp, false, &t->ports, &t->count, e) : error_set(e, ENOMEM, "out of memory");

	if (err) {
		free(t);
		return err;
	}
	*names = (struct port_names){ .number = number_of, .name = name_of, .ctx = t };
	return 0;
}

void port_names_free(struct port_names *names)
{
	struct name_table *t = names->ctx;

	if (t)
		free(t->ports);
	free(t);
	names->ctx = NULL;
}

int port_find(struct dp *dp, const char *name, __u32 *port_no, struct error *e)
{
	struct port_names names = {};
	char *end;
	int err;

	if (name[0] && !name[strspn(name, "0123456789")]) {
		unsigned long n = strtoul(name, &end, 10);

		if (n < PORTS_MAX && dp->ports[n].ifindex) {
			*port_no = n;
			return 0;
		}
	}
	err = port_names_load(dp, &names, e);
	if (err)
		return err;
	err = number_of(names.ctx, name, port_no);
	port_names_free(&names);
	return err ? error_set(e, ENODEV, "no port named %s in %s", name, dp->name) : 0;
}
