#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends each of some frames after each other one and compares the flow keys that the datapath makes of them.

    key_after.py --send DEV --pin PATH-OF-CPU_STATE --cpu N HEX...

Runs on one CPU, whose state holds the key of the last frame that came in there.  A key that depends on the frame before
is a failure: something of that one was left in it.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import frames
import ring_frames


class State:
    """What the program left in a CPU's memory."""

    def __init__(self, pin, cpu):
        bpftool = os.environ.get("BPFTOOL", "bpftool")
        self.command = [bpftool, "-j", "map", "lookup", "pinned", pin, "key", "0", "0", "0", "0"]
        self.cpu = cpu

    def read(self):
        text = subprocess.run(self.command, capture_output=True, check=True).stdout
        value = json.loads(text)["formatted"]["values"][self.cpu]["value"]
        return value["key"], value["count"]["hit"] + value["count"]["missed"]

    def after(self, count):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            key, lookups = self.read()
            if lookups >= count:
                return key, lookups
        raise SystemExit("frames did not come to the CPU that sent them")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--send", required=True)
    parser.add_argument("--pin", required=True)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("hex", nargs="+")
    args = parser.parse_args()
    os.sched_setaffinity(0, [args.cpu])
    state = State(args.pin, args.cpu)
    sent = [bytes.fromhex(text) for text in args.hex]
    keys = [{} for _ in sent]
    _, count = state.read()
    for before, first in enumerate(sent):
        for after, second in enumerate(sent):
            for sender in (frames.send, ring_frames.send):
                frames.send(args.send, first)
                sender(args.send, second)
                key, count = state.after(count + 2)
                keys[after].setdefault(json.dumps(key), before)
    for number, found in enumerate(keys):
        if len(found) > 1:
            print(f"frame {number}: the key depends on the frame before it:")
            for key, before in found.items():
                print(f"  after frame {before}: {key}")
    return any(len(found) > 1 for found in keys)


if __name__ == "__main__":
    sys.exit(main())
