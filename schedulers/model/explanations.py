"""Why a job waits: what a pass notes for each waiting job, where notes are kept."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Binding(enum.Enum):
    """What keeps a job from starting now."""

    NODES = "nodes"
    BURST_BUFFERS = "burst buffers"
    BANDWIDTH = "bandwidth"
    BUFFER_FIRST = "no burst buffer yet"
    PERSISTENT = "a persistent buffer"
    STAGE_IN = "stage-in not yet through"
    USER_LIMIT = "its user's limit of burst buffers"
    ORDER = "policy order"
    RESERVATION = "reservation"


class Role(enum.Enum):
    """How a pass treated a job."""

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
        How the pass treated it.
    binding
        What kept it from starting, ``None`` when it started.
    estimate_s
        Estimated start, ``None`` where the policy makes none.
    blocker
        Id of the job whose reservation stands in the way, "" if none.
    """

    role: Role
    binding: Binding | None = None
    estimate_s: float | None = None
    blocker: str = ""


@dataclass(slots=True)
class PassNotes:
    """Notes of one pass.

    Attributes
    ----------
    notes
        Job id to :class:`Note`.
    remarks
        Remarks on the pass as a whole, in words.
    """

    notes: dict[str, Note] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

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
