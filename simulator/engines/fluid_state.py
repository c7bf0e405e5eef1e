"""The arrays of the fluid engine: their columns, their growth, and the compilation of kernels over them.

Numba kernels take arrays, not objects; all of an engine's arrays travel together in one tuple (:data:`STATE`).
Resources are numbered links first, then the processors of the hosts. A task's demand on one resource is an *element*;
the elements of a task are contiguous. While a task works, its elements are in the doubly linked lists of their
resources, those of the task that began last in front.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba as nb
import numpy as np
from numpy.typing import NDArray

from spillway.base.kernel_cache import compile_for_callers, drop_older_than, njit

# Columns of a task: floats, then integers.
REMAINING, RATE, LATENCY, BOUND, RAISE, WINDOW_BOUND, SPAN = range(7)
"""Work left in [0, 1]; work per second; seconds until the work begins (or the sleep ends); largest rate allowed (0:
any); increase of the rate in the last round; largest rate within the TCP window (``inf``: any); length of a sleep."""
HANDLE, FIRST, COUNT, STAGE, ENTRY, OPEN, TASK_MARK = range(7)
"""Handle; first element and number of elements; one of the stages below; rank in the order in which tasks began to
work (0: not yet); 1 until its rate is settled in the present rounds; last traversal that met it."""

WAITING, WORKING, SLEEPING, ENDED = range(4)
"""Stages of a task: its latency passes; it works; it sleeps; it has ended but is not yet removed."""

# Columns of a resource: floats, then integers.
CAPACITY, UNUSED, OFFER, CORE_SPEED = range(4)
"""Units per second; the units not given out yet; the offer to each user in this round; flop/s of one core (links:
``inf``)."""
FATPIPE, HEAD, RESOURCE_MARK, DIRTY, ELEMENT_AT = range(5)
"""1 if users do not share; first element, or -1; last traversal that met it; 1 if its users changed; scratch: its
element in the task that is being built."""

# Columns of an element.
TASK, NEXT, PREVIOUS = range(3)

# Lists of task rows, and scratch lists.
ACTIVE, FREE = range(2)
"""All tasks in the order of their starts; unused rows."""
RESOURCES, TASKS, COUNTS, GROUP_SIZES = range(4)
"""Lists while rates are found; tallies while a task is built, by link and by group, all zero in between."""

# Counters.
N_ACTIVE, N_FREE, N_DIRTY, N_ELEMENTS, EPOCH, NEXT_HANDLE, NEXT_ENTRY = range(7)

Array: TypeAlias = NDArray[Any]

_F1, _F2 = nb.float64[::1], nb.float64[:, ::1]
_I1, _I2 = nb.int64[::1], nb.int64[:, ::1]
_S1, _S2 = nb.int32[::1], nb.int32[:, ::1]
STATE = nb.types.Tuple((_F1, _I1, _F2, _I2, _I2, _F2, _I2, _S1, _F1, _S2, _I1, _I2))
"""clock, counters, tasks (floats, integers), lists, resources (floats, integers), elements (resource, weight, links),
dirty resources, scratch."""
BATCH = nb.types.Tuple((_I1, _I1, _F1, _F1, _I1, _I1, _I1, _F1))
"""Hosts of all tasks, begin of each task in them, work of every position; bytes of each task's all-to-all; begin of
each task in the pairs, and the pairs: source host, destination host, bytes."""


_Function = TypeVar("_Function", bound=Callable[..., Any])
_SOURCES = tuple(
    str(Path(__file__).with_name(name)) for name in ("fluid_state.py", "routes.py", "fluid_kernels.py", "weights.py")
)
"""Files with kernels that call each other or share the layout."""


@cache
def _drop_stale(cache_folder: str) -> None:
    drop_older_than(cache_folder, *_SOURCES)


def _declare(function: Callable[..., Any], **options: bool) -> Any:
    dispatcher = njit(cache=True, no_cfunc_wrapper=True, **options)(function)
    _drop_stale(dispatcher.stats.cache_path)
    return dispatcher


def kernel(signature: Any) -> Callable[[_Function], _Function]:
    """Compile a function that Python calls, when its module is imported, or load it from Numba's cache."""

    def compiled(function: _Function) -> _Function:
        kept = _declare(function)
        kept.compile(signature)
        kept.disable_compile()
        return cast(_Function, kept)

    return compiled


def inner(signature: Any) -> Callable[[_Function], _Function]:
    """Compile a function that only kernels call, with the first of them.

    Leaving out its wrapper for Python saves a third of the time; see also
    :func:`spillway.base.kernel_cache.compile_for_callers`.
    """

    def declared(function: _Function) -> _Function:
        kept = _declare(function, no_cpython_wrapper=True)
        compile_for_callers(kept, signature)
        return cast(_Function, kept)

    return declared


class FluidState:
    """All arrays of one engine.

    Parameters
    ----------
    bandwidths, fatpipe
        Bandwidths of the links, in bytes/s; flags of the links that are not shared.
    speeds, cores
        flop/s of one core, and number of cores, of each host.
    rows, elements
        Initial capacity: numbers of tasks and of elements.

    Attributes
    ----------
    arrays
        The tuple that kernels take; a new one after every growth.
    """

    def __init__(
        self, bandwidths: Array, fatpipe: Array, speeds: Array, cores: Array, rows: int = 64, elements: int = 4096
    ) -> None:
        links = len(bandwidths)
        resources = links + len(speeds)
        self.clock = np.zeros(1)
        self.counters = np.zeros(7, np.int64)
        self.counters[NEXT_ENTRY] = 1
        self.resource_floats = np.zeros((resources, 4))
        self.resource_floats[:links, CAPACITY] = bandwidths
        self.resource_floats[:links, CORE_SPEED] = np.inf
        self.resource_floats[links:, CAPACITY] = np.multiply(cores, speeds)
        self.resource_floats[links:, CORE_SPEED] = speeds
        self.resource_ints = np.zeros((resources, 5), np.int64)
        self.resource_ints[:links, FATPIPE] = fatpipe
        self.resource_ints[:, HEAD] = -1
        self.dirty = np.zeros(resources, np.int64)
        self.task_floats = np.zeros((0, 7))
        self.task_ints = np.zeros((0, 7), np.int64)
        self.lists = np.zeros((2, 0), np.int64)
        self._allocate_elements(elements + resources)
        self.grow_tasks(rows)

    def _allocate_elements(self, elements: int) -> None:
        self.element_resource = np.zeros(elements, np.int32)
        self.element_weight = np.zeros(elements)
        self.element_links = np.full((elements, 3), -1, np.int32)

    def _pack(self) -> None:
        self.arrays = (
            self.clock,
            self.counters,
            self.task_floats,
            self.task_ints,
            self.lists,
            self.resource_floats,
            self.resource_ints,
            self.element_resource,
            self.element_weight,
            self.element_links,
            self.dirty,
            self.scratch,
        )

    def room_for_tasks(self, count: int) -> None:
        """Make sure that ``count`` more tasks fit."""
        if self.counters[N_FREE] < count:
            rows = len(self.task_ints)
            self.grow_tasks(max(rows, count - int(self.counters[N_FREE])))

    def grow_tasks(self, more: int) -> None:
        """Add rows for ``more`` tasks."""
        rows = len(self.task_ints)
        self.task_floats = np.concatenate((self.task_floats, np.zeros((more, 7))))
        self.task_ints = np.concatenate((self.task_ints, np.zeros((more, 7), np.int64)))
        self.lists = np.concatenate((self.lists, np.zeros((2, more), np.int64)), axis=1)
        free = int(self.counters[N_FREE])
        self.lists[FREE, free : free + more] = np.arange(rows + more - 1, rows - 1, -1)
        self.counters[N_FREE] += more
        self.scratch = np.zeros((4, max(rows + more, len(self.resource_ints))), np.int64)
        self._pack()

    def room_for_elements(self, count: int) -> list[int]:
        """Make sure that ``count`` more elements fit: close the gaps that ended tasks left, then double if needed.

        The lists of the resources are empty afterwards; the caller puts the elements of the returned tasks in again,
        in this order.
        """
        active = self.lists[ACTIVE, : self.counters[N_ACTIVE]]
        live = int(self.task_ints[active, COUNT].sum())
        size = len(self.element_resource)
        while size < 2 * (live + count):
            size *= 2
        resource, weight = self.element_resource, self.element_weight
        self._allocate_elements(size)
        self.resource_ints[:, HEAD] = -1
        end = 0
        for row in active.tolist():
            first, number = self.task_ints[row, FIRST], self.task_ints[row, COUNT]
            self.element_resource[end : end + number] = resource[first : first + number]
            self.element_weight[end : end + number] = weight[first : first + number]
            self.task_ints[row, FIRST] = end
            end += int(number)
        self.counters[N_ELEMENTS] = end
        self._pack()
        entered = active[self.task_ints[active, ENTRY] > 0]
        order: list[int] = entered[np.argsort(self.task_ints[entered, ENTRY])].tolist()
        return order
