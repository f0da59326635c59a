# SPDX-License-Identifier: GPL-2.0-only
"""Packets as fields, and the frames that they make.

Field names are those of match.py, so that flows can be derived from a packet and packets from a flow.
"""
import copy
import struct

ETH_IPV4 = 0x0800
ETH_ARP = 0x0806
ETH_RARP = 0x8035
ETH_VLAN = 0x8100
ETH_IPV6 = 0x86DD
ETH_MPLS = 0x8847
ETH_MPLS_MC = 0x8848
ETH_8021AD = 0x88A8
ETH_OTHER = 0x88B6  # IEEE: local experiments

ICMP, TCP, UDP, ICMPV6, SCTP = 1, 6, 17, 58, 132
HOP_BY_HOP, ROUTING, FRAGMENT, AUTH, NO_NEXT, DEST = 0, 43, 44, 51, 59, 60
FRAG_NO, FRAG_FIRST, FRAG_LATER = range(3)
ND_TYPES = (135, 136)

CRC32C = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    CRC32C.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for octet in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ octet) & 0xFF]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


class Packet:
    """fields: what a flow can match; the rest is shape."""

    def __init__(self):
        self.fields = {"eth.src": 0, "eth.dst": 0, "eth_type": ETH_OTHER}
        self.tags = []  # of (tpid, vid, pcp, dei), outermost first
        self.snap = None  # None, "snap" or "llc": an IEEE 802.3 length stands where the type would
        self.ip_options = b""
        self.ip_flags = 0  # DF 0x4000, the reserved bit 0x8000
        self.extensions = []  # of IPv6: types
        self.segments_left = 0
        self.frag_offset = 1
        self.tcp_options = b""
        self.labels = []  # MPLS entries below the first
        self.udp_sum = True
        self.right_sums = True
        self.payload = b""

    def copy(self):
        return copy.deepcopy(self)

    def get(self, name):
        return self.fields.get(name, 0)

    # L4

    def l4_header(self):
        """The header with a zero checksum, and the checksum's offset."""
        ports = struct.pack("!HH", self.get("tp.src"), self.get("tp.dst"))
        kind = struct.pack("!BBHI", self.get("icmp.type"), self.get("icmp.code"), 0, 0x12345678)
        proto = self.get("ip.proto")
        if proto == TCP:
            words = 5 + len(self.tcp_options) // 4
            flags = self.get("tcp.flags") & 0xFFF
            return ports + struct.pack("!IIHHHH", 1, 2, words << 12 | flags, 0x2000, 0, 0) + self.tcp_options, 16
        if proto == UDP:
            return ports + struct.pack("!HH", 8 + len(self.payload), 0), 6
        if proto == SCTP:
            return ports + struct.pack("!II", 0x11223344, 0), 8
        if proto == ICMP:
            return kind, 2
        if proto == ICMPV6:
            if self.get("icmp.type") in ND_TYPES:
                kind += self.get("nd.target").to_bytes(16, "big")
                for option, name in ((1, "nd.sll"), (2, "nd.tll")):
                    if self.get(name):
                        kind += bytes([option, 1]) + self.get(name).to_bytes(6, "big")
            return kind, 2
        return b"", 0

    def l4(self, pseudo):
        header, at = self.l4_header()
        proto = self.get("ip.proto")
        whole = bytearray(header + self.payload)
        if not at or not self.right_sums:
            return bytes(whole)
        if proto == SCTP:
            whole[8:12] = crc32c(whole)
        elif proto != UDP or self.udp_sum:
            covered = bytes(whole) if proto == ICMP else pseudo(len(whole)) + bytes(whole)
            total = checksum(covered)
            whole[at:at + 2] = struct.pack("!H", 0xFFFF if proto == UDP and total == 0 else total)
        return bytes(whole)

    # L3

    def ipv4(self):
        source = self.get("ip4.src").to_bytes(4, "big")
        target = self.get("ip4.dst").to_bytes(4, "big")
        proto = self.get("ip.proto")
        body = self.l4(lambda length: source + target + struct.pack("!BBH", 0, proto, length))
        frag = self.get("ip.frag")
        offset = self.ip_flags | (0x2000 if frag == FRAG_FIRST else self.frag_offset if frag == FRAG_LATER else 0)
        words = 5 + len(self.ip_options) // 4
        header = bytearray(struct.pack("!BBHHHBBH", 0x40 | words, self.get("ip.tos"), words * 4 + len(body), 1, offset,
                                       self.get("ip.ttl"), proto, 0) + source + target + self.ip_options)
        if self.right_sums:
            header[10:12] = struct.pack("!H", checksum(bytes(header)))
        return bytes(header) + body

    def ipv6(self):
        source = self.get("ip6.src").to_bytes(16, "big")
        target = self.get("ip6.dst").to_bytes(16, "big")
        proto = self.get("ip.proto")
        chain = [kind for kind in self.extensions if kind != FRAGMENT]
        if self.get("ip.frag") != FRAG_NO:
            chain.append(FRAGMENT)
        headers = b""
        for kind, after in zip(chain, chain[1:] + [proto]):
            headers += self.extension(kind, after)
        body = headers + self.l4(lambda length: source + target + struct.pack("!IBBBB", length, 0, 0, 0, proto))
        first = 6 << 28 | self.get("ip.tos") << 20 | self.get("ip6.label")
        return struct.pack("!IHBB", first, len(body), chain[0] if chain else proto, self.get("ip.ttl")) + \
            source + target + body

    def extension(self, kind, after):
        if kind == FRAGMENT:
            later = self.get("ip.frag") == FRAG_LATER
            return struct.pack("!BBHI", after, 0, self.frag_offset << 3 if later else 1, 7)
        if kind == ROUTING:
            return struct.pack("!BBBBI", after, 2, 0, self.segments_left, 0) + bytes(15) + b"\1"
        if kind == AUTH:
            return struct.pack("!BBHII", after, 1, 0, 1, 1)
        return bytes([after, 0, 1, 4, 0, 0, 0, 0])

    def arp(self):
        return struct.pack("!HHBBH", 1, ETH_IPV4, 6, 4, self.get("arp.op")) + \
            self.get("arp.sha").to_bytes(6, "big") + self.get("arp.sip").to_bytes(4, "big") + \
            self.get("arp.tha").to_bytes(6, "big") + self.get("arp.tip").to_bytes(4, "big") + self.payload

    def mpls(self):
        first = self.get("mpls.label") << 12 | self.get("mpls.tc") << 9 | self.get("mpls.bos") << 8 | self.get("mpls.ttl")
        return b"".join(struct.pack("!I", entry) for entry in [first] + self.labels) + self.payload

    def l3(self):
        kinds = {ETH_IPV4: self.ipv4, ETH_IPV6: self.ipv6, ETH_ARP: self.arp, ETH_RARP: self.arp, ETH_MPLS: self.mpls,
                 ETH_MPLS_MC: self.mpls}
        kind = kinds.get(self.fields["eth_type"])
        return kind() if kind else self.payload

    def frame(self):
        head = self.fields["eth.dst"].to_bytes(6, "big") + self.fields["eth.src"].to_bytes(6, "big")
        for tpid, vid, pcp, dei in self.tags:
            head += struct.pack("!HH", tpid, pcp << 13 | dei << 12 | vid)
        body = self.l3()
        if self.snap == "snap":
            body = b"\xaa\xaa\x03\0\0\0" + struct.pack("!H", self.fields["eth_type"]) + body
        elif self.snap == "llc":
            body = b"\x42\x42\x03" + body
        if self.snap:
            return head + struct.pack("!H", len(body) & 0x5FF) + body
        return head + struct.pack("!H", self.fields["eth_type"]) + body
