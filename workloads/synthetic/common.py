"""What the generators of logs have in common: the ranges of their options, and the header of their logs."""

from __future__ import annotations

from collections.abc import Mapping

from spillway.workloads.errors import WorkloadError
from spillway.workloads.swf import SwfHeader


def check_ranges(name: str, options: object, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse an option of generator ``name`` that lies outside of its range (least, most)."""
    for option, (least, most) in ranges.items():
        value = getattr(options, option)
        if not least <= value <= most:
            raise WorkloadError(
                f"option {option!r} of generator {name!r} must be >= {least:g} and <= {most:g}, got {value!r}"
            )


def header_of(name: str, jobs: int, seed: int, load: float, nodes: int) -> SwfHeader:
    """Header of a drawn log, which begins on a Monday at midnight."""
    directives = {
        "Version": "2.2",
        "Computer": "none: synthetic log",
        "MaxJobs": jobs,
        "MaxRecords": jobs,
        "UnixStartTime": 345600,  # Monday, 5 January 1970, 0:00 UTC
        "TimeZone": 0,
        "MaxNodes": nodes,
        "MaxProcs": nodes,
        "Note": f"generator {name}:jobs={jobs},seed={seed},load={load:g},nodes={nodes}",
    }
    return SwfHeader(tuple(f" {key}: {value}" for key, value in directives.items()))
