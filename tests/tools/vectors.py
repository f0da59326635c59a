# SPDX-License-Identifier: GPL-2.0-only
"""Files of vectors: rows with TABs between, each checked by a function that raises one of these, or holds."""
import re
import subprocess

# Actions that there is no parser for yet; a row with one of them waits.
ACTIONS_NOT_BUILT = [
    "add_mpls", "check_pkt_len", "clone", "ct", "ct_clear", "dec_ttl", "drop(", "hash", "meter", "pop_eth", "pop_mpls",
    "psample", "push_eth", "push_mpls", "recirc", "sample", "set(mpls", "set(ct_mark", "tnl_pop", "trunc", "userspace",
]


class Failure(Exception):
    """It is otherwise than it should be."""


class Skip(Exception):
    """It cannot be tried, for this reason."""


class Deviation(Exception):
    """It is as it should be here, which is otherwise than in Open vSwitch, for this reason."""


def run(*command):
    """Exit status 0: what was printed, None; 1: None, the one line of the refusal."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    out, err = done.stdout, done.stderr
    if done.returncode == 0 and not err:
        return out, None
    if done.returncode == 1 and not out and re.fullmatch(r"tcvsctl: [^\n]+\n", err):
        return None, err[len("tcvsctl: "):-1]
    raise Failure(f"status {done.returncode}, {out!r}, {err!r}")


def skip_unless_built(actions):
    if re.search(r"\b(attr|nest)\(", actions):
        raise Skip("raw attributes, which have no text")
    for name in ACTIONS_NOT_BUILT:
        if re.search(rf"(?<![\w=]){re.escape(name)}" + (r"(?!\w)" if name[-1] != "(" else ""), actions):
            raise Skip(f"actions not built yet: {name.rstrip('(')}")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def check_all(name, path, check, deviations, wanted=None):
    """Checks every row, or those that are wanted, says what is to be said, and returns the exit status.  deviations: ids that have to be some."""
    held = deviating = skipped = failed = 0
    rows = [row for row in rows_of(path) if not wanted or wanted(row)]
    for row in rows:
        try:
            check(row)
            held += 1
            if row[0] in deviations:
                raise Failure("is named as a deviation, and is none")
        except Deviation as reason:
            deviating += 1
            print(f"{row[0]}: meant to differ: {reason}")
        except Skip as reason:
            skipped += 1
            print(f"{row[0]}: skipped: {reason}")
        except Failure as reason:
            failed += 1
            print(f"{row[0]}: FAILED: {reason}")
    print(f"{name}: {held + deviating} of {len(rows)} hold, {deviating} of them as tcvs means to differ; "
          f"{skipped} skipped, {failed} failed")
    return 1 if failed or not rows else 0
