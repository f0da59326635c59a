#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Rewriting with real stacks: what a host sends, with all offloads as they are by default, is changed on its way and
# changed back on the return; data arrive intact, and no stack counts a bad checksum.

load lib/common

export TRANSFER_BYTES=3000000

# Addresses that nobody has: the way there makes them the right host's, the way back the other way round.
NOBODY4=172.31.110.99
NOBODY6=fd00::99
NOBODY_MAC=02:00:00:00:00:99
NOBODY_PORT=6201

TCP4="eth_type(0x0800),ipv4(proto=6),tcp()"
UDP4="eth_type(0x0800),ipv4(proto=17),udp()"
TCP6="eth_type(0x86dd),ipv6(proto=6),tcp()"
UDP6="eth_type(0x86dd),ipv6(proto=17),udp()"

rewriting_hosts() {
	two_hosts
	seven_lines
	ipv6_flows
	know_nobody
}

# The left host's neighbours: what nobody answers for, at the right host's hardware address.  The right host need not ask
# for the left one, whose answer would go to an address that nobody has.
know_nobody() {
	local right_mac left_mac

	right_mac=$(mac_of right right)
	left_mac=$(in_ns left ip -j link show dev "$(left_device)" | jq -r '.[0].address')
	in_ns right ip neigh replace 172.31.110.1 lladdr "$left_mac" dev "$(dev right)" nud permanent
	in_ns right ip -6 neigh replace fd00::1 lladdr "$left_mac" dev "$(dev right)" nud permanent
	in_ns left ip neigh replace $NOBODY4 lladdr "$right_mac" dev "$(left_device)" nud permanent
	in_ns left ip -6 neigh replace $NOBODY6 lladdr "$right_mac" dev "$(left_device)" nud permanent
}

left_device() {
	dev "${LEFT_DEVICE:-left}"
}

# mac_of NS DEVICE
mac_of() {
	in_ns "$1" ip -j link show dev "$(dev "$2")" | jq -r '.[0].address'
}

# ways MATCH THERE BACK: the actions of IP packets that MATCH describes, in both directions, before the output.  Later
# fragments of IPv6 have a protocol of their own; they get what is not about the layer above.
ways() {
	tcvs del-flows "$DP"
	seven_lines_flows
	tcvs add-flow "$DP" "in_port(1),eth(),$1" "$2,2"
	tcvs add-flow "$DP" "in_port(2),eth(),$1" "$3,1"
	if [[ $1 == "$UDP6" ]]; then
		tcvs add-flow "$DP" "in_port(1),eth(),eth_type(0x86dd),ipv6(proto=44,frag=later)" "$(without_l4 "$2"),2"
		tcvs add-flow "$DP" "in_port(2),eth(),eth_type(0x86dd),ipv6(proto=44,frag=later)" "$(without_l4 "$3"),1"
	fi
}

without_l4() {
	sed -E 's/set\((tcp|udp)\([^)]*\)\)//; s/csum\([^)]*\)//' <<<"$1"
}

# ARP and neighbour discovery pass as they are.
seven_lines_flows() {
	flow_add 'in_port(1),eth(),eth_type(0x806),arp()' 2
	flow_add 'in_port(2),eth(),eth_type(0x806),arp()' 1
	flow_add 'in_port(1),eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6()' 2
	flow_add 'in_port(2),eth(),eth_type(0x86dd),ipv6(proto=58),icmpv6()' 1
}

# each_family THERE4 BACK4 THERE6 BACK6 [TARGET4 TARGET6]: TCP and UDP; %P in actions is the protocol's name
each_family() {
	local there4=$1 back4=$2 there6=$3 back6=$4 target4=${5-} target6=${6-}

	ways "$TCP4" "${there4//%P/tcp}" "${back4//%P/tcp}"
	transfer left right 172.31.110.2 tcp "$target4"
	ways "$UDP4" "${there4//%P/udp}" "${back4//%P/udp}"
	transfer left right 172.31.110.2 udp "$target4"
	ways "$TCP6" "${there6//%P/tcp}" "${back6//%P/tcp}"
	transfer left right fd00::2 tcp "$target6"
	ways "$UDP6" "${there6//%P/udp}" "${back6//%P/udp}"
	transfer left right fd00::2 udp "$target6"
	assert_no_checksum_errors
	assert_no_drops
}

assert_no_drops() {
	assert_equal "$(tcvs drops "$DP" | grep -v 'mtu:' || true)" ""
}

# Each of these is run with the left host on a veth, and behind a vxlan port.

set_addresses() {
	each_family "set(ipv4(dst=172.31.110.2))" "set(ipv4(src=$NOBODY4))" \
		"set(ipv6(dst=fd00::2))" "set(ipv6(src=$NOBODY6))" $NOBODY4 $NOBODY6
}

set_ports() {
	local proto

	for proto in tcp udp; do
		ways "$([[ $proto == tcp ]] && echo "$TCP4" || echo "$UDP4")" \
			"set($proto(dst=$SERVICE))" "set($proto(src=$NOBODY_PORT))"
		transfer left right 172.31.110.2 $proto "" $NOBODY_PORT
		ways "$([[ $proto == tcp ]] && echo "$TCP6" || echo "$UDP6")" \
			"set($proto(dst=$SERVICE))" "set($proto(src=$NOBODY_PORT))"
		transfer left right fd00::2 $proto "" $NOBODY_PORT
	done
	assert_no_checksum_errors
	assert_no_drops
}

set_ttl_and_class() {
	each_family "set(ipv4(tos=0x48/0xfc,ttl=9))" "set(ipv4(ttl=77))" \
		"set(ipv6(label=0x12345,tclass=0x48/0xfc,hlimit=9))" "set(ipv6(hlimit=77))"
}

set_hardware_addresses() {
	local mac

	mac=$(mac_of right right)
	in_ns left ip neigh replace 172.31.110.2 lladdr $NOBODY_MAC dev "$(left_device)" nud permanent
	in_ns left ip -6 neigh replace fd00::2 lladdr $NOBODY_MAC dev "$(left_device)" nud permanent
	each_family "set(eth(dst=$mac))" "set(eth(src=$NOBODY_MAC))" \
		"set(eth(dst=$mac))" "set(eth(src=$NOBODY_MAC))"
	each_family "pedit(ex munge eth dst set $mac)" "pedit(ex munge eth src set $NOBODY_MAC)" \
		"pedit(ex munge eth dst set $mac)" "pedit(ex munge eth src set $NOBODY_MAC)"
	in_ns left ip neigh flush nud permanent dev "$(left_device)"
	know_nobody
}

tag_and_untag() {
	each_family "push_vlan(vid=5,pcp=3),pop_vlan" \
		"push_vlan(vid=5,pcp=3),push_vlan(tpid=0x88a8,vid=6,pcp=0),pop_vlan,pop_vlan" \
		"push_vlan(vid=5,pcp=3),push_vlan(tpid=0x88a8,vid=6,pcp=0),pop_vlan,pop_vlan" \
		"push_vlan(vid=5,pcp=3),pop_vlan"
}

# The checksum of a datagram in fragments cannot be made from one of them.
edit_and_repair() {
	UDP_LARGEST=1000 each_family "pedit(ex munge ip dst set 172.31.110.2 munge ip ttl set 9),csum(ip,%P)" \
		"pedit(ex munge ip src set $NOBODY4),csum(ip,%P)" \
		"pedit(ex munge ip6 dst set fd00::2 munge ip6 hoplimit set 9),csum(%P)" \
		"pedit(ex munge ip6 src set $NOBODY6),csum(%P)" $NOBODY4 $NOBODY6
}

# behind_vxlan: the left host is behind a vxlan port; its frames come in with the sum of their bytes beside them
# (CHECKSUM_COMPLETE), since it finishes its own checksums and the tunnel has one of UDP.
behind_vxlan() {
	ns_add sw
	ns_add left ipv6
	ns_add right ipv6
	veth u0 under left
	veth r0 right right
	in_ns sw ip addr add 192.0.2.1/30 dev "$(dev u0)"
	in_ns left ip addr add 192.0.2.2/30 dev "$(dev under)"
	in_ns sw ip link add "$(dev l0)" type vxlan id 7 local 192.0.2.1 remote 192.0.2.2 dstport 4789 udpcsum
	in_ns left ip link add "$(dev left)" type vxlan id 7 local 192.0.2.2 remote 192.0.2.1 dstport 4789 udpcsum
	in_ns left ethtool -K "$(dev left)" tx off >/dev/null
	in_ns sw ip link set "$(dev l0)" up
	in_ns left ip link set "$(dev left)" up
	in_ns right ip link set "$(dev right)" mtu 1450
	address left 1
	address right 2
	seven_lines
	ipv6_flows
	know_nobody
}

@test "addresses are set and set back" {
	rewriting_hosts
	set_addresses
}

@test "ports are set and set back" {
	rewriting_hosts
	set_ports
}

@test "TTL, class and label are set; the ECN bits stay" {
	rewriting_hosts
	set_ttl_and_class
}

@test "hardware addresses are set, and edited, and a stack takes the frames for its own" {
	rewriting_hosts
	set_hardware_addresses
}

@test "tags are pushed and popped again" {
	rewriting_hosts
	tag_and_untag
}

@test "pedit changes addresses, csum repairs the checksums" {
	rewriting_hosts
	edit_and_repair
}

@test "frames with the sum of their bytes beside them: addresses, ports, TTL and class" {
	behind_vxlan
	set_addresses
	set_ports
	set_ttl_and_class
}

@test "frames with the sum of their bytes beside them: hardware addresses, tags, pedit with csum" {
	behind_vxlan
	set_hardware_addresses
	tag_and_untag
	edit_and_repair
}

@test "a sender's own pages do not change: the page cache by sendfile, memory by MSG_ZEROCOPY" {
	local data=$BATS_TEST_TMPDIR/pages copy=$BATS_TEST_TMPDIR/copy how

	rewriting_hosts
	head -c 2000000 /dev/urandom >"$data"
	# Into the payload: the header has 32 bytes with its options, and the checksum is of the changed bytes.
	ways "$TCP4" "set(ipv4(dst=172.31.110.2)),pedit(ex munge tcp+40 val 41414141 mask 00000000),csum(tcp)" \
		"set(ipv4(src=$NOBODY4))"
	for how in sendfile zerocopy; do
		rm -f "$copy"
		background right socat -u "TCP-LISTEN:$SERVICE,pf=ip4,reuseaddr" "CREATE:$copy"
		wait_for listening right -t "$SERVICE"
		in_ns left /usr/bin/python3 "$TOOLS/send_pages.py" "$how" $NOBODY4 "$SERVICE" "$data"
		wait_for same_size "$data" "$copy"
		run cmp -s "$data" "$copy"
		assert_failure
		grep -q AAAA "$copy"
	done
	assert_no_checksum_errors
}

same_size() {
	[[ $(stat -c %s "$1") == $(stat -c %s "$2") ]]
}
