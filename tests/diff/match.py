# SPDX-License-Identifier: GPL-2.0-only
"""What a flow matches: fields with masks, and their text in the words of ovs-dpctl."""
import ipaddress

import packet

WILD_TYPE = 0x1234  # stands in the key where eth_type has mask 0


def mac(value):
    return ":".join(f"{octet:02x}" for octet in value.to_bytes(6, "big"))


def ipv4(value):
    return str(ipaddress.IPv4Address(value))


def ipv6(value):
    return str(ipaddress.IPv6Address(value))


def frag(value):
    return ("no", "first", "later")[value]


# attribute -> (name in the text, field, bits, how it is written)
ATTRIBUTES = {
    "eth": [("src", "eth.src", 48, mac), ("dst", "eth.dst", 48, mac)],
    "ipv4": [("src", "ip4.src", 32, ipv4), ("dst", "ip4.dst", 32, ipv4), ("proto", "ip.proto", 8, str),
             ("tos", "ip.tos", 8, hex), ("ttl", "ip.ttl", 8, str), ("frag", "ip.frag", 8, frag)],
    "ipv6": [("src", "ip6.src", 128, ipv6), ("dst", "ip6.dst", 128, ipv6), ("label", "ip6.label", 20, hex),
             ("proto", "ip.proto", 8, str), ("tclass", "ip.tos", 8, hex), ("hlimit", "ip.ttl", 8, str),
             ("frag", "ip.frag", 8, frag)],
    "arp": [("sip", "arp.sip", 32, ipv4), ("tip", "arp.tip", 32, ipv4), ("op", "arp.op", 8, str),
            ("sha", "arp.sha", 48, mac), ("tha", "arp.tha", 48, mac)],
    "mpls": [("label", "mpls.label", 20, str), ("tc", "mpls.tc", 3, str), ("ttl", "mpls.ttl", 8, str),
             ("bos", "mpls.bos", 1, str)],
    "tcp": [("src", "tp.src", 16, str), ("dst", "tp.dst", 16, str)],
    "udp": [("src", "tp.src", 16, str), ("dst", "tp.dst", 16, str)],
    "sctp": [("src", "tp.src", 16, str), ("dst", "tp.dst", 16, str)],
    "icmp": [("type", "icmp.type", 8, str), ("code", "icmp.code", 8, str)],
    "icmpv6": [("type", "icmp.type", 8, str), ("code", "icmp.code", 8, str)],
    "nd": [("target", "nd.target", 128, ipv6), ("sll", "nd.sll", 48, mac), ("tll", "nd.tll", 48, mac)],
    "tcp_flags": [(None, "tcp.flags", 12, hex)],
    "skb_priority": [(None, "skb_priority", 32, hex)],
    "skb_mark": [(None, "skb_mark", 32, hex)],
}
BITS = {field: bits for rows in ATTRIBUTES.values() for _, field, bits, _ in rows}
L3 = {packet.ETH_IPV4: "ipv4", packet.ETH_IPV6: "ipv6", packet.ETH_ARP: "arp", packet.ETH_RARP: "arp",
      packet.ETH_MPLS: "mpls", packet.ETH_MPLS_MC: "mpls"}
L4 = {(packet.ETH_IPV4, packet.ICMP): ["icmp"], (packet.ETH_IPV6, packet.ICMPV6): ["icmpv6", "nd"]}
for eth_type in (packet.ETH_IPV4, packet.ETH_IPV6):
    L4[eth_type, packet.TCP] = ["tcp", "tcp_flags"]
    L4[eth_type, packet.UDP] = ["udp"]
    L4[eth_type, packet.SCTP] = ["sctp"]


def full(field):
    return (1 << BITS[field]) - 1


def value_text(field, value, mask, how):
    """value/mask, in the forms that Open vSwitch reads."""
    if field == "ip.frag":
        return how(value)
    if mask == full(field):
        return how(value)
    return f"{how(value)}/{how(mask) if how in (mac, ipv4, ipv6) else hex(mask)}"


def attribute_text(name, fields, wild=False):
    """NAME(...), of those of its fields that are there; wild: the others too, with mask 0."""
    parts = []
    for label, field, _, how in ATTRIBUTES[name]:
        value, mask = fields.get(field, (0, 0))
        if mask or (wild and field != "ip.frag"):
            parts.append((f"{label}=" if label else "") + value_text(field, value, mask, how))
    return f"{name}({','.join(parts)})"


class Match:
    def __init__(self, in_port, origin):
        self.in_port = in_port  # None: any
        self.eth_type = None  # None: any
        self.fields = {}  # field -> (value, mask), masks that are zero are left out
        self.tags = []  # of (tpid, (vid, mask), (pcp, mask))
        self.origin = origin  # a packet that it matches

    def exact(self, field):
        value, mask = self.fields.get(field, (0, 0))
        return value if mask == full(field) else None

    def attributes(self):
        """Names of the attributes that the kernel datapath wants to see, innermost ones."""
        names = []
        if self.eth_type in L3:
            names.append(L3[self.eth_type])
        proto = self.fields.get("ip.proto", (0, 0))[0]
        if self.fields.get("ip.frag", (0, 0))[0] != packet.FRAG_LATER:
            names += L4.get((self.eth_type, proto), [])
        if "nd" in names and self.fields.get("icmp.type", (0, 0))[0] not in packet.ND_TYPES:
            names.remove("nd")
        return names

    def inner_text(self):
        parts = [f"eth_type(0x{self.eth_type:04x})" if self.eth_type is not None else f"eth_type({WILD_TYPE:#x}/0)"]
        for name in self.attributes():
            parts.append(attribute_text(name, self.fields, wild=name in ("tcp_flags", "nd")))
        return ",".join(parts)

    def text(self):
        parts = []
        if self.in_port is not None:
            parts.append(f"in_port({self.in_port})")
        for name in ("skb_priority", "skb_mark"):
            if name in self.fields:
                parts.append(attribute_text(name, self.fields))
        parts.append(attribute_text("eth", self.fields))
        inner = self.inner_text()
        for tpid, (vid, vid_mask), (pcp, pcp_mask) in reversed(self.tags):
            inner = f"eth_type({tpid:#x}),vlan(vid={vid}/{vid_mask:#x},pcp={pcp}/{pcp_mask:#x}),encap({inner})"
        return ",".join(parts + [inner])

    def words(self):
        """field -> (value, mask) with all that is implied: port, tags, type."""
        words = dict(self.fields)
        if self.in_port is not None:
            words["in_port"] = (self.in_port, 0xFFFF)
        if self.eth_type is not None:
            words["eth_type"] = (self.eth_type, 0xFFFF)
        for level in range(2):
            if level < len(self.tags):
                tpid, (vid, vid_mask), (pcp, pcp_mask) = self.tags[level]
                words[f"tag{level}"] = (1 << 32 | tpid << 16 | pcp << 13 | vid,
                                        1 << 32 | 0xFFFF << 16 | pcp_mask << 13 | vid_mask)
            elif level == len(self.tags):
                words[f"tag{level}"] = (0, 1 << 32)
        return words

    def overlaps(self, other):
        """Is there a packet that both match?"""
        mine, others = self.words(), other.words()
        for field in mine.keys() & others.keys():
            (value, mask), (other_value, other_mask) = mine[field], others[field]
            if (value ^ other_value) & mask & other_mask:
                return False
        return True
