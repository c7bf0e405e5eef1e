"""A job as schedulers see it: its requests, and its allocation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeGuard

import msgspec

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LATEST_S, time_fault

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

_USER_FIELD = "user"
"""Field of the job that names its user."""

_ACCOUNT_FIELD = "account"
"""Field of the job that names the account of its user that it is charged to."""

_QOS_FIELD = "qos"
"""Field of the job that names its quality of service."""


class Lives(msgspec.Struct, frozen=True, gc=False):
    """Starts and ends of a job's holdings, relative to the interval of its nodes. The default: all together.

    A job's start in a timeline is the start of its burst buffer; its nodes follow ``storage_lead_s`` later.

    Attributes
    ----------
    storage_lead_s
        Burst buffers are held this long before the nodes (stage-in), finite, at least 0.
    storage_tail_s
        And this long after them (stage-out), finite; below 0: given back before the nodes.
    bandwidth_tail_s
        The same for bandwidth, which begins with the nodes.

    Raises
    ------
    ValueError
        A value is out of range.
    """

    storage_lead_s: float = 0.0
    storage_tail_s: float = 0.0
    bandwidth_tail_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.storage_lead_s < math.inf:
            raise ValueError(f"storage_lead_s must be at least 0 and finite, got {self.storage_lead_s}")
        for name in ("storage_tail_s", "bandwidth_tail_s"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be finite, got {getattr(self, name)}")

    def staged(self) -> Lives:
        """The same lives after the stage-in: nothing is held before the nodes."""
        return msgspec.structs.replace(self, storage_lead_s=0.0) if self.storage_lead_s else self


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


class Job(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One submitted job. Compared and hashed by identity; ordered by :attr:`number`.

    Attributes
    ----------
    id
        Full id on the wire (``w0!12``).
    number
        Rank of submission in this conversation, from 0: the tie breaker everywhere.
    submit_time_s
        Time of submission; of a job held by dependencies its release, of a preempted one its last end: waits count from
        there.
    walltime_s
        Requested time; ``math.inf`` if the job states no walltime.
    nodes
        Whole nodes requested, at least 1; 0 for a job that only creates or destroys persistent buffers.
    bb_bytes
        Burst-buffer bytes per request; each request is served whole by one storage node. 0: no burst buffer.
    stripes
        0: each node has a request of its own. Above 0: the buffer belongs to the job as a whole and consists of this
        many requests, each on a storage node of its own (1: one buffer per job).
    io_rate
        Average I/O rate per node in bytes per second (0 where unknown).
    profile_name, profile
        The job's kind of work as Batsim describes it (``{}`` where it is unknown).
    extras
        Further fields of the job object (``user``, malleability, I/O phases ...).
    lives
        Intervals of its burst buffers and bandwidth; ``None``: that of its nodes.
    partitions
        Partitions of which it may use the nodes of one, by index in
        :attr:`spillway.schedulers.model.machine.Machine.partitions`, in the job's order; () for any nodes.
    pools
        Amounts that it requests of the counted pools while it has nodes (of a hierarchical resource for each of its
        layers), by index in :attr:`spillway.schedulers.model.machine.Machine.pools`; 0 beyond the last amount.
    held_s
        Time from its submission to :attr:`submit_time_s` (s).
    left
        State kept from its last attempt, for the runtime; ``None``: there was no attempt, or nothing is kept.
    default_walltime
        Whether its walltime is the default of its partition; the simulator then has no walltime of the job.
    """

    id: str
    number: int
    submit_time_s: float
    walltime_s: float
    nodes: int
    bb_bytes: int = 0
    io_rate: int = 0
    profile_name: str = ""
    profile: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    lives: Lives | None = None
    stripes: int = 0
    partitions: tuple[int, ...] = ()
    pools: tuple[int, ...] = ()
    held_s: float = 0.0
    left: Any = None
    default_walltime: bool = False

    @property
    def requests(self) -> int:
        """Number of requests for burst buffer of :attr:`bb_bytes` each: one per node, or per stripe."""
        return self.stripes or self.nodes

    @property
    def name(self) -> str:
        """Id within its workload (``12`` of ``w0!12``)."""
        return self.id.rsplit("!", 1)[-1]

    @property
    def workload(self) -> str:
        """Name of its workload (``w0`` of ``w0!12``)."""
        return self.id.split("!", 1)[0]

    @property
    def user(self) -> str:
        """Its user, from its field ``user`` (a number as text); ``""`` without one."""
        name = self.extras.get(_USER_FIELD, "")
        return name if type(name) is str else _as_name(name)

    @property
    def account(self) -> str:
        """The account that it is charged to, from its field ``account``; ``""`` without one."""
        name = self.extras.get(_ACCOUNT_FIELD, "")
        return name if type(name) is str else _as_name(name)

    @property
    def qos(self) -> str:
        """Its quality of service, from its field ``qos``; ``""`` without one."""
        name = self.extras.get(_QOS_FIELD, "")
        return name if type(name) is str else _as_name(name)

    @property
    def gpus(self) -> int:
        """GPUs that it needs on each of its nodes, from its field ``gpus``; 0 without one."""
        count = self.extras.get(GPUS_FIELD)
        return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0

    @property
    def area(self) -> float:
        """Requested node-seconds."""
        return self.nodes * self.walltime_s


class Allocation(msgspec.Struct, frozen=True, gc=False):
    """Resources that a job holds.

    Attributes
    ----------
    nodes
        Indices into :attr:`spillway.schedulers.model.machine.Machine.nodes`, ascending.
    storages
        For each node in order the index of the storage node that holds its burst buffer; empty without a burst buffer.
        Of a striped buffer one for each stripe, all different.
    bb_bytes
        Burst-buffer bytes per request.
    io_rate
        Bytes per second per node booked on every link above the node.
    lives
        As in :class:`Job`: a timeline books each part of the allocation over an interval of its own.
    striped
        Whether the burst buffer belongs to the job as a whole (:attr:`Job.stripes`), not to its single nodes.
    pools
        Amounts that it holds of the counted pools; they belong to the job as a whole. As in :class:`Job`, except for
        hierarchical resources: the layers held, and their amounts, depend on the nodes.
    """

    nodes: tuple[int, ...]
    storages: tuple[int, ...] = ()
    bb_bytes: int = 0
    io_rate: int = 0
    lives: Lives | None = None
    striped: bool = False
    pools: tuple[int, ...] = ()


def _as_name(name: Any) -> str:
    """Name of a user, account or QOS: a text, or a number as text; "" for any other value."""
    if isinstance(name, str):
        return name
    return str(name) if isinstance(name, int | float) and not isinstance(name, bool) else ""


def sized_as(job: Job, nodes: int) -> Job:
    """A job as if it requested ``nodes`` nodes; the job itself if it does."""
    return job if nodes == job.nodes else msgspec.structs.replace(job, nodes=nodes)


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
