#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kills commands at random instants and checks after each that what is left is the state before or the state after.

    kill_commands.py --ctl PATH --tracer PATH [--seed N] --kills N flows|bulk|all DP FLOWS
    kill_commands.py ...                                            ports DP DEV DEV
    kill_commands.py ...                                            datapaths DP DEV DEV

Half of the kills come at a random time, from 0 to a bit more than the command's usual one.  The other half come between
two system calls, since most of a command's time goes by in a few of them.  FLOWS is a file of keys as dump-flows prints
them, one a line; flows, bulk and all make, change and delete these in DP and leave other flows alone.  ports makes
devices ports of DP, datapaths makes and deletes DP with them.

Runs in the namespace of the switch.  Only what ended by the signal counts as a kill.
"""
import argparse
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

VERSIONS = ["2", "3", "2,3", "drop", "3,2,3,2,3,2,3,2", "2,2,2,2,2,2,2,2,2,2,2,2", "3,3,3,3,3,3,3"]
READERS = ["show", "dump-flows", "dump-masks", "drops"]
LIMIT = 20
PINS = "/sys/fs/bpf/tcvs"
BPFTOOL = os.environ.get("BPFTOOL", "bpftool")


class Failed(Exception):
    pass


class Commands:
    """Runs commands of tcvsctl, to their end or not."""

    def __init__(self, args):
        self.ctl = args.ctl
        self.tracer = args.tracer
        self.rng = random.Random(args.seed)
        self.wanted = args.kills
        self.length = collections.defaultdict(lambda: 0.03)  # seconds, by command
        self.stops = collections.defaultdict(lambda: 400)  # of system calls, by command
        self.killed = collections.Counter()
        self.ended = collections.Counter()
        self.last = ""
        self.stderr = tempfile.TemporaryFile()
        self.stops_file = tempfile.NamedTemporaryFile()

    def done(self):
        return sum(self.killed.values()) >= self.wanted

    def run(self, *words):
        try:
            result = subprocess.run([self.ctl, *words], capture_output=True, text=True, check=False, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(words)[:200]}: hangs") from None
        if result.returncode not in (0, 1):
            raise Failed(f"{' '.join(words)[:200]}: ended with {result.returncode}: {result.stderr}")
        return result

    def must(self, *words):
        result = self.run(*words)
        if result.returncode or result.stderr:
            raise Failed(f"{' '.join(words)[:200]}: exit {result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def start(self, words):
        self.stderr.seek(0)
        self.stderr.truncate()
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=self.stderr)

    def kill_at_time(self, words):
        """The guess of the length is moved so that four in five are killed, whatever else the machine does."""
        length = self.length[words[0]]
        process = self.start([self.ctl, *words])
        time.sleep(self.rng.uniform(0, 1.25 * length))
        process.send_signal(signal.SIGKILL)
        status = process.wait(LIMIT)
        self.length[words[0]] = length * (1.01 if status == -signal.SIGKILL else 0.96)
        return status

    def kill_at_call(self, words):
        stop = self.rng.randint(1, self.stops[words[0]] + 2)
        self.last += f", at stop {stop}"
        status = self.start([self.tracer, str(stop), self.stops_file.name, self.ctl, *words]).wait(LIMIT)
        if status != -signal.SIGKILL:
            with open(self.stops_file.name, encoding="ascii") as file:
                self.stops[words[0]] = int(file.read())
        else:
            self.stops[words[0]] = max(self.stops[words[0]], stop + 1)
        return status

    def kill(self, *words):
        """True if the command was killed; one that ended by itself must have succeeded."""
        self.last = " ".join(words)
        kill = self.rng.choice([self.kill_at_time, self.kill_at_call])
        status = kill(words)
        if status == -signal.SIGKILL:
            self.killed[words[0]] += 1
            return True
        self.ended[words[0]] += 1
        if status:
            self.stderr.seek(0)
            raise Failed(f"{self.last}: exit {status}: {self.stderr.read().decode()}")
        return False


class Flows:
    """A datapath whose flows are made, changed and deleted; state is a dict from key to actions."""

    def __init__(self, commands, dp, path):
        self.commands = commands
        self.rng = commands.rng
        self.dp = dp
        with open(path, encoding="ascii") as file:
            self.keys = file.read().splitlines()
        self.state = self.dump()

    def dump(self):
        state = {}
        lines = self.commands.must("dump-flows", self.dp).splitlines()
        for line in lines:
            key, rest = line.split(", packets:", 1)
            state[key] = rest.split("actions:", 1)[1]
        shown = re.search(r"^  flows: (\d+)$", self.commands.must("show", self.dp), re.M)
        if len(state) != len(lines) or int(shown[1]) != len(lines):
            raise Failed(f"{len(lines)} lines of dump-flows, {len(state)} of them different, show says {shown[0]}")
        return state

    def settle(self, allowed, what):
        """The state that is found must be one of those that can be."""
        found = self.dump()
        if found not in allowed:
            nearest = min(allowed, key=lambda state: len(found.items() ^ state.items()))
            raise Failed(f"{what}: neither the state before nor the one after:\n"
                         f"  too much: {sorted(found.items() - nearest.items())[:5]}\n"
                         f"  missing: {sorted(nearest.items() - found.items())[:5]}")
        self.state = found

    def play_one(self):
        key = self.rng.choice(self.keys)
        actions = self.rng.choice(VERSIONS)
        after = dict(self.state)
        if key not in self.state:
            words, after[key], there = ["add-flow", self.dp, key, actions], actions, "File exists"
        elif self.rng.random() < 0.5:
            words, after[key], there = ["mod-flow", self.dp, key, actions], actions, None
        else:
            words, there = ["del-flow", self.dp, key], "No such file or directory"
            del after[key]
        if not self.commands.kill(*words):
            self.settle([after], "after the command")
            return
        if self.rng.random() < 0.4:
            self.settle([self.state, after], "after the kill")
            return
        result = self.commands.run(*words)
        if result.returncode and not (there and there in result.stderr):
            raise Failed(f"the same again: {result.stderr.strip()}")
        self.settle([after], "after the same command again")

    def play_reader(self):
        self.commands.kill(self.rng.choice(READERS), self.dp)
        self.settle([self.state], "after a reader")

    def flows(self):
        while not self.commands.done():
            if self.rng.random() < 0.05:
                self.play_reader()
            else:
                self.play_one()

    def bulk_file(self, verb, keys):
        """The path of the file, and the states that a kill may leave: its lines are applied one after the other."""
        path = os.path.join(self.directory, verb)
        states = [dict(self.state)]
        with open(path, "w", encoding="ascii") as file:
            for key in keys:
                actions = self.rng.choice(VERSIONS)
                after = dict(states[-1])
                if verb == "del-flows":
                    after.pop(key, None)
                    file.write(key + "\n")
                else:
                    after[key] = actions
                    file.write(f"{key} {actions}\n")
                states.append(after)
        return path, states

    def bulk(self):
        with tempfile.TemporaryDirectory() as self.directory:
            while not self.commands.done():
                self.play_bulk()

    def play_bulk(self):
        there = [key for key in self.keys if key in self.state]
        verb = self.rng.choice(["mod-flows", "del-flows"]) if len(there) > len(self.keys) / 2 else "add-flows"
        keys = there if verb != "add-flows" else [key for key in self.keys if key not in self.state]
        path, states = self.bulk_file(verb, self.rng.sample(keys, self.rng.randint(1, len(keys))))
        if not self.commands.kill(verb, self.dp, path):
            self.settle([states[-1]], "after the command")
        elif self.rng.random() < 0.5:
            self.settle(states, "after the kill")
        else:
            # What was applied the first time is there, or gone, already: those lines fail, the rest is applied.
            self.commands.run(verb, self.dp, path)
            self.settle([states[-1]], "after the same command again")

    def all(self):
        with tempfile.TemporaryDirectory() as self.directory:
            while not self.commands.done():
                keys = [key for key in self.keys if key not in self.state]
                path, states = self.bulk_file("add-flows", keys)
                self.commands.must("add-flows", self.dp, path)
                self.settle([states[-1]], "after add-flows")
                if self.commands.kill("del-flows", self.dp):
                    found = self.dump()
                    if not found.items() <= self.state.items():
                        raise Failed(f"flows that were not there: {found.items() - self.state.items()}")
                    self.state = found
                else:
                    self.settle([{}], "after del-flows")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def device_state(dev):
    """What a port changes of its device."""
    link = json.loads(output("ip", "-j", "-d", "link", "show", "dev", dev))[0]
    filters = output("tc", "filter", "show", "dev", dev, "ingress")
    return {"flags": sorted(link["flags"]), "promiscuity": link["promiscuity"],
            "qdiscs": output("tc", "qdisc", "show", "dev", dev).split("\n"), "filters": filters}


def devices():
    return sorted(link["ifname"] for link in json.loads(output("ip", "-j", "link", "show")))


class Ports:
    """Devices that are made ports of a datapath and given back."""

    def __init__(self, commands, dp, devs):
        self.commands = commands
        self.rng = commands.rng
        self.dp = dp
        self.before = {dev: device_state(dev) for dev in devs}
        self.devices = devices()

    def ports(self):
        """A dict from device to what show says in brackets."""
        text = self.commands.must("show", self.dp)
        return {name: how for name, how in re.findall(r"^  port \d+: (\S+) \((.*)\)$", text, re.M)}

    def check_given_back(self, dev):
        now = device_state(dev)
        if now != self.before[dev]:
            raise Failed(f"{dev} is no port, but not as it was:\n  before: {self.before[dev]}\n  now: {now}")

    def check(self):
        """A device is a whole port or none at all."""
        found = self.ports()
        for dev in self.before:
            if dev not in found:
                self.check_given_back(dev)
            elif not re.search("tcx|clsact", found[dev]):
                raise Failed(f"{dev} is shown as ({found[dev]})")
        return found

    def play(self):
        found = self.check()
        dev = self.rng.choice(list(self.before))
        verb = "del-if" if dev in found else "add-if"
        if not self.commands.kill(verb, self.dp, dev):
            if (dev in self.check()) != (verb == "add-if"):
                raise Failed(f"{verb} did not do it")
        elif self.rng.random() < 0.5:
            result = self.commands.run(verb, self.dp, dev)
            if result.returncode and not re.search("File exists" if verb == "add-if" else "no port", result.stderr):
                raise Failed(f"the same again: {result.stderr.strip()}")
            if (dev in self.check()) != (verb == "add-if"):
                raise Failed(f"{verb} again did not do it")

    def end(self):
        for dev in self.check():
            if dev in self.before:
                self.commands.must("del-if", self.dp, dev)
        for dev in self.before:
            self.check_given_back(dev)

    def play_all(self):
        while not self.commands.done():
            self.play()
        self.end()


class Datapaths(Ports):
    """A datapath that is made with two ports, and deleted."""

    options = ["", ",attach=clsact"]

    def __init__(self, *args):
        super().__init__(*args)
        self.pins = [f"{PINS}/{prefix}{self.dp}" for prefix in ("", "%")]
        self.ids = set()

    def remember(self):
        """The program and its maps, also of what a killed add-dp left under the name that it has until it is whole."""
        for path in self.pins:
            if os.path.exists(f"{path}/tcvs_ingress"):
                program = json.loads(output(BPFTOOL, "-j", "prog", "show", "pinned", f"{path}/tcvs_ingress"))
                self.ids |= {("prog", program["id"])} | {("map", number) for number in program["map_ids"]}

    def check_freed(self):
        """Programs and maps are freed after a grace period."""
        for path in self.pins:
            if os.path.exists(path):
                raise Failed(f"{path} is left")
        end = time.monotonic() + LIMIT
        while self.ids:
            there = {(kind, entry["id"]) for kind in ("prog", "map") for entry in
                     json.loads(output(BPFTOOL, "-j", kind, "show"))}
            self.ids &= there
            if time.monotonic() > end:
                raise Failed(f"never freed: {self.ids}")
            time.sleep(0.05)

    def exists(self):
        return f"tcvs@{self.dp}" in self.commands.must("dump-dps").splitlines()

    def check_gone(self):
        for dev in self.before:
            self.check_given_back(dev)
        if devices() != self.devices:
            raise Failed(f"devices before: {self.devices}, now: {devices()}")

    def check_whole(self):
        found = self.ports()
        for dev in (self.dp, *self.before):
            if not re.search("tcx|clsact", found.get(dev, "none")):
                raise Failed(f"{dev} is shown as ({found.get(dev, 'no port')})")

    def look(self):
        """True if it is there; either way it must be whole, or gone with all its traces."""
        result = self.commands.run("show", self.dp)
        if result.returncode:
            if "No such device" not in result.stderr:
                raise Failed(f"show: {result.stderr.strip()}")
            self.check_gone()
            return False
        self.check_whole()
        return True

    def make(self):
        words = ["add-dp", self.dp + self.rng.choice(self.options), *self.before]
        killed = self.commands.kill(*words)
        self.remember()
        if killed and self.rng.random() < 0.5:
            result = self.commands.run(*words)
            if result.returncode and "File exists" not in result.stderr:
                raise Failed(f"the same again: {result.stderr.strip()}")
            self.check_whole()
            self.remember()

    def delete(self):
        if self.commands.kill("del-dp", self.dp) and self.rng.random() < 0.5:
            result = self.commands.run("del-dp", self.dp)
            if result.returncode and "No such device" not in result.stderr:
                raise Failed(f"the same again: {result.stderr.strip()}")
            self.check_gone()

    def play_all(self):
        while not self.commands.done():
            if self.look():
                self.delete()
            else:
                self.make()
        # Also what a killed add-dp left before it was a datapath.
        self.commands.run("del-dp", self.dp)
        self.check_gone()
        self.check_freed()


def play(args, commands):
    if args.what == "ports":
        Ports(commands, args.dp, args.rest).play_all()
    elif args.what == "datapaths":
        Datapaths(commands, args.dp, args.rest).play_all()
    else:
        getattr(Flows(commands, args.dp, args.rest[0]), args.what)()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctl", required=True)
    parser.add_argument("--tracer", required=True, help="kill_at_call")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("what", choices=["flows", "bulk", "all", "ports", "datapaths"])
    parser.add_argument("dp")
    parser.add_argument("rest", nargs="+")
    args = parser.parse_args()
    commands = Commands(args)
    try:
        play(args, commands)
    except Failed as failure:
        print(f"seed {args.seed}, after {sum(commands.killed.values())} kills, the last command was: {commands.last}")
        print(failure)
        return 1
    print(f"seed {args.seed}: killed {dict(commands.killed)}, ended {dict(commands.ended)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
