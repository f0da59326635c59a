#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""UDP datagrams of every kind of size go there and come back unchanged.

    udp_echo.py server ADDRESS PORT      sends back what comes
    udp_echo.py client ADDRESS PORT [LARGEST]
                                         random datagrams, one at a time; the largest ones are fragmented
"""
import os
import socket
import sys

SIZES = [0, 1, 7, 1000, 1471, 1472, 1473, 2001, 8191, 40000, 65000] * 20
TRIES = 5


def main():
    role, address, port, largest = (sys.argv[1:] + [str(max(SIZES))])[:4]
    place = (address, int(port))
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if role == "server":
            sock.bind(place)
            while True:
                data, sender = sock.recvfrom(1 << 16)
                sock.sendto(data, sender)
        sock.connect(place)
        sock.settimeout(2)
        for number, size in enumerate(size for size in SIZES if size <= int(largest)):
            data = (number.to_bytes(4, "big") + os.urandom(size))[-size:] if size else b""
            if not echoed(sock, data):
                sys.exit(f"a datagram of {size} bytes did not come back")


def echoed(sock, data):
    # A late echo of a try before is passed over; a wrong one is never taken for right.
    for _ in range(TRIES):
        sock.send(data)
        try:
            while True:
                if sock.recv(1 << 16) == data:
                    return True
        except socket.timeout:
            continue
    return False


if __name__ == "__main__":
    main()
