"""The interface of every engine: parallel tasks over the hosts of a platform, and a clock.

An engine has no jobs, profiles or schedulers. A caller starts tasks at the current clock and moves the clock; the
engine returns which tasks ended. The loop of a caller is::

    ended = engine.advance(next_timer)      # returns early, at the first completion
    now = engine.clock
    ...                                     # react to the ends, and to the timer if now == next_timer
    handles = engine.start_many(tasks)      # start the next tasks, all at this instant

``advance`` is enough: no call for the next completion need precede it, and the ``simgrid`` engine
cannot look ahead. Many tasks that start at one instant are cheaper in one ``start_many`` than in as many ``start``.

The model of a parallel task is SimGrid's ``ptask_L07``: one progress from 0 to 1, at which all computation of all hosts
and all transfers of all host pairs advance together.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import ClassVar, Protocol, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from spillway.base.errors import InputError, SpillwayError
from spillway.platforms.model import Platform

FloatArray: TypeAlias = NDArray[np.float64]


class EngineUnavailable(InputError):
    """The chosen engine cannot run on this machine; the message names the package to install."""


class EngineFailed(SpillwayError):
    """The engine's own process ended or broke its rules: a fault of the machine or of spillway, not of the input."""


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


class Engine(Protocol):
    """A machine on which parallel tasks run.

    Handles are integers that grow with each start and are never used twice.

    Attributes
    ----------
    ends_at_once
        Whether a task that has work can end at the instant of its start.
    """

    ends_at_once: ClassVar[bool]

    @property
    def clock(self) -> float:
        """Seconds since the start of the simulation."""

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""

    def start(self, task: TaskSpec) -> int:
        """Start a task at the current clock.

        Its latency passes first, then its work begins. A task without any work ends in the next ``advance``, without
        time passing.

        Raises
        ------
        TaskError
            If the task cannot run on this platform; nothing has started then.
        """
        return self.start_many((task,))[0]

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """Start tasks at the current clock, in the given order; same as ``start`` on each, but much cheaper.

        Raises
        ------
        TaskError
            If one of them cannot run; no task has started then.
        """

    def sleep(self, seconds: float) -> int:
        """Start a task that uses no resource and ends after a time, such as a delay job.

        SimGrid counts down the rest of a sleep, and takes less than 1e-9 s as 0; ends of sleeps agree with its clock
        to the last bit, instants given to ``advance`` only up to rounding.

        Raises
        ------
        TaskError
            If ``seconds`` is negative or not finite.
        """

    def cancel(self, handle: int) -> float:
        """Remove a task and return its progress, in [0, 1], at the current clock.

        Raises
        ------
        TaskError
            If no task of that handle is active (it may have ended in the last ``advance``).
        """

    def progress(self, handle: int) -> float:
        """Progress in [0, 1] of an active task at the current clock; 0 while its latency passes.

        Raises
        ------
        TaskError
            If no task of that handle is active.
        """

    def next_completion(self) -> float:
        """Time at which the next task ends if nothing is started or cancelled before; ``inf`` without tasks.

        Raises
        ------
        NotImplementedError
            By the ``simgrid`` engine, which cannot look ahead.
        """

    def advance(self, until: float) -> list[int]:
        """Move the clock to ``until`` or to the next completion, whichever comes first.

        Parameters
        ----------
        until
            Seconds, not before the clock; ``inf`` moves to the next completion.

        Returns
        -------
        list of int
            Handles of all tasks that ended at the new clock, in SimGrid's order: that of their starts. Empty when
            ``until`` came first. The clock stays the same if ``until`` is infinite and no task is active, or no task
            can make progress (hosts of speed 0; then the ``simgrid`` engine fails instead).

        Raises
        ------
        TaskError
            If ``until`` is before the clock or is not a number.
        """

    def set_pstate(self, host: int, pstate: int) -> None:
        """Change the speed of a host to that of one of its power states; running tasks continue at the new speed.

        Raises
        ------
        TaskError
            If the host or the power state is unknown.
        """

    def close(self) -> None:
        """Release all resources; a closed engine cannot be used any more. Closing twice does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def speed_in(platform: Platform, host: int, pstate: int) -> float:
    """flop/s of a host's core in a power state.

    Raises
    ------
    TaskError
        If the host or the power state is unknown.
    """
    hosts = platform.hosts
    if not 0 <= host < len(hosts):
        raise TaskError(f"host must lie in 0..{len(hosts) - 1}, got {host}")
    speeds = hosts[host].speeds
    if not 0 <= pstate < len(speeds):
        raise TaskError(f"power state of host {host} must lie in 0..{len(speeds) - 1}, got {pstate}")
    return speeds[pstate]
