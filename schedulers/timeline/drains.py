"""A partly drained storage node: its bookings over time, from which its free bytes follow.

Bookings from before stay, even if they exceed the bytes that are left. Free bytes are thus no plain difference: they
are the bytes left less the bytes booked, and zero where that is negative.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


class Change(NamedTuple):
    """Free bytes fall by ``taken`` over ``[start_s, end_s)``; below zero they rise."""

    start_s: float
    end_s: float
    taken: int


class Drained:
    """Bytes booked on one storage node, as a step function over time.

    Parameters
    ----------
    capacity
        Bytes of the whole storage node.
    times
        Starts of the segments (s), ascending; the last one is endless.
    booked
        Bytes booked in each.

    Attributes
    ----------
    drained
        Bytes that are drained.
    """

    def __init__(self, capacity: int, times: Sequence[float], booked: Sequence[int], drained: int = 0) -> None:
        self._capacity = capacity
        self._times = list(times)
        self._booked = list(booked)
        self.drained = drained

    def copy(self) -> Drained:
        """Return an independent copy."""
        return Drained(self._capacity, self._times, self._booked, self.drained)

    def free_at(self, time_s: float) -> int:
        """Return the bytes free at a time."""
        return self._free(self._booked[max(0, bisect_right(self._times, time_s) - 1)])

    def breakpoints(self) -> Sequence[float]:
        """Starts of the segments (s)."""
        return self._times

    def drain(self, drained: int) -> list[Change]:
        """Drain ``drained`` bytes in all; return the changes of the free bytes."""
        before = [self._free(booked) for booked in self._booked]
        self.drained = drained
        return [
            Change(start_s, end_s, was - self._free(booked))
            for (start_s, end_s, booked), was in zip(self._segments(), before, strict=True)
            if was != self._free(booked)
        ]

    def fault(self, start_s: float, end_s: float, size: int) -> tuple[str, float] | None:
        """Return why bytes cannot be booked (below zero: released) over an interval, and until when (s), or ``None``.

        More bytes than are left may be booked, as they may be held already; never more than the storage node has.
        """
        for begin_s, until_s, booked in self._segments():
            if begin_s < end_s and start_s < until_s and not 0 <= booked + size <= self._capacity:
                return f"{booked} of {self._capacity} are booked at {max(begin_s, start_s)} s, {size} more", until_s
        return None

    def book(self, start_s: float, end_s: float, size: int) -> list[Change]:
        """Book bytes over an interval (below zero: release them); return the changes of the free bytes.

        :meth:`fault` must be ``None``.
        """
        first, last = self._split(start_s), self._split(end_s)
        changes = []
        for place, (begin_s, until_s, booked) in enumerate(self._segments()):
            if not first <= place < last:
                continue
            self._booked[place] = booked + size
            taken = self._free(booked) - self._free(booked + size)
            if taken:
                changes.append(Change(begin_s, until_s, taken))
        self._join()
        return changes

    def advance(self, now_s: float) -> None:
        """Drop the segments before a time."""
        first = max(0, bisect_right(self._times, now_s) - 1)
        del self._times[:first], self._booked[:first]
        self._times[0] = now_s

    def _free(self, booked: int) -> int:
        return max(0, self._capacity - self.drained - booked)

    def _segments(self) -> Iterator[tuple[float, float, int]]:
        spans = pairwise([*self._times, math.inf])
        return ((start_s, end_s, booked) for (start_s, end_s), booked in zip(spans, list(self._booked), strict=True))

    def _split(self, time_s: float) -> int:
        """Let a segment begin at a time; return its place."""
        place = bisect_left(self._times, time_s)
        if time_s < math.inf and (place == len(self._times) or self._times[place] > time_s):
            self._times.insert(place, time_s)
            self._booked.insert(place, self._booked[place - 1])
        return place

    def _join(self) -> None:
        """Join neighbouring segments with equal bookings."""
        kept = [place for place, size in enumerate(self._booked) if not place or size != self._booked[place - 1]]
        self._times = [self._times[place] for place in kept]
        self._booked = [self._booked[place] for place in kept]
