"""Algorithms 5 and 6, compiled: idle nodes one by one to whom the next is worth most.

:func:`schedulers.controllers.sharing.reference` is the plain form, which works out all scores anew for every node.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LEAST_RATIO = 1e-3
"""I/O ratios below this count as this: an application that hardly writes must not win by that alone."""

_OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_FLOATS, _INTEGERS = "float64[::1]", "int64[::1]"


@njit(inline="always")
def _score(times, first, given, sequential_s, io_s, io_every, weight):
    """Score of the next node after ``given`` ones (:func:`schedulers.controllers.sharing.balance`)."""
    now_s, then_s = times[first + given], times[first + given + 1]
    gain = sequential_s / then_s - sequential_s / now_s
    if weight == 0.0 or gain <= 0.0:
        return gain
    ratio = io_s / (io_every * then_s + io_s) if io_every > 0.0 else 0.0
    pressure = max(ratio, LEAST_RATIO)
    return gain / (pressure if weight == 1.0 else pressure**weight)


@njit(inline="always")
def _sift(heap, scores, size, at):
    """Move an entry of the heap down to its place: the best score on top, of equal ones the first application."""
    moved = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size:
            left, right = scores[heap[child]], scores[heap[other]]
            if right > left or (right == left and heap[other] < heap[child]):
                child = other
        best = scores[heap[child]]
        if scores[moved] > best or (scores[moved] == best and moved < heap[child]):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


@njit(
    f"void({_FLOATS}, {_INTEGERS}, {_INTEGERS}, {_FLOATS}, {_FLOATS}, {_FLOATS}, float64, int64, {_INTEGERS}, "
    f"{_FLOATS}, {_INTEGERS})",
    **_OPTIONS,
)
def hand_out(times, rooms, firsts, sequential_s, io_s, io_every, weight, idle, heap, scores, given):
    """Hand ``idle`` nodes out; ``given`` (zeros) becomes what each gets, ``heap`` and ``scores`` are working space.

    The arrays are those of :class:`schedulers.controllers.sharing.Claims` and its tables. Nodes that slow down are not
    given.
    """
    size = 0
    for place in range(len(rooms)):
        if rooms[place] > 0 and idle > 0:
            scores[place] = _score(
                times, firsts[place], 0, sequential_s[place], io_s[place], io_every[place], weight
            )  # fmt: skip
            if scores[place] > 0.0:
                heap[size] = place
                size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sift(heap, scores, size, at)
    for left in range(idle - 1, -1, -1):
        if size == 0:
            break
        winner = heap[0]
        given[winner] += 1
        score = -np.inf
        if given[winner] < rooms[winner] and left > 0:
            score = _score(
                times, firsts[winner], given[winner], sequential_s[winner], io_s[winner], io_every[winner], weight
            )  # fmt: skip
        if score > 0.0:
            scores[winner] = score
        else:
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            _sift(heap, scores, size, 0)
