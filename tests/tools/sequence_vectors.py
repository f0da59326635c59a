#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plays sequences of flow commands on a datapath, and holds the results against those of Open vSwitch.

    sequence_vectors.py TCVSCTL DP FILE.tsv

Each sequence begins with no flows.  Prints what text_vectors.py prints.
"""
import re
import shlex
import sys

from vectors import Deviation, Failure, check_all, run, skip_unless_built

# What the exit codes of Open vSwitch, a kernel's errno, look like in a refusal.
REFUSALS = {2: "No such file or directory", 17: "File exists|overlaps flow", 22: "Invalid argument"}

# Sequences that end otherwise here: the results, what is dumped, and why.
DEVIATIONS = {
    "Q05": ([0, 17], "-", "overlap is found in both orders"),
    "Q16": ([0, 0, 0], "-", "a flow is found by its key and mask, with or without a UFID"),
    "Q22": ([0, 0, 2], "-", "a flow is found by its masked key, whatever the bits outside the mask"),
    "Q23": ([0], "-", "drop is the empty list, as the text of Open vSwitch says"),
}


def flow_of(line):
    """UFID, key and actions of a line of a dump; the key as tcvs prints it, so that only its meaning counts."""
    ufid = re.match(r"ufid:([^,]*), ", line)
    line = re.sub(r", dp:\w+(, page:\d+, slot:\d+)?", "", line[ufid.end():] if ufid else line)
    key, actions = re.sub(r", packets:.*, used:[^,]*", "", line).split(", actions:")
    text, refusal = run(TCVSCTL, "parse-flow", "--check", key, actions)
    if refusal:
        raise Failure(f"{line}: {refusal}")
    return ufid and ufid[1], text


def play(commands):
    results, out = [], ""
    for command in commands.split(" && "):
        words = [DP if word == "dp0" else word for word in shlex.split(command)]
        printed, refusal = run(TCVSCTL, *words)
        results.append(refusal or 0)
        out += printed or ""
    return results, out.splitlines()


def result_agrees(got, wanted):
    return got == wanted if 0 in (got, wanted) else re.search(REFUSALS[wanted], got)


def check_sequence(row):
    ident, _, commands, results, out = row
    skip_unless_built(" ".join(word for word in shlex.split(commands) if "eth()" not in word))
    wanted = [int(re.match(r"\d+", result)[0]) for result in results.split(" ; ")]
    if ident in DEVIATIONS:
        wanted, out, _ = DEVIATIONS[ident]
    run(TCVSCTL, "del-flows", DP)
    got, dumped = play(commands)
    if len(got) != len(wanted) or not all(map(result_agrees, got, wanted)):
        raise Failure(f"results {got}, not {wanted}")
    if [flow_of(line) for line in dumped] != ([] if out == "-" else [flow_of(out)]):
        raise Failure(f"dumped {dumped}, not {out}")
    if ident in DEVIATIONS:
        raise Deviation(DEVIATIONS[ident][2])


if __name__ == "__main__":
    TCVSCTL, DP = sys.argv[1:3]
    sys.exit(check_all("sequences", sys.argv[3], check_sequence, DEVIATIONS))
