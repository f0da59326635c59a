# SPDX-License-Identifier: GPL-2.0-only
"""tc as a switch: on each port matchall, with pedit, csum and mirred."""
import json
import os
import re
import subprocess
import tempfile

from generate import FENCE_PORT
from switches import Count
from wire import must


def split_actions(text):
    """At commas outside of parentheses."""
    parts, depth, part = [], 0, ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return parts + [part]


class Tc:
    name = "tc"

    def __init__(self, wire, side):
        self.wire = wire
        self.side = side
        self.ports = []  # of the flows, in their order
        with tempfile.NamedTemporaryFile(prefix="tcvs-diff.", delete=False) as file:
            self.file = file.name

    def words(self, *words):
        return ["tc", "-netns", self.wire.netns(self.side), *words]

    def start(self):
        for port in self.wire.ports:
            must(*self.words("qdisc", "add", "dev", self.wire.device(self.side, port), "clsact"))
        must(*self.words("filter", "add", *self.place(FENCE_PORT), *self.actions(FENCE_PORT, str(FENCE_PORT)).split()))

    def stop(self):
        os.unlink(self.file)

    def place(self, port):
        return ["dev", self.wire.device(self.side, port), "ingress", "pref", "1", "protocol", "all", "matchall"]

    def actions(self, _port, text):
        """In tc's words."""
        words = []
        if text == "drop":
            return "action drop"
        parts = split_actions(text)
        for number, part in enumerate(parts, 1):
            verb, _, body = part.partition("(")
            body = body[:-1]
            if verb == "pedit":
                words.append(f"action pedit {body.replace('compat ', '')} pipe")
            elif verb == "csum":
                words.append(f"action csum {' and '.join(body.split(','))} pipe")
            else:
                how = "redirect" if number == len(parts) else "mirror"
                words.append(f"action mirred egress {how} dev {self.wire.device(self.side, int(part))}" +
                             ("" if how == "redirect" else " pipe"))
        return " ".join(words)

    def set_flows(self, texts):
        lines = [f"filter del dev {self.wire.device(self.side, port)} ingress pref 1" for port in self.ports]
        self.ports = [int(re.search(r"in_port\((\d+)\)", match)[1]) for match, _ in texts]
        lines += [f"filter add {' '.join(self.place(port))} {self.actions(port, actions)}" for port, (_, actions) in
                  zip(self.ports, texts)]
        with open(self.file, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        result = subprocess.run(self.words("-force", "-batch", self.file), text=True, capture_output=True, check=False)
        return result.stderr.strip()

    def counts(self, _number):
        return [self.count(port) for port in self.ports]

    def count(self, port):
        shown = must(*self.words("-s", "-j", "filter", "show", "dev", self.wire.device(self.side, port), "ingress"))
        filters = [each["options"] for each in json.loads(shown) if "options" in each]
        if not filters:
            return None
        actions = filters[0]["actions"]
        over = sum(action["stats"]["overlimits"] for action in actions if action["kind"] == "pedit")
        return Count(actions[0]["stats"]["packets"], overlimits=over)

    def spoken(self, match, actions):
        port = int(re.search(r"in_port\((\d+)\)", match)[1])
        return f"tc filter add {' '.join(self.place(port))} {self.actions(port, actions)}"
