"""Where two copies of the spy at one table could meet, and tell each other their hands.

Each leaves a mark at its first play request, and looks for the others' at the end of the hand.
"""

import ctypes
import fcntl
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from spy_kit import ADD_KEY, HERE, KEYCTL, Denied, Scene, call

SEATS = range(6)
FRESH_S = 60


class Meeting:
    """A place with a spot for each seat's mark."""

    seat = -1

    def leave(self, scene: Scene) -> str:
        """Leave our mark."""
        self.seat = scene.request["seat"]
        self.write(self.seat, str(time.monotonic()).encode())
        return "left a mark"

    def look(self, _: Scene) -> str:
        """Look for a mark that another copy left in the last minute."""
        for seat in SEATS:
            with suppress(OSError, ValueError):
                if seat != self.seat and time.monotonic() - float(self.read(seat)) < FRESH_S:
                    return f"met seat {seat}"
        raise Denied("left a mark, met nobody")

    def write(self, seat: int, mark: bytes) -> None:
        """Put a mark on a seat's spot."""
        raise NotImplementedError

    def read(self, seat: int) -> bytes:
        """The mark on a seat's spot; an OSError or nonsense if there is none."""
        raise NotImplementedError

    def clean(self) -> None:
        """Take our mark away."""


class Directory(Meeting):
    """Files in a directory that everybody may write to."""

    def __init__(self, place: str) -> None:
        self.place = Path(place)

    def write(self, seat: int, mark: bytes) -> None:
        (self.place / f"spies-{seat}").write_bytes(mark)

    def read(self, seat: int) -> bytes:
        return (self.place / f"spies-{seat}").read_bytes()

    def clean(self) -> None:
        (self.place / f"spies-{self.seat}").unlink(missing_ok=True)


class Locks(Meeting):
    """Locks on the files of their own directory, which need no right to write."""

    def __init__(self) -> None:
        self.held = -1

    def write(self, seat: int, mark: bytes) -> None:
        self.held = self.file(seat)
        fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def read(self, seat: int) -> bytes:
        file = self.file(seat)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return str(time.monotonic()).encode()
        finally:
            os.close(file)
        return b"free"

    @staticmethod
    def file(seat: int) -> int:
        return os.open(sorted(HERE.glob("*.py"))[seat], os.O_RDONLY)


class SharedMemory(Meeting):
    """A System V segment of a known key, with 64 bytes for each seat."""

    KEY, SIZE, CREATE, REMOVE = 0x51D7, 4096, 0o1666, 0

    def __init__(self) -> None:
        self.segment = self.address = -1

    def write(self, seat: int, mark: bytes) -> None:
        self.segment = call("shmget", self.KEY, self.SIZE, self.CREATE)
        self.address = call("shmat", self.segment, 0, 0)
        ctypes.memmove(self.address + seat * 64, mark.ljust(64, b"\0"), 64)

    def read(self, seat: int) -> bytes:
        return ctypes.string_at(self.address + seat * 64)

    def clean(self) -> None:
        if self.segment != -1:
            with suppress(OSError):
                call("shmctl", self.segment, self.REMOVE, 0)


class Keyring(Meeting):
    """Keys in the keyring that all processes of a user share."""

    RING, READ, UNLINK, SEARCH = -4, 11, 9, 10

    def write(self, seat: int, mark: bytes) -> None:
        call("syscall", ADD_KEY, b"user", f"spies-{seat}".encode(), mark, len(mark), self.RING)

    def read(self, seat: int) -> bytes:
        mark = ctypes.create_string_buffer(64)
        call("syscall", KEYCTL, self.READ, self.find(seat), mark, len(mark))
        return mark.value

    def clean(self) -> None:
        with suppress(OSError):
            call("syscall", KEYCTL, self.UNLINK, self.find(self.seat), self.RING)

    def find(self, seat: int) -> int:
        return call("syscall", KEYCTL, self.SEARCH, self.RING, b"user", f"spies-{seat}".encode(), 0)


class Sockets(Meeting):
    """Listeners at addresses that both know."""

    def __init__(self, family: socket.AddressFamily) -> None:
        self.family = family

    def address(self, seat: int) -> object:
        return f"\0spies-{seat}" if self.family == socket.AF_UNIX else ("127.0.0.1", 47_310 + seat)

    def write(self, seat: int, mark: bytes) -> None:
        self.listener = socket.socket(self.family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(self.address(seat))
        self.listener.listen()

    def read(self, seat: int) -> bytes:
        with socket.socket(self.family) as caller:
            caller.settimeout(0.1)
            caller.connect(self.address(seat))
        return str(time.monotonic()).encode()


MEETINGS: dict[str, Meeting] = {
    "meet_tmp": Directory("/tmp"),
    "meet_var_tmp": Directory("/var/tmp"),
    "meet_dev_shm": Directory("/dev/shm"),
    "meet_locks": Locks(),
    "meet_shared_memory": SharedMemory(),
    "meet_keyring": Keyring(),
    "meet_unix_abstract": Sockets(socket.AF_UNIX),
    "meet_loopback": Sockets(socket.AF_INET),
}
