// SPDX-License-Identifier: GPL-2.0-only
#include "mask_table.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>

void key_apply_mask(struct flow_key *masked, const struct flow_key *key, const struct flow_key *mask)
{
	const __u64 *k = (const __u64 *)key, *m = (const __u64 *)mask;
	__u64 *out = (__u64 *)masked;

	for (int i = 0; i < KEY_WORDS; i++)
		out[i] = k[i] & m[i];
}

__u32 mask_words(const struct flow_key *mask)
{
	const __u64 *m = (const __u64 *)mask;
	__u32 last = 0;

	for (__u32 i = 0; i < KEY_WORDS; i++)
		if (m[i])
			last = i + 1;
	return last <= KEY_WORDS_IPV4 ? KEY_WORDS_IPV4 : last <= KEY_WORDS_IPV6 ? KEY_WORDS_IPV6 : KEY_WORDS;
}

/* TCP, UDP and other of one IP version; tcp is the first of three neighbours: other, tcp, udp. */
static __u32 ip_classes(const struct flow_key *key, const struct flow_key *mask, enum packet_class other)
{
	__u8 m = mask->ip_proto, k = key->ip_proto & m;
	bool tcp = (IPPROTO_TCP & m) == k, udp = (IPPROTO_UDP & m) == k;
	__u32 classes = 0;

	if (tcp)
		classes |= 1U << (other + 1);
	if (udp)
		classes |= 1U << (other + 2);
	/* A partial mask always fits a third protocol: 6 and 17 differ in more than one bit. */
	if (m != 0xff || (!tcp && !udp))
		classes |= 1U << other;
	return classes;
}

_Static_assert(CLASS_IPV4_TCP == CLASS_IPV4 + 1 && CLASS_IPV4_UDP == CLASS_IPV4 + 2, "ip_classes counts on it");
_Static_assert(CLASS_IPV6_TCP == CLASS_IPV6 + 1 && CLASS_IPV6_UDP == CLASS_IPV6 + 2, "ip_classes counts on it");

__u32 match_classes(const struct flow_key *key, const struct flow_key *mask)
{
	/* A type that does not count, or only in part, may be any; a protocol that counts without it is kept in mind. */
	if (mask->eth_type_be != 0xffff)
		return (1U << PACKET_CLASSES_END) - 1;
	switch (ntohs(key->eth_type_be)) {
	case ETH_P_IP:
		return ip_classes(key, mask, CLASS_IPV4);
	case ETH_P_IPV6:
		return ip_classes(key, mask, CLASS_IPV6);
	case ETH_P_ARP:
		return 1U << CLASS_ARP;
	case ETH_P_MPLS_UC:
	case ETH_P_MPLS_MC:
		return 1U << CLASS_MPLS;
	default:
		return 1U << CLASS_OTHER;
	}
}

static bool in_use(const struct mask_info *info)
{
	return info->flows && !info->retired;
}

bool mask_is(const struct mask_info *info, const struct flow_key *mask)
{
	return in_use(info) && !memcmp(&info->mask.key, mask, sizeof(*mask));
}

__u32 mask_find(const struct mask_info *table, __u32 size, const struct flow_key *mask)
{
	for (__u32 id = 0; id < size; id++)
		if (mask_is(&table[id], mask))
			return id;
	return MASK_NONE;
}

__u32 mask_claim(struct mask_info *table, __u32 size, const struct flow_key *mask, __u64 seed)
{
	for (__u32 id = 0; id < size; id++) {
		struct mask_info *info = &table[id];

		if (info->flows || info->retired)
			continue;
		memset(info, 0, sizeof(*info));
		info->mask.id = id;
		info->mask.seed = seed;
		info->mask.words = mask_words(mask);
		info->mask.key = *mask;
		return id;
	}
	return MASK_NONE;
}

__u32 mask_ref(struct mask_info *info, __u32 classes)
{
	__u32 entered = 0;

	for (__u32 c = 0; c < PACKET_CLASSES_END; c++)
		if (classes & 1U << c && info->class_flows[c]++ == 0)
			entered |= 1U << c;
	info->flows++;
	return entered;
}

__u32 mask_unref(struct mask_info *info, __u32 classes)
{
	__u32 left = 0;

	for (__u32 c = 0; c < PACKET_CLASSES_END; c++)
		if (classes & 1U << c && --info->class_flows[c] == 0)
			left |= 1U << c;
	if (--info->flows == 0)
		info->retired = 1;
	return left;
}

__u32 mask_count(const struct mask_info *table, __u32 size)
{
	__u32 n = 0;

	for (__u32 id = 0; id < size; id++)
		n += in_use(&table[id]);
	return n;
}

__u32 mask_count_reactive(const struct mask_info *table, __u32 size)
{
	__u32 n = 0;

	for (__u32 id = 0; id < size; id++)
		n += in_use(&table[id]) && table[id].reactive_port;
	return n;
}

__u32 mask_count_port(const struct mask_info *table, __u32 size, __u32 port_no)
{
	__u32 n = 0;

	for (__u32 id = 0; id < size; id++)
		n += in_use(&table[id]) && table[id].reactive_port == port_no + 1;
	return n;
}

void masks_reclaim(struct mask_info *table, __u32 size)
{
	for (__u32 id = 0; id < size; id++)
		table[id].retired = 0;
}

void mask_array_update(struct mask_array *array, enum packet_class class, const struct mask_info *table, __u32 size)
{
	bool present[MASKS_MAX] = { false };
	__u32 n = 0;

	for (__u32 i = 0; i < array->count; i++) {
		__u32 id = array->mask[i].id;

		if (id >= size || !in_use(&table[id]) || !table[id].class_flows[class] || present[id])
			continue;
		present[id] = true;
		array->mask[n++] = table[id].mask;
	}
	for (__u32 id = 0; id < size; id++)
		if (!present[id] && in_use(&table[id]) && table[id].class_flows[class])
			array->mask[n++] = table[id].mask;
	memset(&array->mask[n], 0, (MASKS_MAX - n) * sizeof(array->mask[0]));
	array->count = n;
}

const char *packet_class_name(enum packet_class class)
{
	static const char *const names[] = {
#define X(id, name) [CLASS_##id] = name,
		PACKET_CLASSES(X)
#undef X
	};

	return class < PACKET_CLASSES_END ? names[class] : "?";
}
