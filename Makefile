# SPDX-License-Identifier: GPL-2.0-only
#
# make             build/tcvsctl                     make demo       two namespaces talk (root)
# make test        every test (root)                 make check      style, include order, limits
# make bench       the benchmark programs            make deps       Debian or Ubuntu packages (root)
# make vmtest      the tests on other kernels      make bench-vm   guest instructions a frame, side by side
# make fuzz        the parsers, FUZZ_TIME=600 s each
# make install     PREFIX, DESTDIR                   make format     clang-format, in place
#
# V=1 shows the commands.  New source files are found by name: nothing here needs an edit for them.

V	  ?= 0
BUILD	  ?= build
PREFIX	  ?= /usr/local
CLANG	  ?= clang
CFLAGS	  ?= -O2 -g
# What the unit tests run under; empty for a compiler without the sanitizers' runtime.
SANITIZE  ?= address,undefined
BPFTOOL	  ?= $(or $(shell tests/tools/find-bpftool),$(error no bpftool works here; see "make deps"))

RELEASE	  := 0.1.0
VERSION	  := $(or $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null | sed 's/^v//'),\
	$(RELEASE)$(shell git log -1 --format=-g%h 2>/dev/null))

ifeq ($(V),0)
Q	  := @
msg	  = @printf '  %-8s %s\n' '$(1)' '$(2)';
endif

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.PHONY: all tests deps demo test fuzz vmtest check bench bench-vm install uninstall format clean FORCE

all: $(BUILD)/tcvsctl

# --- flags -------------------------------------------------------------------------------------------------------

# Quoted includes only, so that none of our names (link.h, error.h) ever hides a system header.
INCLUDES  := -iquote include -iquote skel
WARNINGS  := -Wall -Wextra -Werror
C_FLAGS	   = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -MMD -MP $(INCLUDES) $(CPPFLAGS) $(CFLAGS)
SAN_FLAGS  = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
LIBS	  := -lbpf -lelf -lz -ljansson -lmnl -lm

# So that systemd knows when the controller is ready; it does as well without.
ifneq ($(shell pkg-config --exists libsystemd 2>/dev/null && echo yes),)
C_FLAGS	  += -DHAVE_SYSTEMD
LIBS	  += -lsystemd
endif

# The BPF target has no multiarch directory of its own, and linux/types.h wants asm/types.h.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null || gcc -print-multiarch 2>/dev/null)
BPF_FLAGS  = --target=bpf -mcpu=v3 -O2 -g -std=gnu11 $(WARNINGS) -MMD -MP -iquote include -iquote bpf \
	$(addprefix -idirafter /usr/include/,$(MULTIARCH))

# --- what there is -----------------------------------------------------------------------------------------------

CTL_SRC	   := $(wildcard ctl/*.c)
LIB_SRC	   := $(filter-out ctl/main.c,$(CTL_SRC))
CTL_OBJ	   := $(CTL_SRC:%.c=$(BUILD)/%.o)
LIB_OBJ	   := $(LIB_SRC:%.c=$(BUILD)/%.o)
SAN_OBJ	   := $(LIB_SRC:%.c=$(BUILD)/san/%.o)
DP_SKEL	   := $(patsubst bpf/%.bpf.c,skel/%.skel.h,$(wildcard bpf/*.bpf.c))

UNIT	   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
UNIT_HELP  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
PROG_SRC   := $(filter-out %.bpf.c,$(wildcard tests/prog/*.c))
PROG	   := $(patsubst %.c,$(BUILD)/%,$(filter tests/prog/test_%,$(PROG_SRC)))
PROG_HELP  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/prog/test_%,$(PROG_SRC)))
PROG_SKEL  := $(patsubst tests/prog/%.bpf.c,skel/%.skel.h,$(wildcard tests/prog/*.bpf.c))
TOOLS	   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/tools/*.c))

BENCH_SRC  := $(filter-out %.bpf.c,$(wildcard bench/*.c))
BENCH_OBJ  := $(BENCH_SRC:%.c=$(BUILD)/%.o)
BENCH_SKEL := $(patsubst bench/%.bpf.c,skel/bench_%.skel.h,$(wildcard bench/*.bpf.c))
BENCH	   := $(if $(BENCH_SRC),$(BUILD)/bench/bench)

# libFuzzer comes with clang, and Debian and Ubuntu have it in a package of its own.
FUZZER	   := $(wildcard $(shell $(CLANG) -print-resource-dir 2>/dev/null)/lib/*/libclang_rt.fuzzer*.a)
FUZZ	   := $(if $(FUZZER),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_HELP  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/fuzz/fuzz_%,$(wildcard tests/fuzz/*.c)))
FUZZ_OBJ   := $(LIB_SRC:%.c=$(BUILD)/fuzz/%.o)
FUZZ_SAN   := fuzzer,address,undefined

TEST_OBJ   := $(UNIT:%=%.o) $(PROG:%=%.o) $(TOOLS:%=%.o) $(UNIT_HELP) $(PROG_HELP)

# --- stamps: what a file on disk cannot tell, the flags and the list of sources ------------------------------------
# Variables of one target are private in this file: its prerequisites, the stamps among them, would inherit them.

STAMP_flags    = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
STAMP_san      = $(STAMP_flags) $(SANITIZE)
STAMP_fuzz     = $(CLANG) $(CPPFLAGS) $(FUZZ_SAN)
STAMP_bpf      = $(CLANG) $(BPF_FLAGS)
STAMP_sources  = $(CTL_SRC) $(UNIT_HELP) $(PROG_HELP) $(BENCH_SRC) $(FUZZ_HELP)
STAMP_version  = $(VERSION)

$(BUILD)/stamp-%: FORCE
	@mkdir -p $(@D)
	@echo '$(STAMP_$*)' | cmp -s - $@ || echo '$(STAMP_$*)' >$@

# --- the program -------------------------------------------------------------------------------------------------

VERSIONED  := $(patsubst %.c,%.o,$(shell grep -ls TCVS_VERSION $(CTL_SRC) /dev/null))

$(addprefix $(BUILD)/,$(VERSIONED)) $(addprefix $(BUILD)/san/,$(VERSIONED)): $(BUILD)/stamp-version
$(addprefix $(BUILD)/,$(VERSIONED)) $(addprefix $(BUILD)/san/,$(VERSIONED)): \
	private CPPFLAGS += -DTCVS_VERSION='"$(VERSION)"'

$(CTL_OBJ): $(BUILD)/%.o: %.c $(BUILD)/stamp-flags | $(DP_SKEL)
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(C_FLAGS) -c -o $@ $<

# Without warnings: the sanitizers make gcc see what is not there, and the objects above are compiled with all of them.
$(SAN_OBJ): $(BUILD)/san/%.o: %.c $(BUILD)/stamp-san | $(DP_SKEL)
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(C_FLAGS) $(SAN_FLAGS) -w -c -o $@ $<

# With clang, whatever CC is, for only that has libFuzzer.
FUZZ_COMPILE = $(CLANG) $(C_FLAGS) -O1 -fsanitize=$(FUZZ_SAN) -fno-sanitize-recover=all
$(FUZZ_OBJ): $(BUILD)/fuzz/%.o: %.c $(BUILD)/stamp-fuzz | $(DP_SKEL)
	@mkdir -p $(@D)
	$(call msg,FUZZ,$@)
	$(Q)$(FUZZ_COMPILE) -w -c -o $@ $<

$(BUILD)/fuzz/libtcvs.a: $(FUZZ_OBJ) $(BUILD)/stamp-sources
$(BUILD)/libtcvs.a: $(LIB_OBJ) $(BUILD)/stamp-sources
$(BUILD)/san/libtcvs.a: $(SAN_OBJ) $(BUILD)/stamp-sources
%/libtcvs.a:
	$(call msg,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) crD $@ $(filter %.o,$^)

$(BUILD)/tcvsctl: $(BUILD)/ctl/main.o $(BUILD)/libtcvs.a
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- BPF objects and their skeletons -------------------------------------------------------------------------------

$(BUILD)/bpf/%.o: bpf/%.bpf.c $(BUILD)/stamp-bpf
	@mkdir -p $(@D)
	$(call msg,BPF,$@)
	$(Q)$(CLANG) $(BPF_FLAGS) -c -o $@ $<

$(BUILD)/%.bpf.o: %.bpf.c $(BUILD)/stamp-bpf
	@mkdir -p $(@D)
	$(call msg,BPF,$@)
	$(Q)$(CLANG) $(BPF_FLAGS) -c -o $@ $<

# The skeleton's struct is NAME_bpf.  It is moved into place whole: a second make in the same tree never reads half of it.
skeleton = $(Q)$(BPFTOOL) gen skeleton $< name $(notdir $(@:.skel.h=_bpf)) >$@.$$$$ && mv $@.$$$$ $@

skel/bench_%.skel.h: $(BUILD)/bench/%.bpf.o
	$(call msg,SKEL,$@)
	$(skeleton)

$(DP_SKEL): skel/%.skel.h: $(BUILD)/bpf/%.o
	$(call msg,SKEL,$@)
	$(skeleton)

$(PROG_SKEL): skel/%.skel.h: $(BUILD)/tests/prog/%.bpf.o
	$(call msg,SKEL,$@)
	$(skeleton)

# --- tests and benchmarks ------------------------------------------------------------------------------------------

tests: all $(UNIT) $(PROG) $(TOOLS) $(BENCH) $(FUZZ)

$(TEST_OBJ) $(BENCH_OBJ): private INCLUDES += -iquote ctl -iquote .
$(UNIT:%=%.o) $(UNIT_HELP): private CFLAGS += $(SAN_FLAGS)
$(BENCH_OBJ): | $(BENCH_SKEL)
$(TEST_OBJ) $(BENCH_OBJ): $(BUILD)/%.o: %.c $(BUILD)/stamp-san | $(DP_SKEL) $(PROG_SKEL)
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(C_FLAGS) -c -o $@ $<

$(UNIT): private LDFLAGS += $(SAN_FLAGS)
$(UNIT): %: %.o $(UNIT_HELP) $(BUILD)/san/libtcvs.a
$(PROG): %: %.o $(PROG_HELP) $(BUILD)/libtcvs.a
$(TOOLS): %: %.o $(BUILD)/libtcvs.a
$(BUILD)/bench/bench: $(BENCH_OBJ) $(BUILD)/libtcvs.a
$(UNIT) $(PROG): private LIBS += -lcmocka
$(UNIT) $(PROG) $(TOOLS) $(BUILD)/bench/bench: $(BUILD)/stamp-sources
	$(call msg,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) -lm -lpthread

$(FUZZ:%=%.o) $(FUZZ_HELP): private INCLUDES += -iquote ctl
$(FUZZ:%=%.o) $(FUZZ_HELP): $(BUILD)/%.o: %.c $(BUILD)/stamp-fuzz
	@mkdir -p $(@D)
	$(call msg,FUZZ,$@)
	$(Q)$(FUZZ_COMPILE) -c -o $@ $<

$(FUZZ): %: %.o $(FUZZ_HELP) $(BUILD)/fuzz/libtcvs.a $(BUILD)/stamp-sources
	$(call msg,LD,$@)
	$(Q)$(CLANG) -fsanitize=$(FUZZ_SAN) -o $@ $(filter %.o %.a,$^) $(LIBS)

# --- what people type ----------------------------------------------------------------------------------------------

# A make of its own for each build that follows deps, since what deps installs changes what is found above.
deps:
	$(Q)tests/tools/deps build test demo

demo:
	$(Q)tests/tools/deps build demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)TCVSCTL=$(BUILD)/tcvsctl tests/tools/demo

# The summary of tests/run has to stay the last line, and make adds one of its own when a recipe fails.  On SIGQUIT it
# ends with status 1 and without a word, if the recipe ends well; where SIGQUIT is ignored, the recipe has to fail.
test:
	$(Q)tests/tools/deps build test
	$(Q)$(MAKE) --no-print-directory tests
	@TCVSCTL=$(abspath $(BUILD)/tcvsctl) BUILD=$(abspath $(BUILD)) tests/run $(UNIT) $(PROG) tests/fuzz/run $(wildcard tests/bats/*.bats) || \
		{ kill -QUIT $$PPID; ! grep -q '^SigIgn:.*[4-7c-f]$$' /proc/$$PPID/status; }

fuzz:
	$(Q)tests/tools/deps build test
	$(Q)$(MAKE) --no-print-directory tests
	@FUZZ_TIME=$(or $(FUZZ_TIME),600) BUILD=$(abspath $(BUILD)) tests/fuzz/run

# Other kernels, under emulation; half an hour and more.  "vmtest/all short" takes a few minutes.
vmtest:
	$(Q)vmtest/deps
	$(Q)$(MAKE) --no-print-directory tests
	@vmtest/all full

check:
	$(Q)tests/tools/deps check
	$(Q)tests/tools/check/all

bench: all $(BENCH)
	$(Q)$(BUILD)/bench/bench

# A frame's way in instructions of a guest, beside Open vSwitch, bridge and tc; some five minutes.  JSON=FILE keeps it.
bench-vm: all $(BENCH)
	$(Q)vmtest/bench $(if $(JSON),--json $(JSON))

install: all
	install -D -m 755 $(BUILD)/tcvsctl $(DESTDIR)$(PREFIX)/sbin/tcvsctl

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/tcvsctl

format:
	$(Q)tests/tools/check/sources c | xargs clang-format -i

clean:
	rm -rf $(BUILD) skel/*.skel.h

-include $(patsubst %.o,%.d,$(CTL_OBJ) $(SAN_OBJ) $(FUZZ_OBJ) $(TEST_OBJ) $(BENCH_OBJ) $(FUZZ:%=%.o) $(FUZZ_HELP))
-include $(patsubst skel/%.skel.h,$(BUILD)/bpf/%.d,$(DP_SKEL))
-include $(patsubst skel/%.skel.h,$(BUILD)/tests/prog/%.bpf.d,$(PROG_SKEL))
-include $(patsubst skel/bench_%.skel.h,$(BUILD)/bench/%.bpf.d,$(BENCH_SKEL))
