#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plays one case of tests/data/cases against a datapath: commands, frames in, frames out, counts.

    run_case.py --switch NETNS --ctl PATH --dp DP --port DEV:FAR-END... [--capture-ingress] [--swap] CASE.json

Runs in the namespace of the far ends.  Port n of the datapath is the n-th --port; its device is in the namespace
--switch, where commands and shell steps run.  tests/data/cases/README.md describes the steps.

A frame that arrives on a port which no expectation after its injection names is a failure.
"""
import argparse
import contextlib
import json
import re
import subprocess
import sys
import time

import frames

EXPECTATIONS = ("expect_out", "expect_out_any", "expect_out_set", "expect_none", "record_out")


def pedit_text(step):
    """The pedit that a step's PEDIT stands for, as tc has it."""
    action = step.get("action", {})
    parts = [part for part in action.get("sequence", [action]) if isinstance(part, dict) and "tc_text" in part]
    return "".join(f"pedit({part['tc_text'].removeprefix('pedit ')})" for part in parts)


class CaseFailed(Exception):
    pass


class CaseEnds(Exception):
    """The case is passed without its further steps."""


class Datapath:
    """The program under test, as far as a case needs it."""

    def __init__(self, netns, ctl, name):
        self.netns = netns
        self.ctl = ctl
        self.name = name

    def in_switch(self, *words):
        return subprocess.run(["nsenter", f"--net={self.netns}", *words], text=True, capture_output=True, check=False)

    def run(self, *words):
        return self.in_switch(self.ctl, *words)

    def must(self, *words):
        result = self.run(*words)
        if result.returncode:
            raise CaseFailed(f"{' '.join(words)}: exit {result.returncode}: {result.stderr.strip()}")
        return result.stdout

    @contextlib.contextmanager
    def controller(self, options):
        """A controller, for the time of the with block."""
        words = ["nsenter", f"--net={self.netns}", self.ctl, "run", "-q", *options, self.name]
        with subprocess.Popen(words) as process:
            try:
                yield
            finally:
                process.terminate()

    def flows(self):
        """A dict from a flow's key as printed to its line."""
        lines = self.must("dump-flows", self.name).splitlines()
        return {line.split(", packets:")[0]: line for line in lines}

    def drops(self):
        """A dict from (port, reason) to the count."""
        counts = {}
        for line in self.must("drops", self.name).splitlines():
            found = re.match(r"\s*port (\d+):(.*)", line)
            if found:
                for reason, count in re.findall(r"([a-z_0-9]+):(\d+)", found[2]):
                    counts[int(found[1]), reason] = int(count)
        return counts

    def overlimits(self):
        """Edits that broke off, of all flows."""
        return sum(flow.get("overlimits", 0) for flow in json.loads(self.must("-j", "dump-flows", self.name))["flows"])

    def show(self):
        text = self.must("show", self.name)
        names = {"hit": r"\bhit:(\d+)", "missed": r"missed:(\d+)", "lost": r"lost:(\d+)", "flows": r"flows: (\d+)",
                 "masks_hit": r"masks: hit:(\d+)", "masks_total": r"total:(\d+)"}
        values = {}
        for name, pattern in names.items():
            found = re.search(pattern, text)
            if found:
                values[name] = int(found[1])
        return values


def flow_and_actions(line):
    """The parts of a dumped line that make the flow again."""
    key, rest = line.split(", packets:", 1)
    return key, rest.split("actions:", 1)[1]


class Case:
    def __init__(self, case, dp, ports, capture_ingress):
        self.case = case
        self.dp = dp
        self.devices = {number: pair.split(":")[0] for number, pair in enumerate(ports, 1)}
        self.far_ends = {number: pair.split(":")[1] for number, pair in enumerate(ports, 1)}
        self.capture_ingress = capture_ingress
        self.captures = {}
        self.got = None  # frames by port since the last injection, or None when they have been judged
        self.named = set()
        self.injected = {}
        self.keys = {}  # flow text of the case -> key as the product prints it
        self.saved = {}
        self.drops_before = {}
        self.masks_hit_before = 0
        self.overlimits_before = 0

    def run(self):
        before = [step for step in self.case["steps"] if step.get("when") == "before add-if"]
        for step in before:
            self.step_shell(step)
        self.dp.must("add-dp", self.dp.name)
        for number in sorted(self.devices):
            self.dp.must("add-if", self.dp.name, self.devices[number])
        self.open_captures()
        if "controller" in self.case:
            with self.dp.controller(self.case["controller"]):
                self.play_captured(before)
        else:
            self.play_captured(before)

    def play_captured(self, before):
        if not self.capture_ingress:
            self.play_steps(before)
            return
        with self.ingress_capture() as capture:
            self.play_steps(before)
            self.check_ingress(capture)

    def play_steps(self, before):
        for number, step in enumerate(self.case["steps"], 1):
            if step in before:
                continue
            try:
                self.play(step)
            except CaseEnds:
                return
            except CaseFailed as failure:
                raise CaseFailed(f"step {number}, {json.dumps(step)[:120]}:\n{failure}") from failure
        self.settle()

    def play(self, step):
        kind = next(iter(step))
        if kind not in EXPECTATIONS:
            self.settle()
        getattr(self, "step_" + kind)(step)

    def substitute(self, text):
        """DP as a word of its own, and P1 to Pn with whatever follows (a case renames P2 to P2x), as names of this run."""
        text = re.sub(r"\bP(\d)", lambda found: self.devices[int(found[1])], text)
        return self.dp.name if text == "DP" else text

    # Frames

    def open_captures(self):
        for number, far_end in self.far_ends.items():
            self.captures[number] = frames.Capture(far_end)

    def receive(self, wanted=0):
        if self.got is None:
            return {number: [] for number in self.captures}
        by_dev = frames.collect(list(self.captures.values()), wanted - sum(map(len, self.got.values())))
        for number, capture in self.captures.items():
            self.got[number] += by_dev[capture.dev]
        return self.got

    def settle(self):
        """Judges what arrived on ports that no expectation has named, if there was an expectation at all."""
        if self.got is None or not self.named:
            self.got = None
            return
        for number, got in self.receive().items():
            if number not in self.named and got:
                raise CaseFailed(f"port {number}, which nothing names: " + "; ".join(frames.compare(got, [])))
        self.got = None

    def step_inject(self, step):
        what = step["inject"]
        frame = bytes.fromhex(what["hex"])
        for capture in self.captures.values():
            capture.read()
        self.drops_before = self.dp.drops()
        self.masks_hit_before = self.dp.show().get("masks_hit", 0)
        self.overlimits_before = self.dp.overlimits()
        self.got = {number: [] for number in self.captures}
        self.named = set()
        frames.send(self.far_ends[what["port"]], frame, what["count"])
        if what["port"] == 1:
            self.injected[frame] = self.injected.get(frame, 0) + what["count"]

    def expect(self, port, expected):
        self.named.add(port)
        lines = frames.compare(self.receive(len(expected))[port], expected)
        if lines:
            raise CaseFailed(f"port {port}: " + "\n".join(lines))

    def step_expect_out(self, step):
        what = step["expect_out"]
        self.expect(what["port"], [bytes.fromhex(what["hex"])] * what["count"])

    def step_expect_out_any(self, step):
        what = step["expect_out_any"]
        self.named.add(what["port"])
        got = self.receive(what["count"])[what["port"]]
        for alternative in what["alternatives"]:
            if not frames.compare(got, [bytes.fromhex(alternative["hex"])] * what["count"]):
                print("outcome:", alternative["label"])
                return
        raise CaseFailed(f"port {what['port']}: none of the alternatives: {[frame.hex() for frame in got]}")

    def step_expect_out_set(self, step):
        what = step["expect_out_set"]
        self.expect(what["port"], [bytes.fromhex(text) for text in what["hex"]])

    def step_expect_none(self, step):
        for port in step["expect_none"]["ports"]:
            self.expect(port, [])

    def step_record_out(self, step):
        got = self.receive(1)
        self.named = set(got)
        self.saved[step["record_out"]] = {number: sorted(each) for number, each in got.items()}

    # Commands and counts

    def step_cmd(self, step):
        words = [self.substitute(word).replace("PEDIT", pedit_text(step)) for word in step["cmd"]]
        before = self.dp.flows()
        result = self.dp.run(*words)
        if step["rc"] == 0 and result.returncode:
            raise CaseFailed(f"exit {result.returncode}: {result.stderr.strip()}")
        if step["rc"] == "nonzero":
            if not result.returncode:
                raise CaseFailed("accepted, should be refused")
            if len(result.stderr.splitlines()) != 1:
                raise CaseFailed(f"the refusal is not one line: {result.stderr!r}")
        if step.get("stop_if_refused") and result.returncode:
            if not any(key in result.stderr for key in before):
                raise CaseFailed(f"the refusal does not name the flow in the way: {result.stderr!r}")
            raise CaseEnds
        if self.substitute(step.get("stdout_has", "")) not in result.stdout:
            raise CaseFailed(f"not in the output: {self.substitute(step['stdout_has'])}\n{result.stdout}")
        if "stdout_matches" in step and not re.search(self.substitute(step["stdout_matches"]), result.stdout):
            raise CaseFailed(f"not matched in the output: {step['stdout_matches']}\n{result.stdout}")
        if words[0] == "add-flow" and not result.returncode:
            new = set(self.dp.flows()) - set(before)
            if len(new) != 1:
                raise CaseFailed(f"add-flow brought {len(new)} new lines into dump-flows")
            self.keys[words[2]] = new.pop()

    def step_expect_flow_stats(self, step):
        what = step["expect_flow_stats"]
        line = self.dp.flows().get(self.keys[what["flow"]], "no such flow")
        if f", packets:{what['packets']}, bytes:{what['bytes']}," not in line:
            raise CaseFailed(f"expected packets:{what['packets']}, bytes:{what['bytes']}, got: {line}")

    def step_expect_show(self, step):
        values = self.dp.show()
        for name, value in step["expect_show"].items():
            if values.get(name) != value:
                raise CaseFailed(f"show: expected {name} {value}, got {values.get(name)}")

    def step_expect_overlimits(self, step):
        delta = self.dp.overlimits() - self.overlimits_before
        if delta != step["expect_overlimits"]:
            raise CaseFailed(f"{delta} edits broke off, expected {step['expect_overlimits']}")

    def step_expect_masks_hit(self, step):
        delta = self.dp.show()["masks_hit"] - self.masks_hit_before
        if delta > step["expect_masks_hit"]["at_most"]:
            raise CaseFailed(f"{delta} masks were tried")

    def step_expect_drops(self, step):
        what = step["expect_drops"]
        place = what["port"], what["reason"]
        delta = self.dp.drops().get(place, 0) - self.drops_before.get(place, 0)
        if delta != what["delta"]:
            raise CaseFailed(f"port {place[0]}, {place[1]}: expected {what['delta']} more, got {delta} more")

    # Dumps

    def step_save_dump(self, step):
        lines = self.dp.must("dump-flows", self.dp.name).splitlines()
        self.saved[step["save_dump"]] = sorted(map(flow_and_actions, lines))

    def step_replay_dump(self, step):
        for key, actions in self.saved[step["replay_dump"]]:
            self.dp.must("add-flow", self.dp.name, key, actions)

    def step_expect_same(self, step):
        first, *others = step["expect_same"]
        for other in others:
            if self.saved[first] != self.saved[other]:
                raise CaseFailed(f"{first}: {self.saved[first]}\n{other}: {self.saved[other]}")

    # The machine

    def step_shell(self, step):
        result = self.dp.in_switch("sh", "-ec", self.substitute(step["shell"]))
        if result.returncode:
            raise CaseFailed(f"exit {result.returncode}: {result.stderr.strip()}")
        if step.get("stdout_is", result.stdout) != result.stdout:
            raise CaseFailed(f"expected {step['stdout_is']!r}, got {result.stdout!r}")
        for name, there in (("stdout_has", True), ("stdout_lacks", False)):
            if name in step and (self.substitute(step[name]) in result.stdout) != there:
                raise CaseFailed(f"{name} {step[name]}: {result.stdout}")

    def step_sleep_s(self, step):
        time.sleep(step["sleep_s"])

    # A capture on the ingress port makes every frame a shared one

    def ingress_capture(self):
        words = ["nsenter", f"--net={self.dp.netns}", "/usr/bin/python3", frames.__file__, "capture", "--time", "30",
                 "--announce", self.devices[1]]
        capture = subprocess.Popen(words, text=True, stdout=subprocess.PIPE)
        capture.stdout.readline()
        return capture

    def check_ingress(self, capture):
        time.sleep(0.2)
        capture.terminate()
        output, _ = capture.communicate()
        got = [bytes.fromhex(line.split()[1]) for line in output.splitlines()]
        expected = [frame for frame, count in self.injected.items() for _ in range(count)]
        lines = frames.compare(got, expected)
        if lines:
            raise CaseFailed("capture on port 1: " + "\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--switch", required=True, help="path of the switch's namespace")
    parser.add_argument("--ctl", required=True)
    parser.add_argument("--dp", required=True)
    parser.add_argument("--port", action="append", required=True)
    parser.add_argument("--capture-ingress", action="store_true")
    parser.add_argument("--swap", action="store_true", help="play the case's also_swapped steps in the other order")
    parser.add_argument("case")
    args = parser.parse_args()
    with open(args.case, encoding="utf-8") as file:
        case = json.load(file)
    if args.swap:
        first, second = case["also_swapped"]
        case["steps"][first], case["steps"][second] = case["steps"][second], case["steps"][first]
    try:
        Case(case, Datapath(args.switch, args.ctl, args.dp), args.port, args.capture_ingress).run()
    except CaseFailed as failure:
        print(f"{case['id']}: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
