#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""frames.py with another sender: a PACKET_TX_RING.

Of a frame that is sent through a ring only the Ethernet header is in the linear part of the kernel's buffer; the rest
stays in the pages of the ring.  So direct packet access of a BPF program ends after 14 bytes.
"""
import mmap
import socket
import struct
import sys
import time

import frames

PACKET_VERSION = 10
PACKET_TX_RING = 13
TPACKET_V2 = 1
TP_STATUS_AVAILABLE = 0
TP_STATUS_SEND_REQUEST = 1
TP_STATUS_WRONG_FORMAT = 4
# struct tpacket_req: block size, blocks, frame size, frames
FRAME_SIZE = 16384
BLOCK_SIZE = 65536
BLOCKS = 4
FRAMES = BLOCK_SIZE // FRAME_SIZE * BLOCKS
REQUEST = struct.Struct("=IIII")
# struct tpacket2_hdr begins with status and length; 32 bytes, then the frame
HEADER = struct.Struct("=II")
DATA_AT = 32


class Ring:
    def __init__(self, dev):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(frames.SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.sock.setsockopt(frames.SOL_PACKET, PACKET_TX_RING, REQUEST.pack(BLOCK_SIZE, BLOCKS, FRAME_SIZE, FRAMES))
        self.memory = mmap.mmap(self.sock.fileno(), BLOCK_SIZE * BLOCKS)
        self.sock.bind((dev, 0))
        self.next = 0

    def send(self, frame):
        at = self.next * FRAME_SIZE
        self.wait(at)
        self.memory[at + DATA_AT:at + DATA_AT + len(frame)] = frame
        HEADER.pack_into(self.memory, at, TP_STATUS_SEND_REQUEST, len(frame))
        self.sock.send(b"")
        self.wait(at)
        self.next = (self.next + 1) % FRAMES

    def wait(self, at):
        while True:
            status, _ = HEADER.unpack_from(self.memory, at)
            if status == TP_STATUS_AVAILABLE:
                return
            if status & TP_STATUS_WRONG_FORMAT:
                raise OSError("the kernel refuses the frame: longer than the device's MTU?")
            time.sleep(0.0001)

    def close(self):
        self.memory.close()
        self.sock.close()


def send(dev, frame, count=1, gso=0):
    if gso:
        raise ValueError("no super-packets through a ring")
    ring = Ring(dev)
    for _ in range(count):
        ring.send(frame)
    ring.close()


if __name__ == "__main__":
    frames.send = send
    sys.exit(frames.main())
