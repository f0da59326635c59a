#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends a file over TCP so that the frames carry the sender's own pages, and tells whether these changed.

    send_pages.py sendfile|zerocopy ADDRESS PORT FILE

sendfile: pages of the page cache.  zerocopy: pages of this process, by MSG_ZEROCOPY.  What was sent is compared with
what is in them afterwards.
"""
import errno
import hashlib
import mmap
import os
import socket
import sys
import time

SO_ZEROCOPY = 60
MSG_ZEROCOPY = 0x4000000
MSG_ERRQUEUE = 0x2000


def main():
    how, address, port, name = sys.argv[1:]
    with open(name, "rb") as file, socket.create_connection((address, int(port))) as sock:
        pages = mmap.mmap(-1, os.fstat(file.fileno()).st_size)
        pages[:] = file.read()
        before = hashlib.sha256(pages).digest()
        if how == "sendfile":
            file.seek(0)
            sock.sendfile(file)
        else:
            send_zerocopy(sock, memoryview(pages))
        sock.shutdown(socket.SHUT_WR)
        # The receiver closes when it has everything: nothing is in flight any more.
        while sock.recv(4096):
            pass
        file.seek(0)
        if hashlib.sha256(file.read()).digest() != before:
            sys.exit("the file changed")
        if hashlib.sha256(pages).digest() != before:
            sys.exit("the sender's memory changed")


def send_zerocopy(sock, data):
    sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    while data:
        try:
            data = data[sock.send(data[:65536], MSG_ZEROCOPY):]
        except OSError as error:
            # Too many pages wait for their completion to be read.
            if error.errno != errno.ENOBUFS:
                raise
            read_completions(sock)


def read_completions(sock):
    try:
        while True:
            sock.recvmsg(1, 256, MSG_ERRQUEUE | socket.MSG_DONTWAIT)
    except BlockingIOError:
        time.sleep(0.001)


if __name__ == "__main__":
    main()
