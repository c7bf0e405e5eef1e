"""Header of drawn logs, common to all generators."""

from __future__ import annotations

from spillway.workloads.swf import SwfHeader


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
