"""``additional_io_job``: I/O merged into the parallel task of a job, so that both advance together."""

from __future__ import annotations

import numpy as np

from spillway.base.errors import shown
from spillway.protocol.messages import AdditionalIoJob
from spillway.simulator.engines.base import AllToAll, FloatArray, Matrix, NoComm, Pairs, TaskSpec
from spillway.simulator.jobs.job import Job
from spillway.simulator.jobs.profiles import read_profile
from spillway.simulator.jobs.profiles.base import ParallelWork, Placement
from spillway.simulator.jobs.profiles.storage import Staging, StorageAccess
from spillway.simulator.world.allocation import Allocations
from spillway.simulator.world.machines import Machines
from spillway.simulator.world.placing import check_flops, placement


def merged_task(
    job: Job, task: TaskSpec, place: Placement, io: AdditionalIoJob, allocations: Allocations, machines: Machines
) -> TaskSpec:
    """One task over the union of the job's machines and those of its I/O.

    Raises
    ------
    ValueError
        The I/O's profile does not exist (or exists although it is given), or is of a kind that cannot be merged.
    """
    workload = job.workload
    if io.profile is not None:
        if io.profile_name in workload.profiles:
            raise ValueError(
                f"additional_io_job: the profile {shown(io.profile_name)} exists already, do not give it again"
            )
        workload.profiles[io.profile_name] = read_profile(io.profile_name, io.profile)
    profile = workload.profile(io.profile_name)
    work = profile.work
    if not isinstance(work, ParallelWork) or isinstance(work, Staging | StorageAccess):
        raise ValueError(
            f"additional_io_job: its profile {shown(io.profile_name)} must be a parallel task, it is "
            f"{shown(profile.kind)}"
        )
    io_allocation = allocations.of(io.alloc)
    io_place = placement(io_allocation, None, None, machines)
    io_task = work.task(io_place)
    ids = tuple(sorted({*place.machine_ids, *io_allocation.ids}))
    hosts = tuple(machines.all[number].host for number in ids)
    flops = np.zeros(len(ids))
    com = np.zeros((len(ids), len(ids)))
    for part, part_ids in ((task, place.machine_ids), (io_task, io_allocation.ids)):
        if len(part.hosts) != len(part_ids):
            raise ValueError("additional_io_job: a job with a 'mapping' of its own cannot be merged")
        positions = np.array([ids.index(number) for number in part_ids])
        part_flops, part_com = dense(part)
        flops[positions] += part_flops
        com[np.ix_(positions, positions)] += part_com
    merged = TaskSpec(hosts, flops, Matrix(com))
    check_flops(merged, Placement(hosts, ids, machines, {}))
    return merged


def dense(task: TaskSpec) -> tuple[FloatArray, FloatArray]:
    """Flops per position, and bytes between positions, as dense arrays."""
    count = len(task.hosts)
    flops = np.broadcast_to(np.asarray(task.flops, np.float64), (count,))
    com = np.zeros((count, count))
    for part in task.comm if isinstance(task.comm, tuple) else (task.comm,):
        if isinstance(part, AllToAll):
            com += part.bytes_per_ordered_pair
            com[np.diag_indices(count)] -= part.bytes_per_ordered_pair
        elif isinstance(part, Matrix):
            com += part.bytes
        elif isinstance(part, Pairs):
            np.add.at(com, (np.asarray(part.src), np.asarray(part.dst)), np.asarray(part.bytes))
        else:
            assert isinstance(part, NoComm)
    return flops, com
