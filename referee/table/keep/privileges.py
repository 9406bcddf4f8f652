"""Root gives up being root: a bot's process becomes another user and keeps only the capabilities named."""

from __future__ import annotations

import contextlib
import os
import struct

from referee.table.keep.syscalls import prctl, syscall

DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
"""The capabilities to enter, read and (the first) run files in spite of their modes."""

_PR_SET_KEEPCAPS, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT = 8, 24, 28, 47
_NO_ROOT, _NO_FIXUP = 0b11, 0b1100  # for ever: uid 0 has no capability of itself, nor by changing ids
_AMBIENT_RAISE = 2
_LAST_CAPABILITY = 63
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Sequence


def drop(user: int, kept: Sequence[int]) -> None:
    """Become `user`, with the capabilities `kept` and no other, also for every program run from now on.

    With `user` 0 this is still root's files, but nothing else that makes root.
    """
    for capability in range(_LAST_CAPABILITY + 1):
        if capability not in kept:
            with contextlib.suppress(OSError):  # there are fewer, or we may not
                prctl(_PR_CAPBSET_DROP, capability)
    prctl(_PR_SET_KEEPCAPS, 1)
    with contextlib.suppress(OSError):
        # Without the second, access(2) would count no capability, and tell Java that its file is not there.
        prctl(_PR_SET_SECUREBITS, _NO_ROOT | _NO_FIXUP)
    with contextlib.suppress(PermissionError):  # a user namespace may withhold it, and has no groups to lose
        os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    bits = sum(1 << capability for capability in kept)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    header = struct.pack("=Ii", _VERSION_3, 0)
    syscall(_CAPSET[os.uname().machine], header, struct.pack("=6I", low, low, low, high, high, high))
    for capability in kept:
        prctl(_PR_CAP_AMBIENT, _AMBIENT_RAISE, capability)


def held() -> int:
    """The capabilities that this process could hand on, as bits."""
    with open("/proc/self/status", "rb") as file:  # noqa: PTH123 (no pathlib in the keeper)
        for line in file:
            if line.startswith(b"CapPrm:"):
                return int(line.split()[1], 16)
    return 0
