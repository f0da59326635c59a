// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties of matches as text: what is printed is read as the same match, and any text is survived.  The seeds are
 * fixed, so that a failure comes back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "field.h"
#include "match_check.h"
#include "match_text.h"
#include "util.h"

static const struct match_style plain, more = { .more = true };

static void assert_both_read_back(const struct match *m)
{
	assert_match_reads_back(m, NULL, &plain);
	assert_match_reads_back(m, NULL, &more);
	assert_match_reads_back_from_json(m);
}

/* A random value with a random mask: wild, exact or in between. */
static void field_randomize(struct match_level *l, const struct field *f, unsigned int entry, unsigned int *seed)
{
	__u32 full = field_is_bytes(f) ? 0 : field_full(f);
	unsigned int form = rand_r(seed) % 4, i;
	struct field_value v, mask;

	for (i = 0; i < sizeof(v.bytes); i++) {
		v.bytes[i] = rand_r(seed);
		mask.bytes[i] = form == 0 ? 0 : form == 1 ? 0xff : rand_r(seed);
	}
	v.number = (__u32)rand_r(seed) << 16 ^ rand_r(seed);
	mask.number = form == 0 ? 0 : form == 1 ? full : rand_r(seed) & full;
	if (f->kind == FIELD_FRAG)
		v.number %= 3;
	if (f->kind == FIELD_PORT)
		v.number %= PORT_NONE;
	if (f->kind == FIELD_FRAG || f->kind == FIELD_PORT || f->undivided)
		mask.number = form ? full : 0;
	if (f->alias)
		return;
	field_put(&l->key, f, entry, &v);
	field_put_mask(&l->mask, f, entry, &mask);
}

static void attribute_randomize(struct match_level *l, enum attribute attr, unsigned int *seed)
{
	const struct attribute_info *a = attribute_info(attr);
	unsigned int entries = a->flags & ATTR_LABEL_STACK ? rand_r(seed) % 4 : 1, entry;
	const struct field *f;

	for (entry = 0; entry < entries; entry++) {
		for (f = a->fields; f->size; f++)
			field_randomize(l, f, entry, seed);
	}
}

static void payload_randomize(struct match_level *l, bool tagged, unsigned int *seed)
{
	static const __u16 types[] = { 0x0800, 0x0800, 0x0800, 0x86dd, 0x86dd, 0x86dd,
				       0x0806, 0x8035, 0x8847, 0x8848, 0x88cc, ETH_TYPE_802_2 };
	static const __u8 protos[] = { 6, 17, 132, 1, 58 };
	enum attribute attr;

	if (!tagged && rand_r(seed) % 8 == 0)
		return;
	l->key.eth_type_be = htons(types[rand_r(seed) % ARRAY_SIZE(types)]);
	l->mask.eth_type_be = 0xffff;
	for (attr = ATTR_MPLS; attr <= ATTR_ARP; attr++) {
		if (attribute_applies(l, attr))
			attribute_randomize(l, attr, seed);
	}
	if ((l->key.eth_type_be == htons(0x0800) || l->key.eth_type_be == htons(0x86dd)) && rand_r(seed) % 4) {
		l->key.ip_proto = protos[rand_r(seed) % ARRAY_SIZE(protos)];
		l->mask.ip_proto = 0xff;
	}
	for (attr = ATTR_TCP; attr < ATTRIBUTES; attr++) {
		if (attribute_info(attr)->why_not || !attribute_applies(l, attr))
			continue;
		attribute_randomize(l, attr, seed);
		if (attr == ATTR_ICMPV6 && rand_r(seed) % 2) {
			l->key.tp_src_be = htons(135 + rand_r(seed) % 2);
			l->mask.tp_src_be = 0xffff;
		}
	}
}

static void tag_randomize(__be16 *tpid, __be16 *tpid_mask, __be16 *tci, __be16 *tci_mask, unsigned int *seed)
{
	struct match_level l = { 0 };

	attribute_randomize(&l, ATTR_VLAN, seed);
	*tpid = htons(rand_r(seed) % 2 ? 0x8100 : 0x88a8);
	*tpid_mask = 0xffff;
	*tci = l.key.vlan_tci_be | htons(VLAN_TAG_PRESENT);
	*tci_mask = l.mask.vlan_tci_be | htons(VLAN_TAG_PRESENT);
}

static void match_randomize(struct match *m, unsigned int *seed)
{
	static const enum attribute outer[] = { ATTR_RECIRC_ID, ATTR_DP_HASH,  ATTR_SKB_PRIORITY,
						ATTR_IN_PORT,	ATTR_SKB_MARK, ATTR_ETH };
	unsigned int tags = rand_r(seed) % 3;
	struct match_level l = { 0 };
	size_t i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < ARRAY_SIZE(outer); i++)
		attribute_randomize(&l, outer[i], seed);
	payload_randomize(&l, tags, seed);
	m->key = l.key;
	m->mask = l.mask;
	if (tags > 0)
		tag_randomize(&m->key.vlan_tpid_be, &m->mask.vlan_tpid_be, &m->key.vlan_tci_be, &m->mask.vlan_tci_be,
			      seed);
	else
		m->mask.vlan_tci_be = 0xffff;
	if (tags > 1)
		tag_randomize(&m->key.cvlan_tpid_be, &m->mask.cvlan_tpid_be, &m->key.cvlan_tci_be,
			      &m->mask.cvlan_tci_be, seed);
	else if (tags > 0)
		m->mask.cvlan_tci_be = 0xffff;
	for (i = 0; i < sizeof(m->key); i++)
		((__u8 *)&m->key)[i] &= ((__u8 *)&m->mask)[i];
}

static void random_matches_read_back(void **state)
{
	unsigned int seed = 20261130, i;

	(void)state;
	for (i = 0; i < 6000; i++) {
		struct match m;

		match_randomize(&m, &seed);
		assert_both_read_back(&m);
	}
}

/* Text that is cut, doubled and mixed is refused with a reason, or is a match that reads back. */
static void any_text_is_survived(void **state)
{
	static const char *const parts[] = { "in_port(1)", "eth()",  "eth_type(", "0x0800",	 "0x8100",
					     "vlan(vid=",  "encap(", "ipv4(",	  "proto=6",	 "tcp(dst=",
					     "80",	   "ipv6(",  "src=",	  "mpls(label=", "tci=",
					     "tcp_flags(", "+syn",   "|ack",	  ",",		 ",",
					     ")",	   ")",	     "/",	  "(",		 "=",
					     "0",	   "0xff",   "ufid:",	  "::1",	 "10.0.0.1",
					     "key32(",	   "\xff",   " ",	  "nd(",	 "cfi=" };
	unsigned int seed = 4711, i;

	(void)state;
	for (i = 0; i < 60000; i++) {
		unsigned int n = rand_r(&seed) % 16;
		struct error e = { "" };
		char text[256] = "";
		struct match m;

		while (n--)
			strcat(text, parts[rand_r(&seed) % ARRAY_SIZE(parts)]);
		if (match_parse(text, NULL, &m, &e))
			assert_int_not_equal(e.text[0], '\0');
		else if (m.present)
			assert_both_read_back(&m);
	}
}

/* The canonical form of a text, whatever rules it breaks, is its own. */
static void assert_form_is_canonical(const char *text)
{
	CLEANUP_FREE char *form = NULL, *again = NULL;
	struct error e = { "" };
	struct match_text t;

	if (match_text_parse(text, NULL, &t, &e)) {
		assert_int_not_equal(e.text[0], '\0');
		return;
	}
	form = match_text_printed(&t, &plain);
	if (!*form)
		return;
	if (match_text_parse(form, NULL, &t, &e))
		fail_msg("'%s', from '%s': %s", form, text, e.text);
	again = match_text_printed(&t, &plain);
	assert_string_equal(again, form);
}

static void canonical_forms_are_their_own(void **state)
{
	static const char *const parts[] = {
		"tunnel(", "tun_id=", "0x5",	  "src=",   "1.2.3.4",	 "flags(", "df|key",   "+csum",
		"geneve(", "{",	      "}",	  "class=", "type=",	 "len=",   "4",	       "8",
		"vxlan(",  "gbp(id=", "erspan(",  "ver=1",  "idx=",	 "ver=2",  "dir=1",    "ct_state(",
		"+trk",	   "-new",    "ct_label", "(",	    "(",	 ")",	   ")",	       ")",
		",",	   ",",	      ",",	  "/",	    "=",	 "0",	   "nsh(spi=", "c1=",
		"si=",	   "key32(",  "00 01",	  "nd_ext", "ns=1",	 "encap(", "vlan(",    "cfi=0",
		"tci=0x5", "vid=",    "eth()",	  "ipv4(",  "ct_tuple6", "mpls(",  "label=",   "bos=1"
	};
	unsigned int seed = 1337, i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		unsigned int n = 1 + rand_r(&seed) % 12;
		char text[256] = "";

		while (n--)
			strcat(text, parts[rand_r(&seed) % ARRAY_SIZE(parts)]);
		assert_form_is_canonical(text);
	}
}

/* The longest texts of what this datapath cannot match, with one character that is another. */
static void damaged_forms_are_survived(void **state)
{
	static const char *const whole[] = {
		"tunnel(tun_id=0xfedcba9876543210/0xff,src=1.2.3.4/255.0.0.0,dst=1.2.3.5,tos=0x4/0xfc,ttl=64,tp_src=1,"
		"geneve({class=0xffff,type=0x80/0xf0,len=8,0xa/0xff}{len=4,10}),flags(+df-csum)),ct_state(+trk-new)",
		"tunnel(ipv6_src=::1,ipv6_dst=::2/ffff::,vxlan(gbp(id=10/0xff,flags=0xb)),flags(key)),ct_zone(0x5/0xff)",
		"tunnel(dst=1.2.3.5,erspan(ver=2,dir=1,hwid=0x7/0xf)),ct_mark(0x1/0x3),ct_label(0x1234567890abcdef12/0xf0)",
		"ct_tuple4(src=1.2.3.4,dst=1.2.3.5,proto=6,tp_src=1,tp_dst=2),nsh(flags=0,ttl=63,mdtype=1,spi=0x5,si=1,c1=1)",
		"ct_tuple6(src=::1,src_port=1,dst_port=2),packet_type(ns=1,id=0x800),nd_ext(nd_reserved=0,nd_options_type=2)",
	};
	unsigned int seed = 4242, i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		char text[256];

		strcpy(text, whole[i % ARRAY_SIZE(whole)]);
		text[rand_r(&seed) % strlen(text)] = " (),/=0x:.+-|a9{}\xff"[rand_r(&seed) % 18];
		assert_form_is_canonical(text);
	}
}

static void damaged_matches_are_survived(void **state)
{
	unsigned int seed = 815, i;

	(void)state;
	for (i = 0; i < 6000; i++) {
		CLEANUP_FREE char *text = NULL;
		struct error e = { "" };
		struct match m;

		match_randomize(&m, &seed);
		text = match_printed(&m, i & 1 ? &more : &plain);
		text[rand_r(&seed) % strlen(text)] = " (),/=0x:.+-|a9\xff"[rand_r(&seed) % 16];
		if (!match_parse(text, NULL, &m, &e) && m.present)
			assert_both_read_back(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_matches_read_back),	 cmocka_unit_test(any_text_is_survived),
		cmocka_unit_test(canonical_forms_are_their_own), cmocka_unit_test(damaged_forms_are_survived),
		cmocka_unit_test(damaged_matches_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
