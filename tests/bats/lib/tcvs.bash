# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# The program under test, run in the switch's namespace, and what its output says.

tcvs() {
	nsenter --net="/run/netns/$SW" "$TCVSCTL" "$@"
}

# dp_add [OPTIONS]: makes the test's datapath, with ",max_flows=N" and the like
dp_add() {
	on_exit dp_remove
	tcvs add-dp "$DP${1-}"
}

# A datapath that del-dp refuses to remove must not stay behind either: without pins its programs go.
dp_remove() {
	tcvs del-dp "$DP" || rm -rf "$PINS"
}

flow_add() {
	tcvs add-flow "$DP" "$@"
}

dump() {
	tcvs dump-flows "$DP"
}

# printed FLOW: as dump-flows prints it, without the attributes that are all wild; eth() is printed nevertheless
printed() {
	sed -E 's/,(arp|ipv4|ipv6|tcp|udp|icmp|icmpv6)\(\)//g' <<<"$1"
}

# flow_line FLOW: its line of dump-flows
flow_line() {
	dump | awk -v key="$(printed "$1"), packets:" 'index($0, key) == 1'
}

# flow_stat FLOW packets|bytes
flow_stat() {
	flow_line "$1" | sed -E "s/.*, $2:([0-9]+).*/\1/"
}

assert_flow() {
	local line

	line=$(flow_line "$1")
	[[ $line == *", packets:$2, bytes:$3, "* ]] || fail "expected packets:$2, bytes:$3, got: ${line:-no such flow}"
}

# show_value hit|missed|lost|flows
show_value() {
	tcvs show "$DP" | sed -nE "s/^ .*\b$1: ?([0-9]+).*/\1/p" | head -1
}

# drops_of PORT REASON: the count, 0 when there is none
drops_of() {
	tcvs drops "$DP" | tr ' ,' '\n\n' |
		awk -v port="$1:" -v reason="$2" '
			previous == "port" { at = $1 }
			$1 ~ "^" reason ":" && at == port { sub(/.*:/, "", $1); count = $1 }
			{ previous = $1 }
			END { print count + 0 }'
}

# assert_port NUMBER NAME [gone]; what show adds in brackets about a port that is there is not looked at
assert_port() {
	local line

	line=$(tcvs show "$DP" | grep "^  port $1:" || true)
	case "${3-} $line" in
	"gone   port $1: $2 (gone)") ;;
	"   port $1: $2" | "   port $1: $2 ("*) [[ $line != *gone* ]] ;;
	*) false ;;
	esac || fail "expected port $1: $2 ${3-}, got: ${line:-none}"
}

assert_no_port() {
	run tcvs show "$DP"
	refute_line --regexp "^  port $1:"
}

assert_drops() {
	assert_equal "port $1 $2: $(drops_of "$1" "$2")" "port $1 $2: $3"
}

# Everything that a refused command must leave as it was; counters and times are not part of it.
state() {
	tcvs dump-dps | grep "@$TAG" || true
	tcvs show "$DP" || true
	dump | sed -E 's/ used:[^,]*,//' || true
	tcvs dump-masks "$DP" || true
	find /sys/fs/bpf/tcvs/"$DP" 2>/dev/null | sort
	in_ns sw ip -j -d link show | jq -c '.[] | [.ifname, .flags, .promiscuity]'
}

# assert_refused PATTERN ARGS...: exit status 1, nothing on stdout, one line on stderr that has PATTERN (a regular
# expression, no matter of case) in it, nothing changed
assert_refused() {
	local pattern=$1 before

	shift
	before=$(state 2>&1)
	run --separate-stderr tcvs "$@"
	assert_one_line_refusal "$pattern"
	assert_equal "$(state 2>&1)" "$before"
}

# shellcheck disable=SC2154 # output and stderr are set by run
assert_one_line_refusal() {
	assert_failure 1
	assert_equal "stdout: $output" "stdout: "
	assert_equal "lines on stderr: ${#stderr_lines[@]}" "lines on stderr: 1"
	grep -qiE -- "$1" <<<"$stderr" || fail "expected $1 in: $stderr"
}
