#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Two namespaces talk through a datapath: real stacks, both families, offloads as they are by default.

load lib/common

# What left a host is what its port's flows counted, packet for packet and byte for byte.
assert_counts_match() {
	local port=$1 host=$2 packets bytes

	read -r packets bytes < <(dump | awk -v key="in_port($port)," '
		index($0, key) == 1 {
			match($0, /packets:[0-9]+/); packets += substr($0, RSTART + 8, RLENGTH - 8)
			match($0, /bytes:[0-9]+/); bytes += substr($0, RSTART + 6, RLENGTH - 6)
		}
		END { print packets, bytes }')
	assert_equal "port $port: $packets packets, $bytes bytes" \
		"$(in_ns "$host" ip -j -s link show dev "$(dev "$host")" |
			jq -r --arg port "$port" '.[0].stats64.tx | "port \($port): \(.packets) packets, \(.bytes) bytes"')"
}

@test "the seven lines: ping works, and the counts are those of the ping" {
	two_hosts
	seven_lines
	in_ns left sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	in_ns right sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	in_ns left ping -c 5 -i 0.05 -W 5 172.31.110.2
	assert_flow "in_port(1),eth(),eth_type(0x0800),ipv4()" 5 490
	assert_flow "in_port(2),eth(),eth_type(0x0800),ipv4()" 5 490
	assert_no_checksum_errors
}

@test "before and after the flows nothing passes" {
	two_hosts
	seven_lines
	in_ns left ping -c 1 -W 5 172.31.110.2
	tcvs del-flows "$DP"
	run in_ns left ping -c 1 -W 1 172.31.110.2
	assert_failure
	assert [ "$(show_value missed)" -gt 0 ]
}

@test "ping6" {
	two_hosts
	seven_lines
	ipv6_flows
	in_ns left ping -6 -c 5 -i 0.05 -W 5 fd00::2
	in_ns left ping -6 -c 3 -i 0.05 -W 5 -s 4000 fd00::2
	assert_no_checksum_errors
}

@test "TCP and UDP over IPv4 and IPv6 arrive intact in both directions, and everything is counted" {
	local hits

	two_hosts
	seven_lines
	ipv6_flows
	# Frames that the stacks sent before the flows were there are no hits.
	hits=$(show_value missed)
	transfer left right 172.31.110.2 tcp
	transfer right left 172.31.110.1 tcp
	transfer left right fd00::2 tcp
	transfer right left fd00::1 tcp
	transfer left right 172.31.110.2 udp
	transfer left right fd00::2 udp
	assert_no_checksum_errors
	assert_equal "$(show_value missed)" "$hits"
}

@test "flow counts are the counts of the hosts' devices" {
	ns_add sw
	ns_add left
	ns_add right
	veth l0 left left
	veth r0 right right
	in_ns left ip addr add 172.31.110.1/24 dev "$(dev left)"
	in_ns right ip addr add 172.31.110.2/24 dev "$(dev right)"
	seven_lines
	transfer left right 172.31.110.2 tcp
	transfer left right 172.31.110.2 udp
	# The last ACK may still be on its way.
	sleep 1
	assert_counts_match 1 left
	assert_counts_match 2 right
	assert_equal "$(show_value missed)" 0
}

@test "iperf3 in both directions and by UDP" {
	two_hosts
	seven_lines
	background right iperf3 -s -p "$SERVICE" --logfile "$BATS_TEST_TMPDIR/server-right"
	wait_for listening right -t "$SERVICE"
	for option in "" -R -u; do
		# shellcheck disable=SC2086
		in_ns left iperf3 -c 172.31.110.2 -p "$SERVICE" -t 1 $option >"$BATS_TEST_TMPDIR/out"
	done
	assert_no_checksum_errors
}

# The same two hosts, joined by two programs that only redirect, in namespaces of their own.
bare_redirect() {
	local bpffs=$BATS_TEST_TMPDIR/bpffs pair in out

	ns_add bare
	ns_add bleft
	ns_add bright
	for pair in "b0 bleft 1" "b1 bright 2"; do
		read -r in out number <<<"$pair"
		ip link add "$(dev "$in")" netns "$(ns bare)" type veth peer name "$(dev "$out")" netns "$(ns "$out")"
		in_ns bare ip link set "$(dev "$in")" up promisc on
		in_ns "$out" ip link set "$(dev "$out")" up
		in_ns "$out" ip addr add "172.31.110.$number/24" dev "$(dev "$out")"
	done
	mkdir "$bpffs"
	on_exit umount "$bpffs"
	mount -t bpf bpf "$bpffs"
	for pair in "b0 b1" "b1 b0"; do
		read -r in out <<<"$pair"
		/usr/bin/python3 "$TOOLS/redirect.py" \
			"$(in_ns bare ip -j link show dev "$(dev "$out")" | jq '.[0].ifindex')" "$bpffs/$in"
		in_ns bare tc qdisc add dev "$(dev "$in")" clsact
		in_ns bare tc filter add dev "$(dev "$in")" ingress bpf da object-pinned "$bpffs/$in"
	done
}

# share_of_retransmits NS: of all segments sent in a second, in parts per million
share_of_retransmits() {
	in_ns "$1" iperf3 -J -c 172.31.110.2 -p "$SERVICE" -t 1 |
		jq -r '.end.sum_sent | (.retransmits * 1448 * 1000000 / .bytes | floor)'
}

median() {
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# Retransmits come from bursts that overflow a queue of the machine, whoever forwards; their share differs tenfold from
# one second to the next, so that medians of few rounds differ by more than 1.5 between two equal programs.  Therefore
# rounds go on, MAX_ROUNDS at most, until the medians are where they have to be: a real difference stays.
# Shares below FLOOR, in parts per million, are a burst or none at all, and no ratio of them means anything: it is the
# least that the bare program is taken to have.
MIN_ROUNDS=5
MAX_ROUNDS=61
FLOOR=100

@test "iperf3 retransmits at most 1.5 times the share of a bare redirect program" {
	local ours=() bare=() limit

	two_hosts
	seven_lines
	bare_redirect
	background right iperf3 -s -p "$SERVICE" --logfile "$BATS_TEST_TMPDIR/server-right"
	background bright iperf3 -s -p "$SERVICE" --logfile "$BATS_TEST_TMPDIR/server-bright"
	wait_for listening right -t "$SERVICE"
	wait_for listening bright -t "$SERVICE"
	while ((${#ours[@]} < MAX_ROUNDS)); do
		ours+=("$(share_of_retransmits left)")
		bare+=("$(share_of_retransmits bleft)")
		limit=$(median "${bare[@]}")
		limit=$(((limit > FLOOR ? limit : FLOOR) * 3 / 2))
		if ((${#ours[@]} >= MIN_ROUNDS && $(median "${ours[@]}") <= limit)); then
			break
		fi
	done
	echo "parts per million: ours ${ours[*]}, bare ${bare[*]}"
	assert [ "$(median "${ours[@]}")" -le "$limit" ]
}
