"""Which descriptors are ready, and who is to be called: epoll on Linux, whatever `selectors` has elsewhere.

Its own descriptor turns readable when any of those it watches is ready, so Trio can wait for all of them at
once.
"""

import select
import selectors
import sys
from collections.abc import Callable
from typing import Final, Generic, TypeVar

READ: Final = 1
WRITE: Final = 4

T = TypeVar("T")


class _PlainPoll:
    """The part of epoll that is used here, on the selectors of the standard library (kqueue on macOS)."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.fileno = self._selector.fileno
        self.unregister = self._selector.unregister
        self.close = self._selector.close

    def register(self, descriptor: int, what: int) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ if what == READ else selectors.EVENT_WRITE)

    def poll(self, timeout_s: float) -> list[tuple[int, int]]:
        return [(key.fd, events) for key, events in self._selector.select(timeout_s)]


class Poller(Generic[T]):
    """A set of watched descriptors, each with the call that is due when it is ready."""

    def __init__(self) -> None:
        self._poll = select.epoll() if sys.platform == "linux" else _PlainPoll()
        self._calls: dict[int, Callable[[float], T]] = {}
        self.fileno: Callable[[], int] = self._poll.fileno

    def ready(self) -> list[Callable[[float], T]]:
        """The calls that are due now, without waiting.  A hang-up counts as ready."""
        events = self._poll.poll(0)
        return [self._calls[descriptor] for descriptor, _ in events] if events else []

    def peek(self) -> bool:
        """Whether any call is due now."""
        return bool(self._poll.poll(0))

    def watch(self, descriptor: int, what: int, call: Callable[[float], T]) -> None:
        """Watch a descriptor for READ or WRITE, one of them at a time."""
        if descriptor not in self._calls:
            self._calls[descriptor] = call
            self._poll.register(descriptor, what)

    def forget(self, descriptor: int) -> None:
        """Watch a descriptor no longer; it must still be open."""
        if self._calls.pop(descriptor, None):
            self._poll.unregister(descriptor)

    def close(self) -> None:
        self._poll.close()
