"""Rigid execution: a job is one Batsim job on its nodes from start to end (the thesis's Alloc-Only model, 2.4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.jobmodels.base import NOTHING, Ended, Step
from schedulers.wire.messages import (
    BatsimConfig,
    Event,
    ExecuteJob,
    JobCompleted,
    JobKilled,
    KillJob,
    Request,
    SetJobMetadata,
)


class Rigid:
    """One EXECUTE_JOB per job; its burst-buffer bytes go into the job's metadata, as in the published experiment.

    Parameters
    ----------
    metadata
        Whether to write the burst-buffer bytes per node into the metadata column.
    """

    def __init__(self, *, metadata: bool = True) -> None:
        self._metadata = metadata
        self._machine: Machine | None = None
        self._live: set[str] = set()

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Remember the machine."""
        self._machine = machine

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Execute the job on all its nodes."""
        assert self._machine is not None
        self._live.add(job.id)
        mapping = _stream_target(job, self._machine)
        execute = ExecuteJob(now_s, job.id, self._machine.alloc_ids(allocation.nodes), storage_mapping=mapping)
        if self._metadata and job.bb_bytes:
            return (SetJobMetadata(now_s, job.id, str(job.bb_bytes)), execute)
        return (execute,)

    def kill(self, job: Job, now_s: float) -> Step:
        """Kill the Batsim job; its end comes as an ordinary completion."""
        return Step((KillJob(now_s, (job.id,)),))

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Turn a completion into the job's end; swallow kill acknowledgements."""
        if isinstance(event, JobCompleted):
            if event.job_id not in self._live:
                return None
            self._live.discard(event.job_id)
            return Step((), (Ended(event.job_id, event.state, event.return_code),))
        return NOTHING if isinstance(event, JobKilled) else None


def _stream_target(job: Job, machine: Machine) -> dict[str, int] | None:
    """Where the stream of an ``io_stream`` profile goes: its storage label stands for the parallel file system."""
    if job.profile.get("type") != "io_stream" or machine.pfs_id is None:
        return None
    return {str(job.profile.get("storage", "pfs")): machine.pfs_id}
