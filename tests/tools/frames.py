#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends exact frames out of devices and compares, byte by byte, what arrives on others.

    frames.py send DEV HEX [COUNT] [--gso SIZE]
    frames.py capture [--time S] [--announce] DEV...        prints "DEV HEX" a frame
    frames.py check [--send DEV HEX COUNT]... [--expect DEV HEX COUNT]... [--watch DEV]... [--gso SIZE]

check opens its captures on every device it names, sends, waits until the expected frames are there and then some
quiet time, and fails unless each device got exactly the frames that were expected of it, in any order.

The kernel takes the outer VLAN tag out of a frame before a packet socket sees it: it is put back here from
PACKET_AUXDATA, so that hex always means the frame on the wire.
"""
import argparse
import collections
import errno
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 0x0003
ETH_P_8021Q = 0x8100
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_VNET_HDR = 15
PACKET_OUTGOING = 4
TP_STATUS_VLAN_VALID = 1 << 4
TP_STATUS_VLAN_TPID_VALID = 1 << 6
# struct tpacket_auxdata: status, len, snaplen, mac, net, vlan_tci, vlan_tpid
AUXDATA = struct.Struct("=IIIHHHH")
# struct virtio_net_hdr: flags, gso_type, hdr_len, gso_size, csum_start, csum_offset
VNET_HDR = struct.Struct("=BBHHHH")
VNET_F_NEEDS_CSUM = 1
VNET_GSO_TCPV4 = 1
VNET_GSO_TCPV6 = 4
RECEIVE_BUFFER = 64 << 20
SO_RCVBUFFORCE = 33
SNAP_LEN = 1 << 17


class Capture:
    """Frames that arrive on one device; copies of those that leave it are not among them."""

    def __init__(self, dev):
        self.dev = dev
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
        # Bound to the protocol only now: before it, frames of all devices would come in.
        self.sock.bind((dev, ETH_P_ALL))
        self.sock.setblocking(False)

    def fileno(self):
        return self.sock.fileno()

    def read(self):
        """All frames that are there now, tags put back."""
        frames = []
        while True:
            try:
                data, ancillary, _, address = self.sock.recvmsg(SNAP_LEN, socket.CMSG_SPACE(AUXDATA.size))
            except BlockingIOError:
                return frames
            except OSError as error:
                # The device went down or away: said once, the socket then stays silent.
                if error.errno in (errno.ENETDOWN, errno.ENODEV):
                    continue
                raise
            if address[2] != PACKET_OUTGOING:
                frames.append(put_tag_back(data, ancillary))

    def close(self):
        self.sock.close()


def put_tag_back(data, ancillary):
    for level, kind, value in ancillary:
        if level != SOL_PACKET or kind != PACKET_AUXDATA:
            continue
        status, _, _, _, _, tci, tpid = AUXDATA.unpack(value[:AUXDATA.size])
        if status & TP_STATUS_VLAN_VALID:
            if not status & TP_STATUS_VLAN_TPID_VALID:
                tpid = ETH_P_8021Q
            return data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
    return data


def gso_header(frame, size):
    """The virtio_net_hdr of an untagged TCP super-packet that is to be cut into segments of `size` payload bytes."""
    eth_type = struct.unpack("!H", frame[12:14])[0]
    if eth_type == 0x0800:
        kind, l4 = VNET_GSO_TCPV4, 14 + (frame[14] & 15) * 4
    else:
        kind, l4 = VNET_GSO_TCPV6, 14 + 40
    header_len = l4 + (frame[l4 + 12] >> 4) * 4
    return VNET_HDR.pack(VNET_F_NEEDS_CSUM, kind, header_len, size, l4, 16)


def send(dev, frame, count=1, gso=0):
    """Sends the frame `count` times; a full queue is waited for, so that every frame has left when this returns."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sock:
        if gso:
            sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            frame = gso_header(frame, gso) + frame
        sock.bind((dev, 0))
        for _ in range(count):
            while True:
                try:
                    sock.send(frame)
                    break
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    time.sleep(0.001)


def collect(captures, wanted=0, quiet=0.15, limit=10.0):
    """Reads until at least `wanted` frames came and then none for `quiet` seconds; a dict from device to frames."""
    frames = {capture.dev: [] for capture in captures}
    end = time.monotonic() + limit
    total = 0
    last = time.monotonic()
    while time.monotonic() < end:
        ready, _, _ = select.select(captures, [], [], 0.02)
        for capture in ready:
            got = capture.read()
            frames[capture.dev] += got
            total += len(got)
            if got:
                last = time.monotonic()
        idle = time.monotonic() - last
        # Frames that are still missing get more time, so that a busy machine fails nothing.
        if idle >= (quiet if total >= wanted else 1.0):
            break
    return frames


def compare(got, expected):
    """Differences between two lists of frames, order aside, as lines of text."""
    have, want = collections.Counter(got), collections.Counter(expected)
    lines = []
    for frame in want:
        if have[frame] != want[frame]:
            lines.append(f"expected {want[frame]} times, got {have[frame]}: {frame.hex()}")
    for frame in have:
        if frame not in want:
            lines.append(f"unexpected, {have[frame]} times: {frame.hex()}")
    return lines


def command_send(args):
    send(args.dev, bytes.fromhex(args.hex), args.count, args.gso)
    return 0


def command_capture(args):
    captures = [Capture(dev) for dev in args.dev]
    if args.announce:
        print("ready", flush=True)
    end = time.monotonic() + args.time
    while time.monotonic() < end:
        ready, _, _ = select.select(captures, [], [], max(0.0, min(0.05, end - time.monotonic())))
        for capture in ready:
            for frame in capture.read():
                print(capture.dev, frame.hex(), flush=True)
    return 0


def command_check(args):
    expected = {}
    for dev, text, count in args.expect:
        expected.setdefault(dev, []).extend([bytes.fromhex(text)] * int(count))
    devices = list(dict.fromkeys(list(expected) + args.watch))
    captures = [Capture(dev) for dev in devices]
    for dev, text, count in args.send:
        send(dev, bytes.fromhex(text), int(count), args.gso)
    frames = collect(captures, sum(map(len, expected.values())))
    failed = False
    for dev in devices:
        for line in compare(frames[dev], expected.get(dev, [])):
            failed = True
            print(f"{dev}: {line}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("send")
    command.add_argument("dev")
    command.add_argument("hex")
    command.add_argument("count", nargs="?", type=int, default=1)
    command.add_argument("--gso", type=int, default=0)
    command.set_defaults(run=command_send)

    command = commands.add_parser("capture")
    command.add_argument("--time", type=float, default=1.0)
    command.add_argument("--announce", action="store_true", help="print \"ready\" once frames are seen")
    command.add_argument("dev", nargs="+")
    command.set_defaults(run=command_capture)

    command = commands.add_parser("check")
    command.add_argument("--send", nargs=3, action="append", default=[], metavar=("DEV", "HEX", "COUNT"))
    command.add_argument("--expect", nargs=3, action="append", default=[], metavar=("DEV", "HEX", "COUNT"))
    command.add_argument("--watch", action="append", default=[], metavar="DEV")
    command.add_argument("--gso", type=int, default=0)
    command.set_defaults(run=command_check)

    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
