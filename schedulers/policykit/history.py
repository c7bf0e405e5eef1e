"""History before a pass: ended jobs, and usage by user. Policies read it through the view."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import msgspec
import numpy as np

HISTORY_JOBS = 100_000
"""Number of last ended jobs that a view shows. Usage by user counts all of them."""


class Usage(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Resources held, times durations.

    Attributes
    ----------
    node_seconds
        Nodes times seconds, at least 0. Where jobs take turns on nodes, a node in one time slice counts as a node.
    buffer_byte_seconds
        Bytes of burst buffer times seconds, at least 0; also while a job held its burst buffer before its nodes.
    """

    node_seconds: float = 0.0
    buffer_byte_seconds: float = 0.0


class FinishedJob(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A started job that has ended; each attempt of a job restarted after an outage is one.

    Attributes
    ----------
    id
        As :attr:`spillway.schedulers.model.job.Job.id`; further attempts end in ``#2``, ``#3`` ...
    user
        As :attr:`spillway.schedulers.model.job.Job.user`.
    submit_time_s, start_s, end_s
        Submission, start on its nodes, and release of all its resources (s).
    walltime_s
        Requested walltime (s); infinite for no walltime.
    nodes
        Nodes that it requested.
    state
        State at its end, as in Batsim: ``COMPLETED_SUCCESSFULLY``, ``COMPLETED_FAILED``,
        ``COMPLETED_WALLTIME_REACHED``, ``COMPLETED_KILLED``.
    usage
        Usage by actual allocation: nodes of an expansion count, nodes released early count until then.
    account, qos
        As in :class:`spillway.schedulers.model.job.Job`.
    """

    id: str
    user: str
    submit_time_s: float
    start_s: float
    end_s: float
    walltime_s: float
    nodes: int
    state: str
    usage: Usage
    account: str = ""
    qos: str = ""


class FinishedJobs(Sequence[FinishedJob]):
    """Ended jobs in order of their ends, as of one pass; immutable, and made without copying.

    It has at most the last :data:`HISTORY_JOBS`; :attr:`total` counts all.

    Attributes
    ----------
    total
        Number of ended jobs, also those no longer shown.
    """

    __slots__ = ("_first", "_items", "_stop", "total")

    def __init__(self, items: Sequence[FinishedJob] = (), first: int = 0, total: int | None = None) -> None:
        self._items = items
        self._first = first
        self._stop = len(items)
        self.total = self._stop - first if total is None else total

    def since(self, total: int) -> Sequence[FinishedJob]:
        """Shown jobs that ended after the first ``total``.

        A policy that keeps ``view.finished.total`` in its notebook reads each job once.
        """
        new = max(self.total - total, 0)
        return self._items[max(self._stop - new, self._first) : self._stop]

    def __len__(self) -> int:
        return self._stop - self._first

    def __iter__(self) -> Iterator[FinishedJob]:
        return (self._items[place] for place in range(self._first, self._stop))

    @overload
    def __getitem__(self, index: int) -> FinishedJob: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FinishedJob]: ...
    def __getitem__(self, index: int | slice) -> FinishedJob | Sequence[FinishedJob]:
        places = range(self._first, self._stop)[index]
        return self._items[places] if isinstance(places, int) else tuple(self._items[place] for place in places)


_RECENT_JOBS = 1000
"""Number of last ended jobs in :class:`RecentWaits`."""

FEWEST_JOBS = 20
"""Least number of jobs for a quantile."""


class RecentWaits:
    """Waiting times of the last ended jobs and of waiting jobs: quantiles show how long waits are now."""

    def __init__(self) -> None:
        self._read = 0
        self._waits_s: deque[float] = deque(maxlen=_RECENT_JOBS)

    def quantile_s(self, finished: FinishedJobs, so_far_s: Iterable[float], share: float) -> float:
        """Quantile of these waits (s, at least 1); infinite while too few jobs have ended.

        Parameters
        ----------
        finished
            Jobs that have ended by now.
        so_far_s
            Waits of the waiting jobs so far (s). Without them long waits would count only at their end.
        """
        self._waits_s.extend(job.start_s - job.submit_time_s for job in finished.since(self._read))
        self._read = finished.total
        if len(self._waits_s) < FEWEST_JOBS:
            return math.inf
        return max(float(np.quantile([*self._waits_s, *so_far_s], share)), 1.0)
