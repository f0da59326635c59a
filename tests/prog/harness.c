// SPDX-License-Identifier: GPL-2.0-only
#include "harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "action_text.h"
#include "flow_table.h"
#include "match_text.h"
#include "port.h"
#include "wrapper.skel.h"
#include "wire.h"

#define BPFFS "/sys/fs/bpf"

/* --- namespaces ------------------------------------------------------------------------------------------------- */

/* The host must not speak on our devices: it would be counted. */
static int silence_ipv6(void)
{
	CLEANUP_FD int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY);

	return fd < 0 ? 0 : write(fd, "1", 1) - 1;
}

static int stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int enter_private_world(void **state)
{
	(void)state;
	if (stay_on_one_cpu() || unshare(CLONE_NEWNET | CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("bpf", BPFFS, "bpf", 0, "mode=0700") ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL))
		return -1;
	return silence_ipv6();
}

/* Both namespaces end with the process. */
int leave_private_world(void **state)
{
	(void)state;
	return 0;
}

/* --- the datapath ----------------------------------------------------------------------------------------------- */

static int make_port(struct world *w, __u32 n, struct error *e)
{
	char name[IFNAMSIZ], peer[IFNAMSIZ];
	int err;

	snprintf(name, sizeof(name), "p%u", n);
	snprintf(peer, sizeof(peer), "q%u", n);
	err = link_add_veth(name, peer, &w->port[n], &w->peer[n], e);
	if (!err)
		err = link_set_up(w->port[n].ifindex, true, e);
	if (!err)
		err = link_set_up(w->peer[n].ifindex, true, e);
	if (!err)
		err = port_add(w->dp, name, n, 0, e);
	if (!err)
		w->listener[n] = wire_open(w->peer[n].ifindex);
	return err ? err : w->listener[n] < 0 ? -errno : 0;
}

static int make_local_port(struct world *w, struct error *e)
{
	int err = port_add_local(w->dp, e);

	if (!err)
		err = link_get_by_index(w->dp->ports[PORT_LOCAL].ifindex, &w->port[PORT_LOCAL], e);
	if (!err)
		err = link_get(w->dp->name, &w->peer[PORT_LOCAL], e);
	if (!err)
		err = link_set_up(w->peer[PORT_LOCAL].ifindex, true, e);
	if (!err)
		w->listener[PORT_LOCAL] = wire_open(w->peer[PORT_LOCAL].ifindex);
	return err ? err : w->listener[PORT_LOCAL] < 0 ? -errno : 0;
}

static int wrap_program(struct world *w)
{
	__u32 zero = 0;

	w->wrapper = wrapper_bpf__open_and_load();
	return w->wrapper ? bpf_map_update_elem(bpf_map__fd(w->wrapper->maps.wrapped), &zero, &w->dp->prog_fd, 0) : -1;
}

int world_make(void **state, __u32 ports, const struct dp_options *options)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error e = { "" };
	int err;

	*state = w;
	w->cpu = sched_getcpu();
	w->ports = ports;
	memset(w->listener, 0xff, sizeof(w->listener));
	err = dp_create("dp0", options, &w->dp, &e);
	if (!err)
		err = make_local_port(w, &e);
	for (__u32 n = 1; !err && n <= ports; n++)
		err = make_port(w, n, &e);
	if (!err)
		err = wrap_program(w);
	if (!err)
		dp_write(w->dp);
	if (!err)
		w->dp->info->cache_size = 0;
	if (err)
		print_error("world_make: %d: %s\n", err, e.text);
	return err;
}

int world_end(void **state)
{
	struct world *w = *state;
	struct error e;

	wrapper_bpf__destroy(w->wrapper);
	for (__u32 n = 0; n <= w->ports; n++)
		close_fd_(&w->listener[n]);
	if (w->dp) {
		port_del_all(w->dp, &e);
		dp_destroy(w->dp, &e);
		dp_close(&w->dp);
	}
	for (__u32 n = 1; n <= w->ports; n++)
		link_del(w->peer[n].ifindex, &e);
	free(w);
	return 0;
}

/* --- frames ----------------------------------------------------------------------------------------------------- */

static int test_run(struct world *w, int prog_fd, __u32 ifindex, const struct frame *f)
{
	struct __sk_buff ctx = { .ifindex = ifindex, .mark = w->mark, .priority = w->priority };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = f->byte, .data_size_in = f->len, .data_out = w->out.byte,
		    .data_size_out = FRAME_MAX, .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .ctx_out = &w->ctx,
		    .ctx_size_out = sizeof(w->ctx));
	int err = bpf_prog_test_run_opts(prog_fd, &opts);

	if (err)
		fail_msg("a test run with %u bytes: %s", f->len, strerror(-err));
	w->out.len = opts.data_size_out;
	w->received++;
	return (int)opts.retval;
}

int run_on_device(struct world *w, __u32 ifindex, const struct frame *f)
{
	return test_run(w, w->dp->prog_fd, ifindex, f);
}

/* A type that the kernel does not look at, until the wrapper has the frame. */
static int run_cut_ip(struct world *w, __u32 port, const struct frame *f)
{
	static const __u8 stand_in[] = { 0xff, 0xfe };
	struct frame other = *f;

	memcpy(&w->wrapper->bss->eth_type_be, f->byte + 12, 2);
	memcpy(other.byte + 12, stand_in, 2);
	return test_run(w, bpf_program__fd(w->wrapper->progs.put_type), w->port[port].ifindex, &other);
}

static bool is_cut_ip(const struct frame *f)
{
	__be16 type;

	memcpy(&type, f->byte + 12, sizeof(type));
	return (type == htons(ETH_P_IP) && f->len < ETH_HLEN + 20) ||
	       (type == htons(ETH_P_IPV6) && f->len < ETH_HLEN + 40);
}

int run_inline(struct world *w, __u32 port, const struct frame *f)
{
	return is_cut_ip(f) ? run_cut_ip(w, port, f) : test_run(w, w->dp->prog_fd, w->port[port].ifindex, f);
}

int run_frame(struct world *w, __u32 port, const struct frame *f)
{
	if (!wire_tagged(f))
		return run_inline(w, port, f);
	return test_run(w, bpf_program__fd(w->wrapper->progs.move_tag), w->port[port].ifindex, f);
}

void send_frame(struct world *w, __u32 port, const struct frame *f)
{
	assert_int_equal(wire_send(w->listener[port], f), 0);
	w->received++;
}

void send_split(struct world *w, __u32 port, const struct frame *f)
{
	assert_int_equal(wire_send_split(w->peer[port].ifindex, f), 0);
	w->received++;
}

void show_frame(const char *what, const struct frame *f)
{
	print_error("%s, %u bytes:", what, f->len);
	for (__u32 i = 0; i < f->len && i < 160; i++)
		print_error("%s%02x", i % 4 ? "" : " ", f->byte[i]);
	print_error("\n");
}

static void assert_next(struct world *w, __u32 port, const struct frame *want, __u32 i)
{
	struct frame got;

	if (wire_receive(w->listener[port], &got, 1000))
		fail_msg("port %u: frame %u did not leave", port, i);
	if (got.len == want->len && !memcmp(got.byte, want->byte, got.len))
		return;
	show_frame("got", &got);
	show_frame("want", want);
	fail_msg("port %u: frame %u is another one", port, i);
}

static void assert_no_more(struct world *w, __u32 port)
{
	struct frame got;

	if (wire_receive(w->listener[port], &got, 10))
		return;
	show_frame("got", &got);
	fail_msg("port %u: a frame more than expected", port);
}

void assert_heard_frames(struct world *w, __u32 port, const struct frame *frames, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		assert_next(w, port, &frames[i], i);
	assert_no_more(w, port);
}

void assert_heard_times(struct world *w, __u32 port, const struct frame *f, __u32 times)
{
	for (__u32 i = 0; i < times; i++)
		assert_next(w, port, f, i);
	assert_no_more(w, port);
}

/* --- flows ------------------------------------------------------------------------------------------------------ */

__u32 add_flow_uncommitted(struct world *w, const char *match, const char *actions)
{
	CLEANUP_FREE struct action_list *list = calloc(1, sizeof(*list));
	struct match m;
	__u32 slot;

	assert_ok(match_parse(match, NULL, &m, e));
	assert_ok(actions_parse(actions, NULL, list, e));
	assert_ok(flow_add(w->dp, &m, list, e));
	assert_int_equal(flow_find(w->dp, &m, &slot), 0);
	return slot;
}

void commit(struct world *w)
{
	assert_ok(dp_commit(w->dp, e));
}

__u32 add_flow(struct world *w, const char *match, const char *actions)
{
	__u32 slot = add_flow_uncommitted(w, match, actions);

	commit(w);
	return slot;
}

__u32 find_flow(struct world *w, const char *match)
{
	struct match m;
	__u32 slot;

	assert_ok(match_parse(match, NULL, &m, e));
	assert_int_equal(flow_find(w->dp, &m, &slot), 0);
	return slot;
}

void assert_hit(struct world *w, struct frame f, __u32 slot)
{
	__u64 before = packets(w, slot);

	assert_int_equal(run_frame(w, 1, &f), TC_ACT_REDIRECT);
	assert_int_equal(packets(w, slot), before + 1);
}

void assert_miss(struct world *w, struct frame f)
{
	assert_int_equal(run_frame(w, 1, &f), TC_ACT_SHOT);
}

/* --- a CPU's memory --------------------------------------------------------------------------------------------- */

static struct cpu_state *all_cpu_states(struct world *w)
{
	struct cpu_state *states = calloc(w->dp->info->possible_cpus, sizeof(*states));
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(w->dp->map_fd[DP_MAP_CPU_STATE], &zero, states), 0);
	return states;
}

static void write_cpu_states(struct world *w, const struct cpu_state *states)
{
	__u32 zero = 0;

	assert_int_equal(bpf_map_update_elem(w->dp->map_fd[DP_MAP_CPU_STATE], &zero, states, 0), 0);
}

struct cpu_state cpu_state_read(struct world *w)
{
	CLEANUP_FREE struct cpu_state *states = all_cpu_states(w);

	return states[w->cpu];
}

void poison_key(struct world *w)
{
	CLEANUP_FREE struct cpu_state *states = all_cpu_states(w);

	memset(&states[w->cpu].key, 0xff, sizeof(states->key));
	write_cpu_states(w, states);
}

void set_busy(struct world *w, bool busy)
{
	CLEANUP_FREE struct cpu_state *states = all_cpu_states(w);

	states[w->cpu].busy = busy;
	write_cpu_states(w, states);
}

struct member {
	const char *name;
	__u32 offset, size;
};

#define MEMBER(m) \
	{ \
#m, offsetof(struct flow_key, m), sizeof(((struct flow_key *)0)->m) \
	}
static const struct member members[] = {
	MEMBER(in_port),       MEMBER(eth_type_be),   MEMBER(vlan_tci_be),  MEMBER(vlan_tpid_be), MEMBER(eth_dst),
	MEMBER(tcp_flags_be),  MEMBER(eth_src),	      MEMBER(cvlan_tci_be), MEMBER(ip_proto),	  MEMBER(ip_tos),
	MEMBER(ip_ttl),	       MEMBER(ip_frag),	      MEMBER(tp_src_be),    MEMBER(tp_dst_be),	  MEMBER(l3_words),
	MEMBER(ipv6_label_be), MEMBER(cvlan_tpid_be), MEMBER(zero0),	    MEMBER(skb_priority), MEMBER(skb_mark),
	MEMBER(recirc_id),     MEMBER(dp_hash),	      MEMBER(nd_target),    MEMBER(nd_sll),	  MEMBER(nd_tll),
	MEMBER(zero1),
};

static void show_bytes(const void *key, const struct member *m)
{
	for (__u32 i = 0; i < m->size; i++)
		print_error("%02x", ((const __u8 *)key)[m->offset + i]);
}

void assert_key_is(struct world *w, const struct flow_key *want, const char *what)
{
	struct flow_key got = cpu_state_read(w).key;

	if (!memcmp(&got, want, sizeof(got)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const struct member *m = &members[i];

		if (!memcmp((char *)&got + m->offset, (const char *)want + m->offset, m->size))
			continue;
		print_error("%s: %s is ", what, m->name);
		show_bytes(&got, m);
		print_error(", not ");
		show_bytes(want, m);
		print_error("\n");
	}
	fail_msg("%s: another key", what);
}

/* --- what was counted ------------------------------------------------------------------------------------------- */

static __u64 drops_of(struct world *w, const struct drop_key *key)
{
	CLEANUP_FREE __u64 *n = calloc(w->dp->info->possible_cpus, sizeof(*n));
	__u64 sum = 0;

	if (bpf_map_lookup_elem(w->dp->map_fd[DP_MAP_DROPS], key, n))
		return 0;
	for (__u32 i = 0; i < w->dp->info->possible_cpus; i++)
		sum += n[i];
	return sum;
}

__u64 drops(struct world *w, __u32 port, enum drop_reason reason)
{
	struct drop_key key = { .port = port, .reason = reason };

	return drops_of(w, &key);
}

static bool before_lookup(__u32 reason)
{
	return reason == DROP_SHORT || reason == DROP_FOREIGN_NETNS || reason == DROP_NOT_A_PORT ||
	       reason == DROP_NESTED;
}

__u64 packets(struct world *w, __u32 slot)
{
	struct flow_counts counts;

	flow_counts(w->dp, slot, &counts);
	return counts.packets;
}

struct mask_hits mask_hits(struct world *w, __u32 slot)
{
	CLEANUP_FREE struct mask_hits *hits = calloc(w->dp->info->possible_cpus, sizeof(*hits));
	__u32 id = dp_flow(w->dp, slot)->mask_id;

	assert_int_equal(bpf_map_lookup_elem(w->dp->map_fd[DP_MAP_MASK_HITS], &id, hits), 0);
	return hits[w->cpu];
}

static void assert_sums(struct world *w, const struct dp_counters *now)
{
	struct drop_key key, *prev = NULL;
	__u64 all = 0, early = 0;

	for (; !bpf_map_get_next_key(w->dp->map_fd[DP_MAP_DROPS], prev, &key); prev = &key) {
		all += drops_of(w, &key);
		early += before_lookup(key.reason) ? drops_of(w, &key) : 0;
	}
	assert_int_equal(now->dropped + now->copies_dropped, all);
	assert_int_equal(now->hit + now->missed + early, w->received);
	assert_int_equal(now->forwarded + now->dropped - early, now->hit);
	assert_int_equal(now->lost, now->missed);
}

void assert_counted_(struct world *w, struct dp_counters rise)
{
	CLEANUP_FREE struct cpu_state *states = all_cpu_states(w);
	struct dp_counters now = { 0 };
	bool same = true;

	for (__u32 i = 0; i < w->dp->info->possible_cpus; i++) {
#define X(name, text) now.name += states[i].count.name;
		DP_COUNTERS(X)
#undef X
	}
#define X(name, text) \
	if (now.name - w->before.name != rise.name) { \
		print_error("%s rose by %llu, not %llu\n", #name, now.name - w->before.name, rise.name); \
		same = false; \
	}
	DP_COUNTERS(X)
#undef X
	assert_true(same);
	w->before = now;
	assert_sums(w, &now);
}
