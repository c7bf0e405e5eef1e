"""The search for a job with lives of its own for its holdings, in plain code on a timeline's segments.

Every candidate is tried from the beginning. Tests compare :meth:`spillway.core.Timeline.earliest_fit` with it.
"""

from __future__ import annotations

import math

from spillway.core import Free
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.timeline import Fit, Timeline
from spillway.schedulers.timeline.lives import Part, parts
from spillway.schedulers.timeline.placement import AtEnd, Resource, Wanted, choose, whole_requests

#: Start of each segment, and what is free in it.
Segments = list[tuple[float, Free]]

TOGETHER = Lives()


def find(
    timeline: Timeline, job: Job, duration_s: float, first_s: float, latest_s: float, covering: Resource
) -> Fit | None:
    """Find the earliest start of a job with lives of its own for its holdings.

    Candidates are ``first_s`` and the later starts at which the interval of some holding begins at a breakpoint: only
    there do the resources that are free over the interval increase.
    """
    lead_s = (job.lives or TOGETHER).storage_lead_s
    segments = timeline.segments()
    begins = [begin for begin, _ in segments]
    later = {time_s for time_s in begins if time_s > first_s}
    if lead_s:
        later.update(time_s for time_s in (start_before(begin, lead_s) for begin in begins) if time_s > first_s)
    for start_s in (first_s, *sorted(later)):
        if start_s > latest_s:
            return None
        allocation = _fit_at(timeline, segments, job, start_s, duration_s, covering)
        if allocation is not None:
            return Fit(start_s, allocation)
    return None


def start_before(begin_s: float, lead_s: float) -> float:
    """Return the earliest start with a lead that does not end before a time, rounding considered."""
    start_s = begin_s - lead_s
    while start_s + lead_s < begin_s:
        start_s = math.nextafter(start_s, math.inf)
    return start_s


def _fit_at(
    timeline: Timeline, segments: Segments, job: Job, start_s: float, duration_s: float, covering: Resource
) -> Allocation | None:
    spans = {
        kind: part for part in parts(job.lives or TOGETHER, start_s, start_s + duration_s) for kind in part.covering
    }
    machine = timeline.machine
    bb_bytes = job.bb_bytes if Resource.BURST_BUFFERS in covering else 0
    io_rate = job.io_rate if Resource.BANDWIDTH in covering else 0
    nodes = list(range(len(machine.nodes)))
    if Resource.NODES in covering:
        free = [set(one.nodes) for one in _during(segments, spans[Resource.NODES])]
        nodes = sorted(set.intersection(*free))
    if not 0 < job.nodes <= len(nodes):
        return None
    left: list[int] = []
    if bb_bytes:
        left = _least([one.free_bytes for one in _during(segments, spans[Resource.BURST_BUFFERS])])
        if whole_requests(left, bb_bytes, each_apart=job.stripes > 0) < job.requests:
            return None
    bandwidth = _least([one.bandwidths for one in _during(segments, spans[Resource.BANDWIDTH])])
    at_end = _at_end(segments, spans[Resource.BURST_BUFFERS].end_s) if bb_bytes else None
    wanted = Wanted(job.nodes, bb_bytes, io_rate, job.stripes)
    chosen = choose(machine, nodes, bandwidth, left, wanted, timeline.placement, at_end)
    striped = bb_bytes > 0 and job.stripes > 0
    return None if chosen is None else Allocation(*chosen, bb_bytes, io_rate, job.lives, striped)


def _least(amounts: list[list[int]]) -> list[int]:
    return [min(column) for column in zip(*amounts, strict=True)]


def _during(segments: Segments, part: Part) -> list[Free]:
    """The segments that an interval meets; an empty one meets that of its start."""
    first = max(place for place, (begin, _) in enumerate(segments) if not place or begin <= part.start_s)
    return [
        free
        for place, (begin, free) in enumerate(segments)
        if place >= first and (place == first or begin < part.end_s)
    ]


def _at_end(segments: Segments, end_s: float) -> AtEnd:
    """Free bytes of the storage nodes at a time, and since when."""
    last = max(place for place, (begin, _) in enumerate(segments) if not place or begin <= end_s)
    found = segments[last][1].free_bytes
    since = []
    for storage, free_bytes in enumerate(found):
        first = last
        while first and segments[first - 1][1].free_bytes[storage] == free_bytes:
            first -= 1
        since.append(segments[first][0])
    return AtEnd(found, since)
