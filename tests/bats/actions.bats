#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Actions as the flow commands take, show and refuse them; what they do to frames is tested elsewhere.

load lib/common

IP="in_port(1),eth(),eth_type(0x0800),ipv4()"
TCP="in_port(1),eth(),eth_type(0x0800),ipv4(proto=6,frag=no),tcp()"
REWRITE="set(eth(dst=02:11:22:33:44:55)),set(ipv4(src=10.1.0.0/255.255.0.0,dst=10.1.2.3,tos=0x28/0xfc)),\
set(tcp(dst=258)),set(skb_mark(0x7)),push_vlan(tpid=0x88a8,vid=4095,pcp=7),2,pop_vlan,csum(ip,tcp),1"

# Lists that do not fit into the flow entry, too.
@test "what dump-flows prints of a rewriting flow is taken again, line by line and from a file" {
	local line

	switch_up 2
	flow_add "$TCP" "$REWRITE"
	flow_add "in_port(2),eth(),eth_type(0x86dd),ipv6()" "set(ipv6(src=2001:db8::1,dst=2001:db8::2)),push_vlan(vid=1),1"
	run dump
	assert_line "$(printed "$TCP"), packets:0, bytes:0, used:never, actions:$REWRITE"
	assert_line --partial "actions:set(ipv6(src=2001:db8::1,dst=2001:db8::2)),push_vlan(vid=1,pcp=0),1"
	dump | sed -E 's/, packets:.*, actions:/ /' >"$BATS_TEST_TMPDIR/flows"
	dump | sort >"$BATS_TEST_TMPDIR/before"
	tcvs del-flows "$DP"
	tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	dump | sort | diff "$BATS_TEST_TMPDIR/before" -
	while read -r line; do
		tcvs mod-flow "$DP" "${line% *}" "${line##* }"
	done <"$BATS_TEST_TMPDIR/flows"
	dump | sort | diff "$BATS_TEST_TMPDIR/before" -
}

@test "rewrites in JSON" {
	switch_up 2
	flow_add "$TCP" "set_masked(ipv4(tos=0x28/0xfc)),push_vlan(vid=12,pcp=3),csum(ip4h and tcp),2"
	run jq -c '.flows[0].actions' <(tcvs -j dump-flows "$DP")
	assert_output '[{"set":{"ipv4":{"tos":{"value":40,"mask":252}}}},{"push_vlan":{"tpid":33024,"vid":12,"pcp":3}},{"csum":["ip","tcp"]},{"output":2}]'
}

@test "a header that the flow does not match cannot be set" {
	local ufid

	switch_up 2
	assert_refused 'updating flow table \(Invalid argument\): set: ipv4 needs.*eth_type\(0x0800\)' \
		add-flow "$DP" "in_port(1),eth()" "set(ipv4(ttl=5)),2"
	assert_refused 'set: tcp needs.*proto=6' add-flow "$DP" "$IP" "set(tcp(dst=80)),2"
	assert_refused 'set: tcp needs' add-flow --overlap "$DP" "$IP" "set(tcp(dst=80)),2"
	assert_refused 'set: tcp needs' mod-flow --may-create "$DP" "$IP" "set(tcp(dst=80)),2"
	flow_add "$IP" 2
	assert_refused 'set: tcp needs' mod-flow "$DP" "$IP" "set(tcp(dst=80)),2"
	assert_refused 'set: tcp needs' mod-flow -s "$DP" "$IP" "set(tcp(dst=80)),2"
	ufid=$(tcvs dump-flows -m "$DP" | sed -E 's/^(ufid:[-0-9a-f]+),.*/\1/')
	assert_refused 'set: tcp needs.*proto=6' mod-flow "$DP" "$ufid" "set(tcp(dst=80)),2"
	tcvs mod-flow "$DP" "$ufid" "set(ipv4(ttl=5)),2"
	run flow_line "$IP"
	assert_output --regexp 'actions:set\(ipv4\(ttl=5\)\),2$'
}

@test "lines of a file are checked one by one" {
	switch_up 2
	run --separate-stderr tcvs add-flows "$DP" - <<-END
		in_port(1),eth() set(ipv4(ttl=5)),2
		in_port(2),eth(),eth_type(0x0800) set(ipv4(ttl=5)),1
	END
	assert_failure 1
	assert_equal "$output" ""
	assert_regex "$stderr" 'line 1: updating flow table \(Invalid argument\): set: ipv4 needs'
	run dump
	assert_output "in_port(2),eth(),eth_type(0x0800), packets:0, bytes:0, used:never, actions:set(ipv4(ttl=5)),1"
}

@test "texts that are refused" {
	switch_up 2
	assert_refused 'parsing actions \(Numerical result out of range\): set: ipv4 ttl: 256' \
		add-flow "$DP" "$IP" "set(ipv4(ttl=256)),2"
	assert_refused 'set: ipv4 src: bits 0.0.3.4 of the value' \
		add-flow "$DP" "$IP" "set(ipv4(src=1.2.3.4/255.255.0.0)),2"
	assert_refused 'set: arp cannot be set' add-flow "$DP" "$IP" "set(arp(op=2)),2"
	assert_refused 'set: mpls is not supported by this version' add-flow "$DP" "$IP" "set(mpls(ttl=1)),2"
	assert_refused 'push_vlan: tpid 0x9100' add-flow "$DP" "$IP" "push_vlan(vid=1,tpid=0x9100),2"
	assert_refused 'push_vlan: cfi=0' add-flow "$DP" "$IP" "push_vlan(vid=1,pcp=0,cfi=0),2"
	assert_refused "csum: unknown word 'ip6'" add-flow "$DP" "$IP" "csum(ip6),2"
}

@test "flows that overlap differ by their rewrites, too" {
	switch_up 2
	flow_add "in_port(1),eth(),eth_type(0x0800)" "set(ipv4(ttl=5)),2"
	assert_refused 'overlaps flow .*actions:set\(ipv4\(ttl=5\)\),2;' add-flow "$DP" "$IP,skb_mark(1)" "set(ipv4(ttl=6)),2"
	flow_add "$IP,skb_mark(1)" "set(ipv4(ttl=0x5)),2"
}
