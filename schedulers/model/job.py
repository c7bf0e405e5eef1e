"""A job as schedulers see it: its requests, and its allocation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeGuard

from spillway.base.errors import RemoteProtocolError, shown
from spillway.core import Allocation, Job, Lives, replaced
from spillway.protocol.limits import LATEST_S, time_fault

__all__ = [
    "BURST_BUFFER_FIELD",
    "GPUS_FIELD",
    "IO_RATE_FIELD",
    "JOB_FIELDS",
    "KIND_FIELD",
    "LARGEST_SIZE",
    "LICENSES_FIELD",
    "MOST_NODES",
    "MOST_STRIPES",
    "NO_WALLTIME",
    "OWN_FIELDS",
    "PARTITION_FIELD",
    "RESERVATION_FIELD",
    "TOTAL_FIELD",
    "Allocation",
    "Job",
    "JobField",
    "Lives",
    "check_profile",
    "in_granules",
    "is_number",
    "job_from_wire",
    "once_staged",
    "replaced",
    "sized_as",
]

BURST_BUFFER_FIELD = "bb"
"""Field of the profile (or of the job) with the burst-buffer bytes per node."""

TOTAL_FIELD = "bb_total"
"""Field of the profile (or of the job) with the bytes of a burst buffer of the whole job."""

_STRIPES_FIELD = "bb_stripes"
"""Field of the profile (or of the job) with the number of storage nodes that such a buffer is striped over."""

KIND_FIELD = "bb_kind"
"""Field of the job (or of its profile) that names the kind of file system on its burst buffer."""

IO_RATE_FIELD = "io_rate"
"""Field of the job (or of its profile) with the average I/O rate per node, bytes per second."""

PARTITION_FIELD = "partition"
"""Field of the job with the partitions that it may run in: names, separated by commas."""

RESERVATION_FIELD = "reservation"
"""Field of the job with the advance reservation that it runs in."""

LICENSES_FIELD = "licenses"
"""Field of the job with the licenses that it holds: ``name:count``, several separated by commas."""

GPUS_FIELD = "gpus"
"""Field of the job with the GPUs that it needs on each of its nodes."""


def once_staged(lives: Lives | None) -> Lives | None:
    """The lives of a job after its stage-in: nothing is held before the nodes."""
    return lives.staged() if lives is not None else None


class JobField(NamedTuple):
    """A field of a job or its profile, defined beside its reader; the reference page of job fields lists all.

    Attributes
    ----------
    name
        Name in the workload.
    where
        ``job``, ``profile``, or both.
    form
        Kind of value, unit, range.
    meaning
        One sentence without a full stop.
    """

    name: str
    where: str
    form: str
    meaning: str


MOST_STRIPES = 2**20
"""Most storage nodes that a job's buffer may be striped over."""

JOB_FIELDS = (
    JobField("id", "job", "text", "name within its workload"),
    JobField("subtime", "job", "number, s", "time of submission"),
    JobField("res", "job", "whole number, at least 0", "compute nodes that it requests"),
    JobField("walltime", "job", "number, s; -1 or absent: no walltime", "time after which it is stopped"),
    JobField("profile", "job", "text", "name of its profile: its kind of work"),
)
"""Batsim's own fields."""

OWN_FIELDS = (
    JobField(
        BURST_BUFFER_FIELD, "job or profile", "bytes per node, at least 0",
        "burst buffer; each node's request is served whole by one storage node",
    ),
    JobField(
        TOTAL_FIELD, "job or profile", "bytes of the whole job, at least 0",
        f"one burst buffer for all its nodes, instead of {BURST_BUFFER_FIELD!r}",
    ),
    JobField(
        _STRIPES_FIELD, "job or profile", f"whole number from 1, at most {MOST_STRIPES}; absent: 1",
        f"storage nodes, all different, that hold {TOTAL_FIELD!r} in equal shares",
    ),
    JobField(
        KIND_FIELD, "job or profile", "text",
        "kind of file system on its burst buffer (xfs, lustre ...), only for the limits of the setting 'bb_maxima'",
    ),
    JobField(
        IO_RATE_FIELD, "job or profile", "bytes per second per node, at least 0",
        "average I/O rate, booked on every link above the node",
    ),
)  # fmt: skip
"""Fields that every job model supports."""


def sized_as(job: Job, nodes: int) -> Job:
    """A job as if it requested ``nodes`` nodes; the job itself if it does."""
    return job if nodes == job.nodes else replaced(job, nodes=nodes)


def job_from_wire(
    job_id: str, job: dict[str, Any], profile: dict[str, Any] | None, number: int, now: float, granule_bytes: int = 1
) -> Job:
    """Build a :class:`Job` from the object that JOB_SUBMITTED carries.

    A ``walltime`` that is absent, -1 or beyond :data:`LATEST_S` means no walltime. Each request for burst buffer is
    rounded up to whole granules. Raises :class:`RemoteProtocolError` for fields of the wrong type or out of range, with
    the place in the event's data (``$.job.walltime``).
    """
    profile = profile or {}
    nodes = job.get("res")
    if not isinstance(nodes, int) or isinstance(nodes, bool) or not 0 <= nodes <= MOST_NODES:
        raise _wrong(job_id, "job", "res", f"a whole number of nodes from 0 to {MOST_NODES}", nodes)
    walltime = job.get("walltime", NO_WALLTIME)
    if not (type(walltime) in _PLAIN or is_number(walltime)) or not walltime < math.inf:
        raise _wrong(job_id, "job", "walltime", "a number of seconds", walltime)
    if not (walltime > 0 or walltime == NO_WALLTIME):
        raise _wrong(job_id, "job", "walltime", "a time above 0 s, or -1 for no walltime", walltime)
    check_profile(job_id, profile)
    if profile.get("type") == "delay" and profile["delay"] == 0:
        profile = {**profile, "delay": _SHORTEST_DELAY_S}
    bb_bytes, stripes = 0, 0
    if not (_BUFFER_FIELDS.isdisjoint(job) and _BUFFER_FIELDS.isdisjoint(profile)):
        bb_bytes, stripes = _buffer(job_id, job, profile, granule_bytes)
    extras = dict(job)
    for name in _BATSIMS:
        extras.pop(name, None)
    return Job(
        id=job_id,
        number=number,
        submit_time_s=_time(job_id, job, "subtime", now),
        walltime_s=float(walltime) if 0 < walltime <= LATEST_S else math.inf,
        nodes=nodes,
        bb_bytes=bb_bytes,
        stripes=stripes,
        io_rate=_size(job_id, job, profile, IO_RATE_FIELD) if IO_RATE_FIELD in job or IO_RATE_FIELD in profile else 0,
        profile_name=str(job.get("profile", "")),
        profile=profile,
        extras=extras,
    )


_BATSIMS = tuple(field.name for field in JOB_FIELDS)
_BUFFER_FIELDS = frozenset((BURST_BUFFER_FIELD, TOTAL_FIELD, _STRIPES_FIELD))
NO_WALLTIME = -1.0
_SHORTEST_DELAY_S = 1e-6
"""Replaces a delay of 0 (s): Batsim refuses such profiles, and prints delays below half a microsecond as 0."""
MOST_NODES = 2**31 - 1
LARGEST_SIZE = 2**62
"""Bytes, and bytes per second, stay below this: sums of two fit into 64 bits."""


def check_profile(job_id: str, profile: dict[str, Any]) -> None:
    """Check members of a profile that job models read: type, times, amounts. Raises :class:`RemoteProtocolError`."""
    kind = profile.get("type", "")
    if not isinstance(kind, str):
        raise _wrong(job_id, "profile", "type", "a text", kind)
    if kind == "delay":
        delay = _time(job_id, profile, "delay", math.nan, "profile")
        if not delay >= 0:
            raise _wrong(job_id, "profile", "delay", "a time of at least 0 s", delay)
    for field in _AMOUNTS.get(kind, ()):
        amounts: Any = profile.get(field)
        if type(amounts) in _PLAIN and 0 <= amounts < math.inf:
            continue
        for amount in amounts if isinstance(amounts, list) else (amounts,):
            if not is_number(amount) or not 0 <= amount < math.inf:
                raise _wrong(job_id, "profile", field, "numbers of at least 0", amount)


_PLAIN = (float, int)
"""Types of nearly all numbers: values of these types need no :func:`is_number`."""

_AMOUNTS = dict.fromkeys(("parallel", "parallel_homogeneous", "parallel_homogeneous_total"), ("cpu", "com"))
"""Members of profiles that are amounts of work or of bytes."""


def _time(job_id: str, values: dict[str, Any], field: str, default: float, where: str = "job") -> float:
    value = values.get(field, default)
    if not (type(value) in _PLAIN or is_number(value)):
        raise _wrong(job_id, where, field, "a number of seconds", value)
    if not abs(value) <= LATEST_S:
        raise RemoteProtocolError(f"job {shown(job_id)}: {field!r} {time_fault(value)}", f"$.{where}.{field}")
    return float(value)


def _buffer(job_id: str, job: dict[str, Any], profile: dict[str, Any], granule_bytes: int) -> tuple[int, int]:
    """Bytes of each request for burst buffer, in whole granules, and the stripes."""
    if TOTAL_FIELD not in job and TOTAL_FIELD not in profile:
        if _STRIPES_FIELD in job or _STRIPES_FIELD in profile:
            where, values = ("job", job) if _STRIPES_FIELD in job else ("profile", profile)
            expected = f"stated with {TOTAL_FIELD!r}, whose bytes it divides"
            raise _wrong(job_id, where, _STRIPES_FIELD, expected, values[_STRIPES_FIELD])
        return -(-_size(job_id, job, profile, BURST_BUFFER_FIELD) // granule_bytes) * granule_bytes, 0
    if BURST_BUFFER_FIELD in job or BURST_BUFFER_FIELD in profile:
        where = "job" if TOTAL_FIELD in job else "profile"
        text = f"{TOTAL_FIELD!r} (bytes of the whole job) beside {BURST_BUFFER_FIELD!r} (bytes per node): leave one out"
        raise RemoteProtocolError(f"job {shown(job_id)}: {text}", f"$.{where}.{TOTAL_FIELD}")
    where, values = ("job", job) if _STRIPES_FIELD in job else ("profile", profile)
    stripes = values.get(_STRIPES_FIELD, 1)
    if not isinstance(stripes, int) or isinstance(stripes, bool) or not 1 <= stripes <= MOST_STRIPES:
        raise _wrong(
            job_id, where, _STRIPES_FIELD, f"a whole number of storage nodes from 1 to {MOST_STRIPES}", stripes
        )
    share = in_granules(_size(job_id, job, profile, TOTAL_FIELD), stripes, granule_bytes)
    return share, stripes if share else 0


def in_granules(size: float, stripes: int, granule_bytes: int) -> int:
    """Bytes of each of ``stripes`` equal shares, rounded up to whole granules."""
    granules: int = -(-math.ceil(size) // (stripes * granule_bytes))
    return granules * granule_bytes


def _size(job_id: str, job: dict[str, Any], profile: dict[str, Any], field: str) -> int:
    where, values = ("job", job) if field in job else ("profile", profile)
    value: Any = values.get(field, 0)
    if not (type(value) in _PLAIN or is_number(value)) or not 0 <= value < LARGEST_SIZE:
        raise _wrong(job_id, where, field, "a number from 0 to 2^62", value)
    size: int = math.ceil(value)
    return size


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value from JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wrong(job_id: str, where: str, field: str, expected: str, value: Any) -> RemoteProtocolError:
    text = f"job {shown(job_id)}: {field!r} must be {expected}, got {shown(value)}"
    return RemoteProtocolError(text, f"$.{where}.{field}")
