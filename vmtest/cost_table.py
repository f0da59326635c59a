# SPDX-License-Identifier: GPL-2.0-only
# cost_table.py RESULTS [JSON]: what vmtest/guest/cost printed, as a table with limits, and as JSON.
import json
import sys

# A line of the table: name, text, what it is counted from.
COMPARED = (
    ("direct", "a veth pair, no switch", None),
    ("bare", "a program that only redirects (clsact)", "direct"),
    ("mirred", "matchall, mirred", "bare"),
    ("flower", "flower, mirred", "bare"),
    ("flower-pedit", "flower, pedit of both MACs, mirred", "bare"),
    ("bridge", "Linux bridge", "bare"),
    ("ovs", "Open vSwitch module", "bare"),
    ("ovs-set-eth", "Open vSwitch module, set(eth(src,dst))", "bare"),
)
OURS = (
    ("tcvs", "tcvs, one output", "bare"),
    ("tcvs-clsact", "tcvs, one output, attached by clsact", "bare"),
    ("tcvs-peer", "tcvs, one output, to a peer port", "bare"),
    ("tcvs-set-eth", "tcvs, set(eth(src,dst))", "bare"),
    ("tcvs-pedit-eth", "tcvs, pedit of both MACs", "bare"),
    ("tcvs-set-ipv4", "tcvs, set(ipv4(src))", "bare"),
    ("tcvs-push-vlan", "tcvs, push_vlan", "bare"),
    ("tcvs-last-1", "tcvs, one mask, cache off", "bare"),
    ("tcvs-last-16-unordered", "tcvs, the last of 16 masks, cache off", "bare"),
    ("tcvs-last-16", "tcvs, the same, after a rebalance", "bare"),
    ("tcvs-last-64-unordered", "tcvs, the last of 64 masks, cache off", "bare"),
    ("tcvs-last-64", "tcvs, the same, after a rebalance", "bare"),
    ("tcvs-last-64-cached", "tcvs, the same, cache on", "bare"),
)
SPREAD = (
    ("even-1", "1 mask, random, cache off", "bare-even"),
    ("even-62", "62 masks evenly, random, cache off", "bare-even"),
    ("even-62-cached", "62 masks evenly, random, cache of 256", "bare-even"),
    ("narrow", "64 masks evenly, 192 flows, cache of 256", "bare-narrow"),
    ("zipf-unordered", "64 masks by Zipf, the busiest last, cache off", "bare-zipf"),
    ("zipf", "64 masks by Zipf, in order of use, cache off", "bare-zipf"),
    ("zipf-cached", "64 masks by Zipf, in order of use, cache of 256", "bare-zipf"),
)
# As bench/stages.c names them, each up to one more.
STAGES = (
    ("empty program", None),
    ("%s, up to port", "port and namespace"),
    ("%s, up to key", "key"),
    ("%s, up to lookup", "lookup"),
    ("%s, up to count", "counters"),
    ("%s, up to actions", "actions: one output"),
)


class Table:
    def __init__(self, results):
        self.results = results
        self.lines = []

    def has(self, *names):
        return all(name in self.results for name in names)

    def cost(self, name):
        return self.results[name][0]

    def over(self, name, base):
        return self.cost(name) - self.cost(base)

    def add(self, what, instructions=None, over=None, masks=None, limit=None):
        line = {"what": what, "instructions": instructions, "over": over, "masks": masks}
        if limit is not None:
            line["at_most"] = limit
            line["ok"] = (instructions if over is None else over) <= limit
        self.lines.append({key: value for key, value in line.items() if value is not None})

    def add_measured(self, name, text, base, limit=None):
        if not self.has(name):
            return
        cost, masks = self.results[name]
        over = self.over(name, base) if base and self.has(base) else None
        self.add(text, cost, over, masks, limit if over is not None else None)

    def print(self):
        print(f"{'guest instructions a frame':68}{'all':>8}{'over':>8}{'masks':>7}   limit")
        for line in self.lines:
            text = f"{line['what']:68}"
            for key, form, width in (("instructions", ".0f", 8), ("over", "+.0f", 8), ("masks", ".1f", 7)):
                text += format(format(line[key], form) if key in line else "", f">{width}")
            if "at_most" in line:
                text += f"   <= {line['at_most']:.0f} {'ok' if line['ok'] else 'MISSED'}"
            print(text.rstrip())


def read(path):
    results, stages = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "cost":
                results[fields[0]] = float(fields[1]), float(fields[2]) if fields[2] else None
            elif kind == "stage":
                stages[fields[0]] = float(fields[1])
    return results, stages


def add_growth(table):
    """What masks cost where traffic is spread over them, beside the module in the same boot."""
    growth = {}
    for who, text in (("ovs", "Open vSwitch module"), ("tcvs", "tcvs")):
        one, many = f"{who}-even-1", f"{who}-even-62"
        if not table.has(one, many):
            continue
        growth[who] = table.over(many, one)
        table.add(f"{text}, 62 masks evenly, over 1 mask", over=growth[who],
                  limit=growth["ovs"] / 2 if who == "tcvs" and "ovs" in growth else None)
        table.add(f"{text}, each further mask tried",
                  growth[who] / (table.results[many][1] - table.results[one][1]))
    if table.has("tcvs-last-64-unordered", "tcvs-last-1"):
        table.add("tcvs, each further mask, the last of 64, cache off",
                  table.over("tcvs-last-64-unordered", "tcvs-last-1") / 63, limit=200)


def fill(table):
    limits = {"tcvs": 1000, "tcvs-set-eth": 1300, "tcvs-pedit-eth": 1300}
    for name, text, base in COMPARED + OURS:
        table.add_measured(name, text, base, limits.get(name))
    for name, text, base in SPREAD:
        table.add_measured(f"ovs-{name}", f"Open vSwitch module, {text}", base)
        limit = table.over("ovs-narrow", base) - 1 if name == "narrow" and table.has("ovs-narrow") else None
        table.add_measured(f"tcvs-{name}", f"tcvs, {text}", base, limit)
    add_growth(table)


def add_stages(table, stages, way):
    """What each stage adds to those before it, in a test run: without the hook and the devices."""
    names = [name % way if "%s" in name else name for name, _ in STAGES]
    if not all(name in stages for name in names):
        return
    total = stages[names[-1]] - stages[names[0]]
    for (_, text), name, before in zip(STAGES[1:], names[1:], names):
        cost = stages[name] - stages[before]
        table.add(f"tcvs, {way}, {text}: {cost / total:.0%}", cost)


def main():
    path, target = sys.argv[1:]
    results, stages = read(path)
    table = Table(results)
    fill(table)
    add_stages(table, stages, "cached")
    add_stages(table, stages, "walked")
    table.print()
    if target:
        with open(target, "w", encoding="utf-8") as file:
            json.dump({"unit": "guest instructions a frame", "figures": table.lines}, file, indent=1)
            file.write("\n")
    sys.exit(not all(line.get("ok", True) for line in table.lines))


if __name__ == "__main__":
    main()
