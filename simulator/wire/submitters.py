"""Submitters bring static jobs and external events to the server, each at its time.

Items of the same time share one message. A submitter that had to wait for the server is late by the same time: it
sleeps for the time between two submissions, counted from the receipt of the last message by the server.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from spillway.simulator.jobs.job import Job
from spillway.simulator.reading.events import ExternalEvent
from spillway.simulator.wire.kernel import PRECISION, Action, Kernel


class Submitter:
    """Brings jobs or events to the server, and keeps no reference to them: an ended job needs no memory.

    Parameters
    ----------
    kernel
        Time and mailbox.
    items
        Jobs or events in the order of their times.
    when
        The time of an item (s).
    hello, deliver, leave
        Handlers of the server: at the begin; for the items of one time; at the end.
    first
        Called once before the first item is sent.
    """

    def __init__(
        self,
        kernel: Kernel,
        items: Sequence[Any],
        when: Callable[[Any], float],
        hello: Action,
        deliver: Action,
        leave: Action,
        first: Callable[[], None] | None = None,
    ) -> None:
        self._kernel = kernel
        self._items = deque(items)
        self._when = when
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
        items, limit, when = self._items, self._since + PRECISION, self._when
        while items and when(items[0]) <= limit:
            if self._first is not None:
                self._first()
                self._first = None
            batch.append(items.popleft())
        after = self._sleep if items else self._bye
        if batch:
            self._kernel.post_here(self._deliver, batch, after)
        else:
            after()

    def _sleep(self) -> None:
        moment, delay = self._when(self._items[0]), self._kernel.clock - self._since
        self._kernel.at(moment + delay, self._woken)

    def _woken(self, _: object) -> None:
        self._since = self._kernel.clock
        item = self._items.popleft()
        if self._first is not None:
            self._first()
            self._first = None
        self._collect([item])

    def _bye(self) -> None:
        self._kernel.post_here(self._leave)


submission_time = attrgetter("subtime")
"""Submission time of a job (s)."""

occurrence_time = attrgetter("time")
"""Time of an event (s)."""


def in_order_of_submission(jobs: Sequence[Job]) -> list[Job]:
    """Jobs by submission time, then by full id compared as text (``w0!10`` before ``w0!9``)."""
    return sorted(jobs, key=attrgetter("subtime", "id"))


def in_order_of_occurrence(events: Sequence[ExternalEvent]) -> list[ExternalEvent]:
    """Events by time, then by kind."""
    return sorted(events, key=attrgetter("time", "order"))
