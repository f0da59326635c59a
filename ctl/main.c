// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcvsctl: options, the table of commands, exit codes.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "netns.h"
#include "util.h"

#ifndef TCVS_VERSION
#define TCVS_VERSION "unknown"
#endif

static int cmd_help(struct cmd *c, struct error *e);
static int cmd_version(struct cmd *c, struct error *e);
static int cmd_list_commands(struct cmd *c, struct error *e);

static const struct command commands[] = {
	{ "add-dp",
	  "DP[,max_flows=N][,max_masks=N][,max_reactive_masks=N][,max_port_masks=N][,attach=tcx|clsact] [IF[,port_no=N][,peer=on]...]",
	  1, -1, cmd_add_dp, "make a datapath, with its local port, and add interfaces" },
	{ "del-dp", "DP", 1, 1, cmd_del_dp, "remove a datapath and all that belongs to it" },
	{ "add-if", "DP IF[,port_no=N][,peer=on]...", 2, -1, cmd_add_if, "make interfaces ports of DP" },
	{ "del-if", "DP IF...", 2, -1, cmd_del_if, "give interfaces (or port numbers) back" },
	{ "set-if", "DP IF[,port_no=N][,type=T][,peer=on|off]...", 2, -1, cmd_set_if,
	  "check that ports are as said; nothing can be changed" },
	{ "dump-dps", "", 0, 0, cmd_dump_dps, "list datapaths" },
	{ "show", "[-s] [DP...]", 0, -1, cmd_show, "show datapaths, their counters and ports" },
	{ "drops", "[DP]", 0, 1, cmd_drops, "show dropped frames by port and reason" },
	{ "add-flow", "[--overlap] [--reactive] [DP] FLOW ACTIONS", 2, 3, cmd_add_flow, "add a flow" },
	{ "mod-flow", "[--clear] [--may-create] [--overlap] [--reactive] [-s] [DP] FLOW ACTIONS", 2, 3, cmd_mod_flow,
	  "change a flow's actions" },
	{ "get-flow", "[-m] [--names] [DP] FLOW|ufid:UFID", 1, 2, cmd_get_flow, "show one flow" },
	{ "del-flow", "[-s] [DP] FLOW|ufid:UFID", 1, 2, cmd_del_flow, "delete a flow" },
	{ "add-flows", "[--overlap] [--reactive] [DP] FILE|-", 1, 2, cmd_add_flows,
	  "apply a file of flows, lines that may begin with add, modify or delete, or what dump-flows -j prints" },
	{ "mod-flows", "[--overlap] [DP] FILE|-", 1, 2, cmd_mod_flows, "the same, for lines that do not say: modify" },
	{ "del-flows", "[DP] [FILE|-]", 0, 2, cmd_del_flows, "delete all flows, or those in a file" },
	{ "dump-flows", "[-m] [--names] [DP] [filter=FILTER] [type=TYPE,...]", 0, 3, cmd_dump_flows,
	  "show flows; FILTER is like tcp,tp_src=80 (see below)" },
	{ "dump-masks", "[DP]", 0, 1, cmd_dump_masks, "show masks in lookup order, by class of packets" },
	{ "rebalance", "[DP]", 0, 1, cmd_rebalance, "order the masks by use now, and show what moved" },
	{ "run", "[-q] [--interval TIME] [DP...]", 0, -1, cmd_run,
	  "the controller: order masks by use, every 4 s, in the foreground" },
	{ "cache-get-size", "[DP]", 0, 1, cmd_cache_get_size, "show the size of the mask cache" },
	{ "cache-set-size", "DP masks-cache N", 3, 3, cmd_cache_set_size,
	  "set it: 0 = off, or a power of two up to 4096" },
	{ "parse-flow", "[-m] [--check] FLOW [ACTIONS]", 1, 2, cmd_parse_flow,
	  "show how a flow is read, in canonical form; --check: what add-flow would make of it" },
	{ "parse-actions", "[-m] ACTIONS", 1, 1, cmd_parse_actions, "show how actions are read, in canonical form" },
	{ "version", "", 0, 0, cmd_version, "show the version" },
	{ "list-commands", "", 0, 0, cmd_list_commands, "list commands and their arguments" },
	{ "help", "", 0, 0, cmd_help, "show this help" },
};

static int cmd_help(struct cmd *c, struct error *e)
{
	FILE *out = emit_stream(&c->emit);

	if (!out)
		return cmd_list_commands(c, e);
	fprintf(out, "tcvsctl: control of tcvs datapaths\nusage: tcvsctl [OPTIONS] COMMAND [ARG...]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %s %s\n      %s\n", commands[i].name, commands[i].args, commands[i].help);
	fprintf(out,
		"\nDP may be left out of flow commands if there is only one datapath.\n"
		"\ndump-flows filter= shows the flows that a packet of such a match could fit; its words are those of\n"
		"ovs-fields(7): in_port, dl_src, dl_vlan, ip, tcp6, nw_src=10.0.0.0/8, tp_dst, arp_spa, ...\n"
		"type=: all, tcvs, ovs, non-offloaded and non-partially-offloaded show all flows of a tcvs datapath;\n"
		"tc, dpdk, offloaded and partially-offloaded show none, as nothing is offloaded.\n"
		"\noptions:\n"
		"  -j, --json        JSON output, errors too\n"
		"  -m, --more        more detail: all fields, UFIDs, where a flow stands\n"
		"      --names       port names instead of numbers\n"
		"  -s, --statistics  counters too\n"
		"      --netns NAME  in this network namespace (a name of ip netns, or a path)\n"
		"      --interval TIME  run: how often, as 4, 0.5 or 100ms\n"
		"  -q, --quiet       run: no line per reorder; many flows: no progress on the terminal\n"
		"      --clear       mod-flow: zero the flow's counters\n"
		"      --may-create  mod-flow: add the flow if it is not there\n"
		"      --overlap     add and change flows that some packet shares with others of different actions\n"
		"      --reactive    flows that are added answer packets: the limits on such flows' masks hold\n"
		"      --check       parse-flow: the rules of the datapath, too\n"
		"      --debug       what the kernel says when the program is loaded\n"
		"  -h, --help        this help\n"
		"  -V, --version     the version\n");
	return 0;
}

static int cmd_version(struct cmd *c, struct error *e)
{
	(void)e;
	emit_str(&c->emit, "version", "tcvsctl %s\n", TCVS_VERSION);
	return 0;
}

static int cmd_list_commands(struct cmd *c, struct error *e)
{
	(void)e;
	emit_open_array(&c->emit, "commands");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		emit_open_object(&c->emit, NULL);
		emit_str(&c->emit, "name", "  %s", commands[i].name);
		emit_str(&c->emit, "args", " %s\n", commands[i].args);
		emit_str(&c->emit, "help", NULL, commands[i].help);
		emit_close(&c->emit);
	}
	emit_close(&c->emit);
	return 0;
}

void cmd_complain(struct cmd *c, const struct error *e)
{
	/* In JSON there is one error, the last one. */
	if (!c->emit.json)
		fprintf(stderr, "tcvsctl: %s\n", e->text);
}

enum {
	OPT_NETNS = 256,
	OPT_INTERVAL,
	OPT_NAMES,
	OPT_NO_NAMES,
	OPT_CLEAR,
	OPT_MAY_CREATE,
	OPT_OVERLAP,
	OPT_REACTIVE,
	OPT_CHECK,
	OPT_DEBUG
};

/* clang-format off */
static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "more", no_argument, NULL, 'm' },
	{ "statistics", no_argument, NULL, 's' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "netns", required_argument, NULL, OPT_NETNS },
	{ "names", no_argument, NULL, OPT_NAMES },
	{ "no-names", no_argument, NULL, OPT_NO_NAMES },
	{ "clear", no_argument, NULL, OPT_CLEAR },
	{ "may-create", no_argument, NULL, OPT_MAY_CREATE },
	{ "overlap", no_argument, NULL, OPT_OVERLAP },
	{ "reactive", no_argument, NULL, OPT_REACTIVE },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ NULL, 0, NULL, 0 },
};
/* clang-format on */

static bool debug;

/* libbpf's own words are for developers; users get one line from us. */
static int libbpf_says(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return debug && level != LIBBPF_DEBUG ? vfprintf(stderr, fmt, args) : 0;
}

/* Where an option that is a word and nothing else is kept; NULL for the others. */
static bool *switch_of(struct cmd *c, int opt)
{
	switch (opt) {
	case 'm':
		return &c->more;
	case 's':
		return &c->statistics;
	case 'q':
		return &c->quiet;
	case OPT_NAMES:
	case OPT_NO_NAMES:
		return &c->names;
	case OPT_CLEAR:
		return &c->clear;
	case OPT_MAY_CREATE:
		return &c->may_create;
	case OPT_REACTIVE:
		return &c->reactive;
	case OPT_OVERLAP:
		return &c->overlap;
	case OPT_CHECK:
		return &c->check;
	case OPT_DEBUG:
		return &debug;
	default:
		return NULL;
	}
}

/* Fills c and the name of the command; a negative errno with e said. */
static int parse_args(int argc, char **argv, struct cmd *c, const char **name, struct error *e)
{
	bool json = false, unknown = false;
	int opt;

	opterr = 0;
	*name = NULL;
	while (!unknown && (opt = getopt_long(argc, argv, ":jmsqhV", options, NULL)) != -1) {
		if (opt == 'j')
			json = true;
		else if (opt == 'h' || opt == 'V')
			*name = opt == 'h' ? "help" : "version";
		else if (opt == OPT_INTERVAL)
			c->interval = optarg;
		else if (opt == OPT_NETNS)
			c->netns = optarg;
		else if (switch_of(c, opt))
			*switch_of(c, opt) = opt != OPT_NO_NAMES;
		else
			unknown = true;
	}
	emit_init(&c->emit, stdout, json);
	if (unknown && opt == ':')
		return error_set(e, EINVAL, "option '%s' requires an argument", argv[optind - 1]);
	if (unknown)
		return error_set(e, EINVAL, "unknown option '%s'; use --help for help", argv[optind - 1]);
	if (*name)
		return 0;
	if (optind == argc)
		return error_set(e, EINVAL, "missing command name; use --help for help");
	*name = argv[optind++];
	c->argc = argc - optind;
	c->argv = argv + optind;
	return 0;
}

static bool needs_root(const struct command *command)
{
	return command->run != cmd_help && command->run != cmd_version && command->run != cmd_list_commands &&
	       command->run != cmd_parse_flow && command->run != cmd_parse_actions;
}

static int run_command(struct cmd *c, const char *name, struct error *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->name, name))
			continue;
		if (c->argc < command->min_args)
			return error_set(e, EINVAL, "'%s' command requires at least %d arguments", name,
					 command->min_args);
		if (command->max_args >= 0 && c->argc > command->max_args)
			return error_set(e, EINVAL, "'%s' command takes at most %d arguments", name, command->max_args);
		if (geteuid() && needs_root(command))
			return error_set(e, EPERM, "%s: must be run as root (Operation not permitted)", name);
		return c->netns && netns_enter_name(c->netns, e) ? -EINVAL : command->run(c, e);
	}
	return error_set(e, EINVAL, "unknown command '%s'; use --help for help", name);
}

int main(int argc, char **argv)
{
	struct error e = {};
	struct cmd c = {};
	const char *name;
	int err;

	libbpf_set_print(libbpf_says);
	err = parse_args(argc, argv, &c, &name, &e);
	if (!err)
		err = run_command(&c, name, &e);
	if (err) {
		if (c.partial)
			emit_str(&c.emit, "error", NULL, e.text);
		if (!c.partial || !c.emit.json)
			emit_error(&c.emit, e.text);
		else
			emit_finish(&c.emit);
		return EXIT_FAILURE;
	}
	if (emit_finish(&c.emit)) {
		fprintf(stderr, "tcvsctl: writing the output failed\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
