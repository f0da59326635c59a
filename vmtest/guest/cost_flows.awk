# SPDX-License-Identifier: GPL-2.0-only
# Flows for the cost of masks, each with a mask of its own or of as many as it is said: kind=last, even, narrow or zipf,
# n=masks.  All masks match frames from 128.0.0.0: they differ in the prefix of the source and in whether TOS counts.

function octets(bits) {
	return sprintf("%d.%d.%d.%d", bits / 16777216, bits / 65536 % 256, bits / 256 % 256, bits % 256)
}

function prefix(len) {
	return octets(4294967296 - 2 ^ (32 - len))
}

function flow(mask, dst, dst_mask) {
	printf "in_port(1),eth(),eth_type(0x0800),ipv4(src=128.0.0.0/%s,dst=%s/%s,tos=0/%s) 2\n",
		prefix(mask % 32 + 1), octets(dst), dst_mask, mask < 32 ? "0x00" : "0xff"
}

# 1024 blocks of 64 addresses from 10.0.0.0 on, dealt to masks by Zipf's law with s = 1.1; the busiest mask comes last.
function zipf(  i, sum, part, block) {
	for (i = 1; i <= n; i++)
		sum += i ^ -1.1
	for (i = n; i >= 1; i--)
		for (part += i ^ -1.1 / sum; block < 1024 * part - 1e-6; block++)
			flow(n - i, 10 * 16777216 + block * 64, "255.255.255.192")
}

BEGIN {
	if (kind == "zipf")
		zipf()
	# Only the last one is for 10.0.0.1.
	for (i = 0; i < n && kind == "last"; i++)
		flow(i, (i + 1 == n ? 10 : 100 + i) * 16777216, "255.0.0.0")
	# Destinations from 1.0.0.0 on, an eighth of all IPv4 for each.
	for (i = 0; i < n && kind == "even"; i++)
		flow(i, (i + 1) * 16777216, "255.0.0.0")
	# Neighbouring addresses have different masks; n: a power of two.
	for (i = 0; i < n && kind == "narrow"; i++)
		flow(i, i, "0.0.0." n - 1)
}
