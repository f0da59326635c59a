# SPDX-License-Identifier: GPL-2.0-only
"""What the test says: TAP, and for a fault the commands that show it again."""
import shlex


def comment(*lines):
    for line in "\n".join(lines).splitlines():
        print(f"# {line}", flush=True)


def difference_lines(d):
    if d.what != "frame":
        return [f"flow {d.index}, {d.what}:", f"  tcvs: {d.tcvs}", f"  peer: {d.peer}"]
    lines = [f"frame {d.index}:"]
    for port in sorted(d.tcvs.keys() | d.peer.keys()):
        ours, theirs = d.tcvs.get(port, []), d.peer.get(port, [])
        if ours == theirs:
            lines.append(f"  port {port}: the same, {len(ours)} frames")
            continue
        lines += [f"  port {port}, tcvs: {data.hex()}" for data in ours] or [f"  port {port}, tcvs: nothing"]
        lines += [f"  port {port}, peer: {data.hex()}" for data in theirs] or [f"  port {port}, peer: nothing"]
        lines += [f"  port {port}: differ in bytes {different_bytes(a, b)}" for a, b in zip(ours, theirs) if a != b]
    return lines


def different_bytes(a, b):
    places = [str(i) for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]]
    places += [f"length {len(a)}, {len(b)}"] if len(a) != len(b) else []
    return " ".join(places[:20] + (["..."] if len(places) > 20 else []))


def differences(found):
    for d in found:
        comment(*difference_lines(d))


def fault(bench, small, args):
    comment(f"--- a difference, seed {args.seed}, round {small.number}; the smallest form:")
    for match, actions in small.texts():
        comment(*(switch.spoken(match, actions) for switch in bench.switches.values()))
    for frame in small.frames:
        comment(f"frame into port {frame.port}{f', GSO {frame.gso}' if frame.gso else ''}: {frame.data.hex()}")
    differences(bench.differences(small))
    words = ["tests/diff/run", "--peer", args.peer]
    for texts in small.texts():
        words += ["--flow", *texts]
    for frame in small.frames:
        words += ["--frame", str(frame.port), frame.data.hex()]
    comment(f"again: {shlex.join(words)}")
    comment(f"or:    tests/diff/run --peer {args.peer} --seed {args.seed} --pairs {args.pairs} --round {small.number}")


def played(bench, each):
    for frame in each.frames:
        for side, ports in bench.wire.play(frame).items():
            comment(f"frame into port {frame.port}, {side}:")
            comment(*(f"  port {port}: {data.hex()}" for port, got in ports.items() for data in got))


def summary(bench, args, faults, seconds):
    comment(f"{args.peer}: seed {args.seed}, {bench.played} frames played, {bench.forwarded} left tcvs, {seconds:.0f} s")
    comment(*(f"known deviation, {name}: {count} frames differ" for name, count in sorted(bench.excused.items())))
    print("1..1")
    print(f"{'not ok' if faults else 'ok'} 1 - {args.pairs} pairs of flows and frames, tcvs and {args.peer} do the same")
