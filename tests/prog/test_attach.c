// SPDX-License-Identifier: GPL-2.0-only
/*
 * link.c and attach.c against the running kernel, in a network namespace and on a bpffs of this process alone.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <net/if_arp.h>

#include "assert_error.h"
#include "attach.h"
#include "link.h"
#include "netns.h"
#include "util.h"

#define OURS	ATTACH_PROGRAM
#define FOREIGN "somebody"

static char bpffs[] = "/tmp/test_attach.XXXXXX";
static int libbpf_lines;

/* --- helpers ---------------------------------------------------------------------------------------------------- */

/* The modules are to keep libbpf quiet. */
static int count_line(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_DEBUG) {
		libbpf_lines++;
		vprintf(fmt, ap);
	}
	return 0;
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

/* How many lines of the command's output hold the text. */
static int lines_with(const char *text, const char *command)
{
	CLEANUP_FREE char *line = NULL;
	FILE *f = popen(command, "r");
	size_t room = 0;
	int n = 0;

	assert_non_null(f);
	while (getline(&line, &room, f) > 0)
		n += !!strstr(line, text);
	pclose(f);
	return n;
}

/* Somebody's filter: one that takes every packet, which is all that matters here. */
static void add_u32(const char *where)
{
	char command[128];

	snprintf(command, sizeof(command), "tc filter add dev a0 %s u32 match u32 0 0 classid 1:1", where);
	run(command);
}

static void assert_qdisc(const char *kind, bool there)
{
	assert_int_equal(lines_with(kind, "tc qdisc show dev a0"), there);
}

static void assert_filters(const char *text, int count)
{
	assert_int_equal(lines_with(text, "tc filter show dev a0 ingress"), count);
}

/* What the hook does with it does not matter here: TC_ACT_UNSPEC, "go on". */
static int load(const char *name)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, name, "GPL", program, ARRAY_SIZE(program), NULL);

	assert_true(fd >= 0);
	return fd;
}

static __u32 prog_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	return info.id;
}

static void assert_hook(__u32 ifindex, __u32 id, enum port_attach how, __u32 before, __u32 after)
{
	struct attach_state s;

	assert_ok(attach_query(ifindex, id, &s, e));
	assert_int_equal(s.how, how);
	assert_int_equal(s.prog_id, how == PORT_ATTACH_NONE ? 0 : id);
	assert_int_equal(s.before, before);
	assert_int_equal(s.after, after);
}

/* Each test has the pair a0, tcvs0 and two programs. */
struct world {
	struct link_info a, peer;
	int ours, foreign;
	__u32 id;
	char pin[64], foreign_pin[64];
};

static int make_private_world(void **state)
{
	(void)state;
	libbpf_set_print(count_line);
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	return !mkdtemp(bpffs) || mount("bpf", bpffs, "bpf", 0, NULL) ? -1 : 0;
}

static int end_private_world(void **state)
{
	(void)state;
	return umount(bpffs) || rmdir(bpffs) || libbpf_lines ? -1 : 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error e;

	*state = w;
	w->ours = load(OURS);
	w->foreign = load(FOREIGN);
	w->id = prog_id(w->ours);
	snprintf(w->pin, sizeof(w->pin), "%s/link", bpffs);
	snprintf(w->foreign_pin, sizeof(w->foreign_pin), "%s/foreign", bpffs);
	return link_add_veth("a0", "tcvs%d", &w->a, &w->peer, &e);
}

static int teardown(void **state)
{
	struct world *w = *state;
	struct error e;

	unlink(w->pin);
	unlink(w->foreign_pin);
	link_del(w->a.ifindex, &e);
	close(w->ours);
	close(w->foreign);
	free(w);
	return 0;
}

static void need_tcx(void)
{
	if (!attach_has_tcx())
		skip();
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static void test_veth(void **state)
{
	struct world *w = *state;
	struct link_info l, other;

	assert_string_equal(w->a.name, "a0");
	assert_string_equal(w->a.kind, "veth");
	assert_string_equal(w->peer.name, "tcvs0");
	assert_int_equal(w->a.type, ARPHRD_ETHER);
	assert_int_equal(w->a.mtu, 1500);
	assert_true(w->a.has_stats);

	assert_ok(link_get("tcvs0", &l, e));
	assert_memory_equal(&l.mac, &w->peer.mac, sizeof(l.mac));
	assert_memory_not_equal(&l.mac, &w->a.mac, sizeof(l.mac));
	assert_ok(link_set_mtu(w->a.ifindex, 9000, e));
	assert_ok(link_get_by_index(w->a.ifindex, &l, e));
	assert_string_equal(l.name, "a0");
	assert_int_equal(l.mtu, 9000);

	assert_ok(link_add_veth("br-with-15-chr", "tcvs%d", &l, &other, e));
	assert_string_equal(other.name, "tcvs1");
	assert_ok(link_del(l.ifindex, e));
	assert_refused(link_get("tcvs1", &l, e), ENODEV, "tcvs1: no such network device");
}

static void test_names_refused(void **state)
{
	struct link_info l, peer;

	(void)state;
	assert_refused(link_get("nosuch", &l, e), ENODEV, "nosuch: no such network device");
	assert_refused(link_get("", &l, e), ENODEV, ": no such network device");
	assert_refused(link_get("a_name_of_16_chr", &l, e), ENODEV, "a_name_of_16_chr: no such network device");
	assert_refused(link_get_by_index(0, &l, e), ENODEV, "device 0: no such network device");
	assert_refused(link_get_by_index(4711, &l, e), ENODEV, "device 4711: no such network device");
	assert_refused(link_add_veth("a0", "tcvs%d", &l, &peer, e), EEXIST, "a0: a network device");
	assert_refused(link_add_veth("b0", "a0", &l, &peer, e), EEXIST, "a0: a network device");
	assert_refused(link_get("b0", &l, e), ENODEV, "b0");
	assert_refused(link_add_veth("br%d", "tcvs%d", &l, &peer, e), EINVAL, "br%d: a device name has no %");
	assert_refused(link_add_veth("a_name_of_16_chr", "tcvs%d", &l, &peer, e), EINVAL, "1 to 15 characters");
	assert_refused(link_add_veth("a/b", "tcvs%d", &l, &peer, e), EINVAL, "a/b: cannot make the veth pair");
	assert_refused(link_del(0, e), ENODEV, "device 0");
	assert_refused(link_set_up(4711, true, e), ENODEV, "device 4711");
}

/* With enough devices for several datagrams. */
static void test_list(void **state)
{
	struct world *w = *state;
	CLEANUP_FREE struct link_info *links = NULL;
	struct link_info l, peer;
	size_t count, seen = 0;

	for (int i = 0; i < 60; i++) {
		char name[IFNAMSIZ];

		snprintf(name, sizeof(name), "m%d", i);
		assert_ok(link_add_veth(name, "mp%d", &l, &peer, e));
	}
	assert_ok(link_list(&links, &count, e));
	assert_true(count >= 123);
	for (size_t i = 0; i < count; i++) {
		seen += links[i].ifindex == w->a.ifindex && !strcmp(links[i].name, "a0");
		seen += links[i].ifindex == w->peer.ifindex && !strcmp(links[i].kind, "veth");
		seen += !strcmp(links[i].name, "lo") && links[i].type == ARPHRD_LOOPBACK;
		if (links[i].name[0] == 'm' && links[i].name[1] != 'p')
			assert_ok(link_del(links[i].ifindex, e));
	}
	assert_int_equal(seen, 3);
}

static __u32 flags_of(const struct world *w)
{
	struct link_info l;

	assert_ok(link_get_by_index(w->a.ifindex, &l, e));
	return l.flags;
}

static void test_up(void **state)
{
	struct world *w = *state;

	assert_false(flags_of(w) & IFF_UP);
	assert_ok(link_set_up(w->a.ifindex, true, e));
	assert_true(flags_of(w) & IFF_UP);
	assert_ok(link_set_up(w->a.ifindex, false, e));
	assert_false(flags_of(w) & IFF_UP);
}

static void set_promisc(const struct world *w, bool on, bool is_a_change)
{
	bool changed = !is_a_change;

	assert_ok(link_set_promisc(w->a.ifindex, on, &changed, e));
	assert_int_equal(changed, is_a_change);
	assert_int_equal(!!(flags_of(w) & IFF_PROMISC), on);
}

static void test_promisc(void **state)
{
	struct world *w = *state;
	bool changed;

	set_promisc(w, true, true);
	set_promisc(w, true, false);
	set_promisc(w, false, true);
	set_promisc(w, false, false);
	run("ip link set a0 promisc on");
	set_promisc(w, true, false);
	assert_refused(link_set_promisc(4711, true, &changed, e), ENODEV, "device 4711");
}

static void test_lro_on_veth(void **state)
{
	bool changed = true;

	(void)state;
	assert_ok(link_set_lro("a0", false, &changed, e));
	assert_false(changed);
	changed = true;
	assert_ok(link_set_lro("a0", true, &changed, e));
	assert_false(changed);
	assert_refused(link_set_lro("nosuch", false, &changed, e), ENODEV, "nosuch: cannot turn LRO off");
}

static void test_namespace(void **state)
{
	__u64 cookie = 0, again = 0;

	(void)state;
	assert_ok(netns_cookie(&cookie, e));
	assert_ok(netns_cookie(&again, e));
	assert_true(cookie && cookie == again);
	assert_int_equal(link_disable_ipv6("tcvs0"), 0);
	if (!access("/proc/sys/net/ipv6/conf/tcvs0", F_OK))
		assert_int_equal(lines_with("1", "cat /proc/sys/net/ipv6/conf/tcvs0/disable_ipv6"), 1);
	assert_int_equal(link_disable_ipv6("nosuch"), 0);
}

/* --- clsact ----------------------------------------------------------------------------------------------------- */

static void attach_filter(const struct world *w, int fd, bool makes_qdisc)
{
	bool made = !makes_qdisc;

	assert_ok(attach_clsact(fd, w->a.ifindex, &made, e));
	assert_int_equal(made, makes_qdisc);
}

static void test_clsact_alone(void **state)
{
	struct world *w = *state;

	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	attach_filter(w, w->ours, true);
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 0, 0);
	assert_filters("pref 17 bpf chain 0 handle 0x74637673 tcvs_ingress direct-action", 1);
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_qdisc("clsact", false);
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
}

static void test_clsact_beside_foreign(void **state)
{
	struct world *w = *state;

	run("tc qdisc add dev a0 clsact");
	add_u32("ingress pref 3 protocol ip");
	add_u32("ingress pref 50 protocol all");
	run("tc filter add dev a0 ingress pref 50 protocol all u32 match u32 1 1 classid 1:2");
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 3, 0);

	attach_filter(w, w->ours, false);
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 1, 2);
	/* Even one who is wrong about the qdisc does not harm the filters on it. */
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 3, 0);
	assert_qdisc("clsact", true);
	assert_filters("flowid 1:", 3);
}

static void test_foreign_comes_later(void **state)
{
	struct world *w = *state;

	attach_filter(w, w->ours, true);
	add_u32("egress pref 61 protocol ip");
	add_u32("ingress protocol ip");
	add_u32("ingress chain 7 pref 62 protocol ip");
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 0, 1);
	run("tc filter del dev a0 ingress chain 0 protocol ip pref 49152");
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_qdisc("clsact", true);
	run("tc filter del dev a0 ingress chain 7");
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_qdisc("clsact", true);
	run("tc filter del dev a0 egress");
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_qdisc("clsact", false);
}

static void test_clsact_replaces_ours(void **state)
{
	struct world *w = *state;
	CLEANUP_FD int newer = load(OURS);
	struct attach_state s;

	attach_filter(w, w->ours, true);
	attach_filter(w, newer, false);
	assert_hook(w->a.ifindex, prog_id(newer), PORT_ATTACH_CLSACT, 0, 0);
	assert_filters("direct-action", 1);
	/* Asked for the older one, it is found by its name, and removed all the same. */
	assert_ok(attach_query(w->a.ifindex, w->id, &s, e));
	assert_int_equal(s.prog_id, prog_id(newer));
	assert_ok(detach_clsact(w->a.ifindex, w->id, false, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_qdisc("clsact", true);
}

static int foreign_filter(struct world *w, __u32 handle, __u32 priority)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = w->a.ifindex, .attach_point = BPF_TC_INGRESS);
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = w->foreign, .handle = handle, .priority = priority);

	return bpf_tc_attach(&hook, &opts);
}

static void test_clsact_refuses_foreign(void **state)
{
	struct world *w = *state;
	bool made;

	run("tc qdisc add dev a0 clsact");
	assert_int_equal(foreign_filter(w, ATTACH_HANDLE, ATTACH_PRIORITY), 0);
	assert_refused(attach_clsact(w->ours, w->a.ifindex, &made, e), EBUSY,
		       "a0: ingress pref 17 is taken by a bpf filter, handle 0x74637673");
	assert_false(made);
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 1, 0);
	run("tc filter del dev a0 ingress");

	add_u32("ingress pref 17 protocol ip");
	assert_refused(attach_clsact(w->ours, w->a.ifindex, &made, e), EBUSY,
		       "a0: ingress pref 17 is taken by a u32 filter");
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 1, 0);
	run("tc filter del dev a0 ingress");

	/* Another handle of our priority is no obstacle. */
	assert_int_equal(foreign_filter(w, 1, ATTACH_PRIORITY), 0);
	attach_filter(w, w->ours, false);
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 0, 1);
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 1, 0);
}

static void test_ingress_qdisc(void **state)
{
	struct world *w = *state;

	run("tc qdisc add dev a0 ingress");
	attach_filter(w, w->ours, false);
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 0, 0);
	assert_ok(detach_clsact(w->a.ifindex, w->id, true, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_qdisc("qdisc ingress", true);
}

static void test_clsact_failures(void **state)
{
	struct world *w = *state;
	struct attach_state s;
	bool made = true;

	assert_refused(attach_clsact(-1, w->a.ifindex, &made, e), EBADF, "a0: cannot add the clsact filter");
	assert_false(made);
	assert_qdisc("clsact", false);
	assert_refused(attach_clsact(w->ours, 4711, &made, e), ENODEV, "device 4711: ");
	assert_ok(detach_clsact(4711, w->id, true, e));
	assert_refused(attach_query(4711, w->id, &s, e), ENODEV, "device 4711: no such network device");
}

/* --- TCX -------------------------------------------------------------------------------------------------------- */

static void test_tcx_alone(void **state)
{
	struct world *w = *state;

	need_tcx();
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_TCX, 0, 0);
	assert_int_equal(access(w->pin, F_OK), 0);
	assert_qdisc("clsact", false);
	assert_ok(detach_tcx(w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_int_not_equal(access(w->pin, F_OK), 0);
	assert_ok(detach_tcx(w->pin, e));
}

static void test_tcx_between_foreign(void **state)
{
	struct world *w = *state;

	need_tcx();
	assert_ok(attach_tcx(w->foreign, w->a.ifindex, w->foreign_pin, e));
	attach_filter(w, w->foreign, true);
	add_u32("ingress pref 1 protocol ip");
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 3, 0);
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_TCX, 1, 2);
	assert_ok(detach_tcx(w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 3, 0);
	/* Our filter behind somebody's TCX program. */
	run("tc filter del dev a0 ingress pref 17");
	attach_filter(w, w->ours, false);
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_CLSACT, 2, 0);
}

static void test_tcx_takes_over_pin(void **state)
{
	struct world *w = *state;
	CLEANUP_FD int newer = load(OURS);
	struct link_info b, peer;
	struct attach_state s;

	need_tcx();
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->pin, e));
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_TCX, 0, 0);
	assert_ok(attach_query(w->a.ifindex, 0, &s, e));
	assert_int_equal(s.prog_id, w->id);
	assert_ok(attach_tcx(newer, w->a.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, prog_id(newer), PORT_ATTACH_TCX, 0, 0);

	/* The pin of another device, then of one that is gone. */
	assert_ok(link_add_veth("b0", "bp%d", &b, &peer, e));
	assert_ok(attach_tcx(w->ours, b.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_hook(b.ifindex, w->id, PORT_ATTACH_TCX, 0, 0);
	assert_ok(link_del(b.ifindex, e));
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->pin, e));
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_TCX, 0, 0);

	assert_ok(link_del(w->a.ifindex, e));
	assert_ok(detach_tcx(w->pin, e));
	assert_int_not_equal(access(w->pin, F_OK), 0);
}

static void test_tcx_refusals(void **state)
{
	struct world *w = *state;
	char pin[96];

	need_tcx();
	assert_refused(attach_tcx(w->ours, 4711, w->pin, e), ENODEV, "device 4711: cannot attach");
	snprintf(pin, sizeof(pin), "%s/none/link", bpffs);
	assert_refused(attach_tcx(w->ours, w->a.ifindex, pin, e), ENOENT, "/none/link: cannot pin the TCX link");
	assert_hook(w->a.ifindex, w->id, PORT_ATTACH_NONE, 0, 0);
	assert_ok(attach_tcx(w->ours, w->a.ifindex, w->foreign_pin, e));
	assert_refused(attach_tcx(w->ours, w->a.ifindex, w->pin, e), EEXIST, "a0: this program is on its TCX");
	assert_ok(detach_tcx(w->foreign_pin, e));

	/* A pin that is no link is nobody's to remove. */
	assert_int_equal(bpf_obj_pin(w->foreign, w->pin), 0);
	assert_refused(detach_tcx(w->pin, e), EINVAL, "/link: cannot detach the TCX link");
	assert_int_equal(access(w->pin, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_needs_root(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest unprivileged[] = { cmocka_unit_test(test_needs_root) };
	const struct CMUnitTest tests[] = {
		TEST(test_veth),
		TEST(test_names_refused),
		TEST(test_list),
		TEST(test_up),
		TEST(test_promisc),
		TEST(test_lro_on_veth),
		TEST(test_namespace),
		TEST(test_clsact_alone),
		TEST(test_clsact_beside_foreign),
		TEST(test_foreign_comes_later),
		TEST(test_clsact_replaces_ours),
		TEST(test_clsact_refuses_foreign),
		TEST(test_ingress_qdisc),
		TEST(test_clsact_failures),
		TEST(test_tcx_alone),
		TEST(test_tcx_between_foreign),
		TEST(test_tcx_takes_over_pin),
		TEST(test_tcx_refusals),
	};

	if (geteuid())
		return cmocka_run_group_tests_name("attach", unprivileged, NULL, NULL);
	return cmocka_run_group_tests_name("attach", tests, make_private_world, end_private_world);
}
