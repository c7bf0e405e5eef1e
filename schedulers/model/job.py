"""A job as schedulers see it: its requests, and its allocation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn, TypeGuard

from spillway.base.errors import RemoteProtocolError, shown
from spillway.core import Allocation as Allocation
from spillway.core import Job as Job
from spillway.core import Lives as Lives
from spillway.core import read_job as read_job
from spillway.core import replaced as replaced
from spillway.protocol.limits import TIME_LIMIT_FIELD, time_fault

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

CPUS_FIELD = "cpus"
"""Field of the job with the CPUs that it requests in all."""

CANCELLED_FIELD = "cancelled_after_s"
"""Field of the job with the time after its submission at which its user cancels it, if it still waits."""


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
    JobField(
        CANCELLED_FIELD, "job", "number, s, at least 0",
        "time after its submission at which its user cancels it; it leaves then, or when it would start before",
    ),
    JobField(
        TIME_LIMIT_FIELD, "job", "number, s, above 0, at most its walltime",
        "time that it requests, by which schedulers plan; it is stopped only after its walltime, or never without one",
    ),
)  # fmt: skip
"""Fields that every job model supports."""


def sized_as(job: Job, nodes: int) -> Job:
    """A job as if it requested ``nodes`` nodes; the job itself if it does."""
    return job if nodes == job.nodes else replaced(job, nodes=nodes)


NO_WALLTIME = -1.0
MOST_NODES = 2**31 - 1
LARGEST_SIZE = 2**62
"""Bytes, and bytes per second, stay below this: sums of two fit into 64 bits."""


def in_granules(size: float, stripes: int, granule_bytes: int) -> int:
    """Bytes of each of ``stripes`` equal shares, rounded up to whole granules."""
    granules: int = -(-math.ceil(size) // (stripes * granule_bytes))
    return granules * granule_bytes


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value from JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def refuse_field(job_id: str, where: str, field: str, fault: str, value: Any) -> NoReturn:
    """Refuse a field of a job that the core has read: raise :class:`RemoteProtocolError` in words.

    Parameters
    ----------
    job_id, where, field, value
        The job, ``job`` or ``profile``, the name of the field, and its value.
    fault
        Name of the fault.
    """
    if fault == "both":
        text = f"{TOTAL_FIELD!r} (bytes of the whole job) beside {BURST_BUFFER_FIELD!r} (bytes per node): leave one out"
    elif fault == "late":
        text = f"{field!r} {time_fault(value)}"
    else:
        text = f"{field!r} must be {_EXPECTED[fault]}, got {shown(value)}"
    raise RemoteProtocolError(f"job {shown(job_id)}: {text}", f"$.{where}.{field}")


_EXPECTED = {
    "nodes": f"a whole number of nodes from 0 to {MOST_NODES}",
    "seconds": "a number of seconds",
    "walltime": "a time above 0 s, or -1 for no walltime",
    "limit": "a time above 0 s, at most the job's walltime",
    "text": "a text",
    "delay": "a time of at least 0 s",
    "amounts": "numbers of at least 0",
    "alone": f"stated with {TOTAL_FIELD!r}, whose bytes it divides",
    "stripes": f"a whole number of storage nodes from 1 to {MOST_STRIPES}",
    "size": "a number from 0 to 2^62",
}
"""Requirements of fields, by the name of the fault in the core."""
