"""The reasons why jobs wait: a pass's notes on each waiting job, where notes are kept."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple


class Binding(enum.Enum):
    """The reason why a job cannot start now."""

    NODES = "nodes"
    BURST_BUFFERS = "burst buffers"
    BANDWIDTH = "bandwidth"
    POOLS = "licenses or limits"
    BUFFER_FIRST = "no burst buffer yet"
    PERSISTENT = "a persistent buffer"
    STAGE_IN = "stage-in not yet through"
    PREEMPTED = "the end of jobs that make room for it"
    SUSPENDED = "the end of jobs that have its nodes"
    USER_LIMIT = "its user's limit of burst buffers"
    ORDER = "policy order"
    RESERVATION = "reservation"


class Role(enum.Enum):
    """Treatment of a job by a pass."""

    STARTED = "started in order"
    BACKFILLED = "backfilled"
    RESERVED = "reserved"
    PLANNED = "planned"
    PASSED_OVER = "passed over"
    HOLDS_BUFFER = "holds its burst buffer"


@dataclass(frozen=True, slots=True)
class Note:
    """One pass's verdict on one job.

    Attributes
    ----------
    role
        Treatment of the job by the pass.
    binding
        The reason why it did not start; ``None`` when it started.
    estimate_s
        Estimated start (s); ``None`` if the policy makes no estimate.
    blocker
        Id of the job with a reservation that blocks it; "" for no such job.
    """

    role: Role
    binding: Binding | None = None
    estimate_s: float | None = None
    blocker: str = ""


class Priority(NamedTuple):
    """A job's priority as its sum: each factor times its weight, as ``sprio -l`` prints them.

    Attributes
    ----------
    priority
        The sum, a whole number from 1 to 2^32 - 1.
    site, age, association, fairshare, size, partition, qos, nice, tres
        Its terms; ``nice`` is subtracted.
    assumed
        Assumptions made for this job, in words; "" for no assumption.
    """

    priority: int
    site: float
    age: float
    association: float
    fairshare: float
    size: float
    partition: float
    qos: float
    nice: float
    tres: float
    assumed: str = ""


@dataclass(slots=True)
class PassNotes:
    """Notes of one pass.

    Attributes
    ----------
    notes
        Job id to :class:`Note`.
    remarks
        Remarks on the pass as a whole, in words.
    priorities
        Job id to :class:`Priority`, where jobs were examined in this order.
    """

    notes: dict[str, Note] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    priorities: dict[str, Priority] = field(default_factory=dict)

    def write(
        self,
        job_id: str,
        role: Role,
        binding: Binding | None = None,
        estimate_s: float | None = None,
        blocker: str = "",
    ) -> None:
        """Keep the last verdict of this pass on a job."""
        self.notes[job_id] = Note(role, binding, estimate_s, blocker)
