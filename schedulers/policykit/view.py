"""What is shown to a policy: the queue, the running jobs, a private timeline, a seeded generator. No clock, no wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from random import Random
from typing import Any, Protocol

import msgspec

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.policykit.decisions import Decision
from schedulers.policykit.explain import PassNotes
from schedulers.timeline import Timeline


class Running(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A running job: since when, where, and until when at the latest (``start + walltime``)."""

    job: Job
    start_s: float
    end_s: float
    allocation: Allocation


class View:
    """One pass's view of the simulation.

    Attributes
    ----------
    now_s
        Current time in seconds.
    machine
        The machine.
    queue
        Waiting jobs in order of submission. Do not modify.
    running
        Running jobs in order of their start.
    rng
        The conversation's generator, seeded once; the only source of randomness.
    notebook
        The policy's own memory between passes (promises, ages, the last plan). Empty at the start.
    notes
        Where the policy writes why jobs wait, or ``None`` where no notes are kept.
    estimate_s
        Expected duration of a job in seconds: its walltime, unless the session was given a predictor.
    fewest_nodes
        Fewest nodes that a job may start on; ``None``: every job starts on all that it asks for.
    """

    __slots__ = (
        "_timeline",
        "_timeline_source",
        "estimate_s",
        "fewest_nodes",
        "machine",
        "notebook",
        "notes",
        "now_s",
        "queue",
        "rng",
        "running",
    )

    def __init__(
        self,
        now_s: float,
        machine: Machine,
        queue: Sequence[Job],
        running: Sequence[Running],
        timeline_source: Callable[[], Timeline],
        rng: Random,
        notebook: dict[str, Any],
        notes: PassNotes | None = None,
        estimate_s: Callable[[Job], float] = attrgetter("walltime_s"),
        fewest_nodes: Callable[[Job], int] | None = None,
    ) -> None:
        self.now_s = now_s
        self.machine = machine
        self.queue = queue
        self.running = running
        self.rng = rng
        self.notebook = notebook
        self.notes = notes
        self.estimate_s = estimate_s
        self.fewest_nodes = fewest_nodes
        self._timeline_source = timeline_source
        self._timeline: Timeline | None = None

    @property
    def timeline(self) -> Timeline:
        """A private timeline with all running jobs booked until ``end_s``; the policy may book and release in it."""
        if self._timeline is None:
            self._timeline = self._timeline_source()
        return self._timeline


class Policy(Protocol):
    """A scheduling policy: a pure function of the view (its memory is ``view.notebook``)."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Yield decisions for this instant; each is enacted, or refused by the guard, in order."""
        ...
