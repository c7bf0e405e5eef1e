"""What every player leaves: files with one prefix, and what playing cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.platforms.model import Platform
from spillway.simulator.outputs.jobs import Span
from spillway.simulator.reading.registry import Workload

PREFIX = "out"
"""Export prefix inside a run's folder; the files lose it in the end."""


@dataclass(frozen=True)
class Played:
    """What playing cost.

    Attributes
    ----------
    simulator_cpu_s
        CPU seconds of everything but the scheduler's answers.
    other_rss_bytes
        Memory of the simulator's process where it is another one.
    spans
        When sub-jobs ran, by workload, where that need not be read from the table of jobs.
    platform
        The machine, where it was played in this process.
    jobs
        Full ids and walltimes (s, -1 if none) of the jobs, in the order of the file, where that was read in this
        process; the times of jobs without contention are found by it
        (:mod:`spillway.experiments.run.uncontended_jobs`).
    """

    simulator_cpu_s: float
    other_rss_bytes: int = 0
    spans: Mapping[str, Span] | None = None
    platform: Platform | None = None
    jobs: Sequence[tuple[str, float]] = ()


def walltimes(workload: Workload) -> tuple[tuple[str, float], ...]:
    """Full ids and walltimes (s, -1 if none) of a workload's jobs, in the order of its file."""
    return tuple([(job.id, job.walltime) for job in workload.jobs])
