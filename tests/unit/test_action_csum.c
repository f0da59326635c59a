// SPDX-License-Identifier: GPL-2.0-only
/* csum(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/tc_act/tc_csum.h>

#include "list_check.h"
#include "util.h"

_Static_assert((int)CSUM_IPV4 == TCA_CSUM_UPDATE_FLAG_IPV4HDR && (int)CSUM_ICMP == TCA_CSUM_UPDATE_FLAG_ICMP &&
		       (int)CSUM_IGMP == TCA_CSUM_UPDATE_FLAG_IGMP && (int)CSUM_TCP == TCA_CSUM_UPDATE_FLAG_TCP &&
		       (int)CSUM_UDP == TCA_CSUM_UPDATE_FLAG_UDP && (int)CSUM_UDPLITE == TCA_CSUM_UPDATE_FLAG_UDPLITE &&
		       (int)CSUM_SCTP == TCA_CSUM_UPDATE_FLAG_SCTP,
	       "the bits are the kernel's");

static void texts_are_read_and_printed(void **state)
{
	static const char *const rows[][3] = {
		{ "csum(ip),2", NULL, "[{\"csum\":[\"ip\"]},{\"output\":2}]" },
		{ "csum(ip4h)", "csum(ip)", NULL },
		{ "csum(iph)", "csum(ip)", NULL },
		{ "csum(ipv4h)", "csum(ip)", NULL },
		{ "csum(ip and tcp),2", "csum(ip,tcp),2", "[{\"csum\":[\"ip\",\"tcp\"]},{\"output\":2}]" },
		{ "csum(tcp or udp + ip)", "csum(ip,tcp,udp)", NULL },
		{ "csum( sctp , udplite\tudp tcp igmp icmp,ip4h )", "csum(ip,icmp,igmp,tcp,udp,udplite,sctp)", NULL },
		{ "csum(icmp)csum(igmp)", "csum(icmp),csum(igmp)", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_actions_print(rows[i][0], rows[i][1], rows[i][2]);
}

static void each_word_is_its_bit(void **state)
{
	static const struct {
		const char *text;
		enum csum_what what;
	} rows[] = {
		{ "csum(ip)", CSUM_IPV4 },   { "csum(icmp)", CSUM_ICMP }, { "csum(igmp)", CSUM_IGMP },
		{ "csum(tcp)", CSUM_TCP },   { "csum(udp)", CSUM_UDP },	  { "csum(udplite)", CSUM_UDPLITE },
		{ "csum(sctp)", CSUM_SCTP },
	};
	struct action_list l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		actions_parsed(rows[i].text, &l);
		assert_int_equal(l.count, 1);
		assert_int_equal(l.action[0].type, ACTION_CSUM);
		assert_int_equal(l.action[0].csum.what, rows[i].what);
	}
}

static void what_has_no_checksum_is_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "csum()", "csum: nothing is named" },
		{ "csum(and)", "csum: nothing is named" },
		{ "csum(ip6)", "csum: unknown word 'ip6', it takes ip, icmp, igmp, tcp, udp, udplite and sctp" },
		{ "csum(tcp;udp)", "csum: unknown word 'tcp;udp'" },
		{ "csum(ip,ip4h)", "csum: ip4h is given twice" },
		{ "csum", "actions: '(' has to follow csum" },
	};

	(void)state;
	assert_actions_refused(rows, ARRAY_SIZE(rows), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_and_printed),
		cmocka_unit_test(each_word_is_its_bit),
		cmocka_unit_test(what_has_no_checksum_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
