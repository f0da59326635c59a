#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""random_flows.py COUNT [SEED]: so many different flows of all kinds, each a line as add-flows takes it."""
import random
import sys


def number(bits):
    value = random.getrandbits(bits)
    kind = random.randrange(3)
    if kind == 0:
        return str(value)
    return "%#x/%#x" % (value, (1 << bits) - 1 if kind == 1 else random.getrandbits(bits))


def joined(data, separator, form):
    return separator.join(form % byte for byte in data)


def address(size, text):
    value, mask = random.randbytes(size), random.choice([None, random.randbytes(size), b"\xff" * size])
    return text(value) + ("/" + text(mask) if mask else "")


def mac():
    return address(6, lambda data: joined(data, ":", "%02x"))


def ipv4():
    return address(4, lambda data: joined(data, ".", "%d"))


def ipv6():
    return address(16, lambda data: ":".join(data[i : i + 2].hex() for i in range(0, 16, 2)))


def attribute(name, fields):
    """Some of the fields, or none of them."""
    chosen = [field for field in fields if random.randrange(3)]
    return "%s(%s)" % (name, ",".join("%s=%s" % (field, make()) for field, make in chosen))


def of(bits):
    return lambda: number(bits)


PORTS = [("src", of(16)), ("dst", of(16))]
ICMP = [("type", of(8)), ("code", of(8))]
PROTOCOLS = {
    6: lambda: [attribute("tcp", PORTS), "tcp_flags(%s)" % random.choice(["+syn-ack", "0x2/0x12", "syn|ack"])],
    17: lambda: [attribute("udp", PORTS)],
    132: lambda: [attribute("sctp", PORTS)],
}


def frag():
    return random.choice(["no", "first"])


def ip(name, fields, icmp, icmp_attribute):
    """An IP header with exact protocol, and what it carries."""
    proto = random.choice([6, 17, 132, icmp])
    head = attribute(name, fields)[:-1]
    head += "%sproto=%d)" % ("" if head.endswith("(") else ",", proto)
    return [head] + (PROTOCOLS[proto]() if proto in PROTOCOLS else [icmp_attribute()])


def payload_ipv4():
    fields = [("src", ipv4), ("dst", ipv4), ("tos", of(8)), ("ttl", of(8)), ("frag", frag)]
    return ["eth_type(0x0800)"] + ip("ipv4", fields, 1, lambda: attribute("icmp", ICMP))


def neighbour():
    fields = [("target", ipv6), ("sll", mac), ("tll", mac)]
    return "icmpv6(type=%d),%s" % (random.choice([135, 136]), attribute("nd", fields))


def payload_ipv6():
    fields = [("src", ipv6), ("dst", ipv6), ("label", of(20)), ("tclass", of(8)), ("hlimit", of(8)), ("frag", frag)]
    return ["eth_type(0x86dd)"] + ip("ipv6", fields, 58, neighbour)


def payload_arp():
    fields = [("sip", ipv4), ("tip", ipv4), ("op", of(8)), ("sha", mac), ("tha", mac)]
    return [random.choice(["eth_type(0x0806)", "eth_type(0x8035)"]), attribute("arp", fields)]


def payload_mpls():
    fields = [("label", of(20)), ("tc", of(3)), ("ttl", of(8)), ("bos", of(1))]
    entries = [",".join("%s=%s" % (name, make()) for name, make in fields) for _ in range(random.randint(1, 3))]
    return ["eth_type(0x8847)", "mpls(%s)" % ",".join(entries)]


def payload_other():
    return ["eth_type(%#06x)" % random.randint(0x9000, 0xFFFF)]


def flow():
    outer = [name for name in ("recirc_id", "dp_hash", "skb_priority", "skb_mark") if random.randrange(4) == 0]
    parts = ["%s(%s)" % (name, random.getrandbits(32) if name == "recirc_id" else number(32)) for name in outer]
    parts += ["in_port(%d)" % random.randint(1, 500), attribute("eth", [("src", mac), ("dst", mac)])]
    inner = ",".join(random.choice([payload_ipv4, payload_ipv6, payload_arp, payload_mpls, payload_other])())
    for _ in range(random.choice([0, 0, 1, 2])):
        tag = attribute("vlan", [("vid", of(12)), ("pcp", of(3))])
        inner = "eth_type(%s),%s,encap(%s)" % (random.choice(["0x8100", "0x88a8"]), tag, inner)
    return ",".join(parts + [inner])


def actions():
    """Those that any flow may have."""
    kinds = [
        lambda: str(random.randint(1, 9)),
        lambda: "push_vlan(vid=%d,pcp=%d)" % (random.getrandbits(12), random.getrandbits(3)),
        lambda: "pop_vlan",
        lambda: "set(eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:00/ff:ff:00:00:00:00))",
        lambda: "set(skb_mark(%#x))" % random.getrandbits(32),
        lambda: "csum(ip,tcp)",
        lambda: "pedit(ex munge eth src set 02:00:00:00:00:%02x)" % random.getrandbits(8),
        lambda: "pedit(munge offset %d u32 set 0x%x)" % (4 * random.getrandbits(4), random.getrandbits(32)),
    ]
    count = random.choice([0, 1, 1, 2, 3, 5])
    return ",".join([random.choice(kinds)() for _ in range(count)] + [str(random.randint(1, 9))] * (count > 0)) or "drop"


def main():
    count = int(sys.argv[1])
    random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    flows = set()
    while len(flows) < count:
        flows.add(flow())
    for text in sorted(flows):
        print(text, actions())


main()
