# SPDX-License-Identifier: GPL-2.0-only
"""Two switches beside each other: namespaces, veth pairs, and frames that go into both one after another.

Everything is in three namespaces that are made here: one for each switch, one with the far ends of all ports, which
this process enters.
"""
import ctypes
import errno
import os
import pathlib
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import frames  # noqa: E402  pylint: disable=wrong-import-position
from generate import FENCE, FENCE_PORT  # noqa: E402  pylint: disable=wrong-import-position

PACKET_IGNORE_OUTGOING = 23
CLONE_NEWNET = 0x40000000
SIDES = ("tcvs", "peer")
FENCE_SECONDS = 2
FENCE_TRIES = 5


class WireError(Exception):
    pass


def must(*words, **how):
    result = subprocess.run(words, text=True, capture_output=True, check=False, **how)
    if result.returncode:
        raise WireError(f"{' '.join(words)}: exit {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def netns_path(name):
    return f"/run/netns/{name}"


def in_netns(name, *words):
    """A command's words; by nsenter, since ip netns exec hides bpffs."""
    return ["nsenter", f"--net={netns_path(name)}", *words]


def enter(name):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(netns_path(name), "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {name}")


def busy_times():
    with open("/proc/stat", encoding="ascii") as file:
        rows = [line.split() for line in file if line.startswith("cpu") and line[3] != " "]
    return {int(row[0][3:]): sum(map(int, row[1:4] + row[6:8])) for row in rows}


def quiet_cpu():
    before = busy_times()
    time.sleep(0.2)
    after = busy_times()
    return min(os.sched_getaffinity(0), key=lambda cpu: after[cpu] - before[cpu])


class Wire:
    """ports: numbers; devices in the namespace of a switch are named by device(side, port)."""

    def __init__(self, ports, stack):
        # On one CPU, with all that is started here: frames that wait on different CPUs overtake each other.
        os.sched_setaffinity(0, {quiet_cpu()})
        self.ports = ports
        self.tag = f"d{os.getpid()}"
        self.sockets = {}
        self.gso_sockets = {}
        self.where = {}
        self.poll = select.poll()
        # How many fences a side needs: a switch that polls its ports may see the first one before the frame.
        self.fences = {side: 1 for side in SIDES}
        self.fence = 0
        self.expected = {}
        for name in (*SIDES, "far"):
            must("ip", "netns", "add", self.netns(name))
            stack.callback(subprocess.run, ["ip", "netns", "del", self.netns(name)], check=False, capture_output=True)
            self.silence(name)
        for side in SIDES:
            for port in ports:
                self.add_veth(side, port)
        enter(self.netns("far"))
        for side in SIDES:
            for port in ports:
                self.open(side, port)

    def netns(self, name):
        return f"{self.tag}-{name}"

    def device(self, side, port):
        return f"{self.tag}{side[0]}{port}"

    def far_end(self, side, port):
        return f"{self.tag}{side[0]}{port}f"

    def silence(self, name):
        """No frame shall move that is not of the test."""
        must(*in_netns(self.netns(name), "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                       "net.ipv6.conf.default.disable_ipv6=1"))

    def add_veth(self, side, port):
        near, far = self.device(side, port), self.far_end(side, port)
        must("ip", "link", "add", near, "netns", self.netns(side), "type", "veth", "peer", "name", far, "netns",
             self.netns("far"))
        must("ip", "-n", self.netns(side), "link", "set", near, "up")
        must("ip", "-n", self.netns("far"), "link", "set", far, "up")

    def open(self, side, port):
        capture = frames.Capture(self.far_end(side, port))
        capture.sock.setsockopt(frames.SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sockets[side, port] = capture
        self.where[capture.fileno()] = (side, port)
        self.poll.register(capture, select.POLLIN)
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        sock.setsockopt(frames.SOL_PACKET, frames.PACKET_VNET_HDR, 1)
        sock.bind((self.far_end(side, port), 0))
        self.gso_sockets[side, port] = sock

    def send(self, side, frame):
        if frame.gso:
            send_surely(self.gso_sockets[side, frame.port], frames.gso_header(frame.data, frame.gso) + frame.data)
        else:
            send_surely(self.sockets[side, frame.port].sock, frame.data)

    def receive(self, arrived, timeout):
        for fd, _ in self.poll.poll(timeout * 1000):
            side, port = self.where[fd]
            for data in self.sockets[side, port].read():
                arrived[side].setdefault(port, []).append(data)

    def settle(self, arrived, sides):
        """Sends a fence to each side and waits until it is back; more than once, since a busy machine may lose frames."""
        waiting = set(sides)
        for _ in range(FENCE_TRIES):
            for side in waiting:
                self.fence += 1
                self.expected[side] = FENCE + self.fence.to_bytes(8, "big")
                send_surely(self.sockets[side, FENCE_PORT].sock, self.expected[side])
            end = time.monotonic() + FENCE_SECONDS
            while waiting and time.monotonic() < end:
                self.receive(arrived, end - time.monotonic())
                waiting = {side for side in waiting if self.expected[side] not in arrived[side].get(FENCE_PORT, [])}
            if not waiting:
                return
        raise WireError(f"no fence came back: {' '.join(waiting)}")

    def play(self, frame):
        """What leaves each switch: side -> port -> frames, in their order."""
        arrived = {side: {} for side in SIDES}
        for side in SIDES:
            self.send(side, frame)
        for number in range(max(self.fences.values())):
            self.settle(arrived, [side for side in SIDES if number < self.fences[side]])
        self.receive(arrived, 0)
        return {side: without_fences(ports) for side, ports in arrived.items()}


def without_fences(ports):
    kept = {port: [data for data in got if not data.startswith(FENCE)] for port, got in sorted(ports.items())}
    return {port: got for port, got in kept.items() if got}


def send_surely(sock, data):
    while True:
        try:
            return sock.send(data)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            time.sleep(0.001)
