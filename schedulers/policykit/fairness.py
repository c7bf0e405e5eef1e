"""What users have had lately: usage whose past counts less and less, for policies that share a machine fairly."""

from __future__ import annotations

import math
from collections.abc import Iterator

from spillway.schedulers.policykit.history import Usage
from spillway.schedulers.policykit.view import Running, View
from spillway.schedulers.timeline import Resource


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
    rate = math.log(2.0) / half_life_s
    memory: _Decayed = view.notebook.setdefault(f"decayed_usage {half_life_s!r}", _Decayed())
    memory.read(view, rate)
    found = {user: list(sums) for user, sums in memory.sums.items()}
    for running in view.running:
        sums = found.setdefault(running.job.user, [0.0, 0.0])
        for weight, nodes, size in _held(running, view.now_s, rate):
            sums[0] += nodes * weight
            sums[1] += size * weight
    return {user: Usage(*sums) for user, sums in found.items()}


class _Decayed:
    """Decayed sums of finished jobs by user, as of one time."""

    def __init__(self) -> None:
        self.sums: dict[str, list[float]] = {}
        self._now_s = 0.0
        self._read = 0

    def read(self, view: View, rate: float) -> None:
        """Move on to the view's time, and add what has ended since."""
        factor = math.exp(-rate * (view.now_s - self._now_s))
        for sums in self.sums.values() if factor < 1.0 else ():
            sums[0] *= factor
            sums[1] *= factor
        self._now_s = view.now_s
        for job in view.finished.since(self._read):
            weight = _weight(job.start_s, job.end_s, view.now_s, rate)
            sums = self.sums.setdefault(job.user, [0.0, 0.0])
            sums[0] += job.usage.node_seconds * weight
            sums[1] += job.usage.buffer_byte_seconds * weight
        self._read = view.finished.total


def _weight(start_s: float, end_s: float, now_s: float, rate: float) -> float:
    """Mean of ``exp(-rate * age)`` over an interval that is past."""
    length = rate * (end_s - start_s)
    newest = math.exp(-rate * (now_s - end_s))
    return newest * (-math.expm1(-length) / length) if length > 0.0 else newest


def _held(running: Running, now_s: float, rate: float) -> Iterator[tuple[float, int, int]]:
    """Decayed seconds, nodes and bytes of what a running job holds."""
    for holding in running.holdings:
        seconds = now_s - holding.start_s
        part = holding.allocation
        nodes = len(part.nodes) if Resource.NODES in holding.covering else 0
        size = len(part.storages) * part.bb_bytes if Resource.BURST_BUFFERS in holding.covering else 0
        yield seconds * _weight(holding.start_s, now_s, now_s, rate), nodes, size
