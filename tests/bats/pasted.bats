#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Flow text from Open vSwitch hosts and their tools: what says nothing here is taken, what cannot be matched is named, and
# what is printed can be read by others' tools and by ours.

load lib/common

# What dump-flows -m of Open vSwitch prints around in_port(1),eth().
PASTED="recirc_id(0/0),dp_hash(0/0),skb_priority(0/0),in_port(1),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0)"
PASTED+=",ct_label(0/0),eth(src=00:00:00:00:00:00/00:00:00:00:00:00,dst=00:00:00:00:00:00/00:00:00:00:00:00)"
PASTED+=",eth_type(0x0000/0x0000)"
IP="eth(),eth_type(0x0800)"

# Each with the attribute that its refusal names.
foreign_flows() {
	cat <<-EOF
		ct_state|ct_state(+est),$IP
		ct_state|ct_state(-trk),$IP
		ct_zone|ct_zone(0x5/0xff),$IP
		ct_mark|ct_mark(0/0x1),$IP
		ct_label|ct_label(0x1/0x3),$IP
		ct_tuple4|ct_tuple4(src=10.0.0.1,proto=6),$IP
		ct_tuple6|ct_tuple6(src=::1),eth(),eth_type(0x86dd)
		tunnel|tunnel(tun_id=0x5,src=1.1.1.1,dst=2.2.2.2,ttl=64,flags(key)),in_port(1),$IP
		packet_type|packet_type(ns=1,id=0x800),$IP
		nsh|eth(),eth_type(0x894f),nsh(ttl=63)
		nd_ext|nd_ext(nd_reserved=0x0,nd_options_type=2),eth(),eth_type(0x86dd)
		key32|eth(),eth_type(0x86dd),key32(00 01/00 01)
	EOF
}

@test "F16: metadata, tunnel and conntrack keys with masks of zero say nothing" {
	switch_up 2
	flow_add "$PASTED" 2
	run dump
	assert_output "in_port(1),eth(), packets:0, bytes:0, used:never, actions:2"
	tcvs mod-flow "$DP" "tunnel(),nsh(),ct_tuple4(src=1.2.3.4/0),$PASTED" 1
	tcvs del-flow "$DP" "in_port(1),eth(),packet_type(ns=0,id=0)"
	flow_add "in_port(1/0xffff0000),$IP,ipv4()" 2
	flow_add "in_port(1),eth(),eth_type(0x86dd),ipv6(frag=no),key32(00 00/00 00)" 2
	run tcvs dump-flows -m "$DP"
	refute_output --regexp 'key32|ct_|tunnel|nsh|packet_type'
	assert_equal "$(show_value flows)" 2
}

@test "F16: what cannot be matched is refused by name where a flow would be installed, and found nowhere" {
	local name flow n=0

	switch_up 2
	flow_add "$IP" 2
	flow_add "eth(),eth_type(0x86dd)" 2
	flow_add "eth(),eth_type(0x894f)" 2
	while IFS="|" read -r name flow; do
		assert_refused ": $name: .*cannot be matched|: $name: every packet" add-flow "$DP" "$flow" 1
		assert_refused ": $name: " add-flow --overlap "$DP" "ufid:00000000-0000-0000-0000-000000000001,$flow" 2
		assert_refused "$name|No such file or directory" mod-flow "$DP" "$flow" 1
		assert_refused ": $name: " mod-flow --may-create "$DP" "$flow" 1
		assert_refused "$name|No such file or directory" del-flow "$DP" "$flow"
		assert_refused "$name|No such file or directory" get-flow "$DP" "$flow"
		printf '%s 1\n' "${flow// /}" >>"$BATS_TEST_TMPDIR/flows"
		n=$((n + 1))
	done < <(foreign_flows)
	assert_equal "$n" 12
	run -1 tcvs add-flows "$DP" "$BATS_TEST_TMPDIR/flows"
	assert_output --partial "12 lines failed, 0 were applied"
	assert_equal "$(show_value flows)" 3
}

@test "F39: masks come back bit for bit" {
	local flow flows=(
		"eth(),eth_type(0x86dd),ipv6(dst=fc00::/fe00::,proto=58,frag=no),icmpv6(type=128/0xf8)"
		"eth(),eth_type(0x86dd),ipv6(src=::1/::255,label=0xf0/0xf0,tclass=0x50/0xf0,hlimit=64/0xf0)"
		"eth(src=02:00:00:00:00:00/fe:00:00:00:00:f0),eth_type(0x0800),ipv4(src=1.0.3.0/255.0.255.0,tos=0x4/0xfc)"
		"eth(),eth_type(0x0800),ipv4(proto=6),tcp(src=4096/0xf000,dst=80/0xff),tcp_flags(+syn-ack)"
		"eth(),eth_type(0x0806),arp(sip=1.2.0.0/255.255.0.0,op=0/0xf0,sha=02:00:00:00:00:00/ff:00:00:00:00:00)"
		"eth(),eth_type(0x8100),vlan(vid=10/0xf,pcp=4/0x6),encap(eth_type(0x8847),mpls(label=16/0xffff0,ttl=1/0x1))"
		"skb_priority(0x10/0xf0),eth()"
	)

	switch_up 2
	for flow in "${flows[@]}"; do
		flow_add --overlap "$flow" 2
		assert_equal "$(flow_line "$flow" | wc -l)" 1
		tcvs del-flow "$DP" "$flow"
		assert_equal "$(tcvs parse-flow --check "$flow")" "$flow"
	done
}

@test "F57: a dump has flow lines only, plain ones without what is wild, -m with all fields, always in the same order" {
	local flow="eth(),eth_type(0x0800),ipv4(dst=10.0.0.0/255.0.0.0,proto=17),udp(dst=53)" first

	switch_up 2
	flow_add "udp(dst=53),ipv4(proto=17,dst=10.0.0.0/8),eth_type(0x0800),eth()" 2
	run --separate-stderr dump
	assert_output "$flow, packets:0, bytes:0, used:never, actions:2"
	# shellcheck disable=SC2154 # set by run
	assert_equal "$stderr" ""
	run --separate-stderr tcvs dump-flows -m "$DP"
	assert_equal "$stderr" ""
	assert_output --regexp "^ufid:[-0-9a-f]{36}, recirc_id\(0/0\),dp_hash\(0/0\),skb_priority\(0/0\),in_port\(0/0\),\
skb_mark\(0/0\),eth\(src=[0:]{17}/[0:]{17},dst=[0:]{17}/[0:]{17}\),eth_type\(0x0800\),ipv4\(src=0.0.0.0/0.0.0.0,\
dst=10.0.0.0/255.0.0.0,proto=17,tos=0/0,ttl=0/0\),udp\(src=0/0,dst=53\), packets:0, [^ ]*, used:never, .*actions:2$"
	first=$output
	tcvs add-flow "$DP" "eth(),eth_type(0x0806)" 1
	assert_equal "$(tcvs dump-flows -m "$DP" | head -1)" "$first"
	run tcvs dump-flows -m "$DP"
	assert_equal "$(grep -cE '^ufid:.*, actions:[12]$' <<<"$output")" "${#lines[@]}"
}

@test "parse-flow: canonical form as it stands, or as add-flow would take it" {
	run -0 tcvs_alone parse-flow "eth(dst=00:00:00:00:00:02,src=0:0:0:0:0:1),,in_port(0x1)"
	assert_output "in_port(1),eth(src=00:00:00:00:00:01,dst=00:00:00:00:00:02)"
	run -0 tcvs_alone parse-flow "ipv4(src=10.1.2.3/8)" 2
	assert_output "ipv4(src=10.1.2.3/255.0.0.0), actions:2"
	run -0 tcvs_alone parse-flow --check "eth_type(0x800),ipv4(src=10.1.2.3/8)" "1 , 2"
	assert_output "eth(),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0), actions:1,2"
	run -0 tcvs_alone parse-flow -m "ct_state(0/0),in_port(1),eth_type(0x800)"
	assert_output "in_port(1),ct_state(0/0),eth_type(0x0800)"
	run -0 tcvs_alone parse-flow "ufid:01234567-89ab-cdef-0123-456789ABCDEF, eth()"
	assert_output "ufid:01234567-89ab-cdef-0123-456789abcdef,eth()"
	run -0 tcvs_alone parse-actions " 2, 1 "
	assert_output "2,1"
	run -0 tcvs_alone parse-actions ""
	assert_output "drop"
}

@test "parse-flow: refusals, one line each" {
	local words

	ns_add sw
	for words in "ipv4(ttl=256)" "eth() nosuch" "foo()" "in_port(eth0),eth()" "--check ipv4(ttl=1)" "--check ufid:0" \
		"--check ufid:01234567-89ab-cdef-0123-456789abcdef" "--check ct_state(+trk),eth()"; do
		# shellcheck disable=SC2086
		assert_refused "parsing|neither" parse-flow $words
	done
	assert_refused "parsing actions.*eth0" parse-actions eth0
	assert_refused "requires at least 1" parse-flow
	assert_refused "takes at most 1" parse-actions 1 2
}

@test "parse-flow and parse-actions in JSON" {
	run -0 tcvs_alone -j parse-flow "tunnel(tun_id=0xfedcba9876543210,dst=1.2.3.4,erspan(ver=1,idx=0x7/0xf)),tcp(dst=80)" 1
	assert_equal "$(jq -c . <<<"$output")" '{"flow":"tunnel(tun_id=0xfedcba9876543210,dst=1.2.3.4,'\
'erspan(ver=1,idx=0x7/0xf),flags(+key)),tcp(dst=80)","match":{"tunnel":{"tun_id":"0xfedcba9876543210","dst":"1.2.3.4",'\
'"erspan":{"ver":1,"idx":{"value":7,"mask":15}},"flags":"+key"},"tcp":{"dst":80}},"actions":[{"output":1}]}'
	run -0 tcvs_alone -j parse-flow --check "eth_type(0x0800),ipv4(dst=10.1.2.3/8)"
	assert_equal "$(jq -c .match <<<"$output")" \
		'{"eth":{},"eth_type":2048,"ipv4":{"dst":{"value":"10.0.0.0","mask":"255.0.0.0"}}}'
	run -0 tcvs_alone -j parse-actions 2,1
	assert_equal "$(jq -c . <<<"$output")" '{"actions":[{"output":2},{"output":1}]}'
	run -1 tcvs_alone -j parse-flow "foo()"
	assert_equal "$(jq -r 'keys | join(",")' <<<"$output")" "error"
}

# As nobody, who may look at no datapath.
tcvs_alone() {
	exec 9<"$TCVSCTL"
	setpriv --reuid 65534 --regid 65534 --clear-groups /proc/self/fd/9 "$@"
}
