"""Staging, as jobs state it: bytes moved into and out of their burst buffers, and least durations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LATEST_S
from spillway.schedulers.model.job import Job, JobField, is_number

STAGING_BYTES = (
    JobField(
        "stage_in_bytes", "job or profile", "bytes per request of its burst buffer, at least 0",
        "moved from the file system into its burst buffer before it computes; absent: as much as the request",
    ),
    JobField(
        "stage_out_bytes", "job or profile", "bytes per request of its burst buffer, at least 0",
        "moved from its burst buffer to the file system when it has computed; absent: as much as the request",
    ),
)  # fmt: skip
"""Bytes that the model ``io`` moves."""

STAGING_SECONDS = (
    JobField(
        "stage_in_s", "job or profile", "number, s, at least 0",
        "least time of its stage-in, at the speed of the source of its data",
    ),
    JobField(
        "stage_out_s", "job or profile", "number, s, at least 0",
        "least time of its stage-out, at the speed of the target of its data",
    ),
)  # fmt: skip
"""Times that every model plays where burst buffers have lives of their own, and the model ``io`` always."""


class Staging(NamedTuple):
    """The staging of a job.

    Attributes
    ----------
    in_bytes, out_bytes
        Bytes per request of its burst buffer; ``None`` if not stated.
    in_s, out_s
        Least durations (s).
    """

    in_bytes: float | None = None
    out_bytes: float | None = None
    in_s: float = 0.0
    out_s: float = 0.0


class StageLimits(NamedTuple):
    """Time limits of staging (s): at its limit a stage-in is given up, and a stage-out loses the rest."""

    stage_in_s: float = math.inf
    stage_out_s: float = math.inf


NONE = Staging()
_NAMES = frozenset(field.name for field in (*STAGING_BYTES, *STAGING_SECONDS))


def staging_of(job: Job) -> Staging:
    """The staging that a job states in its profile or its own fields; empty for a job without a burst buffer.

    Raises
    ------
    RemoteProtocolError
        A value is not a number, or out of range: bytes from 0 to those of the request, seconds of at least 0.
    """
    if not job.bb_bytes or (_NAMES.isdisjoint(job.extras) and _NAMES.isdisjoint(job.profile)):
        return NONE
    found = [_stated(job, field.name, job.bb_bytes) for field in STAGING_BYTES]
    least = [_stated(job, field.name, LATEST_S) for field in STAGING_SECONDS]
    return Staging(found[0], found[1], least[0] or 0.0, least[1] or 0.0)


def _stated(job: Job, name: str, most: float) -> float | None:
    where, values = ("profile", job.profile) if name in job.profile else ("job", job.extras)
    value: Any = values.get(name)
    if value is None:
        return None
    if not is_number(value) or not 0 <= value <= most:
        text = f"job {shown(job.id)}: {name!r} must be a number from 0 to {most:g}, got {shown(value)}"
        raise RemoteProtocolError(text, f"$.{where}.{name}")
    return float(value)
