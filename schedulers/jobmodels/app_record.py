"""Record of a malleable application: I/O phases beside their predictions, sizes, and seconds by activity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from spillway.protocol.messages import JobState
from spillway.schedulers.controllers.prediction import Phase
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Job


@dataclass(frozen=True, slots=True)
class PhaseSeen:
    """One I/O phase as it was observed, and its prediction at the end of the phase before it (s).

    ``predicted`` is ``None`` for a first phase without a model.
    """

    asked_s: float
    begin_s: float
    end_s: float
    nodes: int
    predicted: Phase | None


@dataclass(slots=True)
class AppRecord:
    """Record of an application.

    Attributes
    ----------
    job
        The job.
    start_s, end_s, state
        Times of its start and end (s), and its final state.
    iterations, intervals
        Iterations done, and number of their intervals.
    phases
        Its I/O phases.
    compute_s, resize_s
        Seconds spent in intervals and in reconfigurations.
    sizes
        ``(time, nodes in use)`` at its start and after every reconfiguration.
    node_seconds
        Nodes held times seconds, including nodes that were given and not yet used.
    """

    job: Job
    start_s: float
    end_s: float = math.nan
    state: JobState = JobState.RUNNING
    iterations: int = 0
    intervals: int = 0
    phases: list[PhaseSeen] = field(default_factory=list)
    compute_s: float = 0.0
    resize_s: float = 0.0
    sizes: list[tuple[float, int]] = field(default_factory=list)
    node_seconds: float = 0.0


def finished(record: JobRecord) -> AppRecord | None:
    """Complete the record of an application that has ended; ``None`` for a job without an application."""
    app = record.state_shown
    if app is None:
        return None
    app.count_nodes(record.end_s)
    found: AppRecord = app.record
    found.end_s, found.state = record.end_s, record.state
    return found
