#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Watches what a pinned map of maps has under a 32-bit key, and prints one line for each inner map that it sees there.

    watch_inner.py PIN KEY      prints "ready", then ids as they change (0: none), until SIGTERM
"""
import ctypes
import errno
import signal
import struct
import sys
import time

from redirect import address, bpf

BPF_MAP_LOOKUP_ELEM = 1
BPF_OBJ_GET = 7
# An update of a map of maps takes 0.6 ms at least, so no inner map is missed while we run.
PERIOD = 0.0001


def lookup(map_fd, key):
    key_bytes = ctypes.create_string_buffer(struct.pack("=I", key), 4)
    value = ctypes.create_string_buffer(4)
    try:
        bpf(BPF_MAP_LOOKUP_ELEM, struct.pack("=IIQQQ", map_fd, 0, address(key_bytes), address(value), 0))
    except OSError as error:
        if error.errno == errno.ENOENT:
            return 0
        raise
    return struct.unpack("=I", value.raw)[0]


def main():
    path, key = sys.argv[1:]
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    name = ctypes.create_string_buffer(path.encode())
    map_fd = bpf(BPF_OBJ_GET, struct.pack("=QII", address(name), 0, 0))
    last = lookup(map_fd, int(key))
    print("ready", flush=True)
    ending = False
    while not ending:
        # Once more after the signal, so that the last change is seen also if nobody let us run since.
        ending = bool(stopped)
        now = lookup(map_fd, int(key))
        if now != last:
            print(now, flush=True)
            last = now
        time.sleep(PERIOD)


if __name__ == "__main__":
    main()
