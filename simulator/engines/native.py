"""Engines of the compiled core, behind the interface of all engines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.base import Engine, TaskError, TaskSpec, speed_in
from spillway.simulator.engines.batch import listed


class NativeEngine(Engine):
    """Checks what callers give, and says in words what was wrong; the core does the rest.

    Parameters
    ----------
    platform
        Hosts, whose numbers and speeds are checked.
    native
        The engine of the core.
    """

    ends_at_once: ClassVar[bool]

    def __init__(self, platform: Platform, native: core.Engine) -> None:
        self._platform = platform
        self._hosts = len(platform.hosts)
        self._native = native

    @property
    def native(self) -> core.Engine:
        """The engine of the core, which the loop uses itself."""
        return self._native

    @property
    def clock(self) -> float:
        """Seconds since the start of the simulation."""
        return self._native.clock_s

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return self._native.active

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.start_many`."""
        return self._native.start_many(self._batch(tasks))

    def _batch(self, tasks: Sequence[TaskSpec]) -> core.Batch:
        return core.Batch(*listed(tasks, self._hosts))

    def sleep(self, seconds: float) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.sleep`."""
        if not 0.0 <= seconds < math.inf:
            raise TaskError(f"a sleep must be finite and not negative, got {seconds} s")
        return self._native.sleep(seconds)

    def cancel(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.cancel`."""
        return _of_active(self._native.cancel(handle), handle)

    def progress(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.progress`."""
        return _of_active(self._native.progress(handle), handle)

    def next_completion(self) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.next_completion`."""
        return self._native.next_completion()

    def advance(self, until: float) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance`."""
        if not until >= self.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.clock} s already")
        return self._native.advance(until)

    def set_pstate(self, host: int, pstate: int) -> None:
        """See :meth:`spillway.simulator.engines.base.Engine.set_pstate`."""
        self._native.change_speed(host, speed_in(self._platform, host, pstate))

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def _of_active(progress: float, handle: int) -> float:
    if progress < 0.0:
        raise TaskError(f"no active task has the handle {handle}: it ended, was cancelled or never started")
    return progress
