#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends frames that carry the number of their flow, as fast as one CPU can, and watches where they come out.

    marked_traffic.py --time S --send DEV --watch DEV... FLOWS

FLOWS is a file with a line "HEX DEV[,DEV...]" for each flow: its frame, without marker, and the devices on which any
version of the flow may let it out.  The result is a JSON object: `sent`, a list with the frames sent of each flow;
`received`, their sum; `wrong`, examples of frames that came out elsewhere or changed; `wrong_count`.
"""
import argparse
import json
import socket
import struct
import sys
import time

import frames

MARKER = struct.Struct("!I")
PACKET_IGNORE_OUTGOING = 23
BURST = 32
EXAMPLES = 10


class Watch:
    def __init__(self, dev, flows):
        self.dev = dev
        self.allowed = [dev in devices for _, devices in flows]
        self.flows = flows
        self.received = 0
        self.wrong_count = 0
        self.wrong = []
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(frames.SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, frames.SO_RCVBUFFORCE, frames.RECEIVE_BUFFER)
        self.sock.bind((dev, frames.ETH_P_ALL))
        self.sock.setblocking(False)

    def drain(self):
        receive = self.sock.recv
        while True:
            try:
                frame = receive(4096)
            except BlockingIOError:
                return
            self.received += 1
            flow = MARKER.unpack(frame[-4:])[0]
            if flow >= len(self.flows) or not self.allowed[flow] or frame != self.flows[flow][0]:
                self.wrong_count += 1
                if len(self.wrong) < EXAMPLES:
                    self.wrong.append(f"{self.dev}: {frame.hex()}")


def read_flows(path):
    flows = []
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file):
            text, devices = line.split()
            flows.append((bytes.fromhex(text) + MARKER.pack(number), devices.split(",")))
    return flows


def run(args):
    flows = read_flows(args.flows)
    watches = [Watch(dev, flows) for dev in args.watch]
    sent = [0] * len(flows)
    end = time.monotonic() + args.time
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sock:
        sock.bind((args.send, 0))
        send = sock.send
        number = 0
        while time.monotonic() < end:
            for _ in range(BURST):
                send(flows[number][0])
                sent[number] += 1
                number = (number + 1) % len(flows)
            for watch in watches:
                watch.drain()
    time.sleep(0.3)
    for watch in watches:
        watch.drain()
    return {"sent": sent, "received": sum(watch.received for watch in watches),
            "wrong_count": sum(watch.wrong_count for watch in watches),
            "wrong": [line for watch in watches for line in watch.wrong]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=float, required=True)
    parser.add_argument("--send", required=True)
    parser.add_argument("--watch", nargs="+", required=True)
    parser.add_argument("flows")
    json.dump(run(parser.parse_args()), sys.stdout)


if __name__ == "__main__":
    main()
