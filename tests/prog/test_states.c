// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rewriting in the other two states of checksums.
 *
 * PARTIAL frames come from a packet socket with a virtio header, as from a virtual machine.  COMPLETE ones come out of a
 * vxlan device whose outer packet had a checksum: when that is right, the sum of what is inside is known.
 */
#include <linux/pkt_cls.h>
#include <linux/virtio_net.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "complete.skel.h"
#include "port.h"
#include "records.h"
#include "seal.h"
#include "wire.h"

/* --- PARTIAL ---------------------------------------------------------------------------------------------------- */

/* With the sum of the pseudo header where the checksum will be. */
static struct frame partial(struct frame f, struct layout *l, __u32 *at)
{
	__u32 width, sum;

	assert_true(frame_layout(&f, l));
	*at = l->l4 + (l->proto == IPPROTO_TCP ? 16 : 6);
	width = l->ipv4 ? 8 : 32;
	sum = ones_sum(f.byte + l->l3 + (l->ipv4 ? 12 : 8), width, l->proto + (f.len - l->l4));
	put_be16(f.byte + *at, sum);
	if (l->ipv4) {
		put_be16(f.byte + l->l3 + 10, 0);
		put_be16(f.byte + l->l3 + 10, ~ones_sum(f.byte + l->l3, 20, 0));
	}
	return f;
}

static const struct flow_action *some_rewrites(bool ipv4, __u8 proto, __u32 *count)
{
	static struct flow_action list[4];
	__u32 n = 0;

	if (ipv4) {
		list[n++] = set_word(SET_IPV4_SRC, 0x0a010203, ~0U);
		list[n++] = set_byte(SET_IPV4_TTL, 3, 0xff);
	} else {
		list[n++] = set_part(SET_IPV6_DST, 1, 0x0a010203, ~0U);
		list[n++] = set_byte(SET_IPV6_HLIMIT, 3, 0xff);
	}
	list[n++] = set_half(proto == IPPROTO_TCP ? SET_TCP_DST : SET_UDP_DST, 258, 0xffff);
	list[n++] = last(2);
	*count = n;
	return list;
}

static void rewrite(struct frame *f, const struct layout *l)
{
	memcpy(f->byte + l->l3 + (l->ipv4 ? 12 : 28), "\x0a\x01\x02\x03", 4);
	f->byte[l->l3 + (l->ipv4 ? 8 : 7)] = 3;
	put_be16(f->byte + l->l4 + 2, 258);
}

static struct frame kind(int i, __u32 payload)
{
	const struct frame frames[] = {
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_TCP, .ttl = 64), tcp(1000, 80, TCP_ACK)),
		FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(1000, 53)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_TCP, .hlimit = 64), tcp(1000, 80, TCP_ACK)),
		FRAME(eth(ETH_P_IPV6), ipv6(IPPROTO_UDP, .hlimit = 64), udp(1000, 53)),
	};

	return with_payload(frames[i], payload);
}

enum {
	KINDS = 4,
};

/* A raw listener sees the sum of the pseudo header, of the new addresses. */
static void test_partial(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2))), count, at;

	for (int i = 0; i < KINDS; i++) {
		struct layout l;
		struct frame f = partial(kind(i, 101), &l, &at), want = f;
		const struct flow_action *list = some_rewrites(l.ipv4, l.proto, &count);

		set_list(w, slot, list, count);
		rewrite(&want, &l);
		want = partial(want, &l, &at);
		assert_int_equal(wire_send_partial(w->peer[1].ifindex, &f, l.l4, at, 0, 0), 0);
		w->received++;
		assert_heard(w, 2, want);
	}
}

/* The CRC is not there yet: what stands in its place is left alone, by csum(), too. */
static void test_partial_sctp(void **state)
{
	struct world *w = *state;
	struct frame f = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP, .ttl = 64), sctp(1000, 80)), 33), want;

	add_list_for_port(w, 1, LIST(set_half(SET_SCTP_DST, 258, 0xffff), csum(CSUM_SCTP), last(2)));
	memcpy(f.byte + 34 + 8, "abcd", 4);
	want = f;
	put_be16(want.byte + 36, 258);
	assert_int_equal(wire_send_partial(w->peer[1].ifindex, &f, 34, 42, 0, 0), 0);
	w->received++;
	assert_heard(w, 2, want);
}

/* csum() repairs what a pedit of the address left in the pseudo header's sum, and does not finish it. */
static void test_partial_csum(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2))), at;

	for (int i = 0; i < KINDS; i++) {
		struct layout l;
		struct frame f = partial(kind(i, 101), &l, &at), want = f;

		set_list(w, slot,
			 LIST(pedit(), steps_end(write_words(PEDIT_NETWORK, 1, 0x0a010203, 0, 0)),
			      write_masks(12, 0, 0, 0), csum(CSUM_IPV4 | CSUM_TCP | CSUM_UDP), last(2)));
		memcpy(want.byte + l.l3 + 12, "\x0a\x01\x02\x03", 4);
		want = partial(want, &l, &at);
		assert_int_equal(wire_send_partial(w->peer[1].ifindex, &f, l.l4, at, 0, 0), 0);
		w->received++;
		assert_heard(w, 2, want);
	}
}

/* A super-packet stays one, and its sum is that of its whole length. */
static void test_super_packet(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, 1, LIST(last(2))), count, at;

	for (int i = 0; i < KINDS; i += 2) {
		struct layout l;
		struct frame f = partial(kind(i, 3000), &l, &at), want = f;
		const struct flow_action *list = some_rewrites(l.ipv4, l.proto, &count);
		__u8 type = l.ipv4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;

		set_list(w, slot, list, count);
		rewrite(&want, &l);
		want = partial(want, &l, &at);
		assert_int_equal(wire_send_partial(w->peer[1].ifindex, &f, l.l4, at, 1000, type), 0);
		w->received++;
		assert_heard(w, 2, want);
		set_list(w, slot,
			 LIST(pedit(), steps_end(write_words(PEDIT_NETWORK, 1, 0x0a010203, 0, 0)),
			      write_masks(12, 0, 0, 0), csum(CSUM_IPV4 | CSUM_TCP), last(2)));
		want = f;
		memcpy(want.byte + l.l3 + 12, "\x0a\x01\x02\x03", 4);
		want = partial(want, &l, &at);
		assert_int_equal(wire_send_partial(w->peer[1].ifindex, &f, l.l4, at, 1000, type), 0);
		w->received++;
		assert_heard(w, 2, want);
	}
}

/* --- COMPLETE --------------------------------------------------------------------------------------------------- */

enum {
	PORT_VXLAN = 4,
	OUTER = ETH_HLEN + 20 + 8 + 8,
};

struct tunnel {
	struct complete_bpf *watch;
	struct link_info near, far, vxlan;
};

static void run_ip(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "ip %s", command);
	if (system(line))
		fail_msg("%s failed", line);
}

static void attach_watch(struct tunnel *t, __u32 ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(t->watch->progs.watch));
	int err = bpf_tc_hook_create(&hook);

	assert_true(!err || err == -EEXIST);
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
}

static void make_tunnel(struct world *w, struct tunnel *t)
{
	assert_ok(link_add_veth("n0", "f0", &t->near, &t->far, e));
	run_ip("addr add 10.9.0.1/24 dev n0");
	run_ip("link set n0 up");
	run_ip("link set f0 up");
	run_ip("link add vx type vxlan id 7 local 10.9.0.1 remote 10.9.0.2 dstport 4789 dev n0 udpcsum nolearning");
	run_ip("link set vx up");
	assert_ok(link_get("vx", &t->vxlan, e));
	assert_ok(port_add(w->dp, "vx", PORT_VXLAN, 0, e));
	t->watch = complete_bpf__open_and_load();
	assert_non_null(t->watch);
	attach_watch(t, w->peer[2].ifindex);
}

static void end_tunnel(struct world *w, struct tunnel *t)
{
	assert_ok(port_del(w->dp, PORT_VXLAN, e));
	complete_bpf__destroy(t->watch);
	run_ip("link del vx");
	run_ip("link del n0");
}

/* The frame as the far end of the tunnel would send it, the outer checksum finished. */
static void send_inside(struct world *w, struct tunnel *t, const struct frame *inner)
{
	struct frame f = FRAME(eth(ETH_P_IP), ipv4(IPPROTO_UDP, .ttl = 64), udp(5000, 4789),
			       bytes("\x08\0\0\0\0\0\x07\0", 8));
	CLEANUP_FD int fd = wire_open(t->far.ifindex);

	memcpy(f.byte, t->near.mac, 6);
	memcpy(f.byte + 26, "\x0a\x09\x00\x02\x0a\x09\x00\x01", 8);
	memcpy(f.byte + f.len, inner->byte, inner->len);
	f.len += inner->len;
	f = sealed(f);
	assert_int_equal(wire_send(fd, &f), 0);
	w->received++;
}

/* What arrives is right, was COMPLETE, and its sum is that of its bytes. */
#define check_complete(w, ...) check_complete_(__LINE__, w, __VA_ARGS__)
static void check_complete_(int line, struct world *w, struct tunnel *t, __u32 slot, const struct frame *in,
			    const struct frame *out, const struct flow_action *list, __u32 count)
{
	__u64 before = t->watch->bss->complete;

	set_list(w, slot, list, count);
	send_inside(w, t, in);
	assert_heard(w, 2, *out);
	assert_int_equal(t->watch->bss->complete, before + 1);
	if (t->watch->bss->wrong)
		fail_msg("line %d: skb->csum is not the sum of the bytes", line);
	assert_int_equal(t->watch->bss->incomplete, 0);
}

static struct frame put(struct frame f, __u32 at, const void *data, __u32 len)
{
	memcpy(f.byte + at, data, len);
	return f;
}

/* The frame with a tag more, the outermost. */
static struct frame tagged(struct frame f, __u16 tpid, __u16 tci)
{
	memmove(f.byte + 16, f.byte + 12, f.len - 12);
	put_be16(f.byte + 12, tpid);
	put_be16(f.byte + 14, tci);
	f.len += 4;
	return f;
}

static void check_sets(struct world *w, struct tunnel *t, __u32 slot, int i)
{
	static const __u8 macs[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	struct frame f = kind(i, 105), want;
	struct layout l;
	__u32 count;

	frame_layout(&f, &l);
	want = put(f, 0, macs, 12);
	check_complete(w, t, slot, &f, &want, LIST(set_macs(macs, macs + 6), last(2)));
	want = f;
	rewrite(&want, &l);
	want = resummed(want);
	const struct flow_action *list = some_rewrites(l.ipv4, l.proto, &count);

	check_complete(w, t, slot, &f, &want, list, count);
	if (l.ipv4)
		return;
	want = put(f, l.l3, "\x65\xa1\x23\x45", 4);
	check_complete(
		w, t, slot, &f, &want,
		LIST(set_byte(SET_IPV6_TCLASS, 0x5a, 0xff), set_word(SET_IPV6_LABEL, 0x12345, 0xfffff), last(2)));
}

/* Without a sum of their own, in fragments, and with a CRC. */
static void check_sets_without_sum(struct world *w, struct tunnel *t, __u32 slot)
{
	struct frame f = kind(1, 33), want;
	struct frame later = with_payload(FRAME(eth(ETH_P_IPV6), ipv6(44), ip6_fragment(6, 8)), 77);
	struct frame crc = with_payload(FRAME(eth(ETH_P_IP), ipv4(IPPROTO_SCTP), sctp(1000, 80)), 33);

	put_be16(f.byte + 40, 0);
	want = resummed(put(put(f, 36, "\x01\x02", 2), 26, "\x0a\x01\x02\x03", 4));
	check_complete(w, t, slot, &f, &want,
		       LIST(set_half(SET_UDP_DST, 258, 0xffff), set_word(SET_IPV4_SRC, 0x0a010203, ~0U), last(2)));
	want = put(later, 22, "\x0a\x01\x02\x03", 4);
	check_complete(w, t, slot, &later, &want, LIST(set_part(SET_IPV6_SRC, 0, 0x0a010203, ~0U), last(2)));
	want = resummed(put(crc, 36, "\x01\x02", 2));
	check_complete(w, t, slot, &crc, &want, LIST(set_half(SET_SCTP_DST, 258, 0xffff), last(2)));
}

static void check_tags(struct world *w, struct tunnel *t, __u32 slot, struct frame f)
{
	struct frame one = tagged(f, ETH_P_8021Q, 5), two = tagged(one, ETH_P_8021AD, 6);
	struct frame three = tagged(two, ETH_P_8021AD, 7), want;

	check_complete(w, t, slot, &f, &one, LIST(push_vlan(ETH_P_8021Q, 5), last(2)));
	check_complete(w, t, slot, &one, &two, LIST(push_vlan(ETH_P_8021AD, 6), last(2)));
	check_complete(
		w, t, slot, &f, &three,
		LIST(push_vlan(ETH_P_8021Q, 5), push_vlan(ETH_P_8021AD, 6), push_vlan(ETH_P_8021AD, 7), last(2)));
	check_complete(w, t, slot, &one, &f, LIST(pop_vlan(), last(2)));
	check_complete(w, t, slot, &three, &one, LIST(pop_vlan(), pop_vlan(), last(2)));
	check_complete(w, t, slot, &three, &f, LIST(pop_vlan(), pop_vlan(), pop_vlan(), last(2)));
	check_complete(w, t, slot, &two, &two, LIST(pop_vlan(), push_vlan(ETH_P_8021AD, 6), last(2)));
	/* What is not in skb->csum grows and shrinks with the tags: a word of the inner tag, before and after. */
	want = put(two, 18, "\x0f\xff", 2);
	check_complete(w, t, slot, &two, &want,
		       LIST(pedit(), steps_end(write_words(PEDIT_ETH, 1, 0x00000fff, 0, 0)),
			    write_masks(12, 0xffff0000, 0, 0), last(2)));
	check_complete(w, t, slot, &f, &want,
		       LIST(push_vlan(ETH_P_8021Q, 5), push_vlan(ETH_P_8021AD, 6), pedit(),
			    steps_end(write_words(PEDIT_ETH, 1, 0x00000fff, 0, 0)), write_masks(12, 0xffff0000, 0, 0),
			    last(2)));
	check_complete(w, t, slot, &two, &want,
		       LIST(pop_vlan(), push_vlan(ETH_P_8021AD, 6), pedit(),
			    steps_end(write_words(PEDIT_ETH, 1, 0x00000fff, 0, 0)), write_masks(12, 0xffff0000, 0, 0),
			    last(2)));
}

/* The frame's own sums are left alone, and skb->csum is right nevertheless. */
static void check_pedits(struct world *w, struct tunnel *t, __u32 slot, int i)
{
	struct frame f = kind(i, 40), want;
	struct layout l;

	frame_layout(&f, &l);
	want = put(f, 0, "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
	check_complete(w, t, slot, &f, &want,
		       LIST(pedit(), steps_end(write_words(PEDIT_ETH, 3, 0x02000000, 0x00010200, 0x00000002)),
			    write_masks(0, 0, 0, 0), last(2)));
	want = put(f, 10, "\xaa\xbb\x88\xcc\x11\x22\x33\x44\x55\x66", 10);
	check_complete(w, t, slot, &f, &want,
		       LIST(pedit(), steps_end(write_words(PEDIT_ETH, 3, 0x0000aabb, 0x88cc1122, 0x33445566)),
			    write_masks(8, 0xffff0000, 0, 0), last(2)));
	want = put(put(f, l.l3 + 8, "\x09", 1), l.l4 + 3, "\x77", 1);
	want.byte[l.l4 + 3] = f.byte[l.l4 + 3] + 1;
	check_complete(w, t, slot, &f, &want,
		       LIST(pedit(), write_words(PEDIT_NETWORK, 1, 0x09000000, 0, 0), write_masks(8, 0xffffff, 0, 0),
			    steps_end(add_key(l.proto == IPPROTO_TCP ? PEDIT_TCP : PEDIT_UDP, 0, 1, 0xffffff00)),
			    last(2)));
	want = resummed(put(f, l.l3 + 12, "\x0a\1\2\3", 4));
	check_complete(w, t, slot, &f, &want,
		       LIST(pedit(), steps_end(write_words(PEDIT_NETWORK, 1, 0x0a010203, 0, 0)),
			    write_masks(12, 0, 0, 0), csum(CSUM_IPV4 | CSUM_TCP | CSUM_UDP), last(2)));
}

static void test_complete(void **state)
{
	struct world *w = *state;
	__u32 slot = add_list_for_port(w, PORT_VXLAN, LIST(last(2)));
	struct tunnel t = { 0 };

	make_tunnel(w, &t);
	for (int i = 0; i < KINDS; i++) {
		check_sets(w, &t, slot, i);
		check_tags(w, &t, slot, kind(i, 33));
		check_pedits(w, &t, slot, i);
	}
	check_sets_without_sum(w, &t, slot);
	assert_true(t.watch->bss->complete > 50);
	end_tunnel(w, &t);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_partial),	 test(test_partial_sctp), test(test_partial_csum),
		test(test_super_packet), test(test_complete),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
