#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Joins two tap devices, each in a namespace: what one is given to send comes in at the other.

    tap_relay.py NETNS:DEVICE NETNS:DEVICE

Makes the devices, which go when this ends.  They take super-packets with unfinished checksums, as a virtual machine's do.
"""
import ctypes
import fcntl
import os
import select
import struct
import sys

TUNSETIFF = 0x400454CA
TUNSETOFFLOAD = 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 1, 2, 4
CLONE_NEWNET = 0x40000000


def enter(path):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as namespace:
        if libc.setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {path}")


def make_tap(place):
    namespace, name = place.split(":")
    enter(f"/run/netns/{namespace}")
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
    return fd


def main():
    one, two = (make_tap(place) for place in sys.argv[1:])
    other = {one: two, two: one}
    while True:
        for fd in select.select([one, two], [], [])[0]:
            frame = os.read(fd, 1 << 17)
            try:
                os.write(other[fd], frame)
            except OSError:
                pass  # that device is down


if __name__ == "__main__":
    main()
