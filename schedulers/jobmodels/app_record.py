"""What became of a malleable application: its I/O phases beside their predictions, its sizes, where its time went."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from spillway.protocol.messages import JobState
from spillway.schedulers.controllers.prediction import Phase
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Job


@dataclass(frozen=True, slots=True)
class PhaseSeen:
    """One I/O phase as it was observed, and what had been predicted when the one before it ended (s).

    ``predicted`` is ``None`` for a first phase without model.
    """

    asked_s: float
    begin_s: float
    end_s: float
    nodes: int
    predicted: Phase | None


@dataclass(slots=True)
class AppRecord:
    """What became of an application.

    Attributes
    ----------
    job
        The job.
    start_s, end_s, state
        When it started, when and how it ended.
    iterations, intervals
        Iterations done, and in how many intervals.
    phases
        Its I/O phases.
    compute_s, resize_s
        Seconds spent in intervals and in reconfigurations.
    sizes
        ``(time, nodes in use)`` at its start and after every reconfiguration.
    node_seconds
        Nodes held times seconds, nodes that were given and not yet used included.
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
    """The record of an application that has ended; ``None`` for a job that described none."""
    app = record.state_shown
    if app is None:
        return None
    app.count_nodes(record.end_s)
    found: AppRecord = app.record
    found.end_s, found.state = record.end_s, record.state
    return found
