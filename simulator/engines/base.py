"""The interface of every engine: parallel tasks over the hosts of a platform, and a clock.

An engine has no jobs, profiles or schedulers. A caller starts tasks at the present clock and moves the clock; the
engine returns which tasks ended. ``advance`` is enough: no call for the next end need precede it, and the ``simgrid``
engine cannot look ahead.

The model of a parallel task is SimGrid's ``ptask_L07``: one progress from 0 to 1, at which all computation of all hosts
and all transfers of all host pairs advance together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

from spillway.base.errors import InputError, SpillwayError


class EngineUnavailable(InputError):
    """The chosen engine cannot run on this machine; the message names the package to install."""


class EngineFailed(SpillwayError):
    """The engine's own process ended or broke its rules: a fault of the machine or of spillway, not of the input."""


class Engine(Protocol):
    """A machine on which parallel tasks run: one of the core (:class:`spillway.core.Engine`), or one of Python.

    Handles are integers that grow with each start and are never used twice. Callers check what they give.
    """

    @property
    def ends_at_once(self) -> bool:
        """Whether a task that has work can end at the instant of its start."""

    @property
    def clock(self) -> float:
        """Seconds since the start of the simulation."""

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""

    def start(
        self,
        hosts: Sequence[int],
        flops: Sequence[float],
        each: float,
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> int:
        """Start a task at the present clock; return its handle.

        Its latency passes first, then its work begins. A task without any work ends in the next ``advance``, without
        time passing.

        Parameters
        ----------
        hosts
            Indices into ``platform.hosts``. The same host may occur more than once and then takes as many shares of
            its cores.
        flops
            Work of each position, one number for all, or none.
        each
            Bytes between every ordered pair of different positions.
        sources, destinations, amounts
            Transfers between positions of its hosts, bytes.
        """

    def sleep(self, seconds: float) -> int:
        """Start a task that uses no resource and ends after a time, such as a delay job.

        SimGrid counts down the rest of a sleep, and takes less than 1e-9 s as 0; ends of sleeps agree with its clock
        to the last bit, instants given to ``advance`` only up to rounding.
        """

    def cancel(self, handle: int) -> float:
        """Remove a task and return its progress, in [0, 1], at the present clock; -1 if it is not active."""

    def progress(self, handle: int) -> float:
        """Progress in [0, 1] of a task at the present clock, 0 while its latency passes; -1 if it is not active."""

    def next_completion(self) -> float:
        """Time at which the next task ends if nothing is started or cancelled before; ``inf`` without tasks."""

    def advance(self, until: float) -> Sequence[int]:
        """Move the clock to ``until`` (s), or to the next completion if that is sooner; return the tasks that ended.

        They come in SimGrid's order, that of their starts. The clock stays the same if ``until`` is infinite and no
        task is active, or no task can make progress (hosts of speed 0; then the ``simgrid`` engine fails instead).
        """

    def change_speed(self, host: int, speed: float) -> None:
        """Change the speed of a host (flop/s of a core, that of a power state); running tasks continue at that."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *about: Any) -> None: ...
