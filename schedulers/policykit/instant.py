"""Resources of a timeline that are free from now until a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.schedulers.timeline import Timeline


class Free(NamedTuple):
    """Resources that are free without interruption from now until a time.

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
    """Return the resources that are free over the whole of ``[now, end_s)``; the present always counts."""
    times, rows, tables = timeline.arrays
    count = max(1, int(np.searchsorted(times, end_s, side="left")))
    least = narrowest(rows[:count], tables.words)
    bits = np.unpackbits(least[tables.words].view(np.uint8), bitorder="little")
    return Free(tuple(np.flatnonzero(bits).tolist()), least[tables.storages].tolist(), least[tables.links].tolist())


def narrowest(rows: npt.NDArray[np.int64], words: slice) -> npt.NDArray[np.int64]:
    """Resources free in all rows; the totals, in columns before the words, are those of the first row."""
    least = np.array(rows.min(axis=0))
    least[words] = np.bitwise_and.reduce(rows[:, words], axis=0)
    least[: words.start] = rows[0, : words.start]
    return least


def narrow_points(rows: npt.NDArray[np.int64], words: slice) -> list[int]:
    """Indices of the first row and of later rows with less of some resource than all rows before them.

    Jobs that start now hold their resources from now on, so a later row can keep a further job from starting now only
    if it was narrower than the earlier rows before.
    """
    points, least = [0], narrowest(rows[:1], words)
    for index in range(1, len(rows)):
        lower = narrowest(np.stack((least, rows[index])), words)
        if (lower != least).any():
            points.append(index)
            least = lower
    return points
