"""Streamed execution: a job computes and writes to the parallel file system at a constant rate beside it.

On Batsim's wire this is an ``additional_io_job``: a ``parallel`` profile over the job's hosts and the file system's
host, merged with the job's own parallel task, so that computation and stream advance together. Batsim 4 offers nothing
shorter: ``parallel_homogeneous_pfs`` cannot be merged, and a ``parallel`` profile states a full matrix.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn I/O into a constant stream.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.errors import RemoteProtocolError
from schedulers.jobmodels.rigid import Rigid
from schedulers.wire.messages import AdditionalIoJob, BatsimConfig, ExecuteJob, JsonObject, Request

IO_BYTES_FIELD = "io_bytes"
"""Field of the job with the bytes that each node writes over the job's whole life."""


class Streamed(Rigid):
    """Like :class:`schedulers.jobmodels.rigid.Rigid`; jobs with ``io_bytes`` get their stream.

    Jobs without that field run as they are. A profile is sent once per shape (nodes, bytes, place of the file system
    among the hosts) and workload; later jobs name it.
    """

    def __init__(self, *, metadata: bool = True) -> None:
        super().__init__(metadata=metadata)
        self._sent: set[tuple[str, str]] = set()

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Remember the machine; raise RemoteProtocolError where it has no file system to write to."""
        super().begin(machine, config)
        if machine.pfs_id is None:
            raise RemoteProtocolError(
                "streams need a host of the parallel file system (role 'storage', its name beginning with 'pfs' or the "
                "property storage_kind=pfs), and the platform has none"
            )

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Execute the job; its stream goes along."""
        requests = super().start(job, allocation, now_s)
        amount = job.extras.get(IO_BYTES_FIELD, 0)
        if not isinstance(amount, int | float) or not amount > 0:
            return requests
        return tuple(
            ExecuteJob(request.timestamp, request.job_id, request.alloc, additional_io_job=self._stream(job, request))
            if isinstance(request, ExecuteJob)
            else request
            for request in requests
        )

    def _stream(self, job: Job, request: ExecuteJob) -> AdditionalIoJob:
        assert self._machine is not None
        assert self._machine.pfs_id is not None
        hosts = tuple(sorted((*request.alloc, self._machine.pfs_id)))
        place, amount = hosts.index(self._machine.pfs_id), job.extras[IO_BYTES_FIELD]
        name = f"stream-{len(request.alloc)}-{amount}-{place}"
        known = (job.workload, name) in self._sent
        self._sent.add((job.workload, name))
        return AdditionalIoJob(hosts, name, None if known else stream_profile(len(request.alloc), amount, place))


def stream_profile(nodes: int, bytes_per_node: float, place: int) -> JsonObject:
    """Batsim's ``parallel`` profile of a stream from each of ``nodes`` hosts to the file system at position ``place``.

    The matrix has ``(nodes + 1) ** 2`` entries, row: source, column: destination.
    """
    size = nodes + 1
    com: list[float] = [0.0] * (size * size)
    for row in range(size):
        if row != place:
            com[row * size + place] = float(bytes_per_node)
    return {"type": "parallel", "cpu": [0.0] * size, "com": com}
