#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds parse-flow and parse-actions against what Open vSwitch and its kernel datapath make of the same texts.

    text_vectors.py keys|accept|quirks TCVSCTL FILE.tsv

Prints each row that is skipped or that tcvs means to take otherwise, with the reason, then how many of how many hold.
Exits 1 if a row fails, or if one that is named here as an exception is not one.
"""
import re
import sys

from vectors import Deviation, Failure, check_all, run, skip_unless_built

# Attributes that text knows and this datapath cannot match, in the order in which they are refused.
FOREIGN = ["tunnel", "ct_state", "ct_zone", "ct_mark", "ct_label", "ct_tuple4", "ct_tuple6", "packet_type", "nsh"]

MISSING_IS_WILD = "an attribute that the text lacks is wild (decision 14)"
NUMBERS_FIT = "a number has to fit its field, and none is octal"
PREFIXES = "prefix lengths are taken, as by ovs-dpctl.py"

# Rows that are taken otherwise than by Open vSwitch: what happens, and why.
DEVIATIONS = {
    "K414": ("refused", "an attribute that is there twice is refused by the parser already"),
    "X190": ("taken", MISSING_IS_WILD),
    "X203": ("taken", MISSING_IS_WILD),
    "X200": ("taken", PREFIXES),
    "C009": ("refused", NUMBERS_FIT),
    "C013": ("refused", NUMBERS_FIT),
    "C025": ("refused", NUMBERS_FIT),
    "C037": ("refused", NUMBERS_FIT),
    "C031": ("taken", PREFIXES),
    "C043": ("taken", PREFIXES),
    "C071": ("taken", "vlan(tci=) is a form of ovs-dpctl.py"),
    "C107": ("taken", "ct_tuple6(src_port=) is what Open vSwitch prints"),
}

# The rule that a refusal of --check has to name, by the reason of the kernel.
RULES = {
    "nd_ext is userspace only": "nd_ext: ",
    "mask not allowed: ct_tuple4": "ct_tuple4: needs eth_type(0x0800)",
    "empty encap mask is dropped as all-zero, leaving an unexpected vlan attribute": "encap: nothing in it is matched",
    "duplicate skb_mark attribute (Duplicate key (type 15))": "skb_mark: is given twice",
}


def run_line(*args):
    """As run(), for a command that prints one line; without its end."""
    out, refusal = run(TCVSCTL, *args)
    if out is None:
        return out, refusal
    if not out.endswith("\n") or out.count("\n") != 1:
        raise Failure(f"not one line: {out!r}")
    return out[:-1], None


def expand(text):
    repeat = re.fullmatch(r"@REPEAT\((.*),(\d+)\)", text)
    if repeat:
        return ",".join([repeat[1]] * int(repeat[2]))
    nest = re.fullmatch(r"@NEST\((.*),(\d+)\)", text)
    if nest:
        return f"{nest[1]}(" * int(nest[2]) + ")" * int(nest[2])
    return text


def split(text):
    """At the commas that no bracket holds."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def in_order(text):
    """Attributes, and fields in them, sorted; those of a label stack stay where they are."""
    parts = []
    for part in split(text):
        inner = re.fullmatch(r"(\w+)\((.*)\)", part)
        if inner and inner[1] != "mpls":
            part = f"{inner[1]}({in_order(inner[2])})"
        parts.append(part)
    return ",".join(sorted(parts))


def expect_printed(got, wanted):
    out, refusal = got
    if refusal:
        raise Failure(f"refused: {refusal}")
    if in_order(out) != in_order(wanted):
        raise Failure(f"printed {out}, not {wanted}")


def expect_refused(got, words=""):
    out, refusal = got
    if refusal is None:
        raise Failure(f"taken: {out}")
    if words not in refusal:
        raise Failure(f"refused: {refusal}; expected {words}")


def first_foreign(text):
    names = re.findall(r"\b(\w+)\(", text)
    for name in FOREIGN:
        if name in names and not (name == "packet_type" and "packet_type(ns=0,id=0)" in text):
            return name
    return None


def expect_checked(got, text):
    """Taken by the kernel: taken, or refused by the name of what cannot be matched."""
    foreign = first_foreign(text)
    if foreign:
        expect_refused(got, f"{foreign}: ")
        expect_refused(got, "leave it out or give it mask 0")
    elif got[1]:
        raise Failure(f"refused: {got[1]}")


def expect_read_back(got, *options):
    out, refusal = got
    if refusal is None and run_line("parse-flow", *options, *split_actions(out)) != got:
        raise Failure(f"{out} is read as something else")


def split_actions(line):
    return line.split(", actions:")


def check_key(row):
    ident, _, cli, kernel, reason, text = row
    text = expand(text)
    got = run_line("parse-flow", text)
    if cli == "refused":
        expect_refused(got)
        return
    deviates = []
    if ident in DEVIATIONS:
        expect_refused(got)
        deviates.append(DEVIATIONS[ident][1])
    else:
        wanted = text if cli == "same" else cli.removeprefix("printed:")
        if "dir=1/0x1" in wanted:
            wanted = wanted.replace("dir=1/0x1", "dir=1")
            deviates.append("of erspan's dir, one bit, an exact mask is not shown")
        expect_printed(got, wanted)
        expect_read_back(got)
    got = run_line("parse-flow", "--check", text)
    if kernel == "OK":
        expect_checked(got, text)
        expect_read_back(got, "--check")
    elif reason != "missing tcp_flags":
        expect_refused(got, RULES[reason])
    elif "ct_tuple4" in text:
        expect_refused(got, RULES["mask not allowed: ct_tuple4"])
    else:
        expect_checked(got, text)
        deviates.append(MISSING_IS_WILD)
    if deviates:
        raise Deviation("; ".join(deviates))


def action_text(actions):
    """As it is typed; a row that cannot be is skipped."""
    skip_unless_built(actions)
    return re.sub(r"\bnothing\b", "drop", actions)


def masked_dump(dump):
    """A line of Open vSwitch's dump, as tcvs prints the same flow: masked, and without what says nothing."""
    key, actions = split_actions(dump)
    got = run_line("parse-flow", "--check", key, actions)
    if got[1]:
        raise Failure(f"what Open vSwitch dumps is refused: {got[1]}")
    return got[0]


def check_accept(row):
    ident, flow, actions, verdict, dump, *_ = row
    got = run_line("parse-flow", "--check", flow, action_text(actions))
    if ident in DEVIATIONS:
        what, why = DEVIATIONS[ident]
        if what == "refused":
            expect_refused(got)
        else:
            expect_checked(got, flow)
            expect_read_back(got, "--check")
        raise Deviation(why)
    if verdict != "OK":
        expect_refused(got, "parsing flow key" if verdict == "cli:key" else "")
        return
    expect_checked(got, flow)
    if got[1]:
        raise Deviation(f"the kernel takes it; here {first_foreign(flow)} is refused by name")
    expect_read_back(got, "--check")
    expect_printed(got, masked_dump(dump))


def check_quirk(row):
    ident, _, text, _, result = row
    got = run_line("parse-flow", text)
    if ident in DEVIATIONS:
        what, why = DEVIATIONS[ident]
        if what == "refused":
            expect_refused(got)
        elif got[1]:
            raise Failure(f"refused: {got[1]}")
        raise Deviation(why)
    if result == "reject":
        expect_refused(got)
    else:
        expect_printed(got, result.removeprefix("prints:"))


# Quirks of actions are held against the parser itself, by tests/unit/test_action_vectors.c.
WANTED = {"quirks": lambda row: row[1] == "K"}
CHECKS = {"keys": check_key, "accept": check_accept, "quirks": check_quirk}


if __name__ == "__main__":
    TCVSCTL = sys.argv[2]
    sys.exit(check_all(sys.argv[1], sys.argv[3], CHECKS[sys.argv[1]], DEVIATIONS, WANTED.get(sys.argv[1])))
