#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a program in which pidfd_open(2) fails as before Linux 5.3: without_pidfd.py PROGRAM ARGS…"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7fff0000, 0x00050000
PIDFD_OPEN = 434


def main():
    rules = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, PIDFD_OPEN), (RETURN, 0, 0, ERROR | errno.ENOSYS),
             (RETURN, 0, 0, ALLOW)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(rules), ctypes.addressof(text)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
            PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program), 0, 0):
        sys.exit("without_pidfd.py: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[1], sys.argv[1:])


main()
