# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH116
"""A bot's scratch directory: made empty, measured while the bot runs, gone afterwards whatever lies in it.

Bots leave directories that are locked, or nested deeper than a path can be long, and write all the while.
So everything here goes by descriptors, never follows a link, and holds few descriptors at a time.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import sys
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_ENTRIES = 10_000
"""How many files and directories a scratch directory may hold: looking through more would take too long."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_UNLOCKED = 0o700
_STEP = 500
_LARGE = 16 << 20  # bytes: a file that is a step of its own, as 256 MB can take 0.1 s to be freed


class Scratches:
    """The scratch directories of a keeper's bots, each in the hands of one of them at a time."""

    def __init__(self) -> None:
        self.rubbish: deque[Iterator[None]] = deque()
        self._owners: dict[str, int] = {}
        self.bases: set[str] = set()
        """Directories that hold the scratches and more, to be removed at the end."""

    def prepare(self, path: str, user: int | None, key: int) -> None:
        """Make an empty directory for a bot; what an earlier process of its seat has left there goes away."""
        if path in self._owners:
            self.release(path, self._owners[path])
        make(path, user)
        self._owners[path] = key

    def release(self, path: str, key: int) -> None:
        """Have a bot's directory removed bit by bit, unless it is another's by now."""
        if self._owners.get(path) != key:
            return
        del self._owners[path]
        rubbish = f"{path}.{key}"
        with contextlib.suppress(OSError):
            os.rename(path, rubbish)
            self.rubbish.append(removing(rubbish))

    def clear_away(self) -> None:
        """Remove some of the rubbish."""
        if self.rubbish:
            try:
                next(self.rubbish[0])
            except StopIteration:
                self.rubbish.popleft()

    def close(self) -> None:
        """Remove all that is left: the bots are gone, and the referee may be."""
        for base in filter(None, self.bases):
            remove(base)


def make(path: str, owner: int | None) -> None:
    """Make an empty scratch directory, for another user if there is an owner."""
    os.mkdir(path, 0o700)
    if owner is not None:
        os.chown(path, owner, owner)


def remove(path: str) -> None:
    """Remove a directory and all that is in it; what cannot be removed stays."""
    for _ in removing(path):
        pass


def removing(path: str) -> Iterator[None]:
    """The same in small steps, so that its caller can do something else between them.

    Directories are moved up into `path` one after the other, so that no depth is too deep.
    """
    try:
        root = os.open(path, _OPEN)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)
        return
    try:
        with contextlib.suppress(OSError):
            os.fchmod(root, 0o700)
        waiting: list[str] = []
        yield from _clear(root, root, waiting)
        while waiting:
            yield from _clear_and_drop(root, waiting.pop(), waiting)
    finally:
        os.close(root)
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _clear_and_drop(root: int, name: str, waiting: list[str]) -> Iterator[None]:
    try:
        place = os.open(name, _OPEN, dir_fd=root)
    except OSError:
        return
    try:
        yield from _clear(root, place, waiting)
    finally:
        os.close(place)
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=root)


def _clear(root: int, place: int, waiting: list[str]) -> Iterator[None]:
    """Empty one directory: files are unlinked, directories move to `root` and are left waiting there."""
    for count, name in enumerate(os.listdir(place), start=1):
        size = 0
        with contextlib.suppress(OSError):
            what = os.stat(name, dir_fd=place, follow_symlinks=False)
            if not stat.S_ISDIR(what.st_mode):
                size = what.st_blocks * 512
                os.unlink(name, dir_fd=place)
            else:
                # A directory that we may not write to cannot be moved, for its ".." would change.
                os.chmod(name, 0o700, dir_fd=place)
                fresh = f".{os.urandom(8).hex()}"
                os.rename(name, fresh, src_dir_fd=place, dst_dir_fd=root)
                waiting.append(fresh)
        if count % _STEP == 0 or size >= _LARGE:
            yield


def measure(path: str, enough: int) -> tuple[int, int]:
    """How many bytes of disk and how many entries a directory holds, counted no further than `enough` bytes
    or `MOST_ENTRIES`."""
    used = entries = 0
    try:
        place = _open_locked(path)
    except OSError:
        return 0, 0
    try:
        levels: list[list[str]] = [[]]
        while True:
            if entries <= MOST_ENTRIES and used <= enough:
                for entry in _entries(place):
                    entries += 1
                    if entries > MOST_ENTRIES:
                        break
                    with contextlib.suppress(OSError):
                        used += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            levels[-1].append(entry.name)
            place, more = _next(place, levels)
            if not more:
                return used, entries
    finally:
        os.close(place)


def entries_inside(roots: Iterable[str], places: Sequence[str]) -> int:
    """How many files lie in `places` of a sandbox, file systems of its own, by the root of a process in it.

    Its first processes begin with our own root, where others' files lie.
    """
    ours = os.stat("/")
    for root in roots:
        with contextlib.suppress(OSError):
            handle = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                if not os.path.samestat(os.fstat(handle), ours):
                    return sum(_inodes(place.lstrip("/"), handle) for place in places)
            finally:
                os.close(handle)
    return 0


def _inodes(name: str, root: int) -> int:
    place = os.open(name, _OPEN, dir_fd=root)
    try:
        whole = os.statvfs(place)
        return whole.f_files - whole.f_ffree
    finally:
        os.close(place)


def _open_locked(name: str, above: int | None = None) -> int:
    """Open a directory to look through it; one that its owner may not read or enter is unlocked for that."""
    try:
        place = os.open(name, _OPEN, dir_fd=above)
    except PermissionError:
        if sys.platform != "linux":
            raise
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        try:
            os.chmod(f"/proc/self/fd/{handle}", _UNLOCKED)
        finally:
            os.close(handle)
        place = os.open(name, _OPEN, dir_fd=above)
    if not os.fstat(place).st_mode & stat.S_IXUSR:
        with contextlib.suppress(OSError):
            os.fchmod(place, _UNLOCKED)
    return place


def _entries(place: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as found:
            return list(itertools.islice(found, MOST_ENTRIES + 1))
    except OSError:
        return []


def _next(place: int, levels: list[list[str]]) -> tuple[int, bool]:
    """Go on to the next directory: one below, or the next of those above."""
    while levels:
        while levels[-1]:
            name = levels[-1].pop()
            with contextlib.suppress(OSError):
                below = _open_locked(name, place)
                os.close(place)
                levels.append([])
                return below, True
        levels.pop()
        if levels:
            try:
                above = os.open("..", _OPEN, dir_fd=place)
            except OSError:
                return place, False
            os.close(place)
            place = above
    return place, False
