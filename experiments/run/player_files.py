"""Output of every player: files with one prefix, and the cost of the simulation."""

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
    """Cost of a simulation, and values that need not be read again.

    Attributes
    ----------
    simulator_cpu_s
        CPU seconds of everything but the scheduler's answers.
    other_rss_bytes
        Memory of the simulator's process, if it is a separate one.
    spans
        Times of sub-jobs, by workload; ``None``: they must be read from the table of jobs.
    platform
        The machine, if it was simulated in this process.
    jobs
        Full ids and walltimes (s, -1 without one) of the jobs, in the order of the file, if it was read in this
        process; the times without contention need them (:mod:`spillway.experiments.run.uncontended_jobs`).
    """

    simulator_cpu_s: float
    other_rss_bytes: int = 0
    spans: Mapping[str, Span] | None = None
    platform: Platform | None = None
    jobs: Sequence[tuple[str, float]] = ()


def walltimes(workload: Workload) -> tuple[tuple[str, float], ...]:
    """Full ids and walltimes (s, -1 without one) of a workload's jobs, in the order of its file."""
    return tuple([(job.id, job.walltime) for job in workload.jobs])
