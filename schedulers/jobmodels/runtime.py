"""The one runtime that plays job models: sub-jobs, kills, walltimes, turns at the I/O gate and ends of jobs.

It is compiled (``core/session/program_runtime.hpp`` states its rules); here it refuses machines and jobs that its model
cannot play.

A checkpoint in a burst buffer is kept on its storage nodes until the next attempt starts, beside the bookings there; it
is lost when one of them goes out at any time from the start of the attempt that wrote it. A drained checkpoint is kept
on the file system. A drain that is under way while a storage node of the job goes out counts as lost.

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model".
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import ClassVar, NamedTuple

import spillway.core as native
from spillway.base.errors import RemoteProtocolError
from spillway.core import Hosts
from spillway.protocol.messages import BatsimConfig
from spillway.schedulers.jobmodels.base import FileSystem, JobModel
from spillway.schedulers.jobmodels.gates import Gate, Shared
from spillway.schedulers.jobmodels.record import Checkpoints, JobRecord
from spillway.schedulers.jobmodels.streams import Streams
from spillway.schedulers.jobmodels.sub_jobs import require_dynamic_jobs
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.staging import STAGING_SECONDS, StageLimits, staging_of


class ProgramRuntime(native.ProgramRuntime):
    """Plays the programs of a job model.

    Parameters
    ----------
    model
        The job model.
    gate
        Gate that decides which transfers with the file system may run; by default all of them.
    io_node_depth
        See :func:`spillway.schedulers.jobmodels.runtime.hosts_of`.
    on_record
        Called with each job's record when the job has ended.
    limits
        Time-outs of staging if burst buffers have lives of their own; ``None`` if jobs stage on their nodes.
    restarts
        Whether resubmitted jobs resume from their last checkpoint.
    """

    rows: ClassVar[int] = 1

    def __init__(
        self,
        model: JobModel,
        gate: Gate | None = None,
        io_node_depth: int = 0,
        on_record: Callable[[JobRecord], None] | None = None,
        *,
        limits: StageLimits | None = None,
        restarts: bool = False,
    ) -> None:
        super().__init__(model, gate or Shared(), Streams(), Restarts() if restarts else None, on_record, limits)
        self.model = model
        self._limits = limits
        self._depth = io_node_depth

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Take the machine; refuse a simulator or a platform that does not meet the model's needs."""
        needs, name = self.model.needs, type(self.model).__name__
        if needs.dynamic_jobs:
            require_dynamic_jobs(config, f"the job model {name}")
        needed = needs.file_system is FileSystem.YES or (
            needs.file_system is FileSystem.WITH_BURST_BUFFERS and bool(machine.storages)
        )
        if needed and machine.pfs_id is None:
            raise RemoteProtocolError(
                f"the job model {name} needs a host of the parallel file system (role 'storage', its name beginning "
                "with 'pfs' or the property storage_kind=pfs), and the platform has no such host",
                "$.events[0].data.storage_resources",
            )
        self.begin_on(machine, hosts_of(machine, self._depth), config.profile_reuse_enabled)

    def refuses(self, job: Job) -> str | None:
        """Return why the model cannot play a job; ``None`` if it can."""
        staging = staging_of(job)
        if self._limits is None and (staging.in_s or staging.out_s) and "stage_in" not in self.model.stages:
            field = STAGING_SECONDS[0 if staging.in_s else 1].name
            return (
                f"its field {field!r} is played by --model io, or where burst buffers have lives of their own "
                "(--bb-life)"
            )
        return self.model.refuses(job)


def hosts_of(machine: Machine, depth: int = 0) -> Hosts:
    """Hosts of a machine.

    Parameters
    ----------
    machine
        The machine.
    depth
        Number of leading parts of a compute node's location that name its I/O node, at least 0; 0: one for the whole
        machine. Nodes without a location share one.
    """
    numbers: dict[tuple[str, ...], int] = {}
    return Hosts(
        [node.resource_id for node in machine.nodes],
        [storage.resource_id for storage in machine.storages],
        machine.pfs_id,
        [numbers.setdefault(node.location[:depth], len(numbers)) for node in machine.nodes],
    )


class AttemptCheckpoints(NamedTuple):
    """Checkpoints that an attempt left behind.

    Attributes
    ----------
    checkpoints
        Numbers of phases done in its last checkpoints.
    hosts
        Storage nodes with those in burst buffers (Batsim's ids).
    since_s
        Time of their first use (s): an outage from then on has lost their data.
    phase_s
        Duration of its last phase (s).
    """

    checkpoints: Checkpoints
    hosts: frozenset[int]
    since_s: float
    phase_s: float


class Restarts:
    """Times of the last outage of each host in one conversation."""

    def __init__(self) -> None:
        self._out_s: dict[int, float] = {}

    def went_out(self, hosts: Set[int], now_s: float) -> None:
        """Note that hosts have become unavailable."""
        self._out_s.update(dict.fromkeys(hosts, now_s))

    def resumed(self, left: AttemptCheckpoints | None) -> Checkpoints | None:
        """Checkpoints that an attempt resumes from; ``None``: it begins at the beginning."""
        if left is None:
            return None
        found = self._surviving(left.checkpoints, left.hosts, left.since_s)
        return found if found.last else None

    def left(self, model: JobModel, record: JobRecord, machine: Machine) -> tuple[AttemptCheckpoints, float]:
        """Return the checkpoints that a killed attempt leaves, and the computing time (s) that it saves the next one.

        The latter is below 0 if it lost more checkpoints than it wrote: work of earlier attempts is done again.
        """
        written = model.checkpoints(record)
        hosts = frozenset(machine.storages[index].resource_id for index in record.allocation.storages)
        earlier: AttemptCheckpoints | None = record.job.left
        before = record.resumed.last if record.resumed is not None else 0
        gained = self._surviving(written, hosts, record.start_s).last - before
        phase_s = record.computed_s[-1] if record.computed_s else earlier.phase_s if earlier is not None else 0.0
        kept_s = sum(record.computed_s[:gained]) if gained >= 0 else gained * phase_s
        return AttemptCheckpoints(written, hosts, record.start_s, phase_s), kept_s

    def _surviving(self, written: Checkpoints, hosts: Set[int], since_s: float) -> Checkpoints:
        lost = any(self._out_s.get(host, -1.0) >= since_s for host in hosts)
        return written._replace(buffered=0) if lost else written
