// SPDX-License-Identifier: GPL-2.0-only
/* What other datapaths match: read, shown, held to the rules, and not supported; and texts as they stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "match_check.h"
#include "match_text.h"
#include "util.h"

#define ETH_IP "eth(),eth_type(0x0800),"

static const struct match_style plain, more = { .more = true };

/* Of the wrong form, or against a rule. */
static const char *const refused[][2] = {
	{ "tunnel(tun_id=0x5),eth()", "tunnel: dst is missing or zero" },
	{ "tunnel(tun_id=0x5/0,ttl=1),eth()", "tunnel: dst is missing or zero" },
	{ "tunnel(src=1.1.1.1,ttl=1),eth()", "tunnel: dst is missing or zero" },
	{ "tunnel(dst=0.0.0.0,ttl=1),eth()", "tunnel: dst is missing or zero" },
	{ "tunnel(ipv6_src=::1,ttl=1),eth()", "tunnel: ipv6_dst is missing or zero" },
	{ "tunnel(dst=1.1.1.1),eth()", "tunnel: ttl is missing" },
	{ "tunnel(src=1.1.1.1,ipv6_dst=::1,ttl=1),eth()", "tunnel: src and dst do not go with ipv6_src" },
	{ "tunnel(dst=1.1.1.1,ttl=1,vxlan(gbp(id=1)),geneve({class=1,type=1,len=0})),eth()",
	  "tunnel: of geneve(), vxlan() and erspan() only one" },
	{ "tunnel(ttl=256)", "tunnel ttl: 256 is out of range" },
	{ "tunnel(tun_id=0x10000000000000000)", "tunnel tun_id: '0x10000000000000000' is not a number of 64 bits" },
	{ "tunnel(flags=1)", "tunnel flags: '(' and ')' have to enclose" },
	{ "tunnel(flags(df|foo))", "tunnel flags: 'df|foo' is not like +df-csum" },
	{ "tunnel(erspan(ver=3,idx=1))", "tunnel erspan: ver=1 has idx, ver=2 has dir and hwid, not ver=3" },
	{ "tunnel(erspan(ver=1,dir=1))", "tunnel erspan: ver=1 has idx" },
	{ "tunnel(erspan(ver=1,idx=0x100000))", "tunnel erspan idx: 0x100000 is out of range" },
	{ "tunnel(erspan(ver=1,ver=1))", "tunnel erspan: ver is given twice" },
	{ "tunnel(vxlan(gbp(foo=1)))", "tunnel vxlan gbp: unknown field 'foo'" },
	{ "tunnel(vxlan(gbp(id=65536)))", "tunnel vxlan gbp id: 65536 is out of range" },
	{ "tunnel(geneve(class=1))", "tunnel geneve: 'class=1' is not like {class=0" },
	{ "tunnel(geneve({class=1}))", "tunnel geneve: len= is missing" },
	{ "tunnel(geneve({len=3}))", "tunnel geneve: len=3 is no multiple of 4" },
	{ "tunnel(geneve({len=128}))", "tunnel geneve: 128 is out of range" },
	{ "tunnel(geneve({len=4,0x100000000}))", "tunnel geneve: '0x100000000' is not a number of 4 bytes" },
	{ "tunnel(geneve({class=0x10000,len=0}))", "tunnel geneve: '0x10000' is not a number of 2 bytes" },
	{ "tunnel(geneve({len=124}{len=124}))", "tunnel geneve: more than 252 bytes" },
	{ "ct_state(0x100),eth()", "ct_state: 0x100 is out of range, 0 to 255" },
	{ "ct_state(+trk+foo),eth()", "ct_state: '+trk+foo' is not like +trk-new" },
	{ "ct_zone(65536),eth()", "ct_zone: 65536 is out of range" },
	{ "ct_label(0x100000000000000000000000000000000),eth()", "ct_label: " },
	{ "ct_tuple4(proto=6),eth()", "ct_tuple4: needs eth_type(0x0800) beside it, exact" },
	{ "ct_tuple4(tp_src=1,src_port=1),eth()", "ct_tuple4: src_port repeats bits of tp_src" },
	{ "ct_tuple4(proto=6),eth(),eth_type(0x86dd)", "ct_tuple4: needs eth_type(0x0800) beside it, exact" },
	{ "ct_tuple4(proto=6),eth(),eth_type(0x8100),vlan(),encap(eth_type(0x86dd))",
	  "ct_tuple4: needs eth_type(0x0800)" },
	{ "ct_tuple6(proto=6),eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6(type=135)",
	  "ct_tuple6: does not go with icmpv6(type=135)" },
	{ "nsh(flags=0),eth()", "nsh: needs eth_type(0x894f) beside it, exact" },
	{ "nsh(mdtype=2,c1=1),eth(),eth_type(0x894f)", "nsh: c1 to c4 are those of mdtype=1, not of mdtype=2" },
	{ "nsh(ttl=1),eth(),eth_type(0x8100),vlan(),encap(eth_type(0x894f),nsh(ttl=1))", "nsh: is given twice" },
	{ "key32(00),eth()", "key32: '00' is not like 00 00/00 00" },
	{ "key32(00 01/00 01),eth()", "key32: needs eth_type(0x86dd)" },
	{ "nd_ext(nd_options_type=256),eth()", "nd_ext nd_options_type: 256 is out of range" },
};

static void what_is_wrong_is_named(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct error e = { "" };
		struct match m;

		if (!match_parse(refused[i][0], NULL, &m, &e))
			fail_msg("'%s' was taken", refused[i][0]);
		if (!strstr(e.text, refused[i][1]))
			fail_msg("'%s': %s", refused[i][0], e.text);
	}
}

/* Follows the rules; and yet no flow with it can be installed. */
static const char *const foreign[][2] = {
	{ "ct_state(+trk),eth()", "ct_state: conntrack cannot be matched by this datapath" },
	{ "ct_state(0),eth()", "ct_state: conntrack cannot" },
	{ "ct_zone(5),eth()", "ct_zone: conntrack cannot" },
	{ "ct_mark(0x1/0x1),eth()", "ct_mark: conntrack cannot" },
	{ "ct_label(0x1/0x3),eth()", "ct_label: conntrack cannot" },
	{ "ct_tuple4(proto=6)," ETH_IP, "ct_tuple4: conntrack cannot" },
	{ "ct_tuple4(proto=6),eth(),eth_type(0x8100),vlan(),encap(eth_type(0x0800))", "ct_tuple4: conntrack cannot" },
	{ "ct_tuple6(src_port=6),eth(),eth_type(0x86dd)", "ct_tuple6: conntrack cannot" },
	{ "tunnel(dst=1.1.1.1,ttl=64),eth()", "tunnel: tunnel metadata cannot" },
	{ "tunnel(dst=1.1.1.1/0,ttl=64),eth()", "tunnel: tunnel metadata cannot" },
	{ "tunnel(ipv6_dst=::1,ttl=64,flags(-df)),eth()", "tunnel: tunnel metadata cannot" },
	{ "packet_type(ns=1,id=0x800),eth()", "packet_type: every packet of this datapath is Ethernet" },
	{ "nsh(flags=0),eth(),eth_type(0x894f)", "nsh: NSH cannot" },
	{ "nsh(mdtype=1,c4=1),eth(),eth_type(0x8100),vlan(),encap(eth_type(0x894f))", "nsh: needs eth_type(0x894f)" },
	{ "eth(),eth_type(0x8100),vlan(),encap(eth_type(0x894f),nsh(mdtype=1,c4=1))", "nsh: NSH cannot" },
	{ "key32(00 01/00 01),eth(),eth_type(0x86dd)", "key32: IPv6 extension headers cannot" },
	{ "nd_ext(nd_reserved=0x0,nd_options_type=2),eth()", "nd_ext: ND extensions cannot" },
};

static void what_cannot_be_matched_is_named(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(foreign); i++) {
		struct error e = { "" };
		struct match m;

		if (!match_parse(foreign[i][0], NULL, &m, &e) && !match_supported(&m, &e))
			fail_msg("'%s' was taken", foreign[i][0]);
		if (!strstr(e.text, foreign[i][1]))
			fail_msg("'%s': %s", foreign[i][0], e.text);
	}
}

/* Texts as they stand, by their form alone; NULL: shown the same. */
static const char *const forms[][2] = {
	{ "ipv4(src=1.2.3.4/255.255.255.0)", NULL },
	{ "in_port(1/0xff),eth_type(0x1234/0xfff0)", NULL },
	{ "in_port(1/0xffff0000),eth()", "eth()" },
	{ "ct_state(+trk-new)", "ct_state(-new+trk)" },
	{ "ct_state(0x21)", "ct_state(new|trk)" },
	{ "ct_state(0)", NULL },
	{ "ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),key32(00 00/00 00)", "" },
	{ "ct_zone(5)", "ct_zone(0x5)" },
	{ "ct_label(0x1234567890abcdef1234567890abcdef/0x102030405060708090a0b0c0d0e0f0)", NULL },
	{ "ct_label(10)", "ct_label(0xa)" },
	{ "ct_tuple6(src=::1,dst=::2,proto=6,src_port=1,dst_port=2)",
	  "ct_tuple6(src=::1,dst=::2,proto=6,tp_src=1,tp_dst=2)" },
	{ "tunnel()", NULL },
	{ "tunnel(tun_id=0x5/0)", "tunnel()" },
	{ "tunnel(tun_id=0x5/0xff,dst=1.2.3.4)", "tunnel(tun_id=0x5/0xff,dst=1.2.3.4,flags(+key))" },
	{ "tunnel(tun_id=5,flags(df|csum))", "tunnel(tun_id=0x5,flags(df|csum|key))" },
	{ "tunnel(flags(+df-csum))", NULL },
	{ "tunnel(flags(0))", NULL },
	{ "tunnel(ipv6_src=::1,ipv6_dst=::2/ffff::,tos=0x4/0xfc,ttl=64,tp_src=1,tp_dst=4789)", NULL },
	{ "tunnel(geneve({class=0,type=0,len=4,0xa/0xff}{class=0xffff,type=0x1,len=4,0xffffffff}))", NULL },
	{ "tunnel(geneve({class=1/0,type=0x80/0xf0,len=8}{len=4,10}))",
	  "tunnel(geneve({type=0x80/0xf0,len=8}{len=4,0xa}))" },
	{ "tunnel(vxlan(gbp(id=10/0xff,flags=0xb)))", NULL },
	{ "tunnel(erspan(ver=1/0,idx=0x7/0xf))", "tunnel(erspan(ver=1,idx=0x7/0xf))" },
	{ "tunnel(erspan(ver=2,dir=1,hwid=0x7/0xf))", NULL },
	{ "nsh(flags=0,ttl=63,mdtype=1,np=1,spi=0x1234,si=255/0xf0,c1=0x1,c4=0xffffffff/0x1)", NULL },
	{ "nd_ext(nd_reserved=0x0,nd_options_type=2)", NULL },
	{ "packet_type(ns=1,id=0x800)", NULL },
	{ "key32(00 ff/0f 0f)", NULL },
	{ "encap()", NULL },
	{ "vlan(vid=1,cfi=1)", "vlan(vid=1)" },
	{ "vlan(vid=1,cfi=0)", NULL },
};

static void assert_form(const char *text, const struct match_style *style, const char *expected)
{
	CLEANUP_FREE char *shown = NULL;
	struct error e = { "" };
	struct match_text t;

	if (match_text_parse(text, NULL, &t, &e))
		fail_msg("'%s': %s", text, e.text);
	shown = match_text_printed(&t, style);
	assert_string_equal(shown, expected);
}

static void forms_are_shown_as_they_stand(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *expected = forms[i][1] ? forms[i][1] : forms[i][0];

		assert_form(forms[i][0], &plain, expected);
		if (*expected)
			assert_form(expected, &plain, expected);
	}
}

/* Wild values are shown with more, but not of what has many fields that this datapath cannot match. */
static void more_shows_what_is_present(void **state)
{
	(void)state;
	assert_form("in_port(2/0),ct_state(0/0),ct_label(0/0),ipv4(ttl=3)", &more,
		    "in_port(2/0),ct_state(0/0),ct_label(0/0),"
		    "ipv4(src=0.0.0.0/0.0.0.0,dst=0.0.0.0/0.0.0.0,proto=0/0,tos=0/0,ttl=3)");
	assert_form("tunnel(ttl=3),nsh(),key32(00 00/00 00)", &more, "tunnel(ttl=3),nsh()");
}

static void long_texts_are_named_in_json(void **state)
{
	CLEANUP_FREE char *text = NULL;
	struct error e = { "" };
	struct match_text t;
	json_t *json, *expected;

	(void)state;
	assert_int_equal(match_text_parse("tunnel(tun_id=0xfedcba9876543210,geneve({class=0xffff,type=1/0x3,len=4,"
					  "0xa/0xff}{len=0}),vxlan(gbp(id=1)),flags(+df-csum)),ct_label(0x1/0x3),"
					  "nsh(spi=0x10,c1=1/0x3),encap(key32(00 01))",
					  NULL, &t, &e),
			 0);
	json = match_text_json(&t);
	expected = json_pack("{s:{s:s, s:[{s:s, s:s, s:i, s:s}, {s:i}], s:{s:{s:i}}, s:s}, s:{s:s, s:s},"
			     " s:{s:i, s:{s:i, s:i}}, s:{s:i}}",
			     "tunnel", "tun_id", "0xfedcba9876543210", "geneve", "class", "0xffff", "type", "0x1/0x3",
			     "len", 4, "data", "0xa/0xff", "len", 0, "vxlan", "gbp", "id", 1, "flags", "+df-csum+key",
			     "ct_label", "value", "0x1", "mask", "0x3", "nsh", "spi", 16, "c1", "value", 1, "mask", 3,
			     "encap", "key32", 1);
	text = json_dumps(json, JSON_COMPACT);
	if (!json_equal(json, expected))
		fail_msg("%s", text);
	json_decref(json);
	json_decref(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_named),	 cmocka_unit_test(what_cannot_be_matched_is_named),
		cmocka_unit_test(forms_are_shown_as_they_stand), cmocka_unit_test(more_shows_what_is_present),
		cmocka_unit_test(long_texts_are_named_in_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
