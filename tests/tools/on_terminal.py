#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""on_terminal.py COMMAND...: runs it with standard error on a terminal of its own, and prints what came there, escapes
as Python writes them.  Its input comes late: half of ours at once, the rest 1.2 s later.  Exits as the command does."""
import os
import pty
import subprocess
import sys
import threading
import time


def feed(pipe, data):
    half = len(data) // 2
    with pipe:
        pipe.write(data[:half])
        pipe.flush()
        time.sleep(1.2)
        pipe.write(data[half:])


def read_all(fd):
    """A terminal whose other end is closed reads as an error."""
    data = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            return data
        if not part:
            return data
        data += part


def main():
    ours, theirs = pty.openpty()
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    feeder = threading.Thread(target=feed, args=(command.stdin, sys.stdin.buffer.read()))
    feeder.start()
    data = read_all(ours)
    feeder.join()
    print(repr(data.decode()))
    sys.exit(command.wait())


main()
