# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Namespaces and devices.  TAG is derived from the test; names of namespaces and devices start with it.

# Sets TAG (9 characters, so that device names have 6 left), DP and the name of the switch's namespace.
names_init() {
	local sum

	sum=$(printf '%s %s' "$BATS_TEST_FILENAME" "$BATS_TEST_NAME" | sha256sum)
	TAG=t${sum:0:8}
	DP=$TAG-dp
	SW=$(ns sw)
	PINS=/sys/fs/bpf/tcvs/$DP
	export TAG DP SW PINS
}

ns() {
	echo "$TAG-$1"
}

# dev NAME: the device name of the test's NAME
dev() {
	echo "$TAG$1"
}

# What a run of the same test left that was killed before its teardown.
remove_leftovers() {
	local name

	if [[ -d $PINS ]]; then
		tcvs del-dp "$DP" >/dev/null 2>&1 || rm -rf "$PINS"
	fi
	for name in /run/netns/"$TAG"-*; do
		[[ -e $name ]] || continue
		ip netns del "${name##*/}" 2>/dev/null || rm -f "$name"
	done
}

# ns_add NAME [ipv6]: IPv6 is off unless asked for, so that no frame moves that the test did not send.
ns_add() {
	local name

	name=$(ns "$1")
	on_exit ip netns del "$name"
	ip netns add "$name"
	if [[ ${2-} == ipv6 ]]; then
		in_ns "$1" sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0
	else
		in_ns "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	fi
	in_ns "$1" ip link set lo up
}

# in_ns NAME COMMAND...; not by "ip netns exec", which mounts a fresh /sys and hides bpffs
in_ns() {
	local name

	name=$(ns "$1")
	shift
	nsenter --net="/run/netns/$name" "$@"
}

# veth NAME PEER NS: device NAME in the switch's namespace, its other end PEER in namespace NS; both up
veth() {
	ip link add "$(dev "$1")" netns "$SW" type veth peer name "$(dev "$2")" netns "$(ns "$3")"
	in_ns "$3" ip link set "$(dev "$2")" up
	in_ns sw ip link set "$(dev "$1")" up
	# The first one learns of its carrier from a work queue, up to a second later, and until then sends nothing.
	wait_for can_send "$3" "$2"
}

can_send() {
	in_ns "$1" ip -j link show dev "$(dev "$2")" | jq -e '.[0].operstate == "UP" and .[0].qdisc != "noop"'
}

# switch_up N [DP-OPTIONS]: datapath DP with ports 1..N, devices p1..pN; the far ends h1..hN are all in namespace far
switch_up() {
	local i

	ns_add sw
	ns_add far
	for ((i = 1; i <= $1; i++)); do
		veth "p$i" "h$i" far
	done
	dp_add "${2-}"
	for ((i = 1; i <= $1; i++)); do
		tcvs add-if "$DP" "$(dev "p$i")"
	done
}

frames() {
	in_ns far /usr/bin/python3 "$TOOLS/frames.py" "$@"
}

# exchange SEND... : "hN HEX COUNT" is sent, ">hN HEX COUNT" is expected; a frame anywhere else fails the test.
# Arguments come in threes; options of "frames.py check" may come first (--gso SIZE).
exchange() {
	local args=() i

	while [[ ${1-} == --* ]]; do
		args+=("$1" "$2")
		shift 2
	done
	while (($#)); do
		if [[ $1 == \>* ]]; then
			args+=(--expect "$(dev "${1#>}")" "$2" "$3")
		else
			args+=(--send "$(dev "$1")" "$2" "$3")
		fi
		shift 3
	done
	for i in $(far_devices); do
		args+=(--watch "$i")
	done
	frames check "${args[@]}"
}

far_devices() {
	in_ns far ls /proc/sys/net/ipv4/conf | grep "^${TAG}h" || true
}

# listening NS -t|-u PORT
listening() {
	[[ -n $(in_ns "$1" ss -Hln "$2" "sport = $3") ]]
}

# link_json NAME FILTER: what jq's FILTER finds in the description of a device in the switch's namespace
link_json() {
	in_ns sw ip -j -d -s link show dev "$(dev "$1")" | jq -r ".[0]$2"
}

ifindex() {
	link_json "$1" .ifindex
}

promisc() {
	link_json "$1" '.flags | index("PROMISC") != null'
}

ingress_filters() {
	in_ns sw tc filter show dev "$(dev "$1")" ingress
}

# The kernel's TCX hook came with 6.6.
have_tcx() {
	local major minor

	IFS=.- read -r major minor _ < <(uname -r)
	((major > 6 || (major == 6 && minor >= 6)))
}
