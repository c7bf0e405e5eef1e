"""Parallel tasks as tests state them, laid out for any engine."""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines import native, simgrid

FloatArray: TypeAlias = NDArray[np.float64]


class TaskError(Exception):
    """A handle that is unknown, or a time that is over."""


class NoComm(msgspec.Struct, frozen=True):
    """No communication."""


class AllToAll(msgspec.Struct, frozen=True):
    """The same number of bytes between every ordered pair of different positions.

    Two positions may name the same host; their transfer then takes the route from that host to itself.
    """

    bytes_per_ordered_pair: float


class Matrix(msgspec.Struct, frozen=True, eq=False):
    """Bytes between all positions, as ``n x n`` floats; row: source, column: destination. The diagonal counts."""

    bytes: FloatArray


class Pairs(msgspec.Struct, frozen=True, eq=False):
    """Bytes between some positions; the same pair may occur more than once, its bytes then add up."""

    src: Sequence[int] | NDArray[np.integer]
    dst: Sequence[int] | NDArray[np.integer]
    bytes: Sequence[float] | FloatArray


Comm: TypeAlias = NoComm | AllToAll | Matrix | Pairs
NO_COMM = NoComm()


class TaskSpec(msgspec.Struct, frozen=True, eq=False):
    """One parallel task: hosts (the same one may occur more than once), flops of each or of all, transfers.

    A task of one position ignores ``comm``, as SimGrid does; a tuple adds several patterns up.
    """

    hosts: tuple[int, ...]
    flops: float | FloatArray | Sequence[float] = 0.0
    comm: Comm | tuple[Comm, ...] = NO_COMM


_Array: TypeAlias = npt.NDArray[Any]
BatchArrays: TypeAlias = tuple[_Array, _Array, _Array, _Array, _Array, _Array, _Array, _Array]
"""Hosts of all positions, begins of the tasks in them, flop of each; bytes of each all-to-all; begins in the transfers,
and their sources, destinations and bytes."""

_KINDS = (np.int64, np.int64, np.float64, np.float64, np.int64, np.int64, np.int64, np.float64)
_Triples: TypeAlias = tuple[list[int], list[int], list[float]]


def flatten(tasks: Sequence[TaskSpec]) -> BatchArrays:
    """Tasks one behind the other, as arrays."""
    hosts: list[int] = []
    ends, pair_ends = [0], [0]
    work: list[float] = []
    each: list[float] = []
    pairs: _Triples = ([], [], [])
    for task in tasks:
        flops, everyone, transfers = parts(task)
        hosts += task.hosts
        work += flops
        each.append(everyone)
        src, dst, amounts = transfers
        pairs[0].extend(task.hosts[k] for k in src)
        pairs[1].extend(task.hosts[k] for k in dst)
        pairs[2].extend(amounts)
        ends.append(len(hosts))
        pair_ends.append(len(pairs[0]))
    lists = (hosts, ends, work, each, pair_ends, *pairs)
    return tuple(np.array(values, kind) for values, kind in zip(lists, _KINDS, strict=True))  # type: ignore[return-value]


def parts(task: TaskSpec) -> tuple[list[float], float, _Triples]:
    """Flops of each position, bytes of an all-to-all, and other transfers by positions."""
    n = len(task.hosts)
    flops = np.broadcast_to(np.asarray(task.flops, np.float64), n).tolist()
    if n > 1 and isinstance(task.comm, AllToAll):
        return flops, task.comm.bytes_per_ordered_pair, ([], [], [])
    return flops, 0.0, transfers(task) if n > 1 else ([], [], [])


def transfers(task: TaskSpec) -> _Triples:
    """Source positions, destination positions and bytes of a task's transfers, in the order of a matrix's rows."""
    return _pairs_of(task.comm, len(task.hosts))


def _pairs_of(comm: Any, n: int) -> _Triples:
    """Positions and bytes of all transfers, in the order of a matrix's rows, no pair twice."""
    if isinstance(comm, AllToAll):
        return _added((i, j, comm.bytes_per_ordered_pair) for i, j in itertools.product(range(n), repeat=2) if i != j)
    if isinstance(comm, Matrix):
        src, dst = np.nonzero(comm.bytes)
        return src.tolist(), dst.tolist(), comm.bytes[src, dst].tolist()
    if isinstance(comm, Pairs):
        return _added(zip(*(np.asarray(part).tolist() for part in (comm.src, comm.dst, comm.bytes)), strict=True))
    if isinstance(comm, NoComm):
        return [], [], []
    return _added(pair for part in comm for pair in zip(*_pairs_of(part, n), strict=True))


def _added(pairs: Iterable[tuple[int, int, float]]) -> _Triples:
    """The same pairs sorted, with the bytes of equal ones added up in the given order."""
    total: dict[tuple[int, int], float] = {}
    for src, dst, amount in pairs:
        total[src, dst] = total.get((src, dst), 0.0) + amount
    keys = sorted(total)
    return [src for src, _ in keys], [dst for _, dst in keys], [total[key] for key in keys]


class _Tasks:
    """An engine to which tests give whole tasks, and which checks handles and times.

    Parameters
    ----------
    platform, engine
        The machine, and the engine that plays on it.
    """

    def __init__(self, platform: Platform, engine: Any) -> None:
        self._platform, self.engine = platform, engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def __enter__(self) -> Any:
        self.engine.__enter__()
        return self

    def __exit__(self, *about: object) -> None:
        self.engine.__exit__(*about)

    def start(self, task: TaskSpec) -> int:
        """Start a task."""
        return self.start_many((task,))[0]

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """Start tasks."""
        handles = []
        for task in tasks:
            flops, everyone, pairs = parts(task)
            handles.append(self.engine.start(task.hosts, flops, everyone, *pairs))
        return handles

    def sleep(self, seconds: float) -> int:
        """Start a pause."""
        return int(self.engine.sleep(seconds))

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress."""
        return self._known(handle, self.engine.cancel(handle))

    def progress(self, handle: int) -> float:
        """Progress of a task."""
        return self._known(handle, self.engine.progress(handle))

    def _known(self, handle: int, progress: float) -> float:
        if progress < 0.0:
            raise TaskError(f"no active task has the handle {handle}: it ended, was cancelled or never started")
        return progress

    def advance(self, until: float) -> list[int]:
        """Move the clock; return the tasks that ended."""
        if not until >= self.engine.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.engine.clock} s already")
        return list(self.engine.advance(until))

    def set_pstate(self, host: int, pstate: int) -> None:
        """Change the speed of a host to that of a power state."""
        self.engine.change_speed(host, self._platform.hosts[host].speeds[pstate])

    def check(self) -> None:
        """Check the invariants of the fluid engine."""
        fault = self.engine.check()
        assert fault is None, fault


def FluidEngine(platform: Platform, network: core.Network | None = None) -> Any:
    """The fluid engine."""
    return _Tasks(platform, native.FluidEngine(platform, network))


def WaterfillEngine(platform: Platform, whole_units: bool = False) -> Any:
    """The engine of constant streams."""
    return _Tasks(platform, native.WaterfillEngine(platform, whole_units))


def SimgridEngine(path: str | Path, platform: Platform | None = None) -> Any:
    """SimGrid itself."""
    engine = simgrid.SimgridEngine(path, platform)
    return _Tasks(engine.platform, engine)
