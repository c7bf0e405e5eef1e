"""Submitters bring static jobs and external events to the server, each at its time.

What happens at the same time goes in one message. A submitter that had to wait for the server is late by as much: it
sleeps for the time between two submissions, counted from when the server has taken the last message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simulator.events import ExternalEvent
from simulator.job import Job
from simulator.kernel import PRECISION, Action, Kernel


class Submitter:
    """Brings things to the server.

    Parameters
    ----------
    kernel
        Time and mailbox.
    items
        Things with their times (s), in order.
    deliver
        What the server does with those of one time.
    leave
        What it does when all have been brought.
    first
        Called once before the first is sent.
    """

    def __init__(
        self,
        kernel: Kernel,
        items: Sequence[tuple[float, Any]],
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
        self._position = 0
        self._since = 0.0

    @property
    def things(self) -> list[Any]:
        """What is still to be brought."""
        return [thing for _, thing in self._items[self._position :]]

    def begin(self) -> None:
        """Announce itself to the server."""
        self._kernel.post_here(self._hello, None, self._go_on)

    def _go_on(self) -> None:
        """Collect what is due, send it, sleep until the next."""
        self._since = self._kernel.clock
        self._collect([])

    def _collect(self, batch: list[Any]) -> None:
        items, limit = self._items, self._since + PRECISION
        position = self._position
        while position < len(items) and items[position][0] <= limit:
            if self._first is not None:
                self._first()
                self._first = None
            batch.append(items[position][1])
            position += 1
        self._position = position
        after = self._sleep if position < len(items) else self._bye
        if batch:
            self._kernel.post_here(self._deliver, batch, after)
        else:
            after()

    def _sleep(self) -> None:
        moment, delay = self._items[self._position][0], self._kernel.clock - self._since
        self._kernel.at(moment + delay, self._woken)

    def _woken(self, _: object) -> None:
        self._since = self._kernel.clock
        item = self._items[self._position][1]
        if self._first is not None:
            self._first()
            self._first = None
        self._position += 1
        self._collect([item])

    def _bye(self) -> None:
        self._kernel.post_here(self._leave)


def in_order_of_submission(jobs: Sequence[Job]) -> list[tuple[float, Job]]:
    """Jobs with their submission times: by time, then by full id compared as text (``w0!10`` before ``w0!9``)."""
    return [(job.subtime, job) for job in sorted(jobs, key=lambda job: (job.subtime, job.id))]


def in_order_of_occurrence(events: Sequence[ExternalEvent]) -> list[tuple[float, ExternalEvent]]:
    """Events with their times: by time, then by kind."""
    return [(event.time, event) for event in sorted(events, key=lambda event: (event.time, event.order))]
