"""Recent usage by user: usage that decays with time, for policies that share a machine fairly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spillway.core import Resource
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.history import FinishedJob, Usage
from spillway.schedulers.policykit.view import Holding, Running, View

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
    memory: _DecayedSums = view.notebook.setdefault(f"decayed_usage {half_life_s!r}", _DecayedSums(half_life_s))
    sums = memory.at(view).tolist()
    return {user: Usage(*sums[place]) for user, place in memory.places.items()}


class _DecayedSums:
    """Decayed sums of the usage of users' jobs; keeps its state between passes.

    Attributes
    ----------
    places
        Row of each user among the sums, in order of appearance.
    """

    def __init__(self, half_life_s: float) -> None:
        self._rate = math.log(2.0) / half_life_s
        self.places: dict[str, int] = {}
        self._sums: Floats = np.zeros((0, 2))
        self._time_s = 0.0
        self._read = 0

    def at(self, view: View) -> Floats:
        """Node-seconds and byte-seconds by user, a row each, at the view's time."""
        now_s, ended = view.now_s, view.finished.since(self._read)
        self._sums = self._sums * math.exp(-self._rate * (now_s - self._time_s))
        self._time_s, self._read = now_s, view.finished.total
        self._sums = self._with([(self._place(job), job.start_s, job.end_s, *_amounts(job)) for job in ended])
        return self._with(
            [
                self._until(running.job, part, now_s)
                for running in view.running
                for part in (running.holdings if running.apart else (running,))
                if part.start_s <= now_s
            ]
        )

    def _until(self, job: Job, one: Running | Holding, time_s: float) -> _Held:
        """Usage of a running job until a time, by its whole allocation or one of its holdings."""
        part, seconds = one.allocation, time_s - one.start_s
        nodes, size = len(part.nodes), len(part.storages) * part.bb_bytes
        if isinstance(one, Holding):
            nodes = nodes if Resource.NODES in one.covering else 0
            size = size if Resource.BURST_BUFFERS in one.covering else 0
        return self._place(job), one.start_s, time_s, nodes * seconds, size * seconds

    def _place(self, job: FinishedJob | Job) -> int:
        return self.places.setdefault(job.user, len(self.places))

    def _with(self, held: Sequence[_Held]) -> Floats:
        """The sums with usage over intervals, decayed to the time of the sums."""
        found = np.zeros((len(self.places), 2))
        found[: len(self._sums)] = self._sums
        if held:
            places, starts_s, ends_s, *amounts = np.array(held).T
            weights = _weights(starts_s, ends_s, self._time_s, self._rate)
            np.add.at(found, places.astype(np.intp), (weights * np.array(amounts)).T)
        return found


def _amounts(job: FinishedJob) -> tuple[float, float]:
    return job.usage.node_seconds, job.usage.buffer_byte_seconds


def _weights(starts_s: Floats, ends_s: Floats, now_s: float, rate: float) -> Floats:
    """Means of ``exp(-rate * age)`` over past intervals."""
    lengths = rate * (ends_s - starts_s)
    means = np.divide(-np.expm1(-lengths), lengths, out=np.ones_like(lengths), where=lengths > 0.0)
    weights: Floats = np.exp(-rate * (now_s - ends_s)) * means
    return weights
