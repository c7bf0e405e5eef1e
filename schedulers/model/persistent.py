"""Persistent burst buffers, and the requests that jobs state for them.

A persistent buffer has a name and belongs to no job: a job creates it, jobs use it by its name, a job destroys it.
Requests for one name are carried out in the order in which the jobs were submitted.

References
----------
SchedMD, *Slurm Burst Buffer Guide* (``create_persistent``, ``persistentdw``, ``destroy_persistent``); which jobs wait
for which is stated in ``docs/models.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any, NamedTuple, Protocol

from spillway.base.errors import RemoteProtocolError, shown
from spillway.schedulers.model.job import LARGEST_SIZE, MOST_STRIPES, Allocation, Job, JobField, in_granules, is_number

CREATE_FIELD, USE_FIELD, DESTROY_FIELD = "bb_create", "bb_use", "bb_destroy"

PERSISTENT_FIELDS = (
    JobField(
        CREATE_FIELD, "job",
        'list of {"name": text, "bytes": at least 1, "stripes": whole number from 1; absent: 1}',
        "persistent buffers that it creates before it runs; they stay when it has ended",
    ),
    JobField(
        USE_FIELD, "job", "list of names",
        "persistent buffers that must be there before it starts, and stay until its end",
    ),
    JobField(
        DESTROY_FIELD, "job", "list of names",
        "persistent buffers that it destroys: those that it uses at its end, others before it runs",
    ),
)  # fmt: skip
"""Fields that every model supports. A job without nodes (``res`` 0) may have only these."""

_BEHIND_ALL = 2**62
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}\Z")
_MOST = 1000


class Creation(NamedTuple):
    """A persistent buffer that is to be created: its name, bytes of each stripe, and number of stripes."""

    name: str
    bb_bytes: int
    stripes: int


class BufferRequests(NamedTuple):
    """A job's requests for persistent buffers; ``number``: the job's rank of submission."""

    number: int
    creates: tuple[Creation, ...] = ()
    uses: tuple[str, ...] = ()
    destroys: tuple[str, ...] = ()

    def names(self, name: str) -> bool:
        """Whether the requests name a buffer."""
        return name in self.uses or name in self.destroys or any(create.name == name for create in self.creates)

    @property
    def destroys_first(self) -> tuple[str, ...]:
        """Names of buffers that are destroyed before the job runs."""
        return tuple(name for name in self.destroys if name not in self.uses)


class PersistentBuffer(NamedTuple):
    """An existing persistent buffer.

    Attributes
    ----------
    name, user
        Its name, and the user of the job that created it ("" without one).
    creator
        Id of that job.
    allocation
        Its storage nodes, all different, and the bytes on each; no nodes.
    since_s
        Time of its creation (s).
    """

    name: str
    user: str
    creator: str
    allocation: Allocation
    since_s: float


class _Outs(Protocol):
    """Source of the storage nodes that do not serve, for a pool (:class:`spillway.schedulers.core.book.Book`)."""

    @property
    def storages_out(self) -> Set[int]:
        """Storage nodes that are out."""
        ...

    @property
    def drained(self) -> Mapping[int, int]:
        """Drained bytes, by storage node."""
        ...


class Pool:
    """The persistent buffers of one conversation, and the requests for them of jobs that wait or run.

    Attributes
    ----------
    buffers
        Existing buffers, by name.
    requests
        Requests by job id, only of jobs that wait or run.
    done
        Requests that are carried out: job ids with the names of buffers that they created, or destroyed.
    to_destroy
        Buffers that ended jobs used and destroy, by name, with these jobs: earlier jobs may still use the buffers.
    more_jobs
        Whether further jobs may be submitted.
    outs
        Storage nodes that are out, and those that are drained in part.
    """

    def __init__(self, buffers: Mapping[str, PersistentBuffer], outs: _Outs) -> None:
        self.buffers = buffers
        self.outs = outs
        self.requests: dict[str, BufferRequests] = {}
        self.done: set[tuple[str, str]] = set()
        self.to_destroy: dict[str, Job] = {}
        self.more_jobs = True

    def open_creation(self, job_id: str, name: str) -> Creation | None:
        """A job's request to create a buffer of this name, if it is not created yet; else ``None``."""
        if job_id not in self.requests or (job_id, name) in self.done:
            return None
        return next((create for create in self.requests[job_id].creates if create.name == name), None)

    def missing(self, job_id: str) -> str | None:
        """The reason why a job cannot start (or, without nodes, end) yet; ``None`` if there is no such reason."""
        requests = self.requests.get(job_id)
        if requests is None:
            return None
        for word, names in (
            ("created", tuple(create.name for create in requests.creates)),
            ("destroyed", requests.destroys_first),
        ):
            for name in names:
                if (job_id, name) not in self.done:
                    return f"the persistent buffer {shown(name)} must be {word} first"
        gone = [name for name in requests.uses if name not in self.buffers]
        return f"it uses the persistent buffer {shown(gone[0])}, which does not exist" if gone else None

    def in_service(self, job_id: str) -> bool:
        """Whether all storage nodes of the existing buffers that a job uses are in service."""
        requests = self.requests.get(job_id)
        used = () if requests is None else [self.buffers[name] for name in requests.uses if name in self.buffers]
        return all(self.outs.storages_out.isdisjoint(buffer.allocation.storages) for buffer in used)

    def leave(self, job: Job, *, ended: bool = True) -> None:
        """Remove the requests of a job; one that ``ended`` (was not rejected) destroys buffers that it used."""
        requests = self.requests.pop(job.id, None)
        if requests is None:
            return
        self.done = {request for request in self.done if request[0] != job.id}
        if ended:
            self.to_destroy.update(
                {name: job for name in requests.destroys if name in requests.uses and name in self.buffers}
            )

    def go_on(self, job: Job, again: Job) -> None:
        """Pass the buffers that a job uses, and destroys at its end, on to its next attempt."""
        requests = self.requests.pop(job.id, None)
        if requests is not None:
            destroys = tuple(name for name in requests.destroys if name in requests.uses)
            self.requests[again.id] = requests._replace(number=again.number, creates=(), destroys=destroys)

    def hold(self, job_id: str) -> None:
        """Let a job's requests come behind all others while other jobs hold it.

        A buffer that is to be destroyed is kept for no such job, which may wait for jobs that wait for its end.
        """
        if job_id in self.requests:
            self.requests[job_id] = self.requests[job_id]._replace(number=_BEHIND_ALL)

    def place(self, job: Job) -> None:
        """Give a job's requests the number with which it enters the queue."""
        if job.id in self.requests:
            self.requests[job.id] = self.requests[job.id]._replace(number=job.number)

    def unused(self) -> list[tuple[str, Job]]:
        """Buffers to destroy that no earlier job names any more, with the jobs that destroy them."""
        return [
            (name, job)
            for name, job in self.to_destroy.items()
            if not any(requests.number < job.number and requests.names(name) for requests in self.requests.values())
        ]


def buffer_requests_of(job: Job, granule_bytes: int = 1) -> BufferRequests | None:
    """A job's requests for persistent buffers, each stripe in whole granules; ``None`` without requests.

    Raises
    ------
    RemoteProtocolError
        A field is malformed, a name is repeated, or a buffer is both created and destroyed before the job runs.
    """
    extras = job.extras
    if not (CREATE_FIELD in extras or USE_FIELD in extras or DESTROY_FIELD in extras):
        return None
    creates = tuple(_creation(job, entry, granule_bytes) for entry in _list(job, CREATE_FIELD))
    uses = tuple(_name(job, USE_FIELD, entry) for entry in _list(job, USE_FIELD))
    destroys = tuple(_name(job, DESTROY_FIELD, entry) for entry in _list(job, DESTROY_FIELD))
    requests = BufferRequests(job.number, creates, uses, destroys)
    created = tuple(create.name for create in creates)
    for field, names in ((CREATE_FIELD, created), (USE_FIELD, uses), (DESTROY_FIELD, destroys)):
        if len(set(names)) < len(names):
            raise _wrong(job, field, "names that all differ", names)
    both = set(created).intersection(requests.destroys_first)
    if both:
        raise _wrong(job, DESTROY_FIELD, f"a buffer that the job does not create itself, or uses ({USE_FIELD!r})", both)
    return requests if creates or uses or destroys else None


def as_request(job: Job, creation: Creation) -> Job:
    """A creation as a job with a striped buffer, for which timelines and clusters find storage nodes."""
    return Job(
        f"{job.id}:{creation.name}", job.number, job.submit_time_s, job.walltime_s, 1, creation.bb_bytes,
        stripes=creation.stripes,
    )  # fmt: skip


def _list(job: Job, field: str) -> list[Any]:
    found = job.extras.get(field, [])
    if not isinstance(found, list) or len(found) > _MOST:
        raise _wrong(job, field, f"a list of at most {_MOST} entries", found)
    return found


def _name(job: Job, field: str, value: Any) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise _wrong(job, field, "names of 1 to 100 letters, digits or any of _ . : -", value)
    return value


def _creation(job: Job, value: Any, granule_bytes: int) -> Creation:
    if not isinstance(value, dict) or not {"name", "bytes"} <= value.keys() <= {"name", "bytes", "stripes"}:
        raise _wrong(job, CREATE_FIELD, "objects with 'name', 'bytes' and perhaps 'stripes'", value)
    size, stripes = value["bytes"], value.get("stripes", 1)
    if not is_number(size) or not 1 <= size < LARGEST_SIZE:
        raise _wrong(job, CREATE_FIELD, "'bytes' from 1 to 2^62", size)
    if not isinstance(stripes, int) or isinstance(stripes, bool) or not 1 <= stripes <= MOST_STRIPES:
        raise _wrong(job, CREATE_FIELD, f"'stripes' from 1 to {MOST_STRIPES}", stripes)
    return Creation(_name(job, CREATE_FIELD, value["name"]), in_granules(size, stripes, granule_bytes), stripes)


def _wrong(job: Job, field: str, expected: str, value: Any) -> RemoteProtocolError:
    return RemoteProtocolError(
        f"job {shown(job.id)}: {field!r} must be {expected}, got {shown(value)}", f"$.job.{field}"
    )
