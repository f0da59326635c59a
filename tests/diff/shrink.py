# SPDX-License-Identifier: GPL-2.0-only
"""Makes a difference small: the fewest flows, one frame, the shortest actions, the widest match, the plainest bytes."""
import copy

from action import simpler
from compare import Round
from generate import Flow, Frame


def shrink(bench, each, valid):
    """The smallest round that still differs in the same way: another way may be what a shorter flow is refused for.

    valid: whether flows and frames go together.
    """
    what = {d.what for d in bench.differences(each)}

    def differs(flows, frames):
        if not valid(flows, frames):
            return False
        found = {d.what for d in bench.differences(Round(each.number, flows, frames))}
        return bool(found) and found <= what

    flows, frames = list(each.flows), list(each.frames)
    for frame in frames:
        if differs(flows, [frame]):
            frames = [frame]
            break
    else:
        frames = drop_some(frames, lambda fewer: differs(flows, fewer))
    flows = drop_some(flows, lambda fewer: differs(fewer, frames))
    for _ in range(2):
        for i, flow in enumerate(flows):
            flows[i] = shrink_flow(flow, lambda new, i=i: differs(flows[:i] + [new] + flows[i + 1:], frames))
        for i, frame in enumerate(frames):
            frames[i] = shrink_frame(frame, lambda new, i=i: differs(flows, frames[:i] + [new] + frames[i + 1:]))
    return Round(each.number, flows, frames)


def drop_some(items, differs):
    """Fewer items: halves first, then one by one."""
    size = len(items) // 2
    while size:
        at = 0
        while at < len(items):
            fewer = items[:at] + items[at + size:]
            if differs(fewer):
                items = fewer
            else:
                at += size
        size //= 2
    return items


def shrink_flow(flow, differs):
    actions = drop_some(flow.actions, lambda fewer: differs(Flow(flow.match, fewer)))
    changed = True
    while changed:
        changed = False
        for i, action in enumerate(actions):
            for new in simpler(action):
                if differs(Flow(flow.match, actions[:i] + [new] + actions[i + 1:])):
                    actions = actions[:i] + [new] + actions[i + 1:]
                    changed = True
                    break
    match = flow.match
    for field in list(match.fields):
        wider = copy.deepcopy(match)
        del wider.fields[field]
        if differs(Flow(wider, actions)):
            match = wider
    return Flow(match, actions)


def shrink_frame(frame, differs):
    data = frame.data
    for size in (256, 64, 16, 4, 1):
        while len(data) - size >= 14 and differs(Frame(frame.port, data[:-size], frame.gso)):
            data = data[:-size]
    for at in range(len(data)):
        if data[at] and differs(Frame(frame.port, data[:at] + b"\0" + data[at + 1:], frame.gso)):
            data = data[:at] + b"\0" + data[at + 1:]
    return Frame(frame.port, data, frame.gso)
