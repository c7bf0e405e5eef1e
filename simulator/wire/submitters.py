"""Submitters bring static jobs and external events to the server, each at its time.

Items of the same time share one message. A submitter that had to wait for the server is late by the same time: it
sleeps for the time between two submissions, counted from the receipt of the last message by the server.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Protocol

from spillway.simulator.reading.events import ExternalEvent
from spillway.simulator.wire.kernel import PRECISION, Action, Kernel


class Items(Protocol):
    """Jobs or events in the order of their times (:class:`spillway.simulator.reading.static_jobs.StaticJobs`)."""

    @property
    def next_time(self) -> float:
        """Time of the first item (s)."""
        ...

    def pop_first(self) -> Any:
        """Remove and return the first item."""
        ...

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...


class Occurrences:
    """External events by time, then by kind."""

    def __init__(self, events: Sequence[ExternalEvent]) -> None:
        self._events = deque(sorted(events, key=attrgetter("time", "order")))

    @property
    def next_time(self) -> float:
        """Time of the first event (s)."""
        return self._events[0].time

    def pop_first(self) -> ExternalEvent:
        """Remove and return the first event."""
        return self._events.popleft()

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[ExternalEvent]:
        return iter(self._events)


class Submitter:
    """Brings jobs or events to the server, and keeps no reference to them: an ended job can be freed.

    Parameters
    ----------
    kernel
        Time and mailbox.
    items
        Jobs or events in the order of their times; they are removed.
    hello, deliver, leave
        Handlers of the server: at the begin; for the items of one time; at the end.
    first
        Called once before the first item is sent.
    """

    def __init__(
        self,
        kernel: Kernel,
        items: Items,
        hello: Action,
        deliver: Action,
        leave: Action,
        first: Callable[[], None] | None = None,
    ) -> None:
        self._kernel = kernel
        self._items = items
        self._hello = hello
        self._deliver = deliver
        self._leave = leave
        self._first = first
        self._since = 0.0

    @property
    def things(self) -> list[Any]:
        """Items still to be brought."""
        return list(self._items)

    def begin(self) -> None:
        """Announce itself to the server."""
        self._kernel.post_here(self._hello, None, self._go_on)

    def _go_on(self) -> None:
        """Collect the due items, send them, sleep until the next one."""
        self._since = self._kernel.clock
        self._collect([])

    def _collect(self, batch: list[Any]) -> None:
        items, limit = self._items, self._since + PRECISION
        while items and items.next_time <= limit:
            if self._first is not None:
                self._first()
                self._first = None
            batch.append(items.pop_first())
        after = self._sleep if items else self._bye
        if batch:
            self._kernel.post_here(self._deliver, batch, after)
        else:
            after()

    def _sleep(self) -> None:
        moment, delay = self._items.next_time, self._kernel.clock - self._since
        self._kernel.at(moment + delay, self._woken)

    def _woken(self, _: object) -> None:
        self._since = self._kernel.clock
        item = self._items.pop_first()
        if self._first is not None:
            self._first()
            self._first = None
        self._collect([item])

    def _bye(self) -> None:
        self._kernel.post_here(self._leave)
