/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pedit(): 32-bit words of the packet, as net/sched/act_pedit.c writes them, for which the words of the packet, and of
 * the records, are numbers of the host.  No checksum in the packet is kept; skb->csum is, so that a COMPLETE packet
 * whose checksum is right, or is made right by csum(), is not refused (act_pedit leaves it behind).
 */
#pragma once

#include "headers.h"

/*
 * The L4 header as the bytes now say, and not as the key does: an earlier key may have changed them.  The checks of Linux
 * 7.3: the header is whole, the protocol is the one that was asked for, a later fragment has none.
 */
static __always_inline __s32 pedit_l4(struct __sk_buff *skb, const struct cpu_state *cpu, __u8 proto)
{
	__u32 l3 = cpu->headers.l3, end;
	__u8 first, next;
	__be16 frag;

	if (cpu->key.eth_type_be == bpf_htons(ETH_P_IP)) {
		if (l3 + 20 > skb->len || !read_u8(skb, l3, &first) || !read_u8(skb, l3 + 9, &next) ||
		    !read_u16(skb, l3 + 6, &frag))
			return -1;
		if ((first & 0xf) < 5 || next != proto || (frag & bpf_htons(IP_OFFSET_MASK)))
			return -1;
		return l3 + (first & 0xf) * 4;
	}
	if (cpu->key.eth_type_be != bpf_htons(ETH_P_IPV6) || l3 + 40 > skb->len || !read_u8(skb, l3 + 6, &next))
		return -1;
	end = skip_ipv6_ext(skb, l3 + 40, next);
	return (end & 0xff) == proto ? (__s32)(end >> 16) : -1;
}

/* Where offsets count from; -1 if there is no such header. */
static __always_inline __s32 pedit_base(struct __sk_buff *skb, const struct cpu_state *cpu, __u32 base)
{
	switch (base) {
	case PEDIT_ETH:
		return 0;
	case PEDIT_TCP:
		return pedit_l4(skb, cpu, IPPROTO_TCP);
	case PEDIT_UDP:
		return pedit_l4(skb, cpu, IPPROTO_UDP);
	default:
		return cpu->headers.l3; /* whatever the packet is: act_pedit does not ask */
	}
}

struct pedit_words {
	__s32 pos; /* from the Ethernet header */
	__u32 count;
	__u32 word[PEDIT_WORDS_MAX];
};

/* One word, in which the Ethernet header may end: what skb->csum covers begins behind that. */
static __always_inline long store_word(struct __sk_buff *skb, __u32 l2_len, __u32 pos, const __u32 *word)
{
	if (pos >= l2_len)
		return bpf_skb_store_bytes(skb, pos, word, 4, BPF_F_RECOMPUTE_CSUM);
	if (pos + 4 <= l2_len)
		return bpf_skb_store_bytes(skb, pos, word, 4, 0);
	/* IP headers begin at an odd multiple of 2, and so does all that is counted from them. */
	return bpf_skb_store_bytes(skb, pos, word, 2, 0)
		       ?: bpf_skb_store_bytes(skb, pos + 2, (const void *)word + 2, 2, BPF_F_RECOMPUTE_CSUM);
}

/* 4, 8 or 12; 0 for a count out of range.  Compared as clang would, the verifier of 6.12 does not see that it is not 0. */
static __always_inline __u32 bytes_of_words(__u32 count)
{
	__u32 further = count - 1;

	barrier_var(further);
	return further < PEDIT_WORDS_MAX ? further * 4 + 4 : 0;
}

static __always_inline long store_words(struct __sk_buff *skb, __u32 l2_len, const struct pedit_words *w)
{
	__u32 len = bytes_of_words(w->count);
	long err = 0;

	if (!len)
		return -1;
	if (w->pos >= (__s32)l2_len)
		return bpf_skb_store_bytes(skb, w->pos, w->word, len, BPF_F_RECOMPUTE_CSUM);
	if (w->pos + len <= l2_len)
		return bpf_skb_store_bytes(skb, w->pos, w->word, len, 0);
#pragma unroll
	for (int i = 0; i < PEDIT_WORDS_MAX; i++)
		if (!err && i * 4U < len)
			err = store_word(skb, l2_len, w->pos + i * 4, &w->word[i]);
	return err;
}

/*
 * A word that begins two bytes before the frame and keeps these, such as the one of "offset -14 u16".  Numbers as they
 * lie in memory: on little-endian hosts the frame's bytes are the upper half, and no carry comes from the lower.
 */
static __always_inline int straddling_word(struct __sk_buff *skb, __u32 mask, __u32 value, bool add)
{
	__u16 half;
	__u32 now;

	if ((mask & 0xffff) != 0xffff || value & 0xffff || !read_u16(skb, 0, &half))
		return 1;
	now = (__u32)half << 16;
	if (add)
		value = (now + value) & ~mask;
	half = ((now & mask) ^ value) >> 16;
	return !!bpf_skb_store_bytes(skb, 0, &half, sizeof(half), 0);
}

/* Several words: those that fit into the frame, up to the first that does not.  Returns 0 if all do. */
static __always_inline int pedit_write(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a,
				       const struct flow_action *m, struct pedit_words *w)
{
	__u32 want = a->write.words, fit, read_len, keep = 0;

	w->pos += m->offset;
	if (w->pos == -2 && want == 1)
		return straddling_word(skb, m->words_be[0], a->words_be[0], false);
	if (w->pos < 0 || w->pos + 4 > (__s32)skb->len)
		return 1;
	fit = (skb->len - w->pos) / 4;
	w->count = want < fit ? want : fit;
	read_len = bytes_of_words(w->count);
	if (!read_len)
		return 1;
#pragma unroll
	for (int i = 0; i < PEDIT_WORDS_MAX; i++)
		keep |= m->words_be[i];
	/* Words that are written whole need not be read. */
	if (keep && bpf_skb_load_bytes(skb, w->pos, w->word, read_len))
		return 1;
#pragma unroll
	for (int i = 0; i < PEDIT_WORDS_MAX; i++)
		w->word[i] = (w->word[i] & m->words_be[i]) ^ a->words_be[i];
	return store_words(skb, cpu->headers.l2_len, w) || want > fit;
}

/* A key with `at`, or that adds. */
static __always_inline int pedit_key(struct __sk_buff *skb, struct cpu_state *cpu, const struct flow_action *a,
				     struct pedit_words *w)
{
	__u32 value = a->pedit_key.value_be, mask = a->pedit_key.mask_be, now;
	__s32 offset = a->pedit_key.offset, at = w->pos + a->pedit_key.at;
	__u8 byte;

	if (a->key.offmask) {
		if (at < 0 || !read_u8(skb, at, &byte))
			return 1;
		offset += (byte & a->key.offmask) >> a->key.shift;
	}
	w->pos += offset;
	if (w->pos == -2 && !(offset % 4))
		return straddling_word(skb, mask, value, a->flags & ACTION_F_ADD);
	if (offset % 4 || w->pos < 0 || !read_u32(skb, w->pos, &now))
		return 1;
	if (a->flags & ACTION_F_ADD)
		value = (now + value) & ~mask;
	w->word[0] = (now & mask) ^ value;
	w->count = 1;
	return !!store_words(skb, cpu->headers.l2_len, w);
}

/* A write of both addresses, whole: most pedits are, and need not ask where anything is. */
static __always_inline bool is_write_of_macs(const struct flow_action *a, const struct flow_action *m)
{
	return a->write.base == PEDIT_ETH && a->write.words == 3 && !m->offset && !m->words_be[0] && !m->words_be[1] &&
	       !m->words_be[2];
}

/*
 * Executes one step; m: the record behind it, the masks of a write.  Returns 0 or 1: it failed.  What lies before the
 * Ethernet header is out of a program's reach, and fails.  Global for the same reason as set_field().
 */
__noinline int pedit_step(struct __sk_buff *skb, struct cpu_state *cpu, struct flow_action *a, struct flow_action *m)
{
	struct pedit_words w = {};

	if (!cpu || !a || !m)
		return 1;
	find_headers(skb, cpu);
	cpu->headers.key_stale = 1;
	if (a->type == ACTION_PEDIT_WRITE) {
		w.pos = pedit_base(skb, cpu, a->write.base);
		return w.pos < 0 ? 1 : pedit_write(skb, cpu, a, m, &w);
	}
	w.pos = pedit_base(skb, cpu, a->key.base);
	return w.pos < 0 ? 1 : pedit_key(skb, cpu, a, &w);
}
