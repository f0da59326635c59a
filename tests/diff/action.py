# SPDX-License-Identifier: GPL-2.0-only
"""Random actions.  An action that tcvs learns joins by a row of KINDS: who else has it, and what makes one.

An action is a tuple: the name, then its arguments.  set() keeps its fields as (value, mask), so that it can be shrunk.
"""
import packet
import values
from match import ATTRIBUTES, attribute_text, full

OUTPUT_PORTS = (2, 3, 4, 5)
NO_PORT = 77

SETTABLE = {
    "eth": ("eth.src", "eth.dst"),
    "ipv4": ("ip4.src", "ip4.dst", "ip.tos", "ip.ttl"),
    "ipv6": ("ip6.src", "ip6.dst", "ip6.label", "ip.tos", "ip.ttl"),
    "tcp": ("tp.src", "tp.dst"),
    "udp": ("tp.src", "tp.dst"),
    "sctp": ("tp.src", "tp.dst"),
    "skb_priority": ("skb_priority",),
    "skb_mark": ("skb_mark",),
}


def settable(match):
    """Headers that a flow may set: the kernel datapath's rules."""
    names = ["eth", "skb_priority", "skb_mark"]
    if match.eth_type in (packet.ETH_IPV4, packet.ETH_IPV6):
        names += [{packet.ETH_IPV4: "ipv4", packet.ETH_IPV6: "ipv6"}[match.eth_type]] * 2
        proto = match.exact("ip.proto")
        names += {packet.TCP: ["tcp"], packet.UDP: ["udp"], packet.SCTP: ["sctp"]}.get(proto, []) * 3
    return names


def random_set(rng, match):
    name = rng.choice(settable(match))
    wanted = SETTABLE[name]
    fields = {}
    for field in rng.sample(wanted, rng.randint(1, len(wanted))):
        mask = values.mask(rng, field, likely_full=0.6)
        fields[field] = (values.value(rng, field) & mask, mask)
    return ("set", name, fields)


def random_output(rng, _match):
    return ("output", NO_PORT if rng.random() < 0.02 else rng.choice(OUTPUT_PORTS))


def random_push_vlan(rng, _match):
    return ("push_vlan", rng.choice((packet.ETH_VLAN, packet.ETH_VLAN, packet.ETH_8021AD)), values.vid(rng),
            rng.randrange(8))


def random_pop_vlan(_rng, _match):
    return ("pop_vlan",)


# name, peers that have it, weight, what makes one from a random generator and the flow's match.  tc's are in pedit.py.
KINDS = [
    ("output", {"userspace", "module"}, 8, random_output),
    ("set", {"userspace", "module"}, 10, random_set),
    ("push_vlan", {"userspace", "module"}, 3, random_push_vlan),
    ("pop_vlan", {"userspace", "module"}, 3, random_pop_vlan),
]


def random_actions(rng, match, peer):
    """Mostly rewrites with outputs among them, the last one an output; sometimes none, which drops."""
    if rng.random() < 0.05:
        return []
    kinds = [kind for kind in KINDS if peer in kind[1]]
    chosen = rng.choices(kinds, [kind[2] for kind in kinds], k=rng.randint(0, 6))
    actions = [kind[3](rng, match) for kind in chosen]
    if rng.random() < 0.95:
        actions.append(random_output(rng, match))
    return actions


def action_text(action):
    name, *args = action
    if name == "output":
        return str(args[0])
    if name == "set":
        return f"set({attribute_text(*args)})"
    if name == "push_vlan":
        tpid, vid, pcp = args
        return f"push_vlan({'' if tpid == packet.ETH_VLAN else f'tpid={tpid:#x},'}vid={vid},pcp={pcp})"
    if name == "pedit":
        return f"pedit(compat ex {' '.join(args[0])})"
    if name == "csum":
        return f"csum({','.join(args[0])})"
    return name


def actions_text(actions):
    return ",".join(map(action_text, actions)) or "drop"


def simpler(action):
    """Actions that do less than this one, for shrinking."""
    name, *args = action
    if name == "set":
        attribute, fields = args
        for field in fields if len(fields) > 1 else ():
            yield ("set", attribute, {other: pair for other, pair in fields.items() if other != field})
        for field, (value, mask) in fields.items():
            if mask != full(field):
                yield ("set", attribute, {**fields, field: (value, full(field))})
    elif name in ("pedit", "csum") and len(args[0]) > 1:
        for i in range(len(args[0])):
            yield (name, args[0][:i] + args[0][i + 1:])


assert all(field in [row[1] for row in ATTRIBUTES[name]] for name, fields in SETTABLE.items() for field in fields)
