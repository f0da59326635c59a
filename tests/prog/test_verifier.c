// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the verifier has to do for each program, and a ceiling for it: older kernels walk more, and stop at a million.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "datapath.skel.h"
#include "attach.h"
#include "harness.h"

/* About one and a half times what the largest program needs: on 6.12 and later, and on 6.1, which knows less. */
#define VERIFIED_INSNS_MAX     100000
#define VERIFIED_INSNS_MAX_OLD 215000

static __u32 ceiling(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%u.%u", &major, &minor), 2);
	return major < 6 || (major == 6 && minor < 7) ? VERIFIED_INSNS_MAX_OLD : VERIFIED_INSNS_MAX;
}

static void load(__u64 cookie)
{
	struct datapath_bpf *skel = datapath_bpf__open();
	struct bpf_program *prog;

	assert_non_null(skel);
	skel->rodata->netns_cookie = cookie;
	assert_int_equal(datapath_bpf__load(skel), 0);
	bpf_object__for_each_program(prog, skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len), 0);
		print_message("# %s, %s: verified %u instructions, is %u bytes of machine code\n", info.name,
			      cookie ? "namespace checked" : "no namespace", info.verified_insns, info.jited_prog_len);
		if (info.verified_insns > ceiling())
			fail_msg("%s: more than %u verified instructions", info.name, ceiling());
		assert_int_not_equal(info.verified_insns, 0);
	}
	datapath_bpf__destroy(skel);
}

static void test_for_any_kernel(void **state)
{
	(void)state;
	load(0);
}

/*
 * A program with one write through a packet pointer gets a prologue that makes each packet's headers its own (net/core/
 * filter.c, bpf_unclone_prologue): each frame of a local TCP sender would be copied, also where it is only forwarded.  It
 * begins by reading a byte of the skb.
 */
static void test_no_unclone_prologue(void **state)
{
	struct datapath_bpf *skel = datapath_bpf__open_and_load();
	struct bpf_insn insn[8] = { 0 };
	struct bpf_prog_info info = { .xlated_prog_insns = (__u64)(unsigned long)insn,
				      .xlated_prog_len = sizeof(insn) };
	__u32 len = sizeof(info);

	(void)state;
	assert_non_null(skel);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(skel->progs.tcvs_ingress), &info, &len), 0);
	assert_int_not_equal(insn[0].code, 0);
	assert_int_not_equal(insn[0].code, BPF_LDX | BPF_MEM | BPF_B);
	datapath_bpf__destroy(skel);
}

/* As it is loaded where TCX links are. */
static void test_with_namespace_check(void **state)
{
	(void)state;
	if (!attach_has_tcx())
		skip();
	load(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_for_any_kernel),
		cmocka_unit_test(test_with_namespace_check),
		cmocka_unit_test(test_no_unclone_prologue),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
