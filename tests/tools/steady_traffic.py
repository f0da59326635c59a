#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends frames of several flows in turn at a steady rate until it is told to stop, and counts what comes out where.

    steady_traffic.py --send DEV [--rate N] FLOWS

FLOWS is a file with a line "HEX DEV" for each flow: its frame, to which a marker is added, and the device on which it
has to come out.  Prints "ready" when frames flow.  On SIGTERM it waits for the last frames and prints a JSON object:
`sent` and `received`, lists with the frames of each flow, and `strays`, the number of frames of any flow that came out
elsewhere or changed.
"""
import argparse
import json
import signal
import socket
import sys
import time

import frames
import marked_traffic

TICK = 0.002


class Outlet:
    """Counts, for one device, the frames of the flows that have to come out there."""

    def __init__(self, dev, flows):
        self.numbers = {frame: number for number, (frame, devices) in enumerate(flows) if devices == [dev]}
        self.ours = {frame[-12:] for frame, _ in flows}
        self.strays = 0
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(frames.SOL_PACKET, marked_traffic.PACKET_IGNORE_OUTGOING, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, frames.SO_RCVBUFFORCE, frames.RECEIVE_BUFFER)
        self.sock.bind((dev, frames.ETH_P_ALL))
        self.sock.setblocking(False)

    def drain(self, received):
        while True:
            try:
                frame = self.sock.recv(4096)
            except BlockingIOError:
                return
            number = self.numbers.get(frame)
            if number is not None:
                received[number] += 1
            elif frame[-12:] in self.ours:
                self.strays += 1


class Traffic:
    def __init__(self, args):
        self.flows = marked_traffic.read_flows(args.flows)
        self.outlets = [Outlet(dev, self.flows) for dev in {devices[0] for _, devices in self.flows}]
        self.sent = [0] * len(self.flows)
        self.received = [0] * len(self.flows)
        self.stopped = False
        self.rate = args.rate
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.bind((args.send, 0))

    def stop(self, *_):
        self.stopped = True

    def drain(self):
        for outlet in self.outlets:
            outlet.drain(self.received)

    def run(self):
        number = total = 0
        begin = time.monotonic()
        while not self.stopped:
            # After a pause of ours the rate is kept, not the total: no bursts that fill a queue.
            due = int(self.rate * (time.monotonic() - begin))
            total = max(total, due - int(self.rate * 10 * TICK))
            while total < due:
                self.sock.send(self.flows[number][0])
                self.sent[number] += 1
                number = (number + 1) % len(self.flows)
                total += 1
            self.drain()
            time.sleep(TICK)
        time.sleep(0.3)
        self.drain()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--send", required=True)
    parser.add_argument("--rate", type=int, default=5000, help="frames a second")
    parser.add_argument("flows")
    traffic = Traffic(parser.parse_args())
    signal.signal(signal.SIGTERM, traffic.stop)
    print("ready", flush=True)
    traffic.run()
    json.dump({"sent": traffic.sent, "received": traffic.received,
               "strays": sum(outlet.strays for outlet in traffic.outlets)}, sys.stdout)


if __name__ == "__main__":
    main()
