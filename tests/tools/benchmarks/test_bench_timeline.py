"""Costs of the timeline.

The full tables: ``python -m tools.benchmarks.timeline_load``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from spillway.core import Timeline
from tools.benchmarks.timeline_load import cluster_of_switches, dragonfly, load

Benchmark = Callable[..., Any]


@pytest.mark.parametrize("segments", [50, 200, 1000])
def test_earliest_fit(benchmark: Benchmark, segments: int) -> None:
    """The earliest start of KTH-like jobs on the thesis's machine."""
    picture = load(segments, 200, dragonfly())
    jobs = cycle(picture.jobs)

    def ask() -> Any:
        job = next(jobs)
        return picture.timeline.earliest_fit(job, job.walltime_s)

    assert benchmark(ask) is not None


def test_earliest_fit_under_links(benchmark: Benchmark) -> None:
    """The same on 3,888 nodes with a bandwidth tree of 218 links."""
    picture = load(100, 100, cluster_of_switches(3888))
    jobs = cycle(picture.jobs)

    def ask() -> Any:
        job = next(jobs)
        return picture.timeline.earliest_fit(job, job.walltime_s)

    assert benchmark(ask) is not None


def test_a_pass_of_bookings(benchmark: Benchmark) -> None:
    """Plan fifty waiting jobs on a copy of the timeline: the cost of one evaluation of a plan in Python."""
    picture = load(100, 50, dragonfly())

    def plan() -> Timeline:
        timeline = picture.timeline.copy()
        for job in picture.jobs:
            fit = timeline.earliest_fit(job, job.walltime_s)
            assert fit is not None
            timeline.reserve(fit.start_s, fit.start_s + job.walltime_s, fit.allocation)
        return timeline

    benchmark(plan).check()
