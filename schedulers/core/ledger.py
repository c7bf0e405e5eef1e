"""What runs, on what, until when: the running jobs, and the cluster, the timeline and the loans that agree with them.

A job's own nodes are booked until its expected end; one that outlives that is booked on, a little at a time. Nodes that
it was lent are booked by themselves (:mod:`schedulers.core.loans`).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from schedulers.core.allocation import only, together, without
from schedulers.core.availability import Availability
from schedulers.core.cluster import Cluster
from schedulers.core.job import Allocation, Job, sized_as
from schedulers.core.loans import Loans
from schedulers.core.machine import Machine
from schedulers.policykit.estimates import Estimator
from schedulers.policykit.view import Running
from schedulers.timeline import Timeline

OVERDUE_S = 1e-3
"""How long a job that has outlived its estimate is expected to go on (s). Batsim reports a walltime kill one network
latency after it; until then the nodes are not free."""


class Books:
    """The books of one conversation. Everything must have been checked before it is entered.

    Parameters
    ----------
    machine
        What there is.
    timeline
        When it is free.
    estimator
        Corrects the expected ends of jobs that outlive them.

    Attributes
    ----------
    cluster, timeline, loans
        What is allocated now, what is booked, what was lent.
    running
        Running jobs by id.
    """

    def __init__(self, machine: Machine, timeline: Timeline, estimator: Estimator) -> None:
        self.cluster = Cluster(machine)
        self.timeline = timeline
        self.running: dict[str, Running] = {}
        self._estimator = estimator
        self._availability = Availability(timeline)
        self.loans = Loans(timeline, self._availability)
        self._booked_end: dict[str, float] = {}
        self._ends: list[tuple[float, int, str]] = []

    def jobs(self) -> Sequence[Running]:
        """Running jobs in order of their starts."""
        return _Lazy(self.running)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job starts."""
        end_s = now_s + self._estimator.estimate_s(job)
        self.cluster.allocate(sized_as(job, min(job.nodes, len(allocation.nodes))), allocation)
        self.timeline.reserve(now_s, end_s, allocation)
        self.running[job.id] = Running(job, now_s, end_s, allocation)
        self._book_end(job, end_s)

    def end(self, job_id: str, now_s: float) -> Running:
        """A running job is through and has given everything back."""
        running = self.running.pop(job_id)
        self.cluster.free(job_id)
        self.advance(now_s, job_id)
        end_s = self._booked_end.pop(job_id)
        own = self.loans.own(job_id, running.allocation)
        self.loans.end(job_id, now_s)
        if end_s > now_s:
            self.timeline.release(now_s, end_s, own)
            self._availability.after_release(own.nodes, now_s)
        self._estimator.observe(running.job, now_s - running.start_s)
        return running

    def lift(self, job_id: str, now_s: float) -> None:
        """Take a running job off its nodes; :meth:`place` puts it onto others. The books must have been advanced."""
        allocation = self.running[job_id].allocation
        self.cluster.free(job_id)
        self.timeline.release(now_s, self._booked_end[job_id], allocation)
        self._availability.after_release(allocation.nodes, now_s)

    def place(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Put a job that was lifted onto these nodes."""
        self._availability.before_booking(allocation.nodes, now_s, self._booked_end[job.id])
        self.cluster.allocate(job, allocation)
        self.timeline.reserve(now_s, self._booked_end[job.id], allocation)
        running = self.running[job.id]
        self.running[job.id] = Running(job, running.start_s, running.end_s, allocation)

    def lend(self, job_id: str, gained: Allocation, now_s: float, until_s: float) -> Running:
        """Give a running job more, expected back by ``until_s``; returns what it is now."""
        self.advance(now_s)
        self.loans.lend(job_id, gained, now_s, until_s)
        return self._hold(job_id, together(self.running[job_id].allocation, gained))

    def give_up(self, job_id: str, nodes: Collection[int], now_s: float, until_s: float) -> None:
        """A running job will leave these nodes of its own by ``until_s``: they are booked until then, as a loan is."""
        self.advance(now_s)
        own, end_s = self.loans.own(job_id, self.running[job_id].allocation), self._booked_end[job_id]
        gone = only(own, nodes)
        if gone.nodes and now_s < until_s < end_s:
            self.timeline.release(now_s, end_s, gone)
            self._availability.after_release(gone.nodes, now_s)
            self._availability.before_booking(gone.nodes, now_s, until_s)
            self.loans.lend(job_id, gone, now_s, until_s)

    def leave(self, job_id: str, nodes: Collection[int], now_s: float) -> Running:
        """A running job has left nodes, lent ones or its own; returns what it is now."""
        running = self.running[job_id]
        self.advance(now_s)
        own = self.loans.own(job_id, running.allocation)
        kept = without(own, nodes)
        gone, end_s = without(own, kept.nodes), self._booked_end[job_id]
        self.loans.give_back(job_id, nodes, now_s)
        if gone.nodes and end_s > now_s:
            self.timeline.release(now_s, end_s, gone)
            self._availability.after_release(gone.nodes, now_s)
        return self._hold(job_id, without(running.allocation, nodes))

    def advance(self, now_s: float, ending: str = "") -> None:
        """Move the timeline on; jobs that outlived their booking are booked a little longer.

        The job ``ending`` just now is left alone.
        """
        self.timeline.advance(now_s)
        self.loans.advance(now_s, ending)
        ends = self._ends
        while ends and ends[0][0] <= now_s:
            end_s, _, job_id = heapq.heappop(ends)
            if job_id == ending or self._booked_end.get(job_id) != end_s:
                continue
            running = self.running[job_id]
            expected_s = running.start_s + self._estimator.correct_s(running.job, now_s - running.start_s)
            until_s = max(expected_s, now_s + OVERDUE_S)
            own = self.loans.own(job_id, running.allocation)
            self._availability.before_booking(own.nodes, now_s, until_s)
            self.timeline.reserve(now_s, until_s, own)
            self._book_end(running.job, until_s)

    def set_available(self, nodes: tuple[int, ...], available: bool, now_s: float) -> None:
        """Nodes have come back, or may not be used from now on."""
        self.advance(now_s)
        if available:
            self.cluster.mark_available(nodes)
            for node in nodes:
                self._availability.unblock(node, now_s)
            return
        self.cluster.mark_unavailable(nodes)
        busy_until = {
            node: self._booked_end[running.job.id]
            for running in self.running.values()
            for node in running.allocation.nodes
        } | self.loans.booked_until()
        for node in nodes:
            self._availability.block(node, busy_until.get(node, now_s))

    def check(self) -> None:
        """Prove that the books agree with each other."""
        self.cluster.check()
        self.timeline.check()
        assert self.running.keys() == self._booked_end.keys(), "a running job is not booked"
        self.loans.check({job_id: running.allocation for job_id, running in self.running.items()})

    def _hold(self, job_id: str, allocation: Allocation) -> Running:
        """A running job holds another allocation from now on."""
        running = self.running[job_id]
        self.cluster.resize(running.job, allocation)
        changed = Running(running.job, running.start_s, running.end_s, allocation)
        self.running[job_id] = changed
        return changed

    def _book_end(self, job: Job, end_s: float) -> None:
        self._booked_end[job.id] = end_s
        if end_s < float("inf"):
            heapq.heappush(self._ends, (end_s, job.number, job.id))


class _Lazy(Sequence[Running]):
    """Running jobs as a sequence that is only built when a policy looks at it."""

    __slots__ = ("_items", "_source")

    def __init__(self, source: dict[str, Running]) -> None:
        self._source = source
        self._items: tuple[Running, ...] | None = None

    def _get(self) -> tuple[Running, ...]:
        if self._items is None:
            self._items = tuple(self._source.values())
        return self._items

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Running]:
        return iter(self._get())

    def __getitem__(self, index: Any) -> Any:
        return self._get()[index]
