#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The checks of `make check`: each passes a good tree and refuses a bad one.

bats_require_minimum_version 1.5.0

setup() {
	checks=$BATS_TEST_DIRNAME/../tools/check
	cd "$BATS_TEST_TMPDIR" || return
	mkdir include bpf ctl
	put include/dp_maps.h "$dual"
	put ctl/util.h "$gpl"
	put ctl/field.h "$gpl"
	put ctl/dp.h "$gpl" '#include <bpf/bpf.h>' '#include "dp_maps.h"' '#include "util.h"'
}

gpl='/* SPDX-License-Identifier: GPL-2.0-only */'
dual='/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */'

# put FILE LINE...
put() {
	printf '%s\n' "${@:2}" >"$1"
}

passes() {
	run -0 "$checks/$1"
}

# refuses CHECK TEXT: fails, and says TEXT.
refuses() {
	run "$checks/$1"
	if ((status == 0)) || [[ $output != *"$2"* ]]; then
		printf 'status %d, output: %s\n' "$status" "$output"
		return 1
	fi
}

needs() {
	command -v "$1" >/dev/null || skip "no $1 here"
}

@test "spdx: a source without a licence line, or with another folder's" {
	passes spdx
	put ctl/dp.c '#include "dp.h"'
	refuses spdx ctl/dp.c
	put ctl/dp.c "$gpl"
	put include/dp_maps.h "$gpl"
	refuses spdx include/dp_maps.h
}

@test "limits: 600 lines in a file" {
	{ echo "$gpl"; yes '' | head -n 599; } >ctl/dp.c
	passes limits
	echo >>ctl/dp.c
	refuses limits 'ctl/dp.c: more than 600 lines'
}

@test "limits: 60 lines in a function" {
	{ echo 'int walk(void)'; echo '{'; yes '	;' | head -n 60; echo '}'; } >ctl/dp.c
	passes limits
	{ echo 'static int stroll(int a, int b)'; echo '{'; yes '	;' | head -n 61; echo '}'; } >>ctl/dp.c
	refuses limits 'stroll: 61 lines'
}

@test "words: what stands for unfinished work or one person's machine" {
	put ctl/dp.c "$gpl" '/* mktemp tcvs.XXXXXX, /usr/share/work/, net.work/s */'
	passes words
	for text in 'TODO: later' 'makes the verifier happy' 'keep in sync with maps.h' 'see /home/someone/x' 'not implemented'; do
		put ctl/dp.c "$gpl" "/* $text */"
		refuses words "ctl/dp.c:2:/* $text"
	done
}

@test "includes: a cycle inside one layer" {
	passes includes
	put ctl/match_text.h "$gpl" '#include "field.h"'
	passes includes
	put ctl/field.h "$gpl" '#include "match_text.h"'
	refuses includes 'a cycle of includes'
}

@test "includes: an edge to a layer above" {
	put ctl/util.h "$gpl" '#include "emit.h"'
	put ctl/emit.h "$gpl"
	refuses includes 'ctl/util.h: includes "emit.h", which stands in a layer above its own'
}

@test "includes: a pure module that knows libbpf" {
	put ctl/field.c "$gpl" '#include <bpf/libbpf.h>'
	refuses includes 'ctl/field.c: includes <bpf/libbpf.h>'
	put ctl/field.c "$gpl" '#include "datapath.skel.h"'
	refuses includes 'ctl/field.c: includes "datapath.skel.h"'
}

@test "includes: a module without a layer, and a header of the other side" {
	put ctl/gadget.c "$gpl"
	refuses includes 'ctl/gadget has no layer'
	rm ctl/gadget.c
	put bpf/key.h "$gpl"
	put ctl/field.c "$gpl" '#include "key.h"'
	refuses includes 'neither in ctl/ nor in include/'
}

@test "format: spaces where tabs belong" {
	needs clang-format
	cp "$BATS_TEST_DIRNAME/../../.clang-format" .
	put ctl/dp.c "$gpl" 'int walk(void)' '{' '	return 0;' '}'
	passes format
	put ctl/dp.c "$gpl" 'int walk(void)' '{' '  return 0;' '}'
	refuses format ctl/dp.c
}

@test "shell: an unquoted expansion, in a file without a suffix" {
	needs shellcheck
	put ctl/helper '#!/bin/bash' 'cat "$1"'
	passes shell
	put ctl/helper '#!/bin/bash' 'cat $1'
	refuses shell SC2086
}

@test "spelling: a common misspelling" {
	needs codespell
	passes spelling
	put README.md "A datapath that recie""ves."
	refuses spelling README.md
}
