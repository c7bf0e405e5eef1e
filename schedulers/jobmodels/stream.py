"""The stream model: a job computes and writes to the parallel file system at a constant rate beside it.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn I/O into a constant stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.base.errors import RemoteProtocolError, shown
from spillway.schedulers.core.demand import Demand, stream_rate
from spillway.schedulers.jobmodels.base import FileSystem, Granted, JobModel, Needs, Program, Submitted
from spillway.schedulers.jobmodels.streams import MERGED
from spillway.schedulers.model.job import LARGEST_SIZE, Job, JobField
from spillway.schedulers.model.machine import Machine

_IO_BYTES_FIELD = "io_bytes"

FIELDS = (
    JobField(
        _IO_BYTES_FIELD, "job", "bytes per node, at least 0",
        "written by each node to the file system over the job's whole life, beside its computation (no `delay`)",
    ),
)  # fmt: skip
"""Own fields of jobs with a stream."""


@dataclass(frozen=True)
class Stream(JobModel):
    """Jobs with the field io_bytes write it beside their computation; others compute."""

    source: ClassVar[str] = "Herbein et al. 2016, section 3.1"
    needs: ClassVar[Needs] = Needs(dynamic_jobs=False, profile_reuse=False, file_system=FileSystem.YES)
    job_fields: ClassVar[tuple[str, ...]] = (_IO_BYTES_FIELD,)
    only_with_fields: ClassVar[bool] = True
    stages: ClassVar[tuple[str, ...]] = ()

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run the job in one piece, with its stream."""
        yield Submitted(stream_bytes(job))

    def alone(self) -> Stream:
        """Return the same model; the stream has the file system to itself."""
        return self

    def demand(self) -> Demand:
        """Bandwidth of the bytes that jobs write, spread over their expected durations."""
        return DeclaredStream()

    def refuses(self, job: Job) -> str | None:
        """Refuse a stream beside a profile that it cannot be merged with.

        A profile that the simulator does not send is not checked.

        Raises
        ------
        RemoteProtocolError
            Bytes that are no number of at least 0.
        """
        kind = job.profile.get("type")
        if not stream_bytes(job) or kind is None or kind in MERGED:
            return None
        return (
            f"its field {_IO_BYTES_FIELD!r} is a stream beside its computation, which a profile of type {shown(kind)} "
            f"cannot have; expected one of: {', '.join(MERGED)}"
        )


@dataclass(frozen=True, slots=True)
class DeclaredStream:
    """The bandwidth of ``io_bytes`` per node over the whole job, unless it states ``io_rate``."""

    from_storages: ClassVar[bool] = False

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """See :class:`spillway.schedulers.core.demand.Demand`."""
        amount = stream_bytes(job)
        return job.io_rate if job.io_rate or not amount else stream_rate(amount, expected_s)


def stream_bytes(job: Job) -> float:
    """Bytes that each node of a job writes over its life."""
    value = job.extras.get(_IO_BYTES_FIELD, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_SIZE:
        raise RemoteProtocolError(
            f"job {shown(job.id)}: {_IO_BYTES_FIELD!r} must be a number of bytes from 0 to 2^62, got {shown(value)}",
            f"$.job.{_IO_BYTES_FIELD}",
        )
    return value
