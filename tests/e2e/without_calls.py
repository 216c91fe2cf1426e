#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a program without some system calls: without_calls.py ENOSYS|EPERM PROGRAM ARGS…

ENOSYS is an old kernel: no pidfd_open(2), no clone3(2), and perf_event_open(2) not built in. EPERM is
a container whose filter does not know or allow them; clone3 is ENOSYS there, too, since containers
in which it is EPERM have no threads at all.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7fff0000, 0x00050000
PIDFD_OPEN, CLONE3 = 434, 435
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[platform.machine()]


def main():
    denied = getattr(errno, sys.argv[1])
    rules = [(LOAD, 0, 0, 0)]
    for call, error in ((PIDFD_OPEN, denied), (PERF_EVENT_OPEN, denied), (CLONE3, errno.ENOSYS)):
        rules += [(JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, ERROR | error)]
    rules.append((RETURN, 0, 0, ALLOW))
    text = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(rules), ctypes.addressof(text)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
            PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(program), 0, 0):
        sys.exit("without_calls.py: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


main()
