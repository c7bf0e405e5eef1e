"""Record of a job that ran, one type for all job models, and the columns that it adds to ``jobs.csv``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from spillway.protocol.messages import JobState
from spillway.schedulers.model.job import Allocation, Job


class Checkpoints(NamedTuple):
    """Phases done in a job's last checkpoints: in its burst buffers, and on the file system; 0: no checkpoint."""

    buffered: int = 0
    drained: int = 0

    @property
    def last(self) -> int:
        """The greater number."""
        return max(self)


@dataclass(slots=True)
class BufferTimes:
    """Times at which a job got its burst buffer, had it filled, and gave its nodes back (s; NaN: not yet)."""

    given_s: float
    filled_s: float = math.nan
    off_nodes_s: float = math.nan


BUFFER_COLUMNS = ("buffer_start_time", "staged_time", "nodes_finish_time")
"""Columns of :class:`BufferTimes`."""


class JobRecord(msgspec.Struct):
    """A job, from its start to its end, from the scheduler's view.

    Attributes
    ----------
    job, allocation
        The job, and its allocation at the start.
    start_s, end_s, state, return_code
        Times of its start and end (s), its final state and return code.
    whole
        Whether it ran in one piece, as it was submitted; its times are then the simulator's.
    staged
        Times of its burst buffer, if burst buffers have lives of their own. It started when it was given its nodes.
    preempted
        Whether it ran in slices; only the time that it received counts as run.
    sub_jobs, operations
        Number of its sub-jobs; number of operations that have ended.
    seconds, moved_bytes
        Seconds and bytes by stage, without waiting at the I/O gate; transfers beside a computation overlap it.
    io_wait_s
        Time during which at least one of its transfers waited for its turn.
    idle_end_s
        Time at which it last continued, or ended, while no part of it ran (s): after a wait, or before its turn; NaN:
        never.
    state_shown
        State that its program published last.
    resumed
        Checkpoints of earlier attempts that it resumed from; ``None``: it began at the beginning.
    through
        Number of ended operations by stage; ``computed_s``: durations of those of the stage ``compute`` (s), in order.
    drained
        Number of transfers beside computations that have ended and left their bytes safe.
    """

    job: Job
    allocation: Allocation
    start_s: float
    end_s: float = math.nan
    state: JobState = JobState.RUNNING
    return_code: int = 0
    whole: bool = False
    staged: BufferTimes | None = None
    preempted: bool = False
    sub_jobs: int = 0
    operations: int = 0
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    moved_bytes: dict[str, float] = msgspec.field(default_factory=dict)
    io_wait_s: float = 0.0
    idle_end_s: float = math.nan
    state_shown: Any = None
    resumed: Checkpoints | None = None
    through: dict[str, int] = msgspec.field(default_factory=dict)
    computed_s: list[float] = msgspec.field(default_factory=list)
    drained: int = 0

    def took(self, stage: str, seconds: float) -> None:
        """Add to a stage's time."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def cells(self, stages: Sequence[str], moved: Sequence[str], gate: bool) -> dict[str, str]:
        """Texts of the columns that :func:`columns` names; empty texts for a job that ran in one piece."""
        if self.whole:
            return dict.fromkeys(columns(stages, moved, gate), "")
        texts = {"sub_jobs": str(self.sub_jobs), "operations": str(self.operations)}
        texts |= {f"{stage}_s": f"{self.seconds.get(stage, 0.0):.6f}" for stage in stages}
        texts |= {f"{stage}_bytes": f"{self.moved_bytes.get(stage, 0):.0f}" for stage in moved}
        return texts | ({"io_wait_s": f"{self.io_wait_s:.6f}"} if gate else {})


def without_nodes(job: Job, now_s: float) -> JobRecord:
    """Return the record of a job that requests no nodes and ends at once."""
    return JobRecord(job, Allocation(()), now_s, now_s, JobState.COMPLETED_SUCCESSFULLY)


def columns(stages: Sequence[str], moved: Sequence[str], gate: bool) -> tuple[str, ...]:
    """Columns of ``jobs.csv`` after Batsim's own, for a model with these stages; () without stages."""
    if not stages:
        return ()
    return (
        "sub_jobs",
        "operations",
        *(f"{stage}_s" for stage in stages),
        *(f"{stage}_bytes" for stage in moved),
        *(("io_wait_s",) if gate else ()),
    )
