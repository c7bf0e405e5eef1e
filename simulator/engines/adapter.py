"""An engine of Python as the compiled loop uses it."""

from __future__ import annotations

from collections.abc import Sequence

import spillway.core as core
from spillway.simulator.engines.base import NO_COMM, AllToAll, Comm, Engine, Pairs, TaskError, TaskSpec
from spillway.simulator.engines.fixed import FixedEngine
from spillway.simulator.engines.fluid import FluidEngine


def task_spec(
    hosts: Sequence[int],
    flops: Sequence[float],
    each: float,
    sources: Sequence[int],
    destinations: Sequence[int],
    amounts: Sequence[float],
) -> TaskSpec:
    """A task of the core.

    Parameters
    ----------
    hosts
        Its hosts.
    flops
        Work of each, one number for all, or none.
    each
        Bytes of an all-to-all.
    sources, destinations, amounts
        Transfers between positions of its hosts, bytes.
    """
    work: float | Sequence[float] = flops
    if len(flops) < 2:
        work = flops[0] if flops else 0.0
    comm: Comm = NO_COMM
    if each > 0.0:
        comm = AllToAll(each)
    elif amounts:
        comm = Pairs(tuple(sources), tuple(destinations), tuple(amounts))
    return TaskSpec(tuple(hosts), work, comm)


class Adapter:
    """Plain calls on an engine of Python; a task that is not active has the progress -1."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def ends_at_once(self) -> bool:
        """See :class:`spillway.simulator.engines.base.Engine`."""
        return self._engine.ends_at_once

    @property
    def active(self) -> int:
        """Number of tasks under way."""
        return self._engine.active

    def start(
        self,
        hosts: Sequence[int],
        flops: Sequence[float],
        each: float,
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> int:
        """Start a task as :func:`task_spec` states it; return its handle."""
        return self._engine.start(task_spec(hosts, flops, each, sources, destinations, amounts))

    def sleep(self, seconds: float) -> int:
        """Start a pause; return its handle."""
        return self._engine.sleep(seconds)

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress."""
        try:
            return self._engine.cancel(handle)
        except TaskError:
            return -1.0

    def progress(self, handle: int) -> float:
        """Progress of a task."""
        try:
            return self._engine.progress(handle)
        except TaskError:
            return -1.0

    def next_completion(self) -> float:
        """Time of the next end (s)."""
        return self._engine.next_completion()

    def advance(self, until: float) -> tuple[float, list[int]]:
        """Move the clock; return it, and the tasks that have ended."""
        ended = self._engine.advance(until)
        return self._engine.clock, ended

    def change_speed(self, host: int, speed: float) -> None:
        """Refuse: speeds change by power states, which the owner of the engine sets."""
        raise NotImplementedError


def for_loop(engine: Engine) -> core.Engine | Adapter:
    """The engine that the loop uses: the core's own, if it plays every task, or an adapter."""
    return engine.native if isinstance(engine, FixedEngine | FluidEngine) else Adapter(engine)
