#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Network namespaces: --netns, "ip netns exec", several datapaths side by side, and a namespace that is gone.

load lib/common

FLOW="in_port(1),eth(),eth_type(0x0800),ipv4()"
FRAME=$(udp_frame 9 10)

# The switch's namespace and one for the far ends, ports not added yet.
hosts_up() {
	ns_add sw
	ns_add far
	veth p1 h1 far
	veth p2 h2 far
	on_exit dp_remove
}

# outside ARGS...: from the host's own namespace
outside() {
	"$TCVSCTL" "$@"
}

in_exec() {
	ip netns exec "$SW" "$TCVSCTL" "$@"
}

@test "--netns: a datapath's whole life from outside" {
	hosts_up
	outside --netns "$SW" add-dp "$DP" "$(dev p1)"
	outside --netns "$SW" add-if "$DP" "$(dev p2)"
	outside --netns "$SW" set-if "$DP" "$(dev p2),port_no=2"
	outside --netns "$SW" add-flow "$DP" "$FLOW" 2
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_port 1 "$(dev p1)"
	assert_port 2 "$(dev p2)"
	run outside --netns "$SW" show "$DP"
	assert_line --regexp "^  port 2: $(dev p2) \((tcx|clsact)\)$"
	assert_equal "$(outside --netns "$SW" get-flow "$DP" "$FLOW" | grep -c 'packets:3,')" 1
	outside --netns "$SW" del-if "$DP" "$(dev p2)"
	assert_equal "$(promisc p2)" false
	outside --netns "$SW" del-dp "$DP"
	assert [ ! -e "$PINS" ]
	assert_equal "$(promisc p1)" false
}

@test "--netns takes a path" {
	hosts_up
	outside --netns "/run/netns/$SW" add-dp "$DP" "$(dev p1)"
	assert_port 1 "$(dev p1)"
}

@test "--netns: files are the caller's" {
	hosts_up
	outside --netns "$SW" add-dp "$DP" "$(dev p1)" "$(dev p2)"
	echo "$FLOW 2" >"$BATS_TEST_TMPDIR/flows"
	cd "$BATS_TEST_TMPDIR"
	outside --netns "$SW" add-flows "$DP" flows
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 1
	echo "$FLOW" >flows
	in_exec del-flows "$DP" flows
	assert_equal "$(dump)" ""
}

@test "--netns: a name that is none, and a file that is no namespace" {
	hosts_up
	run --separate-stderr outside --netns "$(ns nowhere)" add-dp "$DP"
	assert_one_line_refusal "netns.*$(ns nowhere)"
	run --separate-stderr outside --netns /etc/passwd add-dp "$DP"
	assert_one_line_refusal 'netns.*/etc/passwd'
	run --separate-stderr outside --netns
	assert_one_line_refusal 'netns'
	assert [ ! -e "$PINS" ]
}

@test "under ip netns exec, where no bpffs is mounted, the same command works and its pins outlive it" {
	hosts_up
	outside dump-dps
	run ip netns exec "$SW" stat -f -c %T /sys/fs/bpf
	refute_output bpf_fs
	in_exec add-dp "$DP" "$(dev p1)"
	in_exec add-if "$DP" "$(dev p2)"
	in_exec add-flow "$DP" "$FLOW" 2
	assert [ -e "$PINS/datapath" ]
	exchange h1 "$FRAME" 3 ">h2" "$FRAME" 3
	assert_port 2 "$(dev p2)"
	assert_flow "$FLOW" 3 $((3 * $(size "$FRAME")))
	assert_equal "$(in_exec dump-flows "$DP" | sed 's/used:[^,]*//')" "$(dump | sed 's/used:[^,]*//')"
	in_exec mod-flow "$DP" "$FLOW" drop
	exchange h1 "$FRAME" 1
	in_exec del-if "$DP" "$(dev p2)"
	in_exec del-dp "$DP"
	assert [ ! -e "$PINS" ]
	assert_equal "$(promisc p1) $(promisc p2)" "false false"
}

@test "a long action list made under ip netns exec is found from outside" {
	hosts_up
	outside dump-dps
	in_exec add-dp "$DP" "$(dev p1)" "$(dev p2)"
	in_exec add-flow "$DP" "$FLOW" 2,2,2,2,2,2,2,2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 8
	tcvs mod-flow "$DP" "$FLOW" 2,2,2,2,2,2
	exchange h1 "$FRAME" 1 ">h2" "$FRAME" 6
}

# Run in mount namespaces of their own, so that no mount of the host's is touched.
without_bpffs() {
	local place

	for place in /run/tcvs/bpf /sys/fs/bpf; do
		while umount -l "$place" 2>/dev/null; do
			:
		done
	done
	"$@"
}

# The namespace's first process sees no bpffs either: this stands for a host that has not mounted it.
first_mounts() {
	"$TCVSCTL" add-dp "$1"
	stat -f -c 'sys %T' /sys/fs/bpf
	stat -f -c 'run %T' /run/tcvs/bpf
	"$TCVSCTL" dump-dps
	umount /sys/fs/bpf
	"$TCVSCTL" dump-dps
	"$TCVSCTL" del-dp "$1"
}
export -f without_bpffs first_mounts

@test "without any bpffs, in a mount namespace that ends with the command: refused by name" {
	hosts_up
	outside dump-dps
	run --separate-stderr unshare -m --propagation private nsenter --net="/run/netns/$SW" \
		bash -ec "without_bpffs $TCVSCTL add-dp $DP"
	assert_one_line_refusal 'bpffs.*ip netns exec'
	assert [ ! -e "$PINS" ]
	run -0 outside dump-dps
}

@test "a host without bpffs: the first command mounts it, and a second place for ip netns exec" {
	hosts_up
	run -0 --separate-stderr unshare -m --propagation private -p -f --mount-proc nsenter --net="/run/netns/$SW" \
		bash -ec "without_bpffs first_mounts $DP"
	assert_output - <<-END
		sys bpf_fs
		run bpf_fs
		tcvs@$DP
		tcvs@$DP
	END
	assert [ ! -e "$PINS" ]
}

# same_devices N: namespace sN with devices eth0 and eth1, ifindex 101 and 102, datapath ${DP}N; far ends in fN
same_devices() {
	local i

	ns_add "s$1"
	ns_add "f$1"
	on_exit outside del-dp "$DP$1"
	for i in 0 1; do
		ip link add "eth$i" index $((101 + i)) netns "$(ns "s$1")" type veth peer name "h$i" netns "$(ns "f$1")"
		in_ns "s$1" ip link set "eth$i" up
		in_ns "f$1" ip link set "h$i" up
	done
	outside --netns "$(ns "s$1")" add-dp "$DP$1" eth0 eth1
}

# same_check N ARGS... of frames.py check, between h0 and h1 of namespace fN
same_check() {
	in_ns "f$1" /usr/bin/python3 "$TOOLS/frames.py" check --watch h0 --watch h1 "${@:2}"
}

@test "three datapaths in three namespaces with the same device names and ifindices" {
	local n

	for n in 1 2 3; do
		same_devices $n
	done
	wait_for in_ns f3 sh -c 'ip -j link show h0 | jq -e ".[0].operstate == \"UP\""'
	outside add-flow "${DP}1" "$FLOW" 2
	outside add-flow "${DP}2" "$FLOW" drop
	outside add-flow "${DP}3" "in_port(2),eth(),eth_type(0x0800),ipv4()" 1
	for n in 1 2 3; do
		wait_for in_ns "f$n" sh -c 'ip -j link show | jq -e "all(.[]; .ifname == \"lo\" or .operstate == \"UP\")"'
		run outside --netns "$(ns "s$n")" show "$DP$n"
		assert_line --regexp '^  port 1: eth0 \((tcx|clsact)\)$'
		assert_line --regexp '^  port 2: eth1 \((tcx|clsact)\)$'
	done
	same_check 1 --send h0 "$FRAME" 3 --expect h1 "$FRAME" 3
	same_check 1 --send h1 "$FRAME" 1
	same_check 2 --send h0 "$FRAME" 3
	same_check 3 --send h1 "$FRAME" 5 --expect h0 "$FRAME" 5
	assert_equal "$(outside dump-flows "${DP}1" | grep -c 'packets:3,')" 1
	assert_equal "$(outside dump-flows "${DP}2" | grep -c 'packets:3,')" 1
	assert_equal "$(outside dump-flows "${DP}3" | grep -c 'packets:5,')" 1
	outside --netns "$(ns s2)" del-dp "${DP}2"
	same_check 1 --send h0 "$FRAME" 2 --expect h1 "$FRAME" 2
	outside --netns "$(ns s3)" del-if "${DP}3" eth0
	same_check 1 --send h0 "$FRAME" 2 --expect h1 "$FRAME" 2
	same_check 3 --send h1 "$FRAME" 1
}

# add_and_remove DP-SUFFIX TIMES: eth0 leaves its datapath and comes back
add_and_remove() {
	local i

	for ((i = 0; i < $2; i++)); do
		timeout 20 "$TCVSCTL" --netns "$(ns "s$1")" del-if "$DP$1" eth0
		timeout 20 "$TCVSCTL" --netns "$(ns "s$1")" add-if "$DP$1" eth0,port_no=1
	done
}

@test "ports of datapaths in several namespaces are added and removed at the same time" {
	local n pids=() pid

	for n in 1 2 3; do
		same_devices $n
	done
	for n in 1 2 3; do
		add_and_remove $n 30 3>&- &
		pids+=($!)
		on_exit end_process $!
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a command failed, or waited for 20 seconds"
	done
	for n in 1 2 3; do
		run outside --netns "$(ns "s$n")" show "$DP$n"
		assert_line --regexp '^  port 1: eth0 \((tcx|clsact)\)$'
	done
}

@test "from another namespace: devices are refused by name, all else works" {
	switch_up 2
	ns_add other
	ip link add "$(dev x)" netns "$(ns other)" type veth peer name "$(dev y)" netns "$(ns far)"
	flow_add "$FLOW" 2
	for words in "add-if $DP $(dev x)" "del-if $DP $(dev p1)" "del-if $DP 1"; do
		# shellcheck disable=SC2086
		run --separate-stderr outside --netns "$(ns other)" $words
		assert_one_line_refusal "$DP.*namespace"
	done
	assert_equal "$(promisc p1)" true
	run -0 outside --netns "$(ns other)" dump-dps
	assert_line "tcvs@$DP"
	run -0 outside --netns "$(ns other)" show "$DP"
	assert_line --regexp "^  port 1: $(dev p1) \(.*namespace\)$"
	outside --netns "$(ns other)" mod-flow "$DP" "$FLOW" 2,2
	outside --netns "$(ns other)" add-flow "$DP" "in_port($(dev p2)),eth(),eth_type(0x0800),ipv4()" "$(dev p1)"
	outside --netns "$(ns other)" get-flow "$DP" "$FLOW"
	exchange h1 "$FRAME" 2 ">h2" "$FRAME" 4 h2 "$FRAME" 1 ">h1" "$FRAME" 1
	outside --netns "$(ns other)" drops "$DP"
	outside --netns "$(ns other)" dump-masks "$DP"
	outside --netns "$(ns other)" dump-flows "$DP"
	outside --netns "$(ns other)" del-flow "$DP" "$FLOW"
	outside --netns "$(ns other)" del-flows "$DP"
	assert_equal "$(dump)" ""
	outside --netns "$(ns other)" del-dp "$DP"
	assert [ ! -e "$PINS" ]
	assert_equal "$(promisc p1) $(promisc p2)" "false false"
	assert_equal "$(in_ns sw ip -j link show | jq length)" 3
}

@test "show of a datapath whose namespace is another says so, and does not take a device there for its port" {
	switch_up 1
	ns_add other
	# The same name and the same ifindex, in another namespace.
	ip link add "$(dev p1)" index "$(ifindex p1)" netns "$(ns other)" type veth peer name "$(dev y)" netns "$(ns far)"
	run -0 outside --netns "$(ns other)" show "$DP"
	assert_line --regexp "^  port 1: $(dev p1) \(.*namespace\)$"
	run --separate-stderr outside --netns "$(ns other)" add-if "$DP" "$(dev p1)"
	assert_one_line_refusal "$DP.*namespace"
	on_exit outside del-dp "${DP}2"
	outside --netns "$(ns other)" add-dp "${DP}2" "$(dev p1)"
	outside --netns "$(ns other)" del-dp "${DP}2"
	assert_equal "$(promisc p1)" true
}

ids_of_program() {
	"$BPFTOOL" -j prog show pinned "$PINS/tcvs_ingress" | jq -r '"prog \(.id)", (.map_ids[] | "map \(.)")'
}

all_freed() {
	local kind id

	while read -r kind id; do
		! "$BPFTOOL" "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$BATS_TEST_TMPDIR/ids"
}

namespace_goes() {
	local said

	hosts_up
	outside --netns "$SW" add-dp "$DP$1" "$(dev p1)" "$(dev p2)"
	outside add-flow "$DP" "$FLOW" 2
	ids_of_program >"$BATS_TEST_TMPDIR/ids"
	ip netns del "$SW"
	# The kernel dismantles it in its own time.
	wait_for sh -c "! nsenter --net=/run/netns/$(ns far) ip link show $(dev h1)"
	run -0 outside show "$DP"
	assert_line --regexp "^  port 1: $(dev p1) \(.*\)$"
	run -0 outside dump-flows "$DP"
	assert_output --partial "actions:2"
	said=$(outside del-dp "$DP" 2>&1)
	assert_equal "$said" ""
	assert [ ! -e "$PINS" ]
	wait_for all_freed
}

@test "del-dp of a datapath whose namespace is gone" {
	namespace_goes ""
}

@test "del-dp of a datapath whose namespace is gone, with clsact" {
	namespace_goes ,attach=clsact
}

in_lost_ns() {
	nsenter --net="/proc/$BACKGROUND/ns/net" "$@"
}

@test "del-dp finds a namespace that has lost its name but not its processes" {
	hosts_up
	outside --netns "$SW" add-dp "$DP" "$(dev p1)" "$(dev p2)"
	background sw sleep 60
	wait_for sh -c "[ \$(readlink /proc/$BACKGROUND/ns/net) = $(in_ns sw readlink /proc/self/ns/net) ]"
	ip netns del "$SW"
	assert_equal "$(in_lost_ns ip -j link show "$(dev p1)" | jq -c '.[0].flags | index("PROMISC") != null')" true
	outside del-dp "$DP"
	assert [ ! -e "$PINS" ]
	assert_equal "$(in_lost_ns ip -j link show "$(dev p1)" | jq -c '.[0].flags | index("PROMISC") != null')" false
	assert_equal "$(in_lost_ns ip -j link show | jq length)" 3
}
