"""What users have had lately: usage whose past counts less and less, for policies that share a machine fairly."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Generic, TypeVar

from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.history import Finished, Usage
from spillway.schedulers.policykit.view import Holding, View
from spillway.schedulers.timeline import Resource

K = TypeVar("K")


def decayed_usage(view: View, half_life_s: float = math.inf) -> dict[str, Usage]:
    """What each user's jobs have held, where what is past counts less and less: half of it after each half-life.

    What a job held counts as spread evenly from its start to its end; running jobs count with what they hold now, since
    when they have held it. Each finished job is read once: sums are kept in the view's notebook.

    Parameters
    ----------
    view
        The pass's view.
    half_life_s
        After how many seconds a node-second counts half, above 0; infinite: everything counts alike.

    Returns
    -------
    dict
        By user (:attr:`spillway.schedulers.model.job.Job.user`); those without any usage are not in it.

    Raises
    ------
    ValueError
        For a half-life that is not above 0.
    """
    if not half_life_s > 0:
        raise ValueError(f"a half-life must be above 0 s, got {half_life_s}")
    memory = view.notebook.setdefault(f"decayed_usage {half_life_s!r}", Decayed(half_life_s, attrgetter("user")))
    found: dict[str, Usage] = memory.at(view, view.now_s)
    return found


class Decayed(Generic[K]):
    """Decayed sums of what jobs have held, by something that they have in common; their own memory between passes.

    Parameters
    ----------
    half_life_s
        As of :func:`decayed_usage`.
    key
        By what sums are kept.
    """

    def __init__(self, half_life_s: float, key: Callable[[Finished | Job], K]) -> None:
        self._rate = math.log(2.0) / half_life_s
        self._key = key
        self._sums: dict[K, list[float]] = {}
        self._time_s = 0.0
        self._read = 0
        self._later: list[Finished] = []

    def at(self, view: View, time_s: float) -> dict[K, Usage]:
        """The sums at a time that is not after the view's, nor before one that was asked for already."""
        rate = self._rate
        self._move_on(view, time_s)
        found = {key: list(sums) for key, sums in self._sums.items()}
        for job in self._later:
            if job.start_s < time_s:
                part = (time_s - job.start_s) / (job.end_s - job.start_s)
                _add(found, self._key(job), part * _weight(job.start_s, time_s, time_s, rate), job.usage)
        for running in view.running:
            key = self._key(running.job)
            for holding in running.holdings:
                if holding.start_s <= time_s:
                    _add(found, key, _weight(holding.start_s, time_s, time_s, rate), _held(holding, time_s))
        return {key: Usage(*sums) for key, sums in found.items()}

    def _move_on(self, view: View, time_s: float) -> None:
        """Let what is past count less, and add what has ended since."""
        factor = math.exp(-self._rate * (time_s - self._time_s))
        for sums in self._sums.values() if factor < 1.0 else ():
            sums[0] *= factor
            sums[1] *= factor
        self._time_s = time_s
        ended, self._later = [*self._later, *view.finished.since(self._read)], []
        self._read = view.finished.total
        for job in ended:
            if job.end_s > time_s:
                self._later.append(job)
            else:
                _add(self._sums, self._key(job), _weight(job.start_s, job.end_s, time_s, self._rate), job.usage)


def _add(sums: dict[K, list[float]], key: K, weight: float, usage: Usage) -> None:
    entry = sums.setdefault(key, [0.0, 0.0])
    entry[0] += usage.node_seconds * weight
    entry[1] += usage.buffer_byte_seconds * weight


def _weight(start_s: float, end_s: float, now_s: float, rate: float) -> float:
    """Mean of ``exp(-rate * age)`` over an interval that is past."""
    length = rate * (end_s - start_s)
    newest = math.exp(-rate * (now_s - end_s))
    return newest * (-math.expm1(-length) / length) if length > 0.0 else newest


def _held(holding: Holding, time_s: float) -> Usage:
    """What a running job has held until a time, of one of its holdings."""
    seconds, part = time_s - holding.start_s, holding.allocation
    nodes = len(part.nodes) if Resource.NODES in holding.covering else 0
    size = len(part.storages) * part.bb_bytes if Resource.BURST_BUFFERS in holding.covering else 0
    return Usage(nodes * seconds, size * seconds)
