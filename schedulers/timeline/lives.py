"""Holdings with lives of their own in a timeline: the interval of each."""

from __future__ import annotations

import math
from typing import NamedTuple

from spillway.schedulers.model.job import Lives
from spillway.schedulers.timeline.placement import Resource


class Part(NamedTuple):
    """Kinds of resources that are held over the same interval ``[start_s, end_s)``."""

    covering: Resource
    start_s: float
    end_s: float


def parts(lives: Lives | None, start_s: float, end_s: float, covering: Resource = Resource.ALL) -> list[Part]:
    """Give the intervals of a job's holdings, kinds with the same one together; that of the nodes comes first.

    Parameters
    ----------
    start_s, end_s
        Start of the job, which is that of its burst buffer (s), and this time plus the seconds for which it has its
        nodes. No part ends before its own start.
    covering
        Kinds of interest.
    """
    if lives is None:
        return [Part(covering, start_s, end_s)]
    on_nodes_s, off_nodes_s = start_s + lives.storage_lead_s, end_s + lives.storage_lead_s
    spans = (
        (Resource.NODES | Resource.POOLS, on_nodes_s, off_nodes_s),
        (Resource.BURST_BUFFERS, start_s, max(off_nodes_s + lives.storage_tail_s, start_s)),
        (Resource.BANDWIDTH, on_nodes_s, max(off_nodes_s + lives.bandwidth_tail_s, on_nodes_s)),
    )
    found: dict[tuple[float, float], Resource] = {}
    for kind, begin, end in spans:
        if kind & covering:
            found[begin, end] = found.get((begin, end), kind & covering) | kind & covering
    return [Part(kinds, begin, end) for (begin, end), kinds in found.items()]


def start_before(lives: Lives | None, part: Part, start_s: float, begin_s: float) -> float:
    """Earliest start of a job (s) at which a part, as it would be from ``start_s``, does not begin before a time."""
    lead_s = lives.storage_lead_s if lives is not None and part.start_s > start_s else 0.0
    found_s = begin_s - lead_s
    while found_s + lead_s < begin_s:  # rounding
        found_s = math.nextafter(found_s, math.inf)
    return found_s
