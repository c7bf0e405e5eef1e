"""Output of every player: files with one prefix, and the cost of the simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.simulator.outputs.jobs import Span

PREFIX = "out"
"""Export prefix inside a run's folder; the files lose it in the end."""


@dataclass(frozen=True)
class PlayerResult:
    """Cost of a simulation, and values that need not be read again.

    Attributes
    ----------
    simulator_cpu_s
        CPU seconds of everything but the scheduler's answers.
    other_rss_bytes
        Memory of the simulator's process, if it is a separate one.
    spans
        Times of sub-jobs, by workload; ``None``: they must be read from the table of jobs.
    own_places
        Begins and ends, in turn, of the table's rows that are not of sub-jobs (bytes); ``None``: they must be searched.
    stranded
        Names of the jobs that never started, because hosts that they need were out to the end.
    end_s
        End of the simulation (s).
    """

    simulator_cpu_s: float
    other_rss_bytes: int = 0
    spans: Mapping[str, Span] | None = None
    own_places: Sequence[int] | None = None
    stranded: Sequence[str] = ()
    end_s: float = 0.0
