"""A job that writes to the parallel file system at a constant rate beside its computation, on Batsim's wire.

There this is an ``additional_io_job``: a ``parallel`` profile over the job's hosts and the file system's host, merged
with the job's own parallel task, so that computation and stream advance together. Batsim 4 offers nothing shorter:
``parallel_homogeneous_pfs`` cannot be merged, and a ``parallel`` profile states a full matrix.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn I/O into a constant stream.
"""

from __future__ import annotations

from spillway.protocol.messages import AdditionalIoJob, JsonObject
from spillway.schedulers.model.job import Job

MERGED = ("parallel_homogeneous", "parallel_homogeneous_total", "parallel")
"""Types of profiles that Batsim merges a stream with: parallel tasks without storage, and no ``delay``."""


class Streams:
    """Streams beside jobs that run as they were submitted.

    A profile is sent once per shape (nodes, bytes, place of the file system among the hosts) and workload; later jobs
    refer to it by name.
    """

    def __init__(self) -> None:
        self._sent: set[tuple[str, str]] = set()

    def beside(self, job: Job, hosts: tuple[int, ...], bytes_per_node: float, pfs_id: int | None) -> AdditionalIoJob:
        """Return the stream of a job on its hosts (Batsim ids, ascending)."""
        assert pfs_id is not None, "refused before: a stream on a platform without a file system"
        among = tuple(sorted((*hosts, pfs_id)))
        place = among.index(pfs_id)
        name = f"stream-{len(hosts)}-{bytes_per_node}-{place}"
        known = (job.workload, name) in self._sent
        self._sent.add((job.workload, name))
        profile = None if known else stream_profile(len(hosts), bytes_per_node, place)
        return AdditionalIoJob(among, name, profile)


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
