"""Phased execution: stage-in, compute phases with checkpoints, drains, stage-out, as dynamic jobs (IO-Aware model).

A real job is rejected in Batsim's books and replaced by sub-jobs in a workload of its own (``w0%15`` for ``w0!15``):

1. stage-in: one transfer per node from the PFS to the storage node that holds the node's burst buffer;
2. compute phase: one parallel job on all nodes;
3. after every phase but the last a checkpoint: each node writes part of its burst buffer to its storage node; the next
   compute phase starts with its end, and beside it the drains: as many bytes from each storage node to the PFS;
4. stage-out: one transfer per node from storage node to PFS.

One walltime budget runs through stages 1-4; drains have none. Dynamic ``composed`` profiles are not used because
Batsim 4 cannot execute them.

References
----------
Kopanski, master's thesis 2020, section 2.4.2 (IO-Aware job model).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedulers.core.job import Allocation, Job
from schedulers.core.machine import Machine
from schedulers.errors import DecisionRefused, RemoteProtocolError
from schedulers.jobmodels.base import NOTHING, Ended, Step
from schedulers.jobmodels.compute import flops_per_node, split_profile
from schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S
from schedulers.wire.messages import (
    BatsimConfig,
    Event,
    ExecuteJob,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    JsonObject,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    SetJobMetadata,
)


class Stage(enum.Enum):
    """What a phased job is doing."""

    STAGE_IN = "stage_in"
    COMPUTE = "compute"
    CHECKPOINT = "checkpoint"
    DRAIN = "drain"
    STAGE_OUT = "stage_out"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class PhasedOptions:
    """Numbers of the IO-Aware model.

    Attributes
    ----------
    phase_target_flops
        Work per node that a compute phase aims at; 3.6e12 flop are 3600 s on a 1 Gflop/s node (thesis 2.4.2).
    max_phases
        Most compute phases of a job, at least 1 (thesis: 10).
    checkpoint_fraction
        Share of the burst buffer that a checkpoint writes, 0 to 1 (published code: 0.5).
    early_release
        The published behaviour: a job that was killed gives its resources back while its drains still run.
    """

    phase_target_flops: float = 3.6e12
    max_phases: int = 10
    checkpoint_fraction: float = 0.5
    early_release: bool = False

    def phases(self, flops: float) -> int:
        """Number of compute phases: work over target, rounded half to even, between 1 and the maximum."""
        return min(max(round(flops / self.phase_target_flops), 1), self.max_phases)


@dataclass(slots=True)
class PhaseRecord:
    """What a job's phases took, as the scheduler saw it (s and bytes; drains overlap computing)."""

    job: Job
    allocation: Allocation
    start_s: float
    end_s: float = math.nan
    state: JobState = JobState.RUNNING
    phases: int = 1
    sub_jobs: int = 0
    waited_s: float = 0.0
    """Part of the stages' seconds spent waiting at a gate (:mod:`schedulers.jobmodels.gated`)."""
    seconds: dict[Stage, float] = field(default_factory=lambda: dict.fromkeys(Stage, 0.0))
    moved_bytes: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(Stage, 0))


@dataclass(slots=True)
class _Phased:
    """A running phased job."""

    job: Job
    allocation: Allocation
    workload: str
    compute_profile: JsonObject
    phases: int
    record: PhaseRecord
    deadline_s: float
    stage: Stage = Stage.STAGE_IN
    stage_start_s: float = 0.0
    phase: int = 0
    next_id: int = 0
    live: dict[str, None] = field(default_factory=dict)
    drains: dict[str, float] = field(default_factory=dict)
    profiles: dict[str, str] = field(default_factory=dict)
    profile_counts: dict[str, int] = field(default_factory=dict)
    state: JobState = JobState.COMPLETED_SUCCESSFULLY
    return_code: int = 0


class Phased:
    """The IO-Aware model's execution.

    Parameters
    ----------
    options
        Numbers of the model.
    on_record
        Called with each job's :class:`PhaseRecord` when the job is through.
    """

    def __init__(
        self, options: PhasedOptions | None = None, on_record: Callable[[PhaseRecord], None] | None = None
    ) -> None:
        self._options = options or PhasedOptions()
        self._on_record = on_record
        self._jobs: dict[str, _Phased] = {}
        self._sub_jobs: dict[str, _Phased] = {}
        self._abandoned: set[str] = set()
        self._reuse = True
        self._machine: Machine
        self._pfs_id = -1
        self._storage_ids: tuple[int, ...] = ()

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Learn the machine; refuse a simulator without dynamic jobs or a platform without a PFS."""
        if not config.dynamic_jobs_enabled:
            raise RemoteProtocolError(
                "the IO-Aware model needs dynamic jobs: start Batsim with --enable-dynamic-jobs --enable-profile-reuse",
                "$.events[0].data.config.dynamic-jobs-enabled",
            )
        if machine.storages and machine.pfs_id is None:
            raise RemoteProtocolError(
                "the IO-Aware model needs a storage host of kind 'pfs' to stage from; the platform has none",
                "$.events[0].data.storage_resources",
            )
        self._machine = machine
        self._reuse = config.profile_reuse_enabled
        self._pfs_id = machine.pfs_id if machine.pfs_id is not None else -1
        self._storage_ids = tuple(storage.resource_id for storage in machine.storages)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> Sequence[Request]:
        """Replace the job by its first stage."""
        flops = flops_per_node(job.profile)
        phases = self._options.phases(flops) if job.bb_bytes else 1
        try:
            compute_profile = split_profile(job.profile, phases)
        except ValueError as error:
            raise DecisionRefused(job.id, str(error)) from None
        phased = _Phased(
            job,
            allocation,
            job.id.replace("!", "%"),
            compute_profile,
            phases,
            PhaseRecord(job, allocation, now_s, phases=phases),
            now_s + job.walltime_s,
        )
        self._jobs[job.id] = phased
        requests: list[Request] = []
        if job.bb_bytes:
            requests.append(SetJobMetadata(now_s, job.id, str(job.bb_bytes)))
            self._stage(phased, Stage.STAGE_IN, now_s, requests)
        else:
            self._stage(phased, Stage.COMPUTE, now_s, requests)
        requests.append(RejectJob(now_s, job.id))
        return requests

    def kill(self, job: Job, now_s: float) -> Step:
        """Kill what still runs, drains excepted: their bytes are safe only on the PFS."""
        phased = self._jobs[job.id]
        phased.state, phased.return_code = JobState.COMPLETED_KILLED, -2
        if not phased.live:
            return NOTHING
        return Step((KillJob(now_s, tuple(phased.live)),))

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Digest what concerns sub-jobs."""
        if isinstance(event, JobCompleted):
            return self._completed(event, now_s)
        if isinstance(event, JobSubmitted):
            return NOTHING if event.job_id in self._sub_jobs else None
        return NOTHING if isinstance(event, JobKilled) else None

    def _completed(self, event: JobCompleted, now_s: float) -> Step | None:
        sub_id = event.job_id
        phased = self._sub_jobs.pop(sub_id, None)
        if phased is None:
            if sub_id not in self._abandoned:
                return None
            self._abandoned.discard(sub_id)
            return NOTHING
        if sub_id in phased.drains:
            phased.record.seconds[Stage.DRAIN] += now_s - phased.drains.pop(sub_id)
        else:
            del phased.live[sub_id]
            if event.state is not JobState.COMPLETED_SUCCESSFULLY and phased.return_code == 0:
                phased.state, phased.return_code = event.state, event.return_code
            if phased.live or self._waits(phased, now_s):
                return NOTHING
            requests = self._stage_done(phased, now_s)
            if requests:
                return Step(requests)
        return self._end_if_through(phased, now_s)

    def _end_if_through(self, phased: _Phased, now_s: float) -> Step:
        """End a job that has no stage left and no drain running (or may leave them: ``early_release``)."""
        if phased.stage is not Stage.ENDING or self._keeps(phased):
            return NOTHING
        if phased.drains:
            if not (self._options.early_release and phased.return_code != 0):
                return NOTHING
            for sub_id in phased.drains:
                del self._sub_jobs[sub_id]
                self._abandoned.add(sub_id)
        del self._jobs[phased.job.id]
        phased.record.end_s, phased.record.state = now_s, phased.state
        phased.record.sub_jobs = phased.next_id
        self._close(phased, now_s)
        if self._on_record is not None:
            self._on_record(phased.record)
        return Step((), (Ended(phased.job.id, phased.state, phased.return_code),))

    def _stage_done(self, phased: _Phased, now_s: float) -> list[Request]:
        """Requests of the stage that follows; none when the job has come to its end."""
        phased.record.seconds[phased.stage] += now_s - phased.stage_start_s
        done = phased.stage
        requests: list[Request] = []
        if phased.return_code != 0 or done is Stage.STAGE_OUT or (done is Stage.COMPUTE and not phased.job.bb_bytes):
            phased.stage = Stage.ENDING
            return requests
        if phased.deadline_s - now_s < SHORTEST_WALLTIME_S:
            phased.state, phased.return_code = JobState.COMPLETED_WALLTIME_REACHED, -1
            phased.stage = Stage.ENDING
            return requests
        if done is Stage.COMPUTE:
            phased.phase += 1
            last = phased.phase == phased.phases
            self._stage(phased, Stage.STAGE_OUT if last else Stage.CHECKPOINT, now_s, requests)
        else:
            self._stage(phased, Stage.COMPUTE, now_s, requests)
            if done is Stage.CHECKPOINT:
                self._move(phased, Stage.DRAIN, -1, now_s, requests)
        return requests

    # ------------------------------------------------------------------ stages

    def _stage(self, phased: _Phased, stage: Stage, now_s: float, requests: list[Request]) -> None:
        phased.stage, phased.stage_start_s = stage, now_s
        remaining_s = phased.deadline_s - now_s
        if stage is Stage.STAGE_IN and phased.job.walltime_s < math.inf:
            remaining_s = phased.job.walltime_s
        walltime = remaining_s if remaining_s < math.inf else -1
        if stage is Stage.COMPUTE:
            name = self._profile(phased, "compute", phased.compute_profile, now_s, requests)
            alloc = self._machine.alloc_ids(phased.allocation.nodes)
            executions = [(alloc, None)]
            ids = self._register(phased, name, executions, len(alloc), walltime, now_s, requests)
            phased.live.update(dict.fromkeys(ids))
            return
        self._move(phased, stage, walltime, now_s, requests)

    def _move(self, phased: _Phased, stage: Stage, walltime: float, now_s: float, requests: list[Request]) -> None:
        """Begin the transfers of a stage or of a drain."""
        ids = self._transfers(phased, stage, walltime, now_s, requests, range(phased.job.nodes))
        if stage is Stage.DRAIN:
            phased.drains.update(dict.fromkeys(ids, now_s))
        else:
            phased.live.update(dict.fromkeys(ids))

    def _waits(self, phased: _Phased, now_s: float) -> bool:
        """Whether transfers of the present stage have not begun (never without a gate)."""
        return False

    def _keeps(self, phased: _Phased) -> bool:
        """Whether drains that have not begun keep a job from ending (never without a gate)."""
        return False

    def _close(self, phased: _Phased, now_s: float) -> None:
        """A job is about to end."""

    def _transfers(
        self,
        phased: _Phased,
        stage: Stage,
        walltime: float,
        now_s: float,
        requests: list[Request],
        places: Iterable[int],
    ) -> list[str]:
        """One transfer per node of a stage, for these positions in the allocation; returns the new sub-jobs."""
        job, allocation = phased.job, phased.allocation
        part = int(self._options.checkpoint_fraction * job.bb_bytes)
        size = part if stage in (Stage.CHECKPOINT, Stage.DRAIN) else job.bb_bytes
        places = tuple(places)
        phased.record.moved_bytes[stage] += size * len(places)
        storages = [self._storage_ids[allocation.storages[place]] for place in places]
        pfs = self._pfs_id
        executions: list[tuple[tuple[int, ...], dict[str, int] | None]]
        if stage is Stage.CHECKPOINT:
            nodes = [self._machine.nodes[allocation.nodes[place]].resource_id for place in places]
            profile: JsonObject = {
                "type": "parallel_homogeneous_pfs",
                "bytes_to_read": 0,
                "bytes_to_write": size,
                "storage": "burstbuffer",
                "ret": 0,
            }
            executions = [((node,), {"burstbuffer": storage}) for node, storage in zip(nodes, storages, strict=True)]
        else:
            profile = {"type": "data_staging", "nb_bytes": size, "from": "source", "to": "destination", "ret": 0}
            inwards = stage is Stage.STAGE_IN
            executions = [
                (
                    (storage, pfs) if storage < pfs else (pfs, storage),
                    {"source": pfs, "destination": storage} if inwards else {"source": storage, "destination": pfs},
                )
                for storage in storages
            ]
        key = "transfer" if stage in (Stage.STAGE_IN, Stage.STAGE_OUT) else stage.value
        name = self._profile(phased, key, profile, now_s, requests)
        return self._register(phased, name, executions, len(executions[0][0]), walltime, now_s, requests)

    def _profile(self, phased: _Phased, key: str, profile: JsonObject, now_s: float, requests: list[Request]) -> str:
        """Name of a stage's profile, registered at its first use (at every use where Batsim forgets used profiles)."""
        name = phased.profiles.get(key)
        if name is None or not self._reuse:
            kind = profile["type"]
            number = phased.profile_counts.get(kind, 0)
            phased.profile_counts[kind] = number + 1
            name = f"{kind}_profile_{number}"
            phased.profiles[key] = name
            requests.append(RegisterProfile(now_s, phased.workload, name, profile))
        return name

    def _register(
        self,
        phased: _Phased,
        profile: str,
        executions: Sequence[tuple[tuple[int, ...], dict[str, int] | None]],
        hosts: int,
        walltime: float,
        now_s: float,
        requests: list[Request],
    ) -> list[str]:
        """Register all sub-jobs of a stage, then execute them in the same order."""
        prefix, first = phased.workload + "!", phased.next_id
        phased.next_id = first + len(executions)
        ids = [f"{prefix}{number}" for number in range(first, phased.next_id)]
        for sub_id in ids:
            job: dict[str, Any] = {
                "profile": profile, "id": sub_id, "res": hosts, "walltime": walltime, "subtime": now_s
            }  # fmt: skip
            requests.append(RegisterJob(now_s, sub_id, job))
            self._sub_jobs[sub_id] = phased
        for sub_id, (alloc, mapping) in zip(ids, executions, strict=True):
            requests.append(ExecuteJob(now_s, sub_id, alloc, storage_mapping=mapping))
        return ids
