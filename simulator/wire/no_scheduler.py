"""``--no-sched``: every job starts at once on the first hosts; no scheduler, no queue, no conversation."""

from __future__ import annotations

from spillway.base.errors import shown
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.jobs.execution import Executor, Start
from spillway.simulator.jobs.job import Job
from spillway.simulator.jobs.profiles.base import ParallelWork
from spillway.simulator.world.allocation import Allocations
from spillway.simulator.world.machines import Machines
from spillway.simulator.world.placing import check_flops, placement


def start_all(jobs: list[Job], executor: Executor, machines: Machines) -> None:
    """Start jobs on the machines ``0..res-1`` each, all at the present time, regardless of submission times.

    Raises
    ------
    SimulatorInputError
        A job requests no machine, more than the platform has, or cannot run on them.
    """
    allocations = Allocations(machines)
    for job in jobs:
        try:
            allocation = allocations.of(tuple(range(job.res)))
            place = placement(allocation, None, None, machines)
            task = None
            if isinstance(job.profile.work, ParallelWork):
                task = job.profile.work.task(place)
                check_flops(task, place)
        except ValueError as fault:
            raise SimulatorInputError(f"job {shown(job.id)} cannot run without a scheduler: {fault}") from None
        executor.start((Start(job, allocation, task, place, 0),), (0.0,))
