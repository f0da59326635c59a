# SPDX-License-Identifier: GPL-2.0-only
"""Random flow sets, and frames near their edges: most hit a flow or miss it by one bit."""
import copy

import packet
import values
from action import OUTPUT_PORTS, actions_text, random_actions
from match import BITS, Match, full

PROTOCOLS = (packet.TCP, packet.TCP, packet.UDP, packet.UDP, packet.SCTP, packet.ICMP, packet.ICMPV6, 47, 0, 255)
TYPES = (packet.ETH_IPV4,) * 6 + (packet.ETH_IPV6,) * 6 + (packet.ETH_ARP, packet.ETH_ARP, packet.ETH_RARP, packet.ETH_MPLS,
                                                          packet.ETH_MPLS_MC, packet.ETH_OTHER, 0xFFFF, 0x0600)
MTU = 1500
FENCE = bytes.fromhex("0200feedfeed" "0200feedbeef" "88b5") + bytes(46)
FENCE_PORT = 6
FENCE_FLOW = f"in_port({FENCE_PORT}),eth(src=02:00:fe:ed:be:ef,dst=02:00:fe:ed:fe:ed),eth_type(0x88b5)"


class Flow:
    def __init__(self, match, actions):
        self.match = match
        self.actions = actions

    def texts(self):
        return self.match.text(), actions_text(self.actions)


class Frame:
    """gso: bytes of payload in each segment of a packet that is sent for the device to cut; 0 for all others."""

    def __init__(self, port, data, gso=0):
        self.port = port
        self.data = data
        self.gso = gso


# Packets

def random_tag(rng):
    tpid = rng.choice((packet.ETH_VLAN, packet.ETH_VLAN, packet.ETH_8021AD))
    return (tpid, values.vid(rng), rng.randrange(8), int(rng.random() < 0.1))


def l3_fields(eth_type):
    return {packet.ETH_IPV4: ["ip4.src", "ip4.dst", "ip.tos", "ip.ttl"],
            packet.ETH_IPV6: ["ip6.src", "ip6.dst", "ip6.label", "ip.tos", "ip.ttl"],
            packet.ETH_ARP: ["arp.sip", "arp.tip", "arp.op", "arp.sha", "arp.tha"],
            packet.ETH_RARP: ["arp.sip", "arp.tip", "arp.op", "arp.sha", "arp.tha"],
            packet.ETH_MPLS: ["mpls.label", "mpls.tc", "mpls.ttl", "mpls.bos"],
            packet.ETH_MPLS_MC: ["mpls.label", "mpls.tc", "mpls.ttl", "mpls.bos"]}.get(eth_type, [])


def l4_fields(eth_type, proto):
    if eth_type not in (packet.ETH_IPV4, packet.ETH_IPV6):
        return []
    if proto == packet.TCP:
        return ["tp.src", "tp.dst", "tcp.flags"]
    if proto in (packet.UDP, packet.SCTP):
        return ["tp.src", "tp.dst"]
    if (eth_type, proto) == (packet.ETH_IPV4, packet.ICMP):
        return ["icmp.type", "icmp.code"]
    if (eth_type, proto) == (packet.ETH_IPV6, packet.ICMPV6):
        return ["icmp.type", "icmp.code", "nd.target", "nd.sll", "nd.tll"]
    return []


def fill(rng, p, fields):
    for field in fields:
        p.fields[field] = values.value(rng, field)


def random_payload(rng):
    size = rng.choice((0, 1, 4, 8, 18, 26, 64)) if rng.random() < 0.9 else rng.randrange(1460)
    return rng.randbytes(size)


def random_packet(rng):
    p = packet.Packet()
    fill(rng, p, ["eth.src", "eth.dst"])
    p.fields["eth_type"] = eth_type = rng.choice(TYPES)
    p.tags = [random_tag(rng) for _ in range(rng.choices((0, 1, 2, 3), (60, 22, 14, 4))[0])]
    p.payload = random_payload(rng)
    p.snap = rng.choices((None, "snap", "llc"), (94, 3, 3))[0]
    fill(rng, p, l3_fields(eth_type))
    if eth_type in (packet.ETH_MPLS, packet.ETH_MPLS_MC) and not p.get("mpls.bos"):
        p.labels = [rng.getrandbits(32) | (0x100 if i else 0) for i in range(rng.randrange(4))][::-1]
    if eth_type in (packet.ETH_IPV4, packet.ETH_IPV6):
        p.fields["ip.proto"] = proto = rng.choice(PROTOCOLS)
        fill(rng, p, l4_fields(eth_type, proto))
        shape_ip(rng, p)
    return p


def shape_ip(rng, p):
    p.fields["ip.frag"] = rng.choices((packet.FRAG_NO, packet.FRAG_FIRST, packet.FRAG_LATER), (80, 10, 10))[0]
    p.frag_offset = rng.choice((1, 0xFF, 0x100, 0x1FFF))
    p.ip_flags = rng.choice((0, 0, 0x4000, 0x8000))
    p.udp_sum = rng.random() < 0.8
    p.right_sums = rng.random() < 0.95
    if rng.random() < 0.15:
        p.ip_options = b"\1" * (4 * rng.choice((1, 2, 10)))
    if rng.random() < 0.15:
        p.tcp_options = b"\1" * (4 * rng.choice((1, 3, 10)))
    if rng.random() < 0.25:
        kinds = (packet.HOP_BY_HOP, packet.DEST, packet.ROUTING, packet.AUTH)
        p.extensions = [rng.choice(kinds) for _ in range(rng.randint(1, 3))]
        p.segments_left = rng.choice((0, 1))


# Flows

def match_of(rng, p, peer):
    """A match that the packet fits, of some of its fields."""
    m = Match(rng.choice(OUTPUT_PORTS), p)
    if peer == "module" and rng.random() < 0.05:
        m.in_port = None
    for tpid, vid, pcp, _ in p.tags[:2]:
        vid_mask, pcp_mask = rng.choice((0xFFF, 0xFFF, 0, rng.getrandbits(12))), rng.choice((7, 0, 0, rng.getrandbits(3)))
        m.tags.append((tpid, (vid & vid_mask, vid_mask), (pcp & pcp_mask, pcp_mask)))
    known = p.snap != "llc" and len(p.tags) < 3
    if known and (m.tags or rng.random() < 0.95):
        m.eth_type = p.fields["eth_type"]
    elif m.tags:
        # Nothing at all inside of encap() is refused.
        return None
    wanted = ["eth.src", "eth.dst"] + (l3_fields(m.eth_type) if m.eth_type is not None else [])
    for field in wanted:
        choose_mask(rng, m, field, 0.3)
    if "mpls.bos" in wanted and peer == "userspace":
        # It takes only keys of whole stacks.
        if not p.get("mpls.bos"):
            return None
        m.fields["mpls.bos"] = (1, 1)
    for field in ("skb_priority", "skb_mark"):
        if rng.random() < 0.02:
            m.fields[field] = (0, values.mask(rng, field))
    if m.eth_type in (packet.ETH_IPV4, packet.ETH_IPV6):
        match_ip(rng, m, p)
    return m


def choose_mask(rng, m, field, chance):
    if rng.random() < chance:
        mask = values.mask(rng, field)
        m.fields[field] = (m.origin.get(field) & mask, mask)


def match_ip(rng, m, p):
    frag = p.get("ip.frag")
    proto = p.get("ip.proto")
    if m.eth_type == packet.ETH_IPV6 and frag == packet.FRAG_LATER:
        proto = packet.FRAGMENT
    if frag == packet.FRAG_LATER or rng.random() < 0.3:
        m.fields["ip.frag"] = (frag, 0xFF)
    if rng.random() < 0.75:
        m.fields["ip.proto"] = (proto, 0xFF)
    if m.exact("ip.proto") is None or frag == packet.FRAG_LATER:
        return
    for field in l4_fields(m.eth_type, proto):
        if not field.startswith("nd."):
            choose_mask(rng, m, field, 0.4)
    if "nd.target" in l4_fields(m.eth_type, proto) and p.get("icmp.type") in packet.ND_TYPES and p.get("icmp.code") == 0:
        for field in ("nd.target", "nd.sll", "nd.tll"):
            choose_mask(rng, m, field, 0.3)
            if field in m.fields:
                m.fields["icmp.type"] = (p.get("icmp.type"), 0xFF)
                m.fields["icmp.code"] = (0, 0xFF)


# Which attributes a flow needs depends on them, or no packet has another value.
FIXED = {"ip.proto", "ip.frag", "icmp.type", "icmp.code", "mpls.bos", "skb_mark", "skb_priority"}


def sibling(rng, m):
    """A match that differs in one bit."""
    fields = [field for field in m.fields if field not in FIXED]
    if not fields:
        return None
    field = rng.choice(fields)
    other = copy.deepcopy(m)
    value, mask = other.fields[field]
    bit = rng.choice([1 << i for i in range(BITS[field]) if mask >> i & 1])
    other.fields[field] = (value ^ bit, mask)
    other.origin.fields[field] ^= bit
    return other


def flow_set(rng, peer, size):
    """Flows of which no two overlap: with overlap the result would depend on the order of masks."""
    matches = []
    bases = [random_packet(rng) for _ in range(max(2, size // 3))]
    for _ in range(size * 4):
        if len(matches) == size:
            break
        if matches and rng.random() < 0.4:
            candidate = sibling(rng, rng.choice(matches))
        else:
            candidate = match_of(rng, rng.choice(bases).copy(), peer)
        if candidate and not any(candidate.overlaps(other) for other in matches):
            matches.append(candidate)
    return [Flow(m, random_actions(rng, m, peer)) for m in matches]


# Frames

def vary(rng, p, m):
    """Changes what the match does not look at."""
    names = list(p.fields)
    for field in rng.sample(names, rng.randrange(len(names))):
        if field in values.POOLS:
            mask = m.fields.get(field, (0, 0))[1]
            p.fields[field] = (p.fields[field] & mask) | (values.value(rng, field) & ~mask & full(field))
    if rng.random() < 0.3:
        p.payload = random_payload(rng)


def cross_edge(rng, p, m):
    """One bit that the match looks at, or a shape that makes it look elsewhere."""
    what = rng.randrange(8)
    if what < 3 and m.fields:
        field = rng.choice(list(m.fields))
        mask = m.fields[field][1]
        p.fields[field] = p.get(field) ^ rng.choice([1 << i for i in range(BITS[field]) if mask >> i & 1])
        p.fields[field] = min(p.fields[field], 2) if field == "ip.frag" else p.fields[field]
    elif what == 3:
        p.tags = p.tags[1:] if p.tags and rng.random() < 0.5 else [random_tag(rng)] + p.tags
    elif what == 4 and p.tags:
        tpid, vid, pcp, dei = p.tags[0]
        p.tags[0] = (tpid ^ rng.choice((0, packet.ETH_VLAN ^ packet.ETH_8021AD)), vid ^ 1 << rng.randrange(12), pcp, dei ^ 1)
    elif what == 5:
        p.fields["ip.proto"] = rng.choice(PROTOCOLS)
    else:
        shape_ip(rng, p)


def malform(rng, data):
    """A byte or a length that is wrong, anywhere from the type on."""
    what = rng.randrange(6)
    if what == 0 and len(data) > 14:
        return data[:rng.randrange(14, len(data))]
    if what == 1:
        return data + rng.randbytes(rng.choice((1, 2, 46, 100)))
    at = rng.randrange(12, min(len(data), 14 + 60))
    if what == 2:
        return data[:at] + rng.randbytes(1) + data[at + 1:]
    if what == 3:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    if what == 4:
        return data[:at] + rng.choice((b"\0", b"\xff")) + data[at + 1:]
    return data[:at] + rng.choice((b"\0\0", b"\xff\xff", b"\x81\0", b"\x88\xa8", b"\x08\0", b"\x86\xdd")) + data[at + 2:]


def random_frame(rng, flows):
    if not flows or rng.random() < 0.05:
        return Frame(rng.choice(OUTPUT_PORTS), random_packet(rng).frame()[:MTU])
    m = rng.choice(flows).match
    p = m.origin.copy()
    vary(rng, p, m)
    if rng.random() < 0.35:
        cross_edge(rng, p, m)
    data = p.frame()
    if rng.random() < 0.2:
        data = malform(rng, data)
    port = m.in_port
    if port is None or rng.random() < 0.03:
        port = rng.choice(OUTPUT_PORTS)
    return Frame(port, data[:MTU])


def frames_fit(_flows, _frames):
    """Any frame may come into any port."""
    return True
