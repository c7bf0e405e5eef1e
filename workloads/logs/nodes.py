"""Nodes that jobs held by name: how many at once, and jobs that shared them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.hostlist import expanded
from spillway.workloads.logs.table import Ints, JobTable

_MOST_ENTRIES = 50_000_000
"""Above this number of nodes of all jobs together they are not compared."""

_TOLERANCE_S = 1
"""Overlaps of so many seconds are those of clocks, not of jobs."""


@dataclass(frozen=True)
class HeldNodes:
    """Nodes that jobs held by name.

    Attributes
    ----------
    most
        Most nodes in use at once.
    shared
        Mask of the jobs that had a node together with another job.
    """

    most: int
    shared: npt.NDArray[np.bool_]


def held(table: JobTable) -> HeldNodes | None:
    """Nodes that the jobs held; ``None`` where the log does not name the nodes of all jobs that ran."""
    ran = np.flatnonzero((table["start_s"] >= 0) & (table["run_s"] > 0))
    names = table.names["node_list"]
    if not len(ran) or len(names) == 1 or not table.known("node_list")[ran].all():
        return None
    numbers: dict[str, int] = {}
    try:
        lists = [np.array([numbers.setdefault(node, len(numbers)) for node in expanded(text)]) for text in names]
    except ValueError:
        return None
    sizes = np.array(list(map(len, lists)))[table["node_list"][ran]]
    if sizes.sum() > _MOST_ENTRIES or not sizes.sum():
        return None
    job = np.repeat(ran, sizes)
    node = np.concatenate([lists[code] for code in table["node_list"][ran].tolist()]).astype(np.int64)
    begin = table["start_s"][job]
    end = np.maximum(begin + table["run_s"][job], table["end_s"][job])
    return _held(len(table), job, node, begin - begin.min(), end - begin.min())


def _held(count: int, job: Ints, node: Ints, begin: Ints, end: Ints) -> HeldNodes:
    apart = int(end.max()) + 1  # each node has an interval of its own on one axis of time
    order = np.lexsort((begin, node))
    job, offset = job[order], node[order] * apart
    begin, end = begin[order] + offset, end[order] + offset
    latest = np.maximum.accumulate(end)
    overlaps = begin[1:] < latest[:-1] - _TOLERANCE_S
    shared = np.zeros(count, dtype=bool)
    shared[job[1:][overlaps]] = True
    shared[job[:-1][begin[1:] < end[:-1] - _TOLERANCE_S]] = True
    first = np.append(True, begin[1:] >= latest[:-1])
    last = np.append(first[1:], True)
    return HeldNodes(most_at_once((begin - offset)[first], (latest - offset)[last]), shared)


def most_at_once(begin: Ints, end: Ints, amounts: Ints | None = None) -> int:
    """Largest sum of amounts (default: 1 each) held at a time; at one instant, ends come before begins."""
    amounts = np.ones(len(begin), dtype=np.int64) if amounts is None else amounts
    order = np.argsort(end)
    given_back = np.concatenate(([0], np.cumsum(amounts[order])))
    ended = end[order]
    order = np.argsort(begin)
    taken = np.cumsum(amounts[order])
    taken -= given_back[np.searchsorted(ended, begin[order], side="right")]
    return int(taken.max(initial=0))
