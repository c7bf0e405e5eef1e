"""Durations of a run's jobs without contention: the base of slowdowns by contention.

Each job is played again alone on the machine, one after the other, with its nodes and storage nodes of the run; only
its own transfers compete with each other.

A job's time over that is its slowdown by contention: the *stretch* of Jeannot, Pallez and Vidal (IJHPCA 2023, section
"Evaluation criterion", rho_i). Batsim's ``stretch`` is another thing: turnaround over execution time.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spillway.core import StaticJobs
from spillway.experiments.run.prepared_input import checked
from spillway.experiments.run.sessions import session_of
from spillway.experiments.run.spec import Engine, RunSpec
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.dependencies import DEPENDENCY_FIELDS
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.persistent import PERSISTENT_FIELDS
from spillway.schedulers.model.site import SITE_FIELDS
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import View
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.registry import Workload
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

_NO_WALLTIME_GAP_S = 86_400.0
"""Seconds to the next submission after a job without a walltime; a longer job only delays the next one."""

_OF_OTHERS = frozenset(field.name for field in (*PERSISTENT_FIELDS, *DEPENDENCY_FIELDS, *SITE_FIELDS))
"""Fields of jobs by which they wait for other jobs, or for a site; a job alone waits for nothing."""


@dataclass(frozen=True)
class OneByOne:
    """Starts one job at a time, in order of submission.

    Attributes
    ----------
    allocations
        Allocations by full job id; a job without an entry is placed by the rules of placement on the empty machine.
    """

    allocations: Mapping[str, Allocation]

    def __call__(self, view: View) -> Iterator[Decision]:
        """Start the first waiting job if no job runs."""
        if not view.running and view.queue:
            job = view.queue[0]
            given = self.allocations.get(job.id)
            start = try_start(view, job) if given is None else Start(job, given)
            if start is not None:
                yield start


def model_alone(run: RunSpec) -> JobModel | None:
    """The model that plays a run's jobs without contention; ``None`` if its model or its engine has no such model."""
    return None if run.engine is Engine.FIXED else session_of(run).make_model().alone()


def uncontended_s(run: RunSpec, root: Path, records: Mapping[str, JobRecord]) -> dict[str, float] | None:
    """Duration of each job of a finished run without contention.

    Parameters
    ----------
    run
        The run; its platform, workload and settings are used again, its policy is not. The fluid engine plays.
    root
        The campaign's folder.
    records
        The run's records of its jobs, by full id; only these are played, except jobs without nodes or transfers.

    Returns
    -------
    dict[str, float] | None
        Seconds from start to end, including drains, by full id; ``None`` if the job model has no such time
        (:meth:`spillway.schedulers.jobmodels.base.JobModel.alone`), no job moves bytes, or the engine has no
        contention.
    """
    model = model_alone(run)
    if model is None:
        return None
    records = {
        job_id: record for job_id, record in records.items() if record.allocation.nodes and model.moves(record.job)
    }
    if not records:
        return None
    workload = load_workload(checked(root, run.workload))
    _submit_one_by_one(workload, records)
    policy = OneByOne({job_id: _at_once(record.allocation) for job_id, record in records.items()})
    settings = _of_machine(session_of(run).make_settings())
    ended = play_one_by_one(policy, settings, model, load_platform(checked(root, run.platform)), workload)
    return {record.job.id: record.end_s - record.start_s for record in ended}


def play_one_by_one(
    policy: OneByOne, settings: Settings, model: JobModel, platform: Platform, workload: Workload
) -> list[JobRecord]:
    """Play jobs that are submitted far apart from each other; return their records in the order of their ends."""
    from spillway.simulator.engines.native import FluidEngine

    ended: list[JobRecord] = []
    session = assemble(policy, settings, model, on_record=ended.append)
    with FluidEngine(platform) as engine:
        options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
        Simulation(platform, [workload], engine, InProcessLink(session), options).run()
    return ended


def _at_once(held: Allocation) -> Allocation:
    """The same nodes and storage nodes, all for the job's whole life."""
    return Allocation(held.nodes, held.storages, held.bb_bytes, held.io_rate, striped=held.striped)


def _of_machine(settings: Settings) -> Settings:
    """The run's settings that change the machine; without turns at the file system, lives of buffers, or a site."""
    return Settings(bandwidth=settings.bandwidth, foreign=settings.foreign, pfs_bandwidth=settings.pfs_bandwidth)


def _submit_one_by_one(workload: Workload, chosen: Container[str]) -> None:
    """Keep the chosen jobs; each is submitted when the one before reaches its walltime."""
    jobs = StaticJobs()
    submitted_s = 0.0
    for job in workload.jobs:
        if job.id not in chosen:
            continue
        job.subtime = submitted_s
        if job.source is not None:
            own = {name: value for name, value in job.source.items() if name not in _OF_OTHERS}
            job.source = own | {"subtime": submitted_s}
        jobs.append(job)
        submitted_s += job.walltime if job.walltime >= 0 else _NO_WALLTIME_GAP_S
    workload.jobs = jobs
