# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Two hosts on ports 1 and 2 with real stacks, and what they send each other.

export SERVICE=5201

# two_hosts: namespaces left (172.31.110.1, fd00::1) and right (.2, ::2) on ports 1 and 2, joined by flows
two_hosts() {
	ns_add sw
	ns_add left ipv6
	ns_add right ipv6
	veth l0 left left
	veth r0 right right
	address left 1
	address right 2
}

address() {
	in_ns "$1" ip addr add "172.31.110.$2/24" dev "$(dev "$1")"
	in_ns "$1" ip -6 addr add "fd00::$2/64" dev "$(dev "$1")" nodad
}

seven_lines() {
	dp_add
	tcvs add-if "$DP" "$(dev l0)"
	tcvs add-if "$DP" "$(dev r0)"
	flow_add 'in_port(1),eth(),eth_type(0x806),arp()' 2
	flow_add 'in_port(2),eth(),eth_type(0x806),arp()' 1
	flow_add 'in_port(1),eth(),eth_type(0x800),ipv4()' 2
	flow_add 'in_port(2),eth(),eth_type(0x800),ipv4()' 1
}

ipv6_flows() {
	flow_add 'in_port(1),eth(),eth_type(0x86dd),ipv6()' 2
	flow_add 'in_port(2),eth(),eth_type(0x86dd),ipv6()' 1
}

# checksum_errors NS: all that the stack ever counted, IPv4 and IPv6, TCP, UDP and ICMP
checksum_errors() {
	in_ns "$1" nstat -asz | awk '/Csum/ { sum += $2 } END { print sum + 0 }'
}

assert_no_checksum_errors() {
	assert_equal "left $(checksum_errors left), right $(checksum_errors right)" "left 0, right 0"
}

# transfer FROM TO ADDRESS tcp|udp [CLIENT-ADDRESS] [CLIENT-PORT]: a file's bytes arrive as they left, sent to ADDRESS or
# what the client takes for it.  UDP datagrams are sent slowly enough for any receiver, in sizes up to the largest, which
# is fragmented.
transfer() {
	local data=$BATS_TEST_TMPDIR/data copy=$BATS_TEST_TMPDIR/copy target=${5:-$3} port=${6:-$SERVICE}

	rm -f "$copy"
	if [[ $4 == tcp ]]; then
		head -c "${TRANSFER_BYTES:-30000000}" /dev/urandom >"$data"
		background "$2" socat -u "TCP-LISTEN:$SERVICE,pf=$(family "$3"),reuseaddr" "CREATE:$copy"
		wait_for listening "$2" -t "$SERVICE"
		in_ns "$1" socat -u "OPEN:$data" "TCP:$(bracket "$target"):$port"
		wait_for cmp "$data" "$copy"
	else
		background "$2" /usr/bin/python3 "$TOOLS/udp_echo.py" server "$3" "$SERVICE"
		wait_for listening "$2" -u "$SERVICE"
		in_ns "$1" /usr/bin/python3 "$TOOLS/udp_echo.py" client "$target" "$port" "${UDP_LARGEST:-65000}"
		end_process "$BACKGROUND"
	fi
}

family() {
	if [[ $1 == *:* ]]; then echo ip6; else echo ip4; fi
}

bracket() {
	if [[ $1 == *:* ]]; then echo "[$1]"; else echo "$1"; fi
}
