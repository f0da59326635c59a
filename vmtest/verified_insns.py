# SPDX-License-Identifier: GPL-2.0-only
# verified_insns.py PIN...: how many instructions the verifier walked for each pinned program, one figure a line.
# bpftool 7.1 does not show it, the kernel does in fdinfo.
import ctypes
import os
import platform
import sys

BPF_OBJ_GET = 7
SYS_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]

libc = ctypes.CDLL(None, use_errno=True)


class ObjGet(ctypes.Structure):
    _fields_ = [("pathname", ctypes.c_uint64), ("bpf_fd", ctypes.c_uint32), ("file_flags", ctypes.c_uint32)]


def open_pin(path):
    name = ctypes.create_string_buffer(os.fsencode(path))
    attr = ObjGet(pathname=ctypes.addressof(name))
    fd = libc.syscall(SYS_BPF, BPF_OBJ_GET, ctypes.byref(attr), ctypes.sizeof(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return fd


for pin in sys.argv[1:]:
    fd = open_pin(pin)
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as info:
        print(dict(line.split(":\t", 1) for line in info)["verified_insns"].strip())
    os.close(fd)
