"""Usage as counted by Slurm: in steps of the period of priority calculations, in whole seconds.

With every period all usage so far is multiplied by ``d`` to the power of its seconds, ``d = 1 - 0.693 / half-life``. A
job's usage over ``t`` seconds of a period, rounded to whole ones, counts as ``t d^t``; if it ended in the period, this
is decayed with the other usage at the end of the period. This is not the integral over the time since, and gives other
ranks where the half-life is a few periods. A Slurm that enforces associations but no limits does not count the usage of
a job between the last calculation and its end (it processes ends only for limits).

A half-life of 120 s, periods of 60 s, a job on 2 nodes from 10 s to 70 s: ``d = 0.994225``; after 60 s it has used
``2 * 50 d^50 = 74.857``, after 120 s ``74.857 d^60 + 2 * 10 d^10 d^60 = 66.217``.

References
----------
Slurm 22.05, ``priority/multifactor``: the decay thread, and the end of a job; equal to the output of ``sshare``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import Resource
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.history import FinishedJob
from spillway.schedulers.policykit.view import Running, View

Floats = npt.NDArray[np.float64]

_LN2 = 0.693
"""Slurm's value of ln 2."""
_DECIMALS = 6
"""Decimals of seconds before rounding down to whole ones: differences of times may lie just below whole numbers."""


class _Part(NamedTuple):
    """Row of a job's key, and nodes and bytes that the job held over an interval (s)."""

    place: int
    start_s: float
    end_s: float
    nodes: float
    buffer_bytes: float


class PeriodicUsage:
    """Sums of the usage of jobs, grouped by a key; keeps its state between passes.

    Parameters
    ----------
    half_life_s
        Seconds after which usage counts half; 0: it never decays.
    period_s
        Time between two calculations (s), above 0.
    key
        Group of a job.
    ends
        Whether the time from the last calculation to a job's end counts.

    Attributes
    ----------
    places
        Row of each key among the sums, in order of appearance.
    """

    def __init__(
        self,
        half_life_s: float,
        period_s: float,
        key: Callable[[FinishedJob | Job], tuple[str, str, str]],
        *,
        ends: bool,
    ) -> None:
        self._ends = ends
        self._factor = max(0.0, 1.0 - _LN2 / half_life_s) if half_life_s else 1.0
        self._period_s = period_s
        self._key = key
        self.places: dict[tuple[str, str, str], int] = {}
        self._sums: Floats = np.zeros((0, 2))
        self._time_s = -math.inf
        self._read = 0
        self._later: list[FinishedJob] = []
        self._running_parts: dict[Running, tuple[_Part, ...]] = {}

    def at(self, view: View, time_s: float) -> Floats:
        """Node-seconds and byte-seconds by key, a row each, at the time of a calculation.

        ``time_s``: not after the view's time, nor before that of an earlier call.
        """
        ended = [*self._later, *view.finished.since(self._read)]
        self._read = view.finished.total
        self._later = [job for job in ended if job.end_s > time_s]
        parts = [*self._ended(job for job in ended if job.start_s < time_s)]
        before, self._running_parts = self._running_parts, {}
        for running_job in view.running:
            if running_job.start_s <= time_s:
                held = self._running_parts[running_job] = before.get(running_job) or tuple(self._running(running_job))
                parts += held
        first_s = min((part.start_s for part in parts), default=time_s)
        since_s = self._time_s
        if since_s == -math.inf:  # the last calculation before anything was used
            since_s = time_s - max(0, math.ceil((time_s - first_s) / self._period_s)) * self._period_s
        found = np.zeros((len(self.places), 2))
        found[: len(self._sums)] = self._sums
        self._sums, self._time_s = self._counted(found, parts, since_s, time_s), time_s
        return self._sums

    def _counted(self, sums: Floats, parts: Sequence[_Part], since_s: float, time_s: float) -> Floats:
        """Advance the sums from one calculation to another, period by period."""
        columns = np.array(parts, np.float64).reshape(-1, len(_Part._fields)).T
        places, starts_s, ends_s, amounts = columns[0].astype(np.intp), columns[1], columns[2], columns[3:].T
        first_s, last_s = _whole(starts_s), _whole(ends_s)
        for number in range(round((time_s - since_s) / self._period_s)):
            begin_s, end_s = since_s + number * self._period_s, since_s + (number + 1) * self._period_s
            begin, end = np.floor(begin_s), np.floor(end_s)
            decay = self._factor ** (end - begin)
            sums = sums * decay
            live = np.flatnonzero((starts_s < end_s) & (ends_s > begin_s))
            seconds = np.maximum(np.minimum(last_s[live], end) - np.maximum(first_s[live], begin), 0.0)
            seconds = seconds * self._factor**seconds * np.where(ends_s[live] <= end_s, decay * self._ends, 1.0)
            np.add.at(sums, places[live], seconds[:, None] * amounts[live])
        return sums

    def _ended(self, jobs: Iterable[FinishedJob]) -> Iterator[_Part]:
        """Usage of ended jobs: requested nodes from their start, for the node-seconds used; buffers to their end."""
        for job in jobs:
            place, used = self._place(job), job.usage
            if used.node_seconds:
                yield _Part(place, job.start_s, job.start_s + used.node_seconds / job.nodes, job.nodes, 0.0)
            if used.buffer_byte_seconds and job.end_s > job.start_s:
                yield _Part(place, job.start_s, job.end_s, 0.0, used.buffer_byte_seconds / (job.end_s - job.start_s))

    def _running(self, running: Running) -> Iterator[_Part]:
        """Resources that a running job holds or has released."""
        place = self._place(running.job)
        for holding, end_s in [
            *((item, math.inf) for item in running.holdings),
            *((member, member.end_s) for member in running.past),
        ]:
            nodes = len(holding.allocation.nodes) if Resource.NODES in holding.covering else 0
            buffers = Resource.BURST_BUFFERS in holding.covering
            size = len(holding.allocation.storages) * holding.allocation.bb_bytes if buffers else 0
            yield _Part(place, holding.start_s, end_s, nodes, size)

    def _place(self, job: FinishedJob | Job) -> int:
        return self.places.setdefault(self._key(job), len(self.places))


def _whole(times_s: Floats) -> Floats:
    return np.floor(np.round(times_s, _DECIMALS))
