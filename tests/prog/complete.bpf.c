// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is skb->csum of a COMPLETE packet the sum of its bytes?  Watches a device's ingress.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

enum {
	PIECE = 256,
	PIECES = 16,
	HEADER = 14, /* not in the sum */
};

__u64 complete;	  /* packets that were */
__u64 incomplete; /* others */
__u64 wrong;	  /* complete ones whose sum is another */

__u8 piece[PIECE + 4];

struct walk {
	struct __sk_buff *skb;
	__u32 off;
	__s64 sum;
};

static __u32 fold(__u64 sum)
{
	for (int i = 0; i < 4; i++)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static long add_piece(__u32 i, struct walk *w)
{
	__u32 n = w->skb->len - w->off;

	(void)i;
	if (w->off >= w->skb->len)
		return 1;
	if (n > PIECE)
		n = PIECE;
	__builtin_memset(piece, 0, sizeof(piece));
	if (!n || bpf_skb_load_bytes(w->skb, w->off, piece, n))
		return 1;
	w->sum += bpf_csum_diff(0, 0, (__be32 *)piece, PIECE, 0);
	w->off += n;
	return 0;
}

SEC("tc")
int watch(struct __sk_buff *skb)
{
	struct walk w = { .skb = skb, .off = HEADER };
	__s64 sum = bpf_csum_update(skb, 0);

	if (sum < 0) {
		incomplete++;
		return TC_ACT_UNSPEC;
	}
	complete++;
	bpf_loop(PIECES, add_piece, &w, 0);
	if (w.off < skb->len || fold(w.sum) % 0xffff != fold(sum) % 0xffff)
		wrong++;
	return TC_ACT_UNSPEC;
}
