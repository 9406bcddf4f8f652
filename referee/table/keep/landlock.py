"""Landlock: a process gives up, for itself and all its descendants, the files and sockets it has no use for.

Rights are taken one kernel version (ABI) at a time; an older kernel simply denies less.  No ABI denies UDP,
connecting to a unix socket that has a path, `stat`, or changing a file's mode and owner.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Iterable

# The numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_BENEATH_PATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_FILE_RIGHTS = {0: 0, 1: 13, 2: 14, 3: 15, 4: 15}  # how many an ABI knows; 16 from ABI 5 on
_TCP = 0b11  # bind and connect, from ABI 4 on
_SCOPES = 0b11  # abstract unix sockets and signals, from ABI 6 on


def abi() -> int:
    """The version of Landlock that this kernel offers; 0 is none."""
    if sys.platform != "linux":
        return 0
    from referee.table.keep.syscalls import syscall

    try:
        return syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:  # not built in, or switched off at boot
        return 0


def confine(read: Iterable[str], write: Iterable[str], net: bool, lists: Iterable[str] = ()) -> None:
    """Leave this process reading and executing below `read`, all but devices below `write`, TCP if `net`.

    Below `lists` it sees names only.

    A path that is not there is skipped.  Where there is no Landlock nothing happens: ask `abi` first.
    """
    version = abi()
    if not version:
        return
    from referee.table.keep.syscalls import PR_SET_NO_NEW_PRIVS, prctl, syscall

    every = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("=Q", every)
    if version >= 4:
        attributes += struct.pack("=Q", 0 if net else _TCP)
    if version >= 6:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        # Not even root may make a device node: through one it would read the whole disk.
        whole = every & ~(_MAKE_CHAR | _MAKE_BLOCK)
        for rights, paths in ((_READ, read), (whole, write), (_READ_DIR, lists), (_DEVICE, _DEVICES)):
            for path in paths:
                _allow(ruleset, path, rights & every)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    from referee.table.keep.syscalls import syscall

    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _ON_FILES
        if rights:
            syscall(_ADD_RULE, ruleset, _BENEATH_PATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)
