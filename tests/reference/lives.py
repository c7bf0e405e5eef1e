"""The search for a job with lives of its own for its holdings, in plain code on a timeline's arrays.

Every candidate is tried from the beginning. Tests compare
:func:`spillway.schedulers.timeline.apart_kernels.find_apart` with it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.timeline import Fit
from spillway.schedulers.timeline.lives import Part, parts
from spillway.schedulers.timeline.placement import AtEnd, Resource, Wanted, choose, whole_requests
from spillway.schedulers.timeline.tables import Tables

#: Segment starts, rows and tables of a timeline (``Timeline.arrays``).
Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], Tables]

TOGETHER = Lives()


def find(
    arrays: Arrays, job: Job, duration_s: float, first_s: float, latest_s: float, covering: Resource
) -> Fit | None:
    """Find the earliest start of a job with lives of its own for its holdings.

    Candidates are ``first_s`` and the later starts at which the interval of some holding begins at a breakpoint: only
    there do the resources that are free over the interval increase.
    """
    lead_s = (job.lives or TOGETHER).storage_lead_s
    times, rows, tables = arrays
    begins = times.tolist()
    later = {time_s for time_s in begins if time_s > first_s}
    if lead_s:
        later.update(time_s for time_s in (start_before(begin, lead_s) for begin in begins) if time_s > first_s)
    for start_s in (first_s, *sorted(later)):
        if start_s > latest_s:
            return None
        allocation = _fit_at(tables, times, rows, job, start_s, duration_s, covering)
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
    tables: Tables,
    times: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    job: Job,
    start_s: float,
    duration_s: float,
    covering: Resource,
) -> Allocation | None:
    spans = {
        kind: part for part in parts(job.lives or TOGETHER, start_s, start_s + duration_s) for kind in part.covering
    }
    bb_bytes = job.bb_bytes if Resource.BURST_BUFFERS in covering else 0
    io_rate = job.io_rate if Resource.BANDWIDTH in covering else 0
    nodes = list(range(tables.node_count))
    if Resource.NODES in covering:
        words = np.bitwise_and.reduce(_during(times, rows, spans[Resource.NODES])[:, tables.words], axis=0)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        nodes = np.flatnonzero(bits).tolist()
    if not 0 < job.nodes <= len(nodes):
        return None
    left: list[int] = []
    if bb_bytes:
        left = _during(times, rows, spans[Resource.BURST_BUFFERS])[:, tables.storages].min(axis=0).tolist()
        if whole_requests(left, bb_bytes, each_apart=job.stripes > 0) < job.requests:
            return None
    bandwidth = _during(times, rows, spans[Resource.BANDWIDTH])[:, tables.links].min(axis=0).tolist()
    at_end = _at_end(tables, times, rows, spans[Resource.BURST_BUFFERS].end_s) if bb_bytes else None
    wanted = Wanted(job.nodes, bb_bytes, io_rate, job.stripes)
    chosen = choose(tables.machine, nodes, bandwidth, left, wanted, tables.placement, at_end)
    striped = bb_bytes > 0 and job.stripes > 0
    return None if chosen is None else Allocation(*chosen, bb_bytes, io_rate, job.lives, striped)


def _during(times: npt.NDArray[np.float64], rows: npt.NDArray[np.int64], part: Part) -> npt.NDArray[np.int64]:
    """Rows of the segments that an interval meets; an empty one meets that of its start."""
    first = max(0, int(np.searchsorted(times, part.start_s, side="right")) - 1)
    last = int(np.searchsorted(times, part.end_s, side="left"))
    return rows[first : max(last, first + 1)]


def _at_end(tables: Tables, times: npt.NDArray[np.float64], rows: npt.NDArray[np.int64], end_s: float) -> AtEnd:
    """Free bytes of the storage nodes at a time, and since when."""
    last = max(0, int(np.searchsorted(times, end_s, side="right")) - 1)
    free_bytes = rows[: last + 1, tables.storages]
    since = []
    for column in range(free_bytes.shape[1]):
        changes = np.flatnonzero(free_bytes[:, column] != free_bytes[last, column])
        since.append(float(times[changes[-1] + 1]) if len(changes) else float(times[0]))
    return AtEnd(free_bytes[last].tolist(), since)
