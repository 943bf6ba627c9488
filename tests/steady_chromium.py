#!/usr/bin/python3
"""Chromium, blind to network interfaces that come and go.

Other tests make machines meanwhile, and with each of them an address on the host. Chromium would end every request that
is under way with ERR_NETWORK_CHANGED. It hears of addresses through netlink, so it is refused such sockets.
"""

import ctypes
import os
import struct
import sys
from pathlib import Path

NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
SOCKET, NETLINK = 41, 16
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16
ALLOW, NOT_SUPPORTED = 0x7FFF0000, 0x00050000 | 97

PROGRAM = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (LOAD, 0, 0, NUMBER),
        (EQUALS, 0, 3, SOCKET),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUALS, 0, 1, NETLINK),
        (RETURN, 0, 0, NOT_SUPPORTED),
        (RETURN, 0, 0, ALLOW),
    )
)


class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
if libc.prctl(SECCOMP, FILTER, ctypes.byref(Filter(len(PROGRAM) // 8, PROGRAM)), 0, 0):
    sys.exit(f"Chromium cannot be kept from netlink: {os.strerror(ctypes.get_errno())}")
browser = Path(__file__).parents[1] / "bench" / "browser.py"
os.execv(browser, [str(browser), *sys.argv[1:]])
