// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random lists of records on random frames, against the model: every copy byte by byte, what was skipped, broken off and
 * dropped, and the key.  Where no pedit was, what had right checksums still has.  The seed is fixed, so that a failure
 * comes back; TCVS_SEED and TCVS_ROUNDS are for longer searches.
 */
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "records.h"
#include "seal.h"

static unsigned int seed;

static __u32 below(__u32 n)
{
	return (__u32)rand_r(&seed) % n;
}

static bool one_in(__u32 n)
{
	return !below(n);
}

static __u32 bits(void)
{
	return (__u32)rand_r(&seed) << 17 ^ (__u32)rand_r(&seed) << 3 ^ (__u32)rand_r(&seed) >> 5;
}

/* Often all of a field, and else any bits of it. */
static __u32 mask(__u32 full)
{
	return one_in(2) ? full : bits() & full;
}

/* --- frames ----------------------------------------------------------------------------------------------------- */

static void append(struct frame *f, struct layer l)
{
	memcpy(f->byte + f->len, l.byte, l.len);
	f->len += l.len;
}

static const __u8 protos[] = { IPPROTO_TCP,  IPPROTO_UDP,     IPPROTO_TCP,    IPPROTO_UDP,  IPPROTO_SCTP,
			       IPPROTO_ICMP, IPPROTO_UDPLITE, IPPROTO_ICMPV6, IPPROTO_IGMP, 200 };

static void append_l4(struct frame *f, __u8 proto)
{
	if (proto == IPPROTO_TCP)
		append(f, tcp(bits(), bits(), bits() & TCP_ALL_FLAGS));
	else if (proto == IPPROTO_SCTP)
		append(f, sctp(bits(), bits()));
	else if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		append(f, icmp(bits(), bits()));
	else
		append(f, udp(bits(), bits()));
}

static void append_ipv4(struct frame *f)
{
	static const char options[] = "\x94\x04\0\0\1\1\1\1\1\1\1\0";
	static const __u16 frags[] = { 0, 0, IPV4_DF, IPV4_MF, 5, IPV4_MF | 7 };
	__u8 proto = protos[below(sizeof(protos))];

	append(f, ipv4(proto, .tos = bits(), .ttl = bits(), .frag = frags[one_in(4) ? below(6) : 0], .options = options,
		       .option_words = one_in(3) ? below(4) : 0));
	append_l4(f, proto);
}

static void append_ipv6(struct frame *f)
{
	static const __u8 kinds[] = { 0, 60, 43, 44, 51 };
	__u8 proto = protos[below(sizeof(protos))], chain[4];
	__u32 n = one_in(2) ? below(4) : 0;
	bool routed = false;

	for (__u32 i = 0; i < n; i++) {
		do
			chain[i] = kinds[below(5)];
		while (routed && chain[i] == 43);
		routed |= chain[i] == 43;
	}
	append(f, ipv6(n ? chain[0] : proto, .tclass = bits(), .hlimit = bits(), .label = bits() & 0xfffff));
	for (__u32 i = 0; i < n; i++) {
		__u8 next = i + 1 < n ? chain[i + 1] : proto;

		append(f, chain[i] == 43   ? ip6_routing(next, below(3))
			  : chain[i] == 44 ? ip6_fragment(next, below(3) * 8 | below(2))
			  : chain[i] == 51 ? ip6_auth(next, 1 + below(3) * 2)
					   : ip6_option(next, below(2)));
	}
	append_l4(f, proto);
}

static struct frame random_frame(void)
{
	static const __u16 tpids[] = { ETH_P_8021Q, ETH_P_8021AD };
	static const __u16 types[] = { ETH_P_IP, ETH_P_IP,   ETH_P_IPV6, ETH_P_IPV6,
				       ETH_P_IP, ETH_P_IPV6, ETH_P_ARP,	 0x88cc };
	__u32 tags = one_in(2) ? 0 : below(3) + one_in(6), all = tags;
	__u16 type = types[below(ARRAY_SIZE(types))];
	struct frame f = FRAME(eth(tags ? tpids[below(2)] : type));

	while (tags--)
		append(&f, vlan(bits(), tags ? tpids[below(2)] : type));
	if (type == ETH_P_IP)
		append_ipv4(&f);
	else if (type == ETH_P_IPV6)
		append_ipv6(&f);
	else
		append(&f, arp(1, ARP_FOR_IPV4));
	f = frame_padded(f, f.len + (one_in(8) ? 1200 : below(80)));
	f = sealed(f);
	if (one_in(6))
		f = frame_padded(f, f.len + below(20));
	if (one_in(6)) {
		__u32 least = ETH_HLEN + all * 4 + 2;

		f = frame_cut(f, least + below(f.len < 90 ? f.len - least : 90 - least));
	}
	for (__u32 n = one_in(6) ? 1 + below(4) : 0; n; n--) /* behind the tags and the type */
		f.byte[ETH_HLEN + all * 4 + below(f.len - ETH_HLEN - all * 4)] = bits();
	return f;
}

/* --- lists ------------------------------------------------------------------------------------------------------ */

static bool fits(enum set_field field, const struct layout *l)
{
	if (field >= SET_TCP_SRC)
		return l->proto == (field >= SET_SCTP_SRC  ? IPPROTO_SCTP
				    : field >= SET_UDP_SRC ? IPPROTO_UDP
							   : IPPROTO_TCP);
	return field >= SET_IPV6_SRC ? l->ipv6 : field >= SET_IPV4_SRC ? l->ipv4 : true;
}

/* Mostly of a header that the frame has. */
static struct flow_action random_set(const struct layout *l)
{
	enum set_field field = below(SET_FIELDS);
	struct flow_action a = { .type = ACTION_SET };
	__u32 m;

	for (int i = 0; i < 4 && !fits(field, l); i++)
		field = below(SET_FIELDS);
	a.set.field = field;
	if (field == SET_ETH) {
		for (int i = 0; i < 12; i++)
			a.data[i] = bits();
	} else if (field == SET_ETH_DST || field == SET_ETH_SRC) {
		for (int i = 0; i < 6; i++) {
			a.mac.mask[i] = mask(0xff);
			a.mac.value[i] = bits() & a.mac.mask[i];
		}
	} else if (field >= SET_TCP_SRC) {
		m = mask(0xffff);
		a = set_half(field, bits() & m, m);
	} else if (field == SET_IPV4_TOS || field == SET_IPV4_TTL || field == SET_IPV6_TCLASS ||
		   field == SET_IPV6_HLIMIT) {
		m = mask(0xff);
		a = set_byte(field, bits() & m, m);
	} else {
		m = mask(field == SET_IPV6_LABEL ? 0xfffff : 0xffffffff);
		a = set_part(field, field == SET_IPV6_SRC || field == SET_IPV6_DST ? below(4) : 0, bits() & m, m);
	}
	return a;
}

static __s16 random_offset(void)
{
	return (one_in(8) ? (int)below(30) - 10 : (int)below(11)) * 4;
}

static __u32 append_pedit(struct flow_action *list)
{
	__u32 n = 0, steps = 1 + below(4);
	struct flow_action head = pedit();

	head.pedit.keys = below(3);
	list[n++] = head;
	for (__u32 i = 0; i < head.pedit.keys; i++)
		list[n++] = add_key(PEDIT_ETH, 0, bits(), 0);
	for (__u32 i = 0; i < steps; i++) {
		enum pedit_base base = below(PEDIT_BASES);
		struct flow_action step;
		bool write = one_in(2);

		if (write)
			step = write_words(base, 1 + below(3), bits(), bits(), bits());
		else if (one_in(2))
			step = add_key(base, random_offset(), bits(), mask(~0U));
		else
			step = at_key(base, random_offset(), bits(), mask(~0U), below(24) - 4, mask(0xff), below(8));
		list[n++] = i + 1 == steps ? steps_end(step) : step;
		if (write)
			list[n++] = write_masks(random_offset(), one_in(3) ? 0 : mask(~0U), one_in(3) ? 0 : mask(~0U),
						one_in(3) ? 0 : mask(~0U));
	}
	return n;
}

/* with_pedit: else only what keeps checksums right. */
static __u32 random_list(struct flow_action *list, const struct frame *in, bool with_pedit)
{
	struct layout l;
	__u32 n = 0;

	frame_layout(in, &l);
	for (__u32 actions = 1 + below(12); actions; actions--) {
		__u32 kind = below(with_pedit ? 10 : 8);

		if (kind < 5)
			list[n++] = random_set(&l);
		else if (kind == 5)
			list[n++] = push_vlan(one_in(2) ? ETH_P_8021Q : ETH_P_8021AD, bits());
		else if (kind == 6)
			list[n++] = pop_vlan();
		else if (kind == 7)
			list[n++] = output(2);
		else if (kind == 8)
			n += append_pedit(list + n);
		else
			list[n++] = csum(bits());
	}
	list[n++] = output(2);
	return n;
}

/* --- both ------------------------------------------------------------------------------------------------------- */

static void check_key(struct world *w, const struct frame *out)
{
	struct flow_key key = cpu_state_read(w).key;

	poison_key(w);
	w->mark = w->ctx.mark;
	w->priority = w->ctx.priority;
	assert_int_equal(run_frame(w, 3, out), TC_ACT_SHOT);
	key.in_port = 3;
	assert_key_is(w, &key, "after the actions");
}

/* Fields of a TCP header whose length lies are not in a key, and can be set. */
static bool tcp_lies(const struct model *m)
{
	return m->at.proto == IPPROTO_TCP && m->at.l4 && m->at.l4 + 13 <= m->f.len &&
	       ((m->f.byte[m->at.l4 + 12] >> 4) < 5 || m->at.l4 + (m->f.byte[m->at.l4 + 12] >> 4) * 4 > m->f.len);
}

/* Nobody keeps UDP-Lite's: the kernel's datapath does not know it (net/openvswitch/actions.c). */
static void assert_right(const struct frame *in, const struct frame *out)
{
	struct layout l;

	if (sums_are_right(out) || (frame_layout(out, &l) && l.proto == IPPROTO_UDPLITE))
		return;
	show_frame("came", in);
	show_frame("left", out);
	fail_msg("checksums were right and are not any more");
}

static void check(struct world *w, __u32 slot, struct model *m, const struct frame *in, bool sums_right)
{
	struct dp_counters before = cpu_state_read(w).count;
	__u64 over = overlimits(w, slot), dropped = m->dropped ? drops(w, 1, m->dropped) : 0;
	int verdict = run_frame(w, 1, in);

	assert_heard_frames(w, 2, m->copy, m->copies);
	assert_int_equal(verdict, m->dropped ? TC_ACT_SHOT : TC_ACT_REDIRECT);
	if (m->dropped)
		assert_int_equal(drops(w, 1, m->dropped), dropped + 1);
	assert_int_equal(overlimits(w, slot) - over, m->overlimits);
	assert_int_equal(cpu_state_read(w).count.sets_skipped - before.sets_skipped, m->sets_skipped);
	if (m->dropped)
		return;
	assert_int_equal(w->ctx.mark, m->mark);
	assert_int_equal(w->ctx.priority, m->priority);
	if (sums_right && !m->pedited && !m->summed)
		assert_right(in, &m->copy[m->copies - 1]);
	if (!cpu_state_read(w).headers.key_stale && !tcp_lies(m))
		check_key(w, &m->copy[m->copies - 1]);
}

static __u32 number(const char *name, __u32 otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

static void run_rounds(struct world *w, bool with_pedit)
{
	__u32 slot = add_list_for_port(w, 1, LIST(last(2))), rounds = number("TCVS_ROUNDS", 1000), sealed_ones = 0;
	CLEANUP_FREE struct model *m = calloc(1, sizeof(*m));
	__u32 dropped = 0, over = 0, skipped = 0;

	for (__u32 i = 0; i < rounds; i++) {
		struct flow_action list[FLOW_ACTIONS_MAX] = { 0 };
		struct frame in;
		__u32 count;

		seed = number("TCVS_SEED", 1) + i * 2 + with_pedit;
		in = random_frame();
		count = random_list(list, &in, with_pedit);
		memset(m, 0, sizeof(*m));
		m->mark = w->mark = bits();
		m->priority = w->priority = bits() & 7;
		model_run(m, &in, list, count);
		list[count] = last(2);
		set_list(w, slot, list, count + 1);
		print_message(getenv("TCVS_SEED") ? "# seed %u\n" : "", number("TCVS_SEED", 1) + i * 2 + with_pedit);
		check(w, slot, m, &in, sums_are_right(&in));
		sealed_ones += sums_are_right(&in);
		dropped += !!m->dropped;
		over += m->overlimits;
		skipped += m->sets_skipped;
	}
	print_message("# %u rounds: %u right from the start, %u dropped, %u pedits broken off, %u sets skipped\n",
		      rounds, sealed_ones, dropped, over, skipped);
	assert_true(sealed_ones > rounds / 4 && skipped);
}

static void test_sets_and_tags(void **state)
{
	run_rounds(*state, false);
}

static void test_all(void **state)
{
	run_rounds(*state, true);
}

static int make(void **state)
{
	return world_make(state, 3, &(struct dp_options){ .max_flows = 100, .max_masks = 16 });
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, world_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_sets_and_tags),
		test(test_all),
	};

	return cmocka_run_group_tests(tests, enter_private_world, leave_private_world);
}
