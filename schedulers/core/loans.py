"""Nodes that running jobs were lent: booked in the timeline until they are expected back, not until the job's end.

A job's own nodes stay booked until its walltime. What a controller lends it beside them can be back much earlier, which
matters to policies that plan ahead. A loan that is not back in time is booked on, a little at a time, like a job that
has outlived its estimate.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from schedulers.core.allocation import only, without
from schedulers.core.availability import Availability
from schedulers.core.job import Allocation
from schedulers.policykit.view import Holding
from schedulers.timeline import Resource, Timeline

SHORTEST_S = 1.0
"""Least time that a loan is booked for at once."""


@dataclass(frozen=True, slots=True)
class _Loan:
    allocation: Allocation
    start_s: float
    until_s: float
    extension_s: float


class Loans:
    """Loans by job.

    Parameters
    ----------
    timeline, availability
        The session's own.
    """

    def __init__(self, timeline: Timeline, availability: Availability) -> None:
        self._timeline = timeline
        self._availability = availability
        self._loans: dict[str, list[_Loan]] = {}

    def lend(self, job_id: str, allocation: Allocation, now_s: float, until_s: float) -> None:
        """Book a loan over ``[now_s, until_s)``; each time it is not back in time it is booked on for as long."""
        extension_s = max(until_s - now_s, SHORTEST_S)
        self._timeline.reserve(now_s, now_s + extension_s, allocation)
        self._loans.setdefault(job_id, []).append(_Loan(allocation, now_s, now_s + extension_s, extension_s))

    def nodes_of(self, job_id: str) -> set[int]:
        """Nodes that a job was lent."""
        return {node for loan in self._loans.get(job_id, ()) for node in loan.allocation.nodes}

    def holdings(self, job_id: str) -> list[Holding]:
        """What a job was lent, since when and until when it is expected back."""
        return [
            Holding(Resource.ALL, loan.allocation, loan.start_s, loan.until_s) for loan in self._loans.get(job_id, ())
        ]

    def give_back(self, job_id: str, nodes: Collection[int], now_s: float) -> None:
        """Nodes of loans are free from now on; others are passed over."""
        kept = []
        for loan in self._loans.pop(job_id, ()):
            self._release(only(loan.allocation, nodes), loan, now_s)
            left = without(loan.allocation, nodes)
            if left.nodes:
                kept.append(_Loan(left, loan.start_s, loan.until_s, loan.extension_s))
        if kept:
            self._loans[job_id] = kept

    def end(self, job_id: str, now_s: float) -> None:
        """A job is through: all its loans are back."""
        for loan in self._loans.pop(job_id, ()):
            self._release(loan.allocation, loan, now_s)

    def advance(self, now_s: float, ending: str) -> None:
        """Book loans on that should be back by now; those of the job ``ending`` just now are left alone."""
        for job_id, loans in self._loans.items():
            if job_id == ending or all(loan.until_s > now_s for loan in loans):
                continue
            self._loans[job_id] = [self._extended(loan, now_s) for loan in loans]

    def booked_until(self) -> dict[int, float]:
        """End of the booking of each lent node."""
        return {
            node: loan.until_s for loans in self._loans.values() for loan in loans for node in loan.allocation.nodes
        }

    def check(self, holdings: dict[str, Allocation]) -> None:
        """Prove that only running jobs have loans, and only of nodes that they hold."""
        for job_id in self._loans:
            assert job_id in holdings, f"{job_id!r} does not run and has a loan"
            assert self.nodes_of(job_id) <= set(holdings[job_id].nodes), f"{job_id!r} was lent what it does not hold"

    def _release(self, allocation: Allocation, loan: _Loan, now_s: float) -> None:
        if allocation.nodes and loan.until_s > now_s:
            self._timeline.release(now_s, loan.until_s, allocation)
            self._availability.after_release(allocation.nodes, now_s)

    def _extended(self, loan: _Loan, now_s: float) -> _Loan:
        if loan.until_s > now_s:
            return loan
        until_s = now_s + loan.extension_s
        self._availability.before_booking(loan.allocation.nodes, now_s, until_s)
        self._timeline.reserve(now_s, until_s, loan.allocation)
        return _Loan(loan.allocation, loan.start_s, until_s, loan.extension_s)
