# SPDX-License-Identifier: GPL-2.0-only
"""Plays rounds on both switches and says where they differ."""
import collections
import re

import deviations


LOW_FLAGS = re.compile(r"[SFPRU.EC]*")


class Round:
    """A flow set, and the frames that meet it."""

    def __init__(self, number, flows, frames):
        self.number = number
        self.flows = flows
        self.frames = frames

    def texts(self):
        return [flow.texts() for flow in self.flows]


class Texts:
    """A flow that is known by its text only."""

    def __init__(self, match, actions):
        self.match = None
        self.pair = (match, actions)

    def texts(self):
        return self.pair


Difference = collections.namedtuple("Difference", "what index tcvs peer")


class Bench:
    def __init__(self, wire, switches, peer, strict):
        self.wire = wire
        self.switches = switches
        self.peer = peer
        self.strict = strict  # known deviations are faults, too
        self.played = 0
        self.forwarded = 0
        self.excused = collections.Counter()

    def each(self, method, *words):
        return {side: getattr(switch, method)(*words) for side, switch in self.switches.items()}

    def play(self, flows, frames):
        """Differences, deviations and all."""
        said = self.each("set_flows", [flow.texts() for flow in flows])
        found = []
        for index, frame in enumerate(frames):
            arrived = self.wire.play(frame)
            self.forwarded += sum(map(len, arrived["tcvs"].values()))
            if arrived["tcvs"] != arrived["peer"]:
                found.append(Difference("frame", index, arrived["tcvs"], arrived["peer"]))
        self.played += len(frames)
        counts = self.each("counts", len(flows))
        for index, (ours, theirs) in enumerate(zip(counts["tcvs"], counts["peer"])):
            if ours is None or theirs is None:
                ours, theirs = (ours or said["tcvs"]), (theirs or said["peer"])
                found.append(Difference("refused", index, ours, theirs))
            elif self.comparable(ours) != self.comparable(theirs):
                found.append(Difference("counts", index, ours, theirs))
        return found

    def comparable(self, count):
        """The module tells the low eight TCP flags only; tc counts bytes from elsewhere, and no flags."""
        if self.peer == "tc":
            return count.packets, count.overlimits
        flags = LOW_FLAGS.match(count.flags)[0] if self.peer == "module" else count.flags
        return count.packets, count.bytes, flags

    def differences(self, each):
        """Those that no deviation explains.  Where one may have, the counts are compared without the frames it is about."""
        known = [None if self.strict else deviations.of_frame(self.peer, each.flows, frame) for frame in each.frames]
        found = self.play(each.flows, each.frames)
        faults = [d for d in found if d.what != "frame" or not known[d.index]]
        for d in found:
            if d.what == "frame" and known[d.index]:
                self.excused[known[d.index]] += 1
        if any(d.what == "counts" for d in faults) and any(known):
            frames = [frame for frame, name in zip(each.frames, known) if not name]
            faults = [d for d in faults if d.what != "counts"]
            faults += [d for d in self.play(each.flows, frames) if d.what == "counts"]
        return faults
