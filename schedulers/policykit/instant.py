"""What can be used from now on: the present with whatever the near future takes away, read from a timeline."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.schedulers.timeline import Timeline


class Free(NamedTuple):
    """What is free without interruption from now until some time.

    Attributes
    ----------
    nodes
        Indices of the free nodes, ascending.
    free_bytes
        Bytes per storage node.
    bandwidths
        Bytes per second per link.
    """

    nodes: tuple[int, ...]
    free_bytes: list[int]
    bandwidths: list[int]


def free_until(timeline: Timeline, end_s: float) -> Free:
    """Return what is free over the whole of ``[now, end_s)``; the present always counts."""
    times, rows, tables = timeline.arrays
    count = max(1, int(np.searchsorted(times, end_s, side="left")))
    least = narrowest(rows[:count], tables.words)
    bits = np.unpackbits(least[tables.words].view(np.uint8), bitorder="little")
    return Free(tuple(np.flatnonzero(bits).tolist()), least[tables.storages].tolist(), least[tables.links].tolist())


def narrowest(rows: npt.NDArray[np.int64], words: slice) -> npt.NDArray[np.int64]:
    """What all rows offer together; the totals, which stand before the words, are left as in the first row."""
    least = np.array(rows.min(axis=0))
    least[words] = np.bitwise_and.reduce(rows[:, words], axis=0)
    least[: words.start] = rows[0, : words.start]
    return least


def narrow_points(rows: npt.NDArray[np.int64], words: slice) -> list[int]:
    """Indices of the first row and of the later ones that offer less of something than all rows before them.

    Jobs that start now hold what they get from now on, so that a later row can only keep a further job from starting
    now if it was narrower than the earlier ones to begin with.
    """
    points, least = [0], narrowest(rows[:1], words)
    for index in range(1, len(rows)):
        lower = narrowest(np.stack((least, rows[index])), words)
        if (lower != least).any():
            points.append(index)
            least = lower
    return points
