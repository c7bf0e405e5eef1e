"""``parallel``: work of each host and bytes between each two hosts, written out."""

from __future__ import annotations

import numpy as np

from spillway.protocol.messages import JsonObject
from spillway.simulator.engines.base import NO_COMM, Comm, FloatArray, Matrix, TaskSpec
from spillway.simulator.jobs.profiles.base import ParallelWork, Parsed, Placement


class _Explicit(ParallelWork):
    """``cpu[n]`` flops, ``com[n, n]`` bytes; row: source, column: destination."""

    __slots__ = ("comm", "cpu")

    def __init__(self, cpu: FloatArray, com: FloatArray) -> None:
        self.cpu = cpu
        self.comm: Comm = Matrix(com) if com.any() else NO_COMM

    def task(self, place: Placement) -> TaskSpec:
        """As written; the number of executors must match."""
        if len(place.executors) != len(self.cpu):
            raise ValueError(f"its profile is made for {len(self.cpu)} executors, got {len(place.executors)}")
        return TaskSpec(place.executors, self.cpu, self.comm)


def explicit(values: JsonObject, where: str) -> Parsed:
    """Work of ``cpu`` (flops) and ``com`` (bytes, as many as its square)."""
    cpu, com = np.array(values["cpu"]), np.array(values["com"])
    count = len(cpu)
    if len(com) != count * count:
        raise ValueError(
            f"{where}: field 'com' must have {count * count} numbers, the square of the {count} in 'cpu', "
            f"got {len(com)}"
        )
    return Parsed(_Explicit(cpu, com.reshape(count, count)), size=count)
