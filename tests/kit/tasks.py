"""Parallel tasks as tests state them, checked and given to any engine."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec
import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

import spillway.core as core
from spillway.base.errors import InputError
from spillway.platforms.model import Platform
from spillway.simulator.engines import native, simgrid

FloatArray: TypeAlias = NDArray[np.float64]


class TaskError(InputError):
    """A task that no engine can run: unknown host, negative work, an array of the wrong shape, an unknown handle."""


class NoComm(msgspec.Struct, frozen=True):
    """No communication."""


class AllToAll(msgspec.Struct, frozen=True):
    """The same number of bytes between every ordered pair of different positions.

    Two positions may name the same host; their transfer then takes the route from that host to itself.

    Parameters
    ----------
    bytes_per_ordered_pair
        At least 0.
    """

    bytes_per_ordered_pair: float


class Matrix(msgspec.Struct, frozen=True, eq=False):
    """Bytes between all positions, as ``n x n`` floats; row: source, column: destination. The diagonal counts."""

    bytes: FloatArray


class Pairs(msgspec.Struct, frozen=True, eq=False):
    """Bytes between some positions; the same pair may occur more than once, its bytes then add up.

    Parameters
    ----------
    src, dst
        Positions into the hosts of the task.
    bytes
        One number per pair, at least 0.
    """

    src: Sequence[int] | NDArray[np.integer]
    dst: Sequence[int] | NDArray[np.integer]
    bytes: Sequence[float] | FloatArray


Comm: TypeAlias = NoComm | AllToAll | Matrix | Pairs
NO_COMM = NoComm()


class TaskSpec(msgspec.Struct, frozen=True, eq=False):
    """One parallel task.

    Parameters
    ----------
    hosts
        Indices into ``platform.hosts``. The same host may occur more than once and then takes as many shares of
        its cores. A task of one position ignores ``comm``, as SimGrid does.
    flops
        Work of every position (one number), or one number per position. At least 0.
    comm
        Transfers; a tuple adds several patterns up.
    """

    hosts: tuple[int, ...]
    flops: float | FloatArray | Sequence[float] = 0.0
    comm: Comm | tuple[Comm, ...] = NO_COMM


_Array: TypeAlias = npt.NDArray[Any]
BatchArrays: TypeAlias = tuple[_Array, _Array, _Array, _Array, _Array, _Array, _Array, _Array]
"""Hosts of all positions, begins of the tasks in them, flop of each; bytes of each all-to-all; begins in the transfers,
and their sources, destinations and bytes."""

_KINDS = (np.int64, np.int64, np.float64, np.float64, np.int64, np.int64, np.int64, np.float64)
_Lists: TypeAlias = tuple[list[int], list[int], list[float], list[float], list[int], list[int], list[int], list[float]]
_Triples: TypeAlias = tuple[list[int], list[int], list[float]]
_NONE: _Triples = ([], [], [])


def flatten(tasks: Sequence[TaskSpec], n_hosts: int) -> BatchArrays:
    """Check tasks and lay them out one behind the other; raises as :func:`listed` does."""
    return cast(BatchArrays, tuple(map(np.array, listed(tasks, n_hosts), _KINDS)))


def listed(tasks: Sequence[TaskSpec], n_hosts: int) -> _Lists:
    """Check tasks and lay them out one behind the other, as lists.

    Raises
    ------
    TaskError
        Names the first invalid task, by its position, and its fault.
    """
    hosts: list[int] = []
    ends = [0]
    work: list[float] = []
    each: list[float] = []
    pair_ends = [0]
    sources: list[int] = []
    destinations: list[int] = []
    amounts: list[float] = []
    for position, task in enumerate(tasks):
        places = task.hosts
        n = len(places)
        if not n:
            raise TaskError(f"task {position}: needs at least one host")
        hosts += places
        ends.append(len(hosts))
        flops = task.flops
        if isinstance(flops, (int, float)):
            work += [flops] * n
        else:
            work += _per_position(flops, n, position)
        comm: Any = task.comm
        kind = type(comm)
        everyone = 0.0
        if n > 1 and kind is not NoComm:
            if kind is AllToAll:
                everyone = comm.bytes_per_ordered_pair
            elif (  # a single pair, as most transfers are
                kind is Pairs
                and type(src := comm.src) is type(dst := comm.dst) is type(amount := comm.bytes) is tuple
                and len(src) == len(dst) == len(amount) == 1
                and 0 <= src[0] < n
                and 0 <= dst[0] < n
            ):
                sources.append(places[src[0]])
                destinations.append(places[dst[0]])
                amounts.append(amount[0])
            else:
                src, dst, amount = _pairs_of(comm, n, position)
                sources += [places[k] for k in src]
                destinations += [places[k] for k in dst]
                amounts += amount
        each.append(everyone)
        pair_ends.append(len(sources))
    _check_hosts(hosts, ends, n_hosts)
    _check_amounts("flops", work, ends)
    _check_amounts("bytes of an all-to-all", each, range(len(each) + 1))
    _check_amounts("bytes", amounts, pair_ends)
    return hosts, ends, work, each, pair_ends, sources, destinations, amounts


def transfers(task: TaskSpec) -> tuple[list[int], list[int], list[float]]:
    """Source positions, destination positions and bytes of a task's transfers, in the order of a matrix's rows."""
    return _pairs_of(task.comm, len(task.hosts), 0)


def _check_hosts(hosts: list[int], ends: list[int], n_hosts: int) -> None:
    if hosts and not (min(hosts) >= 0 and max(hosts) < n_hosts):
        at = next(k for k, host in enumerate(hosts) if not 0 <= host < n_hosts)
        raise TaskError(f"task {bisect_right(ends, at) - 1}: hosts must lie in 0..{n_hosts - 1}, got {hosts[at]}")


def _check_amounts(what: str, values: list[float], ends: Sequence[int]) -> None:
    """All at least 0 and finite; the sum is not finite if one value is not."""
    if values and not (min(values) >= 0.0 and isfinite(sum(values))):
        at = next((k for k, value in enumerate(values) if not 0.0 <= value < inf), 0)
        raise TaskError(f"task {bisect_right(ends, at) - 1}: {what} must be finite and at least 0, got {values[at]}")


def _per_position(flops: Any, n: int, position: int) -> list[float]:
    values = np.asarray(flops, np.float64)
    if values.ndim == 0:  # a NumPy number
        return [float(values)] * n
    if values.shape != (n,):
        raise TaskError(f"task {position}: needs flops for {n} hosts, got an array of shape {values.shape}")
    found: list[float] = values.tolist()
    return found


def _pairs_of(comm: Any, n: int, position: int) -> _Triples:
    """Positions and bytes of all transfers, in the order of a matrix's rows, no pair twice."""
    handler = _READERS.get(type(comm))
    if handler is None:
        known = ", ".join(kind.__name__ for kind in _READERS)
        raise TaskError(f"task {position}: comm must be one of {known}, got {type(comm).__name__}")
    return handler(comm, n, position)


def _from_all_to_all(comm: AllToAll, n: int, _: int) -> _Triples:
    pairs = [(i, j) for i, j in itertools.product(range(n), repeat=2) if i != j]
    return [i for i, _ in pairs], [j for _, j in pairs], [comm.bytes_per_ordered_pair] * len(pairs)


def _from_matrix(comm: Matrix, n: int, position: int) -> _Triples:
    matrix = np.asarray(comm.bytes, np.float64)
    if matrix.shape != (n, n):
        raise TaskError(f"task {position}: needs a matrix of shape {(n, n)}, got one of shape {matrix.shape}")
    src, dst = np.nonzero(matrix)
    return src.tolist(), dst.tolist(), matrix[src, dst].tolist()


def _from_pairs(comm: Pairs, n: int, position: int) -> _Triples:
    src, dst, amounts = _listed(comm.src), _listed(comm.dst), _listed(comm.bytes)
    if not len(src) == len(dst) == len(amounts):
        raise TaskError(
            f"task {position}: src, dst and bytes must be equally long, got {len(src)}, {len(dst)} and {len(amounts)}"
        )
    if len(src) == 1 and 0 <= src[0] < n and 0 <= dst[0] < n:
        return src, dst, amounts
    return _added(zip(src, dst, amounts, strict=True), n, position)


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return listed


def _from_several(comm: tuple[Any, ...], n: int, position: int) -> _Triples:
    parts = [_pairs_of(part, n, position) for part in comm]
    return _added((pair for part in parts for pair in zip(*part, strict=True)), n, position)


def _added(pairs: Any, n: int, position: int) -> _Triples:
    """The same pairs sorted, with the bytes of equal ones added up in the given order."""
    total: dict[tuple[int, int], float] = {}
    for src, dst, amount in pairs:
        if not (0 <= src < n and 0 <= dst < n):
            raise TaskError(f"task {position}: pairs must lie in 0..{n - 1}, got {src} -> {dst}")
        if not amount >= 0.0:
            raise TaskError(f"task {position}: bytes must be finite and at least 0, got {amount}")
        total[src, dst] = total.get((src, dst), 0.0) + amount
    keys = sorted(total)
    return [src for src, _ in keys], [dst for _, dst in keys], [total[key] for key in keys]


_READERS: dict[type, Callable[[Any, int, int], _Triples]] = {
    NoComm: lambda comm, n, position: _NONE,
    AllToAll: _from_all_to_all,
    Matrix: _from_matrix,
    Pairs: _from_pairs,
    tuple: _from_several,
}


class _Tasks:
    """An engine to which tests give whole tasks, and which checks what it is asked.

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
        """Start tasks, or none if one of them is wrong."""
        _, ends, work, each, *_ = listed(tasks, len(self._platform.hosts))
        handles = []
        for number, task in enumerate(tasks):
            flops = work[ends[number] : ends[number + 1]]
            pairs = transfers(task) if len(task.hosts) > 1 and not each[number] else _NONE
            handles.append(self.engine.start(task.hosts, flops, each[number], *pairs))
        return handles

    def sleep(self, seconds: float) -> int:
        """Start a pause."""
        if not 0.0 <= seconds < inf:
            raise TaskError(f"a sleep must be finite and not negative, got {seconds} s")
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


def FixedEngine(platform: Platform) -> Any:
    """The engine of given durations."""
    return _Tasks(platform, native.FixedEngine(platform))


def WaterfillEngine(platform: Platform, whole_units: bool = False) -> Any:
    """The engine of constant streams."""
    return _Tasks(platform, native.WaterfillEngine(platform, whole_units))


def SimgridEngine(path: str | Path, platform: Platform | None = None) -> Any:
    """SimGrid itself."""
    engine = simgrid.SimgridEngine(path, platform)
    return _Tasks(engine.platform, engine)
