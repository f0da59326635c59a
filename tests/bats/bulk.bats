#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files of flows: verbs, what fails and what does not, size, one swap for each class, and a dump that makes the same
# flows again.

load lib/common

IN="in_port(1),eth(),eth_type(0x0800)"
FILE=$BATS_TEST_TMPDIR/flows

# udp_flow PORT
udp_flow() {
	echo "$IN,ipv4(proto=17,frag=no),udp(dst=$1)"
}

# lines LINE...: as the file
lines() {
	printf '%s\n' "$@" >"$FILE"
}

# actions_of FLOW
actions_of() {
	flow_line "$1" | sed 's/.*actions://'
}

# assert_actions FLOW ACTIONS; "" for a flow that is not there
assert_actions() {
	assert_equal "$1: $(actions_of "$1")" "$1: $2"
}

# bulk ARGS...: every line is applied, and nothing is said
bulk() {
	run -0 --separate-stderr tcvs "$@"
	assert_equal "$output$stderr" ""
}

# bulk_fails "NUMBER NUMBER" ARGS...: exit status 1, and stderr has one line for each of these lines of the file, the
# number in it, then one more.
# shellcheck disable=SC2154 # output and stderr are set by run
bulk_fails() {
	run -1 --separate-stderr tcvs "${@:2}"
	assert_equal "$output" ""
	assert_equal "$(sed -nE 's/.*\bline ([0-9]+): .*/\1/p' <<<"$stderr" | xargs)" "$1"
	assert_equal "lines on stderr: ${#stderr_lines[@]}" "lines on stderr: $(($(wc -w <<<"$1") + 1))"
}

@test "add-flows adds the flows of a file, of standard input, and of a file without a last newline" {
	switch_up 2
	lines "$(udp_flow 1) 2" "$(udp_flow 2) 1,2"
	bulk add-flows "$DP" "$FILE"
	assert_actions "$(udp_flow 1)" 2
	assert_actions "$(udp_flow 2)" 1,2
	bulk add-flows "$DP" - <<<"$(udp_flow 3) drop"
	assert_actions "$(udp_flow 3)" drop
	printf '%s 2' "$(udp_flow 4)" >"$FILE"
	bulk add-flows "$DP" "$FILE"
	assert_actions "$(udp_flow 4)" 2
	exchange h1 "$(udp_frame 4)" 2 ">h2" "$(udp_frame 4)" 2
}

@test "comments, empty lines, blanks around the words, CRLF" {
	switch_up 2
	printf '%s\r\n' "# a comment" "$(udp_flow 1) 2" "" "   " $'\t# another' >"$FILE"
	printf '  \t %s \t  2  \n' "$(udp_flow 2)" >>"$FILE"
	printf 'add\t%s\t2\r\n' "$(udp_flow 3)" >>"$FILE"
	bulk add-flows "$DP" "$FILE"
	assert_equal "$(show_value flows)" 3
	assert_actions "$(udp_flow 1)" 2
	assert_actions "$(udp_flow 2)" 2
	assert_actions "$(udp_flow 3)" 2
}

@test "an empty file, and one of comments only, changes nothing" {
	switch_up 2
	flow_add "$(udp_flow 1)" 2
	: >"$FILE"
	bulk add-flows "$DP" "$FILE"
	bulk del-flows "$DP" "$FILE"
	lines "# nothing" ""
	bulk mod-flows "$DP" "$FILE"
	bulk del-flows "$DP" /dev/null
	assert_equal "$(show_value flows)" 1
}

@test "a line may say add, modify or delete, whatever the command" {
	local verb

	switch_up 2
	for verb in add-flows mod-flows del-flows; do
		flow_add "$(udp_flow 1)" 2
		flow_add "$(udp_flow 2)" 2
		lines "modify $(udp_flow 1) 1" "delete $(udp_flow 2)" "add $(udp_flow 3) 2" "add $(udp_flow 2) drop"
		bulk "$verb" "$DP" "$FILE"
		assert_actions "$(udp_flow 1)" 1
		assert_actions "$(udp_flow 2)" drop
		assert_actions "$(udp_flow 3)" 2
		assert_equal "$(show_value flows)" 3
		tcvs del-flows "$DP"
	done
}

@test "mod-flows changes actions and keeps counters" {
	switch_up 3
	flow_add "$(udp_flow 1)" 2
	exchange h1 "$(udp_frame 1)" 2 ">h2" "$(udp_frame 1)" 2
	lines "$(udp_flow 1) 3"
	bulk mod-flows "$DP" "$FILE"
	exchange h1 "$(udp_frame 1)" 1 ">h3" "$(udp_frame 1)" 1
	assert_flow "$(udp_flow 1)" 3 $((3 * $(size "$(udp_frame 1)")))
	bulk mod-flows "$DP" - <<<"$(udp_flow 1) 3,2,3,2,3,2,3"
	exchange h1 "$(udp_frame 1)" 1 ">h3" "$(udp_frame 1)" 4 ">h2" "$(udp_frame 1)" 3
}

@test "del-flows deletes the flows of a file and no other" {
	switch_up 2
	lines "$(udp_flow 1) 2" "$(udp_flow 2) 2" "$IN,ipv4(dst=10.9.0.0/255.255.0.0) 2"
	bulk add-flows "$DP" "$FILE"
	lines "$(udp_flow 2)" "$IN,ipv4(dst=10.9.1.1/255.255.0.0)"
	bulk del-flows "$DP" "$FILE"
	assert_actions "$(udp_flow 1)" 2
	assert_equal "$(show_value flows)" 1
	bulk del-flows "$DP" - <<<"$(udp_flow 1)"
	assert_equal "$(dump)" ""
}

@test "lines that fail are named by number; the others are applied" {
	switch_up 2
	flow_add "$(udp_flow 1)" 2
	lines "# 1" "$(udp_flow 1) 2" "$(udp_flow 2) 2" "nonsense 2" "" "$(udp_flow 3) nosuch" "$(udp_flow 4)" \
		"delete $(udp_flow 5)" "modify $(udp_flow 6) 2" "delete $(udp_flow 2) 2" "$(udp_flow 7) 70000" "$(udp_flow 8) 1"
	bulk_fails "2 4 6 7 8 9 10 11" add-flows "$DP" "$FILE"
	grep -q 'line 2: .*File exists' <<<"$stderr"
	grep -q 'line 4: .*nonsense' <<<"$stderr"
	grep -q 'line 6: .*nosuch' <<<"$stderr"
	grep -q 'line 8: .*No such file' <<<"$stderr"
	grep -q '8 lines failed, 2 were applied' <<<"${stderr_lines[-1]}"
	assert_actions "$(udp_flow 2)" 2
	assert_actions "$(udp_flow 8)" 1
	assert_equal "$(show_value flows)" 3
	exchange h1 "$(udp_frame 2)" 1 ">h2" "$(udp_frame 2)" 1
}

@test "a file in which nothing is right changes nothing" {
	local before

	switch_up 2
	flow_add "$(udp_flow 1)" 2
	before=$(state)
	lines a "b c" "add" "delete" "modify x" "$IN,ipv4(ttl=256) 2" "$(udp_flow 1) 2"
	bulk_fails "1 2 3 4 5 6 7" add-flows "$DP" "$FILE"
	assert_equal "$(state)" "$before"
}

@test "bytes that are no text harm nothing" {
	switch_up 2
	{
		head -c 30000 /dev/urandom
		printf '\n%s 2\n' "$(udp_flow 1)"
		head -c 300 /dev/zero
		printf '\n%s 2\n%070000d\n' "$(udp_flow 2)" 0
		printf '%s %0*d 2\n' "$(udp_flow 3)" 50000 0
	} >"$FILE"
	run -1 --separate-stderr tcvs add-flows "$DP" "$FILE"
	assert_actions "$(udp_flow 1)" 2
	assert_actions "$(udp_flow 2)" 2
	assert_equal "$(show_value flows)" 2
	exchange h1 "$(udp_frame 2)" 1 ">h2" "$(udp_frame 2)" 1
}

@test "a file that cannot be read is refused by name" {
	switch_up 2
	flow_add "$(udp_flow 1)" 2
	assert_refused 'no/such' add-flows "$DP" "$BATS_TEST_TMPDIR/no/such"
	assert_refused 'no/such' mod-flows "$DP" "$BATS_TEST_TMPDIR/no/such"
	assert_refused 'no/such' del-flows "$DP" "$BATS_TEST_TMPDIR/no/such"
	assert_refused "directory" add-flows "$DP" "$BATS_TEST_TMPDIR"
	assert_refused "directory" del-flows "$DP" "$BATS_TEST_TMPDIR"
	assert_refused "${DP}x" add-flows "${DP}x" /dev/null
	assert_refused "${DP}x" del-flows "${DP}x" /dev/null
}

@test "limits of flows and of masks: lines beyond them fail and name them" {
	switch_up 2 ,max_flows=4,max_masks=2
	lines "$(udp_flow 1) 2" "$(udp_flow 2) 2" "$IN,ipv4(dst=11.0.0.0/255.0.0.0) 2" "$IN,ipv4(dst=12.1.0.0/255.255.0.0) 2" \
		"$(udp_flow 3) 2" "$(udp_flow 4) 2" "delete $(udp_flow 1)" "$(udp_flow 5) 2"
	bulk_fails "4 6" add-flows "$DP" "$FILE"
	grep -q 'line 4: .*2 masks' <<<"$stderr"
	grep -q 'line 6: .*4' <<<"$stderr"
	assert_equal "$(show_value flows)" 4
	assert_actions "$(udp_flow 5)" 2
	exchange h1 "$(udp_frame 5)" 1 ">h2" "$(udp_frame 5)" 1
}

# In a mount namespace of its own there is a bpffs without the datapaths of others.
alone() {
	nsenter --net="/run/netns/$SW" unshare -m --propagation private bash -ec "$(declare -f only_one); only_one" - 3>&-
}

only_one() {
	mount -t bpf bpf /sys/fs/bpf
	"$TCVSCTL" add-dp "$DP"
	"$TCVSCTL" add-flows "$FILE"
	"$TCVSCTL" add-flows - <"$FILE.more"
	"$TCVSCTL" show "$DP" | grep flows:
	"$TCVSCTL" del-flows "$FILE.keys"
	"$TCVSCTL" dump-flows | wc -l
	cd "${FILE%/*}" || exit
	cp "$FILE.more" "$DP"
	"$TCVSCTL" del-flows "$DP"
	"$TCVSCTL" dump-flows | wc -l
	"$TCVSCTL" del-dp "$DP"
}

@test "the datapath may be left out if there is only one; a name that is a datapath's is no file" {
	export FILE

	ns_add sw
	lines "$(udp_flow 1) 2" "$(udp_flow 2) 2"
	printf '%s\n' "$(udp_flow 3) 2" >"$FILE.more"
	printf '%s\n' "$(udp_flow 1)" "$(udp_flow 2)" >"$FILE.keys"
	run -0 alone
	assert_output - <<-END
		  flows: 3
		1
		0
	END
}

# class_number NAME: in enum packet_class
class_number() {
	sed -n '/^#define PACKET_CLASSES/,/^$/p' "$TOP/include/dp_maps.h" |
		grep -o 'X([A-Z0-9_]*, "[^"]*")' | grep -nF "\"$1\")" | awk -F: '{ print $1 - 1 }'
}

# swaps COMMAND...: how many mask arrays class ipv4/udp got while it ran
swaps() {
	rm -f "$BATS_TEST_TMPDIR/swaps"
	/usr/bin/python3 "$TOOLS/watch_inner.py" "$PINS/masks" "$(class_number ipv4/udp)" >"$BATS_TEST_TMPDIR/swaps" 3>&- &
	on_exit end_process $!
	wait_for grep -q ready "$BATS_TEST_TMPDIR/swaps"
	"$@" >&2
	sleep 0.1
	end_process $!
	sed 1d "$BATS_TEST_TMPDIR/swaps" | wc -l
}

# many_masks N: flows with N masks of class ipv4/udp, two of each
many_masks() {
	local i low port

	for ((i = 0; i < $1; i++)); do
		low=$((256 - (1 << (i % 8))))
		port=$(((i - i % 8) * 8))/$((65536 - (1 << (i / 8))))
		echo "$IN,ipv4(src=10.0.0.1/255.255.255.$low,proto=17,frag=no),udp(src=1,dst=$port) 2"
		echo "$IN,ipv4(src=11.0.0.1/255.255.255.$low,proto=17,frag=no),udp(src=1,dst=$port) 2"
	done
}

@test "a file swaps the masks of a class once, however many masks come or go" {
	switch_up 2
	flow_add "$(udp_flow 9)" 2
	many_masks 40 >"$FILE"
	assert_equal "swaps: $(swaps tcvs add-flows "$DP" "$FILE")" "swaps: 1"
	assert_equal "$(tcvs -j show "$DP" | jq '.datapaths[0].masks')" 41
	assert_equal "swaps: $(swaps tcvs mod-flows "$DP" "$FILE")" "swaps: 0"
	sed -i 's/ 2$//' "$FILE"
	assert_equal "swaps: $(swaps tcvs del-flows "$DP" "$FILE")" "swaps: 1"
	assert_equal "$(tcvs -j show "$DP" | jq '.datapaths[0].masks')" 1
	exchange h1 "$(udp_frame 9)" 1 ">h2" "$(udp_frame 9)" 1
}

# many_flows N
many_flows() {
	awk -v in_="$IN" -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "%s,ipv4(dst=10.%d.%d.%d,proto=17,frag=no),udp(dst=%d) 2\n", in_, 1 + i / 65536, i / 256 % 256, i % 256, i }'
}

traffic_start() {
	echo "$(udp_frame 9) $(dev h2)" >"$BATS_TEST_TMPDIR/traffic"
	nsenter --net="/run/netns/$(ns far)" /usr/bin/python3 "$TOOLS/steady_traffic.py" --send "$(dev h1)" \
		"$BATS_TEST_TMPDIR/traffic" >"$BATS_TEST_TMPDIR/counts" 3>&- &
	TRAFFIC=$!
	on_exit end_process "$TRAFFIC"
	wait_for grep -q ready "$BATS_TEST_TMPDIR/counts"
}

# forwarded FLOW COUNT
forwarded() {
	[[ $(flow_stat "$1" packets) == "$2" ]]
}

@test "20000 flows come, change and go beside one that forwards" {
	switch_up 2
	flow_add "$IN,ipv4(src=10.0.0.1,dst=10.0.0.2)" 2
	many_flows 20000 >"$FILE"
	traffic_start
	bulk add-flows "$DP" "$FILE"
	assert_equal "$(show_value flows) $(dump | wc -l)" "20001 20001"
	frames send "$(dev h1)" "$(ether 0800 "$(ipv4 11 0a000001 0a014e1f "$(udp 1 19999 00)")")" 2
	wait_for forwarded "$IN,ipv4(dst=10.1.78.31,proto=17,frag=no),udp(dst=19999)" 2
	sed 's/ 2$/ drop/' "$FILE" >"$FILE.drop"
	bulk mod-flows "$DP" "$FILE.drop"
	assert_equal "$(dump | grep -c 'actions:drop$')" 20000
	sed 's/ 2$//' "$FILE" >"$FILE.keys"
	bulk del-flows "$DP" "$FILE.keys"
	assert_equal "$(show_value flows) $(dump | wc -l)" "1 1"
	kill "$TRAFFIC"
	wait "$TRAFFIC"
	assert_equal "$(sed 1d "$BATS_TEST_TMPDIR/counts" | jq -c '[.received == .sent, .strays]')" "[true,0]"
}

# Flow texts of every kind, one a line; some with bits outside their masks.  Each has a port of its own: no two overlap.
kinds() {
	cat <<-'END'
		in_port(11),eth(),eth_type(0x0806),arp() 2
		in_port(12),eth(dst=ff:ff:ff:ff:ff:ff),eth_type(0x0806),arp(sip=10.0.0.0/255.0.0.0,tip=10.0.0.2,op=1,sha=02:00:00:00:00:00/ff:00:00:00:00:ff) 2
		in_port(13),eth(),eth_type(0x8035),arp(op=3) 2
		in_port(14),eth(src=02:00:00:00:00:01/ff:ff:ff:00:00:00),eth_type(0x0800),ipv4(src=10.1.2.3/255.255.0.0,tos=0x10/0xfc,ttl=64,frag=no) 1,2
		in_port(15),eth(),eth_type(0x0800),ipv4(dst=10.0.0.1/255.0.255.255,proto=6,frag=no),tcp(src=4096/0xf000,dst=80),tcp_flags(+syn-ack) drop
		in_port(16),eth(),eth_type(0x0800),ipv4(proto=6,frag=first),tcp(),tcp_flags(syn|ack) 2
		in_port(17),eth(),eth_type(0x0800),ipv4(proto=17,frag=later) 2,2,2,2,2,2,2,2,2,2
		in_port(18),eth(),eth_type(0x0800),ipv4(proto=132,frag=no),sctp(src=1,dst=65535/0xff00) 2
		in_port(19),eth(),eth_type(0x0800),ipv4(proto=1,frag=no),icmp(type=8,code=0) 2
		in_port(20),eth(),eth_type(0x0800),ipv4(proto=47/0xf0) 2
		in_port(21),eth(),eth_type(0x86dd),ipv6(src=2001:db8::1/ffff:ffff::,dst=fc00::/fe00::,label=0x12345/0xff000,proto=58,tclass=0x3,hlimit=255,frag=no),icmpv6(type=128/0xf8) 1
		in_port(22),eth(),eth_type(0x86dd),ipv6(proto=58,frag=no),icmpv6(type=135,code=0),nd(target=fe80::1,sll=02:00:00:00:00:01) 1
		in_port(23),eth(),eth_type(0x86dd),ipv6(dst=::1.2.3.4,proto=44,frag=later) 1
		in_port(24),eth(),eth_type(0x8100),vlan(vid=5),encap(eth_type(0x0800),ipv4(dst=10.7.0.1)) 2
		in_port(25),eth(),eth_type(0x8100),vlan(vid=5,pcp=3),encap(eth_type(0x86dd),ipv6()) 2
		in_port(26),eth(),eth_type(0x88a8),vlan(vid=4095),encap(eth_type(0x8100),vlan(vid=0,pcp=7),encap(eth_type(0x0806),arp())) 2
		in_port(27),eth(),eth_type(0x8847),mpls(label=100,tc=1,ttl=64,bos=1) 2
		in_port(65534),eth(),eth_type(0x88cc) 65534
		skb_priority(5),skb_mark(0x10/0xf0),in_port(28),eth(),eth_type(0x0800),ipv4() 1
	END
}

# dumped [-m]: the lines of dump-flows as lines of a file
dumped() {
	tcvs dump-flows "$@" "$DP" | sed -E 's/^ufid:[^,]*, ?//; s/, packets:.*actions:/ /'
}

@test "what dump-flows prints, add-flows takes, and the dump is the same" {
	switch_up 2
	kinds >"$FILE"
	bulk add-flows "$DP" "$FILE"
	assert_equal "$(show_value flows)" "$(wc -l <"$FILE")"
	for option in "" -m; do
		# shellcheck disable=SC2086
		dumped >"$FILE.one"
		dumped -m >"$FILE.one_m"
		# shellcheck disable=SC2086
		dumped $option >"$FILE.again"
		tcvs del-flows "$DP"
		bulk add-flows "$DP" "$FILE.again"
		dumped >"$FILE.two"
		dumped -m >"$FILE.two_m"
		run -0 diff <(sort "$FILE.one") <(sort "$FILE.two")
		run -0 diff <(sort "$FILE.one_m") <(sort "$FILE.two_m")
	done
	sed 's/ .*//' "$FILE.one" >"$FILE.keys"
	bulk del-flows "$DP" "$FILE.keys"
	assert_equal "$(dump)" ""
}

@test "a dump keeps the order in which flows were added, and is the same twice" {
	switch_up 2
	kinds >"$FILE"
	bulk add-flows "$DP" "$FILE"
	dumped >"$FILE.one"
	assert_equal "$(dumped)" "$(cat "$FILE.one")"
	tcvs del-flows "$DP"
	bulk add-flows "$DP" "$FILE.one"
	dumped >"$FILE.two"
	run -0 diff "$FILE.one" "$FILE.two"
}
