# SPDX-License-Identifier: GPL-2.0-only
"""Where tcvs and a peer are known to differ: docs/deviations.md has the reasons, this says which frames it is about.

A frame that falls under a row may differ; it is still sent, and what differs is counted by row.  All else is a fault.
"""
import pathlib
import re

import packet
from view import EXTENSIONS, L4_SIZES, View

TABLE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/deviations.md"


class Case:
    """A frame and the flows that it can meet, as text."""

    def __init__(self, flows, frame):
        self.view = View(frame.data)
        texts = [flow.texts() for flow in flows]
        self.flows = [(match, actions) for match, actions in texts if f"in_port({frame.port})" in match or
                      "in_port" not in match]

    def sets(self, *names):
        """Does a flow set one of these headers?"""
        return any(f"set({name}(" in actions for name in names for _, actions in self.flows)


def ip_length(case):
    length = case.view.ip_length()
    return length is not None and length != case.view.rest


def dei(case):
    return any(tag & 0x1000 for tag in case.view.tags[:1])


def tcp_offset(case):
    view = case.view
    if view.proto != packet.TCP or view.later or view.byte(view.l4 + 19) is None:
        return False
    words = view.data[view.l4 + 12] >> 4
    return words < 5 or view.l4 + words * 4 > len(view.data)


def later_fragment(case):
    return case.view.later and case.sets("ipv4", "tcp", "udp", "sctp")


def cut_header(case):
    view = case.view
    if not case.sets("ipv4", "ipv6", "tcp", "udp", "sctp"):
        return False
    if view.proto is None or view.l4 < view.l3 + 20:
        return view.eth_type in (packet.ETH_IPV4, packet.ETH_IPV6)
    return not view.later and view.l4 + L4_SIZES.get(view.proto, 0) > len(view.data)


def inner_tag(case):
    return len(case.view.tags) > 1 and any(match.count("encap(") == 1 for match, _ in case.flows)


def snap_control(case):
    return case.view.snap and case.view.byte(case.view.l3 - 6) != 3


def nd_flags(case):
    view = case.view
    return view.proto == packet.ICMPV6 and view.byte(view.l4) in packet.ND_TYPES


def runt_tag(case):
    return case.view.rest < 2 and (case.view.tags or any("push_vlan" in actions for _, actions in case.flows))


def set_after_push(case):
    """Is a tag pushed where one is, and an IP or L4 header set after that?"""
    for _, actions in case.flows:
        tags, moved = len(case.view.tags), False
        for word in re.findall(r"push_vlan|pop_vlan|set\((?:ip|tcp|udp|sctp)", actions):
            if word.startswith("set") and moved:
                return True
            moved |= word == "push_vlan" and tags > 0
            tags = max(0, tags + {"push_vlan": 1, "pop_vlan": -1}.get(word, 0))
    return False


def mpls_cut(case):
    return case.view.eth_type in (packet.ETH_MPLS, packet.ETH_MPLS_MC) and not case.view.labels_end()


def later_extension(case):
    view = case.view
    return view.later and view.eth_type == packet.ETH_IPV6 and view.byte(view.l4) in (*EXTENSIONS, packet.NO_NEXT)


def pedit_protocol(case):
    """Does a key write to a TCP or UDP header which the frame does not have?"""
    view = case.view
    for header, proto in (("tcp", packet.TCP), ("udp", packet.UDP)):
        absent = view.proto != proto or view.later or view.l4 < view.l3 + 20
        # What an earlier key writes may make one of it, or take it away.
        changed = any("protocol" in actions or "nexthdr" in actions or "offset" in actions or "ihl" in actions or
                      " mf " in actions for _, actions in case.flows)
        if (absent or changed) and any(f"munge {header} " in actions for _, actions in case.flows):
            return True
    return False


def csum_extension(case):
    return (case.view.overrun or packet.AUTH in case.view.extensions) and any("csum(" in actions for _, actions in case.flows)


def csum_ihl(case):
    view = case.view
    lies = view.eth_type == packet.ETH_IPV4 and view.l4 is not None and (view.l4 < view.l3 + 20 or view.l4 > len(view.data))
    return any("csum(" in actions and (lies or re.search(r"munge (ip ihl|offset 0|.* at )", actions)) for _, actions in
               case.flows)


# name -> peers, whether a frame is one that the deviation is about
FRAMES = {
    "ip-length": ({"userspace"}, ip_length),
    "dei": ({"userspace"}, dei),
    "tcp-offset": ({"userspace"}, tcp_offset),
    "extension-overrun": ({"userspace"}, lambda case: case.view.overrun),
    "routing-header": ({"userspace"}, lambda case: case.view.rerouted and case.sets("ipv6")),
    "later-fragment": ({"userspace", "module"}, later_fragment),
    "cut-header": ({"userspace", "module"}, cut_header),
    "inner-tag": ({"userspace"}, inner_tag),
    "snap-control": ({"userspace"}, snap_control),
    "nd-flags": ({"userspace"}, nd_flags),
    "set-after-push": ({"module"}, set_after_push),
    "later-extension": ({"module"}, later_extension),
    "mpls-cut": ({"module"}, mpls_cut),
    "pedit-protocol": ({"tc"}, pedit_protocol),
    "csum-extension": ({"tc"}, csum_extension),
    "csum-ihl": ({"tc"}, csum_ihl),
    "runt-tag": ({"userspace"}, runt_tag),
}


def of_frame(peer, flows, frame):
    """The name of the first deviation that the frame falls under, or None."""
    case = Case(flows, frame)
    for name, (peers, applies) in FRAMES.items():
        if peer in peers and applies(case):
            return name
    return None


def check_table():
    """Each row of the documented table has its code here, for the same peers, and the other way round."""
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([a-z, ]+) \|", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {name: set(peers.replace(",", " ").split()) for name, peers in rows}
    coded = {name: peers for name, (peers, _) in FRAMES.items()}
    if documented != coded:
        names = {name for name in documented.keys() | coded.keys() if documented.get(name) != coded.get(name)}
        raise ValueError(f"docs/deviations.md and tests/diff/deviations.py differ: {' '.join(sorted(names))}")
