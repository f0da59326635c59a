# SPDX-License-Identifier: GPL-2.0-only
"""Random pedit and csum actions, whose words tc and tcvs share, and the flows and frames that they are tried on.

tc's matchall sees all frames of a port.  So each port has one flow, and gets only frames of the kind that it matches.
"""
import packet
import values
from action import OUTPUT_PORTS
from generate import Flow, Frame, MTU, cross_edge, malform, random_packet, vary
from match import Match, ipv4, ipv6, mac
from view import View

CSUM_WORDS = ("ip4h", "icmp", "igmp", "tcp", "udp", "udplite", "sctp")

# header, field, what makes a value, whether retain may follow (and its width in bits), and whether add is tried
FIELDS = (
    ("eth", "src", lambda rng: mac(values.value(rng, "eth.src")), 0, False),
    ("eth", "dst", lambda rng: mac(values.value(rng, "eth.dst")), 0, False),
    ("eth", "type", lambda rng: f"{rng.choice((0x800, 0x86DD, 0x1234)):#x}", 16, False),
    ("ip", "src", lambda rng: ipv4(values.value(rng, "ip4.src")), 32, False),
    ("ip", "dst", lambda rng: ipv4(values.value(rng, "ip4.dst")), 32, False),
    ("ip", "tos", lambda rng: f"{rng.getrandbits(8):#x}", 8, True),
    ("ip", "ttl", lambda rng: str(rng.getrandbits(8)), 8, True),
    ("ip", "protocol", lambda rng: str(rng.choice((6, 17, 1, 200))), 8, True),
    ("ip", "df", lambda rng: rng.choice(("0", "0xff")), 0, False),
    ("ip", "mf", lambda rng: rng.choice(("0", "0xff")), 0, False),
    ("ip", "ihl", lambda rng: str(rng.randrange(16)), 0, False),
    ("ip6", "src", lambda rng: ipv6(values.value(rng, "ip6.src")), 0, False),
    ("ip6", "dst", lambda rng: ipv6(values.value(rng, "ip6.dst")), 0, False),
    ("ip6", "flow_lbl", lambda rng: f"{rng.getrandbits(19):#x}", 0, False),
    ("ip6", "payload_len", lambda rng: str(rng.getrandbits(10)), 16, False),
    ("ip6", "nexthdr", lambda rng: str(rng.choice((6, 17, 58, 0, 44))), 8, True),
    ("ip6", "hoplimit", lambda rng: str(rng.getrandbits(8)), 8, True),
    ("ip6", "traffic_class", lambda rng: f"{rng.getrandbits(8):#x}", 0, False),
    ("tcp", "sport", lambda rng: str(values.value(rng, "tp.src")), 16, True),
    ("tcp", "dport", lambda rng: str(values.value(rng, "tp.dst")), 16, True),
    ("tcp", "flags", lambda rng: f"{rng.getrandbits(8):#x}", 8, True),
    ("udp", "sport", lambda rng: str(values.value(rng, "tp.src")), 16, True),
    ("udp", "dport", lambda rng: str(values.value(rng, "tp.dst")), 16, True),
)
# Which header's fields are tried on which packets; now and then, any.
HEADERS = {packet.ETH_IPV4: {"eth", "ip"}, packet.ETH_IPV6: {"eth", "ip6"}}
L4_HEADERS = {packet.TCP: {"tcp"}, packet.UDP: {"udp"}}


def random_command(rng, value, retained, added):
    what = rng.random()
    if added and what < 0.2:
        text = f"add {value}"
    elif what < 0.3:
        text = rng.choice(("invert", "clear"))
    else:
        text = f"set {value}"
    if retained and rng.random() < 0.2:
        text += f" retain {rng.getrandbits(retained):#x}"
    return text


def random_field(rng, p):
    wanted = HEADERS.get(p.fields["eth_type"], {"eth"}) | L4_HEADERS.get(p.get("ip.proto"), set())
    rows = [row for row in FIELDS if row[0] in wanted] if rng.random() < 0.9 else FIELDS
    header, field, value, retained, added = rng.choice(rows)
    return f"munge {header} {field} {random_command(rng, value(rng), retained, added)}"


def random_offset(rng):
    """Mostly inside a small packet's headers, sometimes around its end, sometimes in the Ethernet header."""
    at = rng.choice((rng.randrange(0, 60), rng.randrange(0, 60), rng.randrange(0, 160), rng.randrange(-14, 0)))
    width = rng.choice((8, 16, 32))
    if width == 16 and at % 4 == 3:
        at -= 1
    if width == 32:
        at = max(at - at % 4, -12)
    text = f"munge offset {at} u{width}"
    if at >= 0 and rng.random() < 0.2:
        text += f" at {rng.randrange(0, 40)} {rng.choice(('0f', 'f', '3c', 'ff'))} {rng.choice((0, 2, 4))}"
    return f"{text} {random_command(rng, rng.getrandbits(width), width, width == 8)}"


def random_pedit(rng, p):
    return ("pedit", [random_offset(rng) if rng.random() < 0.3 else random_field(rng, p) for _ in range(rng.randint(1, 4))])


def random_csum(rng, _p):
    return ("csum", rng.sample(CSUM_WORDS, rng.randint(1, 3)))


def random_actions(rng, p):
    actions = [random_pedit(rng, p)]
    for _ in range(rng.randrange(4)):
        what = rng.random()
        if what < 0.4:
            actions.append(random_pedit(rng, p))
        elif what < 0.7:
            actions.append(random_csum(rng, p))
        else:
            actions.append(("output", rng.choice(OUTPUT_PORTS)))
    return actions + [("output", rng.choice(OUTPUT_PORTS))]


def port_flow(rng, port):
    """All frames that are not tagged, or those with one tag and a certain type in it."""
    p = random_packet(rng)
    p.tags = p.tags[:1] if p.fields["eth_type"] in (packet.ETH_IPV4, packet.ETH_IPV6) else []
    p.snap = None
    m = Match(port, p)
    m.tags = [(tpid, (0, 0), (0, 0)) for tpid, *_ in p.tags]
    m.eth_type = p.fields["eth_type"] if p.tags else None
    return Flow(m, random_actions(rng, p))


def flow_set(rng, _peer, _size):
    return [port_flow(rng, port) for port in OUTPUT_PORTS]


def fits(m, data):
    view = View(data)
    if m.tags:
        return len(view.tags) == 1 and view.half(12) == m.tags[0][0] and view.eth_type == m.eth_type and not view.snap
    return not view.tags and view.half(12) not in (packet.ETH_VLAN, packet.ETH_8021AD)


def frames_fit(flows, frames):
    matches = {flow.match.in_port: flow.match for flow in flows}
    return all(frame.port in matches and fits(matches[frame.port], frame.data) for frame in frames)


def random_frame(rng, flows):
    m = rng.choice(flows).match
    while True:
        p = m.origin.copy()
        vary(rng, p, m)
        if rng.random() < 0.2:
            cross_edge(rng, p, m)
        data = p.frame()[:MTU]
        if rng.random() < 0.2:
            data = malform(rng, data)[:MTU]
        if fits(m, data):
            return Frame(m.in_port, data)
