#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pins a program that does nothing but bpf_redirect to one device: what any switch is measured against.

    redirect.py IFINDEX PATH      PATH is on a bpffs; "tc filter add ... bpf da object-pinned PATH" attaches it
"""
import ctypes
import os
import platform
import struct
import sys

SYS_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
BPF_PROG_LOAD = 5
BPF_OBJ_PIN = 6
BPF_PROG_TYPE_SCHED_CLS = 3
BPF_FUNC_REDIRECT = 23
# struct bpf_insn: code, registers (source in the high half), offset, immediate
INSN = struct.Struct("=BBhi")
MOV64_IMM = 0xb7
CALL = 0x85
EXIT = 0x95


def bpf(command, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(SYS_BPF, command, ctypes.c_char_p(attr), len(attr))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def address(buffer):
    return ctypes.addressof(buffer)


def load(ifindex):
    program = INSN.pack(MOV64_IMM, 1, 0, ifindex) + INSN.pack(MOV64_IMM, 2, 0, 0)
    program += INSN.pack(CALL, 0, 0, BPF_FUNC_REDIRECT) + INSN.pack(EXIT, 0, 0, 0)
    code = ctypes.create_string_buffer(program)
    licence = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("=IIQQIIQII16s", BPF_PROG_TYPE_SCHED_CLS, len(program) // INSN.size, address(code),
                       address(licence), 0, 0, 0, 0, 0, b"redirect")
    return bpf(BPF_PROG_LOAD, attr)


def main():
    ifindex, path = sys.argv[1:]
    name = ctypes.create_string_buffer(path.encode())
    bpf(BPF_OBJ_PIN, struct.pack("=QII", address(name), load(int(ifindex)), 0))


if __name__ == "__main__":
    main()
