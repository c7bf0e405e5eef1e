"""``parallel_homogeneous`` and ``parallel_homogeneous_total``: the same work on every host, all pairs exchange data."""

from __future__ import annotations

from spillway.simulator.engines.base import NO_COMM, AllToAll, Comm, TaskSpec
from spillway.simulator.jobs.profiles.base import ParallelWork, Placement


class Homogeneous(ParallelWork):
    """``cpu`` flops per executor, ``com`` bytes per ordered pair of executors."""

    __slots__ = ("comm", "cpu")

    def __init__(self, cpu: float, com: float) -> None:
        self.cpu = cpu
        self.comm: Comm = AllToAll(com) if com > 0 else NO_COMM

    def task(self, place: Placement) -> TaskSpec:
        """The same for every executor."""
        return TaskSpec(place.executors, self.cpu, self.comm)


class HomogeneousTotal(ParallelWork):
    """``cpu`` and ``com`` divided by the number of executors."""

    __slots__ = ("com", "cpu")

    def __init__(self, cpu: float, com: float) -> None:
        self.cpu = cpu
        self.com = com

    def task(self, place: Placement) -> TaskSpec:
        """An equal share for every executor."""
        count = len(place.executors)
        com = self.com / count
        return TaskSpec(place.executors, self.cpu / count, AllToAll(com) if com > 0 else NO_COMM)
