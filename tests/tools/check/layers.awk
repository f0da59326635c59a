# SPDX-License-Identifier: GPL-2.0-only
# Reads the layers, then lines of FILE MODULE INCLUDED, and prints the edges that go the wrong way.

function matches(name, pattern)
{
	if (pattern ~ /\*$/)
		return index(name, substr(pattern, 1, length(pattern) - 1)) == 1
	return name == pattern
}

# The line of a module's layer, 0 = unknown.
function layer(module,    part, i, j, names, n)
{
	split(module, part, "/")
	for (i = 1; i <= layers; i++) {
		if (folder[i] != part[1])
			continue
		n = split(modules[i], names, " ")
		for (j = 1; j <= n; j++)
			if (matches(part[2], names[j]))
				return i
	}
	return 0
}

function complain(text)
{
	print $1 ": " text
	bad = 1
}

NR == FNR {
	if (/^#/ || NF < 3)
		next
	folder[++layers] = $1
	libbpf[layers] = $2 == "libbpf"
	modules[layers] = $0
	sub(/^[^ ]+ +[^ ]+ +/, "", modules[layers])
	next
}

$3 == "-" {
	known[$2] = 1
	if (!layer($2))
		complain("module " $2 " has no layer: enter it in tests/tools/check/layers")
	next
}

{ file[++edges] = $1; from[edges] = $2; included[edges] = $3 }

END {
	for (e = 1; e <= edges; e++) {
		$1 = file[e]
		mine = layer(from[e])
		what = included[e]
		if (what ~ /^<bpf\// || what ~ /\.skel\.h"$/) {
			if (mine && !libbpf[mine])
				complain("includes " what ", but its layer does not know libbpf")
			continue
		}
		if (what !~ /^"/)
			continue
		name = what
		gsub(/"|\.h"$/, "", name)
		split(from[e], part, "/")
		to = part[1] "/" name
		if (!(to in known))
			to = "include/" name
		if (!(to in known))
			complain("includes " what ", which is neither in " part[1] "/ nor in include/")
		else if (mine && layer(to) > mine)
			complain("includes " what ", which stands in a layer above its own")
	}
	exit bad
}
