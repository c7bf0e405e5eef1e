"""``parallel``: work of each host and bytes between each two hosts, written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from spillway.simulator.engines.base import NO_COMM, Comm, FloatArray, Matrix, TaskSpec
from spillway.simulator.jobs.profiles.base import Fields, Origin, ParallelWork, Parsed, Placement


class Explicit(ParallelWork):
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


def parse(fields: Fields, _origin: Origin) -> Parsed:
    """Read ``cpu`` (flops, at least one) and ``com`` (bytes, as many as its square), all at least 0."""
    cpu = _amounts(fields, "cpu", fields.array("cpu"))
    count = len(cpu)
    if count == 0:
        raise ValueError(f"{fields.where}: field 'cpu' must not be empty")
    com = _amounts(fields, "com", fields.array("com"))
    if len(com) != count * count:
        raise ValueError(
            f"{fields.where}: field 'com' must have {count * count} numbers, the square of the {count} in 'cpu', "
            f"got {len(com)}"
        )
    return Parsed(Explicit(cpu, com.reshape(count, count)), size=count)


def _amounts(fields: Fields, key: str, values: list[Any]) -> FloatArray:
    numbers = np.empty(len(values), np.float64)
    for index, value in enumerate(values):
        number = fields.as_number(value, f"{key}[{index}]")
        if number < 0:
            raise fields.wrong(f"{key}[{index}]", "a number of at least 0", value)
        numbers[index] = number
    return numbers
