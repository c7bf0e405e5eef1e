"""Policies with one planted fault each."""

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision, Start, WakeAt
from spillway.schedulers.model.job import Allocation, replaced
from spillway.schedulers.policykit.passes import fill, try_start
from spillway.schedulers.policykit.view import View


@dataclass(frozen=True)
class Good:
    """Keeps every rule."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return fill(view, view.queue)


@dataclass(frozen=True)
class Twice:
    """Starts each job twice."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        for start in list(fill(view, view.queue)):
            yield start
            yield start


@dataclass(frozen=True)
class Clock:
    """Reads a clock."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        jobs = sorted(view.queue, key=lambda job: (job.number * int(time.time() * 1e6)) % 7)
        return fill(view, jobs)


@dataclass(frozen=True)
class Chance:
    """Draws from the module random."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        jobs = list(view.queue)
        random.shuffle(jobs)
        return fill(view, jobs)


@dataclass(frozen=True)
class Narrow:
    """Never starts wide jobs."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return fill(view, [job for job in view.queue if job.nodes < 8])


@dataclass(frozen=True)
class Overbooked:
    """Puts every burst buffer on the first storage node."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        for job in view.queue:
            start = try_start(view, replaced(job, bb_bytes=0))
            if start is not None:
                storages = (0,) * job.nodes if job.bb_bytes else ()
                yield Start(job, Allocation(start.allocation.nodes, storages, job.bb_bytes, start.allocation.io_rate))


@dataclass(frozen=True)
class Meddler:
    """Writes into jobs."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        for job in view.queue:
            job.extras["seen"] = view.now_s
        return fill(view, view.queue)


@dataclass(frozen=True)
class Unordered:
    """Iterates over a set of texts."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        names = {job.id for job in view.queue}
        by_id = {job.id: job for job in view.queue}
        return fill(view, [by_id[name] for name in names])


@dataclass(frozen=True)
class Restless:
    """Wakes up without end."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        yield from fill(view, view.queue)
        yield WakeAt(view.now_s + 0.001)


@dataclass(frozen=True)
class Hang:
    """Looks for a place without end, and catches all exceptions that it can."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        place = 0
        while not view.queue or place >= 0:
            try:
                place = (place + 1) % 8
            except Exception:
                place = 0
        return ()


@dataclass(frozen=True)
class Slow:
    """Keeps every rule; its one option is a time above 0."""

    slice_s: float = option(20.0, unit="s", low=1e-3, help="a time")

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return fill(view, view.queue)


@dataclass(frozen=True)
class Crash:
    """Fails if fewer than four jobs wait."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        return fill(view, [view.queue[3], *view.queue])
