"""Recent usage by user: usage that decays with time, for policies that share a machine fairly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from spillway.core import Resource
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.history import FinishedJob, Usage
from spillway.schedulers.policykit.view import Holding, Running, View

K = TypeVar("K")
Floats = npt.NDArray[np.float64]

_Held = tuple[int, float, float, float, float]
"""Row of a key, begin and end of an interval (s), node-seconds and byte-seconds held in it."""


def decayed_usage(view: View, half_life_s: float = math.inf) -> dict[str, Usage]:
    """Usage of each user's jobs, decayed by half after each half-life.

    The usage of a job counts as spread evenly from its start to its end; running jobs count with their present
    allocation, from the time they got it. Each finished job is read once: sums are kept in the view's notebook.

    Parameters
    ----------
    view
        The pass's view.
    half_life_s
        Seconds after which a node-second counts half, above 0; infinite: no decay.

    Returns
    -------
    dict
        By user (:attr:`spillway.schedulers.model.job.Job.user`); users without usage are missing.

    Raises
    ------
    ValueError
        For a half-life that is not above 0.
    """
    if not half_life_s > 0:
        raise ValueError(f"a half-life must be above 0 s, got {half_life_s}")
    memory: _DecayedSums[str] = view.notebook.setdefault(
        f"decayed_usage {half_life_s!r}", _DecayedSums(half_life_s, attrgetter("user"))
    )
    sums = memory.at(view, view.now_s).tolist()
    return {user: Usage(*sums[place]) for user, place in memory.places.items()}


class _DecayedSums(Generic[K]):
    """Decayed sums of the usage of jobs, grouped by a key; keeps its state between passes.

    Parameters
    ----------
    half_life_s
        As of :func:`decayed_usage`.
    key
        Group of a job.

    Attributes
    ----------
    places
        Row of each key among the sums, in order of appearance.
    """

    def __init__(self, half_life_s: float, key: Callable[[FinishedJob | Job], K]) -> None:
        self._rate = math.log(2.0) / half_life_s
        self._key = key
        self.places: dict[K, int] = {}
        self._sums: Floats = np.zeros((0, 2))
        self._time_s = 0.0
        self._read = 0
        self._later: list[FinishedJob] = []

    def at(self, view: View, time_s: float) -> Floats:
        """Node-seconds and byte-seconds by key, a row each, at a time up to the view's; times must not decrease."""
        self._move_on(view, time_s)
        held: list[_Held] = []
        for job in self._later:
            if job.start_s < time_s:
                part = (time_s - job.start_s) / (job.end_s - job.start_s)
                used = job.usage
                held.append(
                    (self._place(job), job.start_s, time_s, part * used.node_seconds, part * used.buffer_byte_seconds)
                )
        for running in view.running:
            parts = running.holdings if running.apart else (running,)
            held += [self._until(running.job, part, time_s) for part in parts if part.start_s <= time_s]
        return self._with(self._sums, held)

    def _move_on(self, view: View, time_s: float) -> None:
        """Decay the sums to a time, and add the jobs that have ended since."""
        self._sums = self._sums * math.exp(-self._rate * (time_s - self._time_s))
        self._time_s = time_s
        ended, self._later = [*self._later, *view.finished.since(self._read)], []
        self._read = view.finished.total
        held: list[_Held] = []
        for job in ended:
            if job.end_s > time_s:
                self._later.append(job)
            else:
                used = job.usage
                held.append((self._place(job), job.start_s, job.end_s, used.node_seconds, used.buffer_byte_seconds))
        self._sums = self._with(self._sums, held)

    def _until(self, job: Job, one: Running | Holding, time_s: float) -> _Held:
        """Usage of a running job until a time, by its whole allocation or one of its holdings."""
        part, seconds = one.allocation, time_s - one.start_s
        nodes, size = len(part.nodes), len(part.storages) * part.bb_bytes
        if isinstance(one, Holding):
            nodes = nodes if Resource.NODES in one.covering else 0
            size = size if Resource.BURST_BUFFERS in one.covering else 0
        return self._place(job), one.start_s, time_s, nodes * seconds, size * seconds

    def _place(self, job: FinishedJob | Job) -> int:
        return self.places.setdefault(self._key(job), len(self.places))

    def _with(self, sums: Floats, held: Sequence[_Held]) -> Floats:
        """Add usage over intervals to sums, decayed to the time of the sums."""
        found = np.zeros((len(self.places), 2))
        found[: len(sums)] = sums
        if held:
            places, starts_s, ends_s, *amounts = np.array(held).T
            weights = _weights(starts_s, ends_s, self._time_s, self._rate)
            np.add.at(found, places.astype(np.intp), (weights * np.array(amounts)).T)
        return found


def _weights(starts_s: Floats, ends_s: Floats, now_s: float, rate: float) -> Floats:
    """Means of ``exp(-rate * age)`` over past intervals."""
    lengths = rate * (ends_s - starts_s)
    means = np.divide(-np.expm1(-lengths), lengths, out=np.ones_like(lengths), where=lengths > 0.0)
    weights: Floats = np.exp(-rate * (now_s - ends_s)) * means
    return weights
