"""The fluid engine: SimGrid's ``ptask_L07`` in arrays, without threads; any number of engines in a process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from spillway.platforms.model import Platform
from spillway.simulator.engines.base import Engine, TaskError, TaskSpec, speed_in
from spillway.simulator.engines.batch import NO_TASKS, flatten
from spillway.simulator.engines.fluid_kernels import link_elements, retire, run
from spillway.simulator.engines.fluid_state import (
    ACTIVE,
    COUNT,
    ENDED,
    ENTRY,
    HANDLE,
    HEAD,
    LATENCY,
    N_ACTIVE,
    N_ELEMENTS,
    NEXT,
    NEXT_HANDLE,
    RATE,
    REMAINING,
    SLEEPING,
    SPAN,
    STAGE,
    TASK,
    FluidState,
)
from spillway.simulator.engines.routes import RouteTable
from spillway.simulator.engines.weights import admit, begin_sleep, change_speed, pass_moments

_MISSING_AT_ONCE = 4096
"""Routes that are looked up between two attempts to start a task."""


class FluidEngine(Engine):
    """See :class:`spillway.simulator.engines.base.Engine`.

    Results equal SimGrid 3.32's, for the same tasks at the same instants, except for the rounding of instants at which
    ``advance`` stops without a completion.

    Parameters
    ----------
    platform
        Hosts, links and routes.
    routes
        Routes already known, shared by engines on the same platform; by default the engine looks them up anew.
    """

    ends_at_once: ClassVar[bool] = False
    clock: float = 0.0

    def __init__(self, platform: Platform, routes: RouteTable | None = None) -> None:
        self._platform = platform
        self._hosts = len(platform.hosts)
        self._links = len(platform.bandwidths)
        self._state = FluidState(platform.bandwidths, platform.fatpipe, platform.speeds, platform.cores)
        self._routes = RouteTable(platform) if routes is None else routes
        self._missing = np.zeros(_MISSING_AT_ONCE, np.int64)
        self._ended = np.zeros(len(self._state.task_ints), np.int64)

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return int(self._state.counters[N_ACTIVE])

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.start_many`."""
        batch = flatten(tasks, self._hosts)
        state = self._state
        self._room_for_tasks(len(tasks))
        first = int(state.counters[NEXT_HANDLE])
        done = 0
        while True:
            done = admit(done, self._hosts, self._missing, state.arrays, batch, self._routes.arrays)
            if done == len(tasks):
                self._routes.look_for_groups()
                return list(range(first, first + len(tasks)))
            self._make_room(tasks[done])

    def _make_room(self, task: TaskSpec) -> None:
        """Add the routes, or the rows for elements, that a task lacked to start."""
        unknown = int(self._missing[0])
        if unknown:
            self._routes.add(self._missing[1 : 1 + unknown].tolist())
        else:
            for row in self._state.room_for_elements(self._links + len(task.hosts)):
                link_elements(row, self._state.arrays)

    def advance_through(
        self, moments: Sequence[float], tasks: Sequence[TaskSpec | None] = ()
    ) -> tuple[int, list[int], list[int]]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance_through`."""
        state, count = self._state, len(moments)
        times, starts = np.array(moments, np.float64), np.zeros(count, np.int64)
        specs = [task for task in tasks if task is not None]
        batch = NO_TASKS
        if specs:
            starts[:] = [task is not None for task in tasks]
            batch = flatten(specs, self._hosts)
            self._room_for_tasks(len(specs))
        first = int(state.counters[NEXT_HANDLE])
        passed = done = 0
        while True:
            passed, done = pass_moments(
                passed, done, times, starts, self._hosts, self._missing, state.arrays, batch, self._routes.arrays
            )
            ended: list[int] = self._ended[: retire(state.arrays, self._ended)].tolist()
            if ended or passed == count:
                self.clock = float(state.clock[0])
                if specs:
                    self._routes.look_for_groups()
                return passed, list(range(first, first + done)), ended
            self._make_room(specs[done])

    def sleep(self, seconds: float) -> int:
        """See :meth:`spillway.simulator.engines.base.Engine.sleep`."""
        if not 0.0 <= seconds < math.inf:
            raise TaskError(f"a sleep must be finite and not negative, got {seconds} s")
        self._room_for_tasks(1)
        begin_sleep(seconds, self._state.arrays)
        return int(self._state.counters[NEXT_HANDLE]) - 1

    def _room_for_tasks(self, count: int) -> None:
        self._state.room_for_tasks(count)
        if len(self._ended) < len(self._state.task_ints):
            self._ended = np.zeros(len(self._state.task_ints), np.int64)

    def _row(self, handle: int) -> int:
        """Row of an active task."""
        active = self._state.lists[ACTIVE, : self._state.counters[N_ACTIVE]]
        handles = self._state.task_ints[active, HANDLE]
        at = int(np.searchsorted(handles, handle))
        if at == len(handles) or handles[at] != handle:
            raise TaskError(f"no active task has the handle {handle}: it ended, was cancelled or never started")
        return int(active[at])

    def cancel(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.cancel`."""
        row = self._row(handle)
        done = self._progress(row)
        self._state.task_ints[row, STAGE] = ENDED
        retire(self._state.arrays, self._ended)
        return done

    def progress(self, handle: int) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.progress`."""
        return self._progress(self._row(handle))

    def _progress(self, row: int) -> float:
        numbers = self._state.task_floats[row]
        if self._state.task_ints[row, STAGE] != SLEEPING:
            return 1.0 - float(numbers[REMAINING])
        return 1.0 - float(numbers[LATENCY] / numbers[SPAN]) if numbers[SPAN] > 0.0 else 1.0

    def rate(self, handle: int) -> float:
        """Share of its work per second at which a task ran just before the clock, also one that has just ended."""
        rows = np.flatnonzero(self._state.task_ints[:, HANDLE] == handle)
        return float(self._state.task_floats[rows[0], RATE]) if len(rows) else 0.0

    def next_completion(self) -> float:
        """See :meth:`spillway.simulator.engines.base.Engine.next_completion`; costs a copy of the engine's state."""
        state = self._state
        ahead = tuple(array.copy() for array in state.arrays)
        ended = run(math.inf, ahead)
        return float(ahead[0][0]) if ended else math.inf

    def advance(self, until: float) -> list[int]:
        """See :meth:`spillway.simulator.engines.base.Engine.advance`."""
        if not until >= self.clock:
            raise TaskError(f"cannot advance to {until} s: the clock shows {self.clock} s already")
        found = run(until, self._state.arrays)
        self.clock = float(self._state.clock[0])
        if not found:
            return []
        ended: list[int] = self._ended[: retire(self._state.arrays, self._ended)].tolist()
        return ended

    def set_pstate(self, host: int, pstate: int) -> None:
        """See :meth:`spillway.simulator.engines.base.Engine.set_pstate`."""
        speed = speed_in(self._platform, host, pstate)
        change_speed(host, int(self._platform.cores[host]), speed, self._hosts, self._state.arrays)

    def check(self) -> None:
        """Check the engine's own invariants; for tests."""
        state = self._state
        rows = state.lists[ACTIVE, : state.counters[N_ACTIVE]].tolist()
        assert (np.diff(state.task_ints[rows, HANDLE]) > 0).all(), "active tasks are not in the order of their starts"
        held = 0
        for resource, head in enumerate(state.resource_ints[:, HEAD].tolist()):
            element = head
            while element >= 0:
                assert state.element_resource[element] == resource, f"element {element} is in a wrong list"
                assert int(state.element_links[element, TASK]) in rows, f"element {element} has no task"
                held += 1
                element = int(state.element_links[element, NEXT])
        entered = [row for row in rows if state.task_ints[row, ENTRY] > 0]
        assert held == int(state.task_ints[entered, COUNT].sum()), (
            "elements are missing in the lists of their resources"
        )
        assert held <= state.counters[N_ELEMENTS], "more elements than were made"

    def close(self) -> None:
        """Do nothing: there are no resources to release."""
