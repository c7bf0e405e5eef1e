"""A Batsim workload in memory: jobs, profiles, and a checksum of its content."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from spillway.workloads.logs.omissions import Omission

Profile = dict[str, Any]
"""A job's kind of work exactly as Batsim's file has it (free-form by nature: users add fields)."""


_NUMBERS = (int, float)

BEGINS_FIELD = "begins_s"
"""Field of a workload's file: the date of its time 0, in seconds since 1970."""

IN_ORDER_FIELD = "in_order"
"""Field of a workload's file: jobs of one instant come in the file's order, not in that of their ids as in Batsim."""


class WorkloadJob(msgspec.Struct, frozen=True, gc=False):
    """One job of a workload file.

    Attributes
    ----------
    id
        Name of the job within its workload; a number stays a number in the file.
    subtime
        Submission, in seconds, >= 0.
    res
        Compute nodes requested, >= 0.
    profile
        Name of its profile in the same workload.
    walltime
        Seconds after which it is killed (> 0); ``None`` for no limit.
    extras
        Further fields of the job object, kept as they are.
    """

    id: str | int
    subtime: int | float
    res: int
    profile: str
    walltime: int | float | None = None
    extras: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The id as text, as after the ``!`` on the wire."""
        return str(self.id)

    def to_object(self) -> dict[str, Any]:
        """The job as a JSON object, fields in the usual order."""
        walltime = {} if self.walltime is None else {"walltime": self.walltime}
        head: dict[str, Any] = {"id": self.id, "subtime": self.subtime}
        return head | walltime | {"res": self.res, "profile": self.profile} | self.extras


@dataclass(frozen=True)
class Workload:
    """A workload.

    Attributes
    ----------
    name
        For display and file names; no part of the checksum.
    nb_res
        Compute nodes of the machine that it was made for, > 0.
    jobs
        In file order. Converters order by submission; a file need not.
    profiles
        By name. Every job's profile is here.
    description
        One line for display; no part of the checksum.
    extras
        Further top-level fields of the file; no part of the checksum.
    notes
        Remarks of a reader or converter (jobs dropped, assumptions made); not written to the file.
    omissions
        Properties of jobs that its log states and no run plays; not written to the file.
    begins_s
        Date of its time 0, in seconds since 1970; ``None``: not known.
    book, node_h
        Fates of the lines of its log (:meth:`spillway.workloads.logs.book.Book.rows`), and node-hours of its jobs by
        the log's run times; not written to the file.
    plain
        Whether a file was read whose jobs and profiles are all of the usual types, each of one task or pause.
    """

    name: str
    nb_res: int
    jobs: tuple[WorkloadJob, ...]
    profiles: dict[str, Profile]
    description: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    omissions: tuple[Omission, ...] = ()
    begins_s: float | None = None
    book: tuple[dict[str, Any], ...] = ()
    node_h: float = 0.0
    plain: bool = field(default=False, compare=False)

    @property
    def checksum(self) -> str:
        """sha256 (hexadecimal) of ``nb_res``, jobs and profiles in canonical form.

        Canonical: JSON without blanks, keys of objects sorted, jobs in their order. Layout, compression, name and
        description of the file do not change it.
        """
        content = {"nb_res": self.nb_res, "jobs": [job.to_object() for job in self.jobs], "profiles": self.profiles}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def burst_buffer_bytes(self, job: WorkloadJob) -> int | float:
        """Burst-buffer bytes per node that a job requests; 0: no request.

        Field ``bb`` of the job or of its profile, or the node's share of ``bb_total``, the buffer of the whole job.
        """
        extras, profile = job.extras, self.profiles[job.profile]
        total: Any = extras["bb_total"] if "bb_total" in extras else profile.get("bb_total", 0)
        if total and isinstance(total, _NUMBERS):
            return total / max(job.res, 1)
        value: Any = extras["bb"] if "bb" in extras else profile.get("bb", 0)
        return value if isinstance(value, _NUMBERS) else 0
