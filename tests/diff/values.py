# SPDX-License-Identifier: GPL-2.0-only
"""Random values of fields, from few each, so that flows and packets meet, and with those at the edges among them."""
from match import BITS, full

MACS = (0x020000000001, 0x020000000002, 0x0200000000FF, 0xFFFFFFFFFFFF, 0x0180C2000000, 0x333300000001, 0)
IPV4 = (0x0A000001, 0x0A000002, 0x0A000101, 0xC0A80101, 0xE0000001, 0xFFFFFFFF, 0)
IPV6 = (0xFD << 120 | 1, 0xFD << 120 | 2, 0xFE80 << 112 | 1, 0xFF02 << 112 | 1, 0x20010DB8 << 96 | 0xFFFF, 0, full("nd.target"))
PORTS = (0, 1, 53, 80, 443, 1000, 0x7FFF, 0x8000, 0xFF00, 0xFFFF)
BYTES = (0, 1, 2, 0x10, 0x40, 0x80, 0xB8, 0xFE, 0xFF)
POOLS = {
    "eth.src": MACS, "eth.dst": MACS, "arp.sha": MACS, "arp.tha": MACS, "nd.sll": MACS, "nd.tll": MACS,
    "ip4.src": IPV4, "ip4.dst": IPV4, "arp.sip": IPV4, "arp.tip": IPV4,
    "ip6.src": IPV6, "ip6.dst": IPV6, "nd.target": IPV6,
    "ip6.label": (0, 1, 0x12345, 0xFFFFF), "tp.src": PORTS, "tp.dst": PORTS, "ip.tos": BYTES, "ip.ttl": BYTES,
    "arp.op": (0, 1, 2, 3, 255), "icmp.type": (0, 3, 8, 128, 129, 135, 136), "icmp.code": (0, 0, 0, 1, 255),
    "tcp.flags": (0, 1, 2, 0x10, 0x12, 0x18, 0x100, 0xFFF),
    "mpls.label": (0, 3, 16, 0xFFFFF), "mpls.tc": (0, 7), "mpls.ttl": BYTES, "mpls.bos": (0, 1, 1, 1),
    "skb_priority": (0, 1, 0xFFFFFFFF), "skb_mark": (0, 1, 0x80000000),
}
VIDS = (0, 1, 2, 100, 0x7FF, 0xFFF)


def value(rng, field):
    if rng.random() < 0.15 and BITS[field] > 4:
        return rng.getrandbits(BITS[field])
    return rng.choice(POOLS[field])


def mask(rng, field, likely_full=0.5):
    """Never zero."""
    bits, whole = BITS[field], full(field)
    form = rng.random()
    if form < likely_full or bits == 1 or field in ("ip.frag", "icmp.type", "icmp.code"):
        return whole
    if form < likely_full + (1 - likely_full) / 2:
        return whole << rng.randrange(bits) & whole
    return rng.choice((rng.getrandbits(bits), 1 << rng.randrange(bits), whole ^ 1 << rng.randrange(bits))) or 1


def vid(rng):
    return rng.choice(VIDS) if rng.random() < 0.9 else rng.randrange(4096)
