"""Durations of an application's iterations and I/O phases by number of nodes.

A model is a table with an entry for every size between its smallest and largest. It comes from measurements at some
sizes, interpolated in between, or from parameters.

References
----------
Singh & Carretero, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.1: only some configurations are
measured, the rest is interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LARGEST_TABLE = 1_000_000
"""Most nodes of a model: its table has an entry for each size."""


class Times(NamedTuple):
    """Seconds that one size takes: computation and communication of an iteration, and one uncontended I/O phase."""

    cpu_s: float
    comm_s: float
    io_s: float


class Measurement(NamedTuple):
    """Measured on ``nodes`` nodes: seconds of an iteration's computation and communication, and of an I/O phase."""

    nodes: int
    cpu_s: float
    comm_s: float
    io_s: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """A model in six numbers; ``n`` is the number of nodes.

    Attributes
    ----------
    work_s, serial_s
        Computation of an iteration: ``work_s / n + serial_s``.
    comm_fixed_s, comm_node_s
        Communication of an iteration: ``comm_fixed_s + comm_node_s * n``, 0 on a single node.
    io_fixed_s, io_node_s
        An uncontended I/O phase: ``io_fixed_s + io_node_s / n`` (a shared part, and a part divided among the nodes).

    All are >= 0, and an iteration takes some time.
    """

    work_s: float
    serial_s: float = 0.0
    comm_fixed_s: float = 0.0
    comm_node_s: float = 0.0
    io_fixed_s: float = 0.0
    io_node_s: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a number of seconds >= 0, got {value}")
        if not self.work_s + self.serial_s > 0:
            raise ValueError("work_s or serial_s must be above 0: an iteration takes time")

    def at(self, nodes: Floats) -> tuple[Floats, Floats, Floats]:
        """Seconds of computation, communication and I/O on these numbers of nodes."""
        comm_s = np.where(nodes > 1, self.comm_fixed_s + self.comm_node_s * nodes, 0.0)
        return self.work_s / nodes + self.serial_s, comm_s, self.io_fixed_s + self.io_node_s / nodes


@dataclass(frozen=True, eq=False)
class PerformanceModel:
    """Times by number of nodes, for every number from ``minimum`` to ``maximum``.

    Attributes
    ----------
    minimum
        Smallest size, >= 1; entry 0 of the arrays.
    cpu_s, comm_s
        Seconds of an iteration's computation and communication.
    io_s
        Seconds of an uncontended I/O phase.
    sequential_s
        Seconds of an iteration on one node, the reference of speed-ups. If one node was not measured: the computation
        of the smallest measured size times that size.
    """

    minimum: int
    cpu_s: Floats
    comm_s: Floats
    io_s: Floats
    sequential_s: float

    @property
    def maximum(self) -> int:
        """Largest size."""
        return self.minimum + len(self.cpu_s) - 1

    @cached_property
    def iterations_s(self) -> Floats:
        """Seconds of an iteration, computation and communication, by size from ``minimum`` on."""
        total: Floats = self.cpu_s + self.comm_s
        return total

    @cached_property
    def speedups(self) -> Floats:
        """Speed-up against one node by size from ``minimum`` on."""
        found: Floats = self.sequential_s / self.iterations_s
        return found

    def at(self, nodes: int) -> Times:
        """Times on ``nodes`` nodes; ValueError outside of the model."""
        index = self._index(nodes)
        return Times(self.cpu_s.item(index), self.comm_s.item(index), self.io_s.item(index))

    def iteration_s(self, nodes: int) -> float:
        """Seconds of an iteration, computation and communication; ValueError outside of the model."""
        index = nodes - self.minimum
        return self.iterations_s.item(index if 0 <= index < len(self.cpu_s) else self._index(nodes))

    def speedup(self, nodes: int) -> float:
        """Speed-up against one node; ValueError outside of the model."""
        return self.speedups.item(self._index(nodes))

    def nodes_for(self, nodes: int, relative_speedup: float) -> int | None:
        """Find the number of nodes that makes iterations faster by a factor (paper: ``obtain_processes``).

        Parameters
        ----------
        nodes
            Present size.
        relative_speedup
            Ratio of the present time to the time to reach, > 0. From 1 up: the fewest nodes, at least the present ones,
            that reach it. Below 1: the fewest nodes that still reach it, at most the present ones.

        Returns
        -------
        int or None
            ``None`` when no size up to ``maximum`` is fast enough.
        """
        index = self._index(nodes)
        times = self.iterations_s
        wanted_s = times.item(index) / relative_speedup * (1 + 1e-12)
        first = index if relative_speedup >= 1 else 0
        fast = np.flatnonzero(times[first:] <= wanted_s)
        return self.minimum + first + int(fast[0]) if len(fast) else None

    def _index(self, nodes: int) -> int:
        index = nodes - self.minimum
        if not 0 <= index < len(self.cpu_s):
            raise ValueError(f"{nodes} nodes: the application runs on {self.minimum} to {self.maximum}")
        return index


def from_parameters(parameters: Parameters, minimum: int, maximum: int) -> PerformanceModel:
    """Make the table of a model from its parameters.

    Raises
    ------
    ValueError
        For sizes out of order or out of range.
    """
    _check_sizes(minimum, maximum)
    times = parameters.at(np.arange(minimum, maximum + 1, dtype=np.float64))
    return PerformanceModel(minimum, *times, parameters.work_s + parameters.serial_s)


def from_measurements(measured: Sequence[Measurement], minimum: int, maximum: int) -> PerformanceModel:
    """Make the table of a model that was measured at some sizes.

    In between, ``nodes x cpu_s`` (constant where an application scales perfectly), ``comm_s`` and ``io_s`` are
    interpolated linearly; beyond the first and the last measurement these three are constant.

    Raises
    ------
    ValueError
        Without measurements, for a size measured twice, for invalid times, and for sizes out of range.
    """
    _check_sizes(minimum, maximum)
    if not measured:
        raise ValueError("a model needs at least one measurement")
    rows = sorted(measured)
    for row in rows:
        if row.nodes < 1 or not (0 < row.cpu_s < math.inf and 0 <= row.comm_s < math.inf and 0 <= row.io_s < math.inf):
            raise ValueError(f"a measurement needs nodes >= 1, cpu_s > 0 and other times >= 0, got {tuple(row)}")
    sizes = np.array([row.nodes for row in rows], np.float64)
    if (np.diff(sizes) == 0).any():
        raise ValueError(f"a size is measured twice: {[row.nodes for row in rows]}")
    wanted = np.arange(minimum, maximum + 1, dtype=np.float64)
    cpu = np.array([row.cpu_s for row in rows])
    cpu_s = np.interp(wanted, sizes, sizes * cpu) / wanted
    comm_s = np.interp(wanted, sizes, np.array([row.comm_s for row in rows]))
    io_s = np.interp(wanted, sizes, np.array([row.io_s for row in rows]))
    return PerformanceModel(minimum, cpu_s, comm_s, io_s, rows[0].nodes * rows[0].cpu_s)


def _check_sizes(minimum: int, maximum: int) -> None:
    if not 1 <= minimum <= maximum <= _LARGEST_TABLE:
        raise ValueError(f"sizes must satisfy 1 <= minimum <= maximum <= {_LARGEST_TABLE}, got {minimum} and {maximum}")
