// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that a test run cannot give to the datapath as a real TC ingress would.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} wrapped SEC(".maps");

/* Of the frame at hand. */
__be16 eth_type_be;

/* Never a verdict of the datapath: the wrapper has failed. */
#define WRAPPER_FAILED 99

/* A test run leaves the outer tag in the bytes; here it is moved to metadata. */
SEC("tc")
int move_tag(struct __sk_buff *skb)
{
	__be16 tag[2]; /* TPID, TCI */

	if (bpf_skb_load_bytes(skb, 12, tag, sizeof(tag)))
		return WRAPPER_FAILED;
	/*
	 * The pop takes the tag out of the bytes, and moves a second one from there to metadata, if that is whole; the push
	 * puts the second one back and the outer one into metadata.  So an error of the pop is no failure.
	 */
	bpf_skb_vlan_pop(skb);
	if (bpf_skb_vlan_push(skb, tag[0], bpf_ntohs(tag[1])))
		return WRAPPER_FAILED;
	bpf_tail_call(skb, &wrapped, 0);
	return WRAPPER_FAILED;
}

/* Kernels refuse to run a frame whose type is IP and whose IP header is cut (6.18 does); so the type is put in here. */
SEC("tc")
int put_type(struct __sk_buff *skb)
{
	if (bpf_skb_store_bytes(skb, 12, &eth_type_be, sizeof(eth_type_be), 0))
		return WRAPPER_FAILED;
	bpf_tail_call(skb, &wrapped, 0);
	return WRAPPER_FAILED;
}
