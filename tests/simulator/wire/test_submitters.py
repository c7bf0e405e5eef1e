"""Submitters: jobs that they have brought are not held any longer."""

from __future__ import annotations

import weakref
from typing import Any

from spillway.simulator.wire.submitters import Occurrences, Submitter


class Thing:
    """Something with a time."""

    def __init__(self, time: float, order: int = 0) -> None:
        self.time, self.order = time, order


class Kernel:
    """A kernel with a server that takes every message at once; it wakes sleepers in :meth:`wake`."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.sleeping: list[tuple[float, Any]] = []

    def post_here(self, handler: Any, content: Any = None, resume: Any = None) -> None:
        """Deliver and continue."""
        handler(content)
        if resume is not None:
            resume()

    def at(self, moment: float, action: Any) -> None:
        """Remember a sleeper and its time."""
        self.sleeping.append((moment, action))

    def wake(self) -> None:
        """Let the time of the last sleeper come."""
        self.clock, action = self.sleeping.pop()
        action(None)


def test_things_come_together_with_those_of_their_time_and_are_let_go() -> None:
    """Two at 0 s in one message, one at 5 s: the first two can be freed before it comes."""
    kernel, things = Kernel(), [Thing(0.0), Thing(0.0), Thing(5.0)]
    seen = [weakref.ref(thing) for thing in things]
    brought: list[list[float]] = []
    left: list[None] = []
    submitter = Submitter(
        kernel,  # type: ignore[arg-type]
        Occurrences(things),  # type: ignore[arg-type]
        lambda _: None,
        lambda batch: brought.append([thing.time for thing in batch]),
        left.append,
    )
    things.clear()
    submitter.begin()
    assert brought == [[0.0, 0.0]]
    assert [found() is None for found in seen] == [True, True, False]
    assert [thing.time for thing in submitter.things] == [5.0]
    kernel.wake()
    assert brought == [[0.0, 0.0], [5.0]]
    assert left == [None]
    assert submitter.things == []
