"""Extra nodes of expanded jobs: booked in the timeline until they are expected back, not until the job's end.

A job's own nodes stay booked until its walltime. Extra nodes that a controller expands it by can be back much
earlier, which matters to policies that plan ahead. Those that are not back in time are booked on, a little at a time,
like a job that has outlived its estimate.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from spillway.schedulers.core.allocation import only, without
from spillway.schedulers.core.availability import Availability
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.policykit.view import Holding
from spillway.schedulers.timeline import Resource

SHORTEST_S = 1.0
"""Least time that extra nodes are booked for at once."""


@dataclass(frozen=True, slots=True)
class _Part:
    allocation: Allocation
    start_s: float
    until_s: float
    extension_s: float


class ExtraNodes:
    """Extra nodes by job.

    Parameters
    ----------
    availability
        Books in the session's timeline.
    """

    def __init__(self, availability: Availability) -> None:
        self._availability = availability
        self._parts: dict[str, list[_Part]] = {}

    def book(self, job_id: str, allocation: Allocation, now_s: float, until_s: float) -> None:
        """Book nodes over ``[now_s, until_s)``; each time they are not back in time they are booked on for as long."""
        extension_s = max(until_s - now_s, SHORTEST_S)
        self._availability.reserve(now_s, now_s + extension_s, allocation)
        self._parts.setdefault(job_id, []).append(_Part(allocation, now_s, now_s + extension_s, extension_s))

    def nodes_of(self, job_id: str) -> set[int]:
        """Extra nodes of a job."""
        return {node for part in self._parts.get(job_id, ()) for node in part.allocation.nodes}

    def holdings(self, job_id: str) -> list[Holding]:
        """Extra nodes of a job with what belongs to them, since when and until when they are expected back."""
        return [
            Holding(Resource.ALL, part.allocation, part.start_s, part.until_s) for part in self._parts.get(job_id, ())
        ]

    def give_back(self, job_id: str, nodes: Collection[int], now_s: float) -> None:
        """Extra nodes are free from now on; others are passed over."""
        kept = []
        for part in self._parts.pop(job_id, ()):
            self._release(only(part.allocation, nodes), part, now_s)
            left = without(part.allocation, nodes)
            if left.nodes:
                kept.append(_Part(left, part.start_s, part.until_s, part.extension_s))
        if kept:
            self._parts[job_id] = kept

    def end(self, job_id: str, now_s: float) -> None:
        """A job is through: all its extra nodes are back."""
        for part in self._parts.pop(job_id, ()):
            self._release(part.allocation, part, now_s)

    def advance(self, now_s: float, ending: str) -> None:
        """Book on what should be back by now, except for the job ``ending`` just now."""
        for job_id, parts in self._parts.items():
            if job_id == ending or all(part.until_s > now_s for part in parts):
                continue
            self._parts[job_id] = [self._extended(part, now_s) for part in parts]

    def check(self, holdings: dict[str, Allocation]) -> None:
        """Prove that only running jobs have extra nodes, and only such as they hold."""
        for job_id in self._parts:
            assert job_id in holdings, f"{job_id!r} does not run and has extra nodes"
            assert self.nodes_of(job_id) <= set(holdings[job_id].nodes), (
                f"{job_id!r} has extra nodes that it does not hold"
            )

    def _release(self, allocation: Allocation, part: _Part, now_s: float) -> None:
        if allocation.nodes and part.until_s > now_s:
            self._availability.release(now_s, part.until_s, allocation)

    def _extended(self, part: _Part, now_s: float) -> _Part:
        if part.until_s > now_s:
            return part
        until_s = now_s + part.extension_s
        self._availability.reserve(now_s, until_s, part.allocation)
        return _Part(part.allocation, part.start_s, until_s, part.extension_s)
