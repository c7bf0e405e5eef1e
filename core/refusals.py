"""Words for the faults that the compiled core finds: it states codes and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from spillway.core._native import Allocation


class Overbooked(ValueError):
    """A booking that conflicts with earlier ones.

    Attributes
    ----------
    until_s
        Start of the first later interval of the same length in which the booking may succeed (s); infinity if there is
        no such interval.
    """

    def __init__(self, words: str, until_s: float = math.inf) -> None:
        super().__init__(words)
        self.until_s = until_s


def lives(name: str, expected: str, value: float) -> ValueError:
    """Lives out of range."""
    return ValueError(f"{name} must be {expected}, got {value}")


def machine_size(kind: int, number: int, largest: int) -> ValueError:
    """A machine that is too large (``SizeFault`` in ``book/machine.hpp``)."""
    if kind == 3:
        return ValueError(f"a storage node must offer less than 2^53 bytes (9 PB), got {largest}")
    what = "storage capacity x number of storages" if kind == 1 else "link capacity x number of nodes"
    return ValueError(f"{what} must stay below 2^62, got {number} x {largest}")


def duration(job_id: str, duration_s: float) -> ValueError:
    """A search for a duration that is negative or not a number."""
    return ValueError(f"job {job_id!r}: duration must be >= 0 s, got {duration_s}")


def advance(now_s: float, begins_s: float) -> ValueError:
    """A timeline that would go back in time, or to no time."""
    return ValueError(f"cannot advance to {now_s} s: the timeline already begins at {begins_s} s")


def interval(start_s: float, end_s: float, now_s: float, rule: str) -> ValueError:
    """An interval that begins before now, or ends too early."""
    return ValueError(f"interval [{start_s}, {end_s}) must begin at {now_s} s or later, and not {rule}")


class RefusedBooking(NamedTuple):
    """A booking that a timeline refused: the members of ``Refusal`` in ``book/timeline.hpp``, and whom it refused."""

    fault: int
    taking: bool
    time_s: float
    until_s: float
    place: int
    free: int
    most: int
    size: int
    start_s: float
    end_s: float
    allocation: Allocation
    machine: Any
    now_s: float


_INTERVAL, _SIZES, _BAD_NODE, _BAD_STORAGE, _BAD_COUNT, _NODE, _STORAGE, _LINK, _POOL, _DRAINED = range(1, 11)
"""Codes, as in ``Fault`` in ``book/timeline.hpp``."""


def booking(*numbers: Any) -> ValueError:
    """A booking or release that was refused: the numbers of :class:`RefusedBooking`."""
    one = RefusedBooking(*numbers)
    if one.fault == _INTERVAL:
        return interval(one.start_s, one.end_s, one.now_s, "end before")
    if one.fault in _WRONG:
        return ValueError(_WRONG[one.fault](one))
    words = _drained(one) if one.fault == _DRAINED else _conflict(one)
    return Overbooked(words, one.until_s) if one.taking or one.fault == _DRAINED else ValueError(words)


def _sizes(one: RefusedBooking) -> str:
    total = sum(storage.capacity_bytes for storage in one.machine.storages)
    return f"sizes must be >= 0, and fit all storage ({total} bytes): {one.allocation}"


def _drained(one: RefusedBooking) -> str:
    name = one.machine.storages[one.place].name
    return f"storage {name}: {one.free} of {one.most} are booked at {one.time_s} s, {one.size} more"


def _conflict(one: RefusedBooking) -> str:
    if one.fault == _NODE:
        name = one.machine.nodes[one.place].name
        what = f"node {name} is {'not free' if one.taking else 'free already'}"
    else:
        machine = one.machine
        owners = {_STORAGE: ("storage ", machine.storages), _LINK: ("link ", machine.links), _POOL: ("", machine.pools)}
        kind, things = owners[one.fault]
        more = f"{one.size} requested" if one.taking else f"{one.size} more is too much"
        what = f"{kind}{things[one.place].name} has {one.free} free of {one.most}, {more}"
    return f"cannot {'reserve' if one.taking else 'release'} at {one.time_s} s: {what}"


_WRONG: Mapping[int, Callable[[RefusedBooking], str]] = {
    _SIZES: _sizes,
    _BAD_NODE: lambda one: (
        f"node indices must lie between 0 and {len(one.machine.nodes)} - 1 and occur once; got {one.allocation}"
    ),
    _BAD_STORAGE: lambda one: (
        f"storage indices must lie between 0 and {len(one.machine.storages)} - 1; got {one.allocation}"
    ),
    _BAD_COUNT: lambda one: (
        "with nodes there must be one storage per node, or no storage, unless the buffer is striped; "
        f"got {one.allocation}"
    ),
}
