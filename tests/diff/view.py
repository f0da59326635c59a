# SPDX-License-Identifier: GPL-2.0-only
"""A frame's headers, for what deviations ask about it."""
import struct

import packet

EXTENSIONS = (packet.HOP_BY_HOP, packet.ROUTING, packet.FRAGMENT, packet.AUTH, packet.DEST)
L4_SIZES = {packet.TCP: 20, packet.UDP: 8, packet.SCTP: 12, packet.ICMP: 8, packet.ICMPV6: 8}


class View:
    """Offsets are into data; l3 and l4 are None where there is no such header."""

    def __init__(self, data):
        self.data = data
        self.tags = []
        self.snap = False
        self.l4 = self.proto = None
        self.later = self.rerouted = self.overrun = False
        self.extensions = []  # types, in their order
        at = 12
        while self.half(at) in (packet.ETH_VLAN, packet.ETH_8021AD) and len(self.tags) < 2 and at + 4 <= len(data):
            self.tags.append(self.half(at + 2))
            at += 4
        self.eth_type = self.half(at)
        self.l3 = at + 2
        if self.eth_type is not None and self.eth_type < 0x600:
            self.snap = True
            if data[at + 2:at + 4] == b"\xaa\xaa":
                self.eth_type = self.half(at + 8)
                self.l3 = at + 10
        self.rest = len(data) - self.l3
        if self.eth_type == packet.ETH_IPV4 and self.rest >= 20:
            self.read_ipv4()
        elif self.eth_type == packet.ETH_IPV6 and self.rest >= 40:
            self.read_ipv6()

    def half(self, at):
        return struct.unpack_from("!H", self.data, at)[0] if at + 2 <= len(self.data) else None

    def byte(self, at):
        return self.data[at] if at < len(self.data) else None

    def read_ipv4(self):
        self.proto = self.data[self.l3 + 9]
        self.later = bool(self.half(self.l3 + 6) & 0x1FFF)
        self.l4 = self.l3 + (self.data[self.l3] & 15) * 4

    def read_ipv6(self):
        self.proto, at = self.data[self.l3 + 6], self.l3 + 40
        while self.proto in EXTENSIONS and at + 4 <= len(self.data):
            self.extensions.append(self.proto)
            if self.proto == packet.FRAGMENT and self.half(at + 2) & 0xFFF8:
                self.later = True
                break
            if self.proto == packet.ROUTING and self.data[at + 3]:
                self.rerouted = True
            units = self.data[at + 1]
            size = 8 if self.proto == packet.FRAGMENT else (units + 2) * 4 if self.proto == packet.AUTH else (units + 1) * 8
            self.proto = self.data[at]
            at += size
        self.l4 = at
        # A chain that goes on where the frame does not, or that is longer than the frame.
        self.overrun = not self.later and (at > len(self.data) or self.proto in EXTENSIONS)

    def labels_end(self):
        """Is there an MPLS label that says it is the last?"""
        return any(self.data[at + 2] & 1 for at in range(self.l3, len(self.data) - 3, 4))

    def ip_length(self):
        """What the IP header says of its packet's size; None if there is none."""
        if self.proto is None:
            return None
        return self.half(self.l3 + 2) if self.eth_type == packet.ETH_IPV4 else self.half(self.l3 + 4) + 40
