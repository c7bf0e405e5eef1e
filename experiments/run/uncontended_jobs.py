"""Durations of a run's jobs without contention: the base of slowdowns by contention.

Each job is played alone on the machine, with its nodes and storage nodes of the run; only its own transfers compete
with each other. Its time is calculated (:mod:`spillway.experiments.run.uncontended_times`); only jobs for which this is
impossible are simulated again, one after the other.

A job's time over that is its slowdown by contention: the *stretch* of Jeannot, Pallez and Vidal (IJHPCA 2023, section
"Evaluation criterion", rho_i). Batsim's ``stretch`` is another thing: turnaround over execution time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from spillway.core import StaticJobs
from spillway.experiments.run.player_files import walltimes
from spillway.experiments.run.prepared_input import checked
from spillway.experiments.run.sessions import model_of, session_spec
from spillway.experiments.run.spec import Engine, RunSpec
from spillway.experiments.run.uncontended_times import NotCalculated, UncontendedTimes
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import load_platform
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.gates import IoControl
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import View
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.registry import Workload
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

_NO_WALLTIME_GAP_S = 86_400.0
"""Seconds to the next submission after a job without a walltime; a longer job only delays the next one."""


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
    return None if run.engine is Engine.FIXED else model_of(run).alone()


def uncontended_s(
    run: RunSpec,
    root: Path,
    records: Mapping[str, JobRecord],
    platform: Platform | None = None,
    jobs: Sequence[tuple[str, float]] = (),
) -> dict[str, float] | None:
    """Duration of each job of a finished run without contention.

    Parameters
    ----------
    run
        The run; its platform, workload and settings are used again, its policy is not. The fluid engine plays.
    root
        The campaign's folder.
    records
        The run's records of its jobs, by full id; only these are played, except jobs without nodes or transfers.
    platform, jobs
        The run's platform and its jobs (:attr:`spillway.experiments.run.player_files.Played.jobs`), if they have been
        read already.

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
    platform = platform or load_platform(checked(root, run.platform))
    jobs = jobs or walltimes(load_workload(checked(root, run.workload)))

    from spillway.simulator.engines.fluid import FluidEngine

    submissions = _one_by_one([(job_id, walltime) for job_id, walltime in jobs if job_id in records])
    with FluidEngine(platform) as engine:
        found = _calculated(submissions, records, UncontendedTimes(platform, engine, model))
    left = {job_id: time_s for time_s, job_id in submissions if job_id not in found}
    if left:
        workload = _submitted_at(load_workload(checked(root, run.workload)), left)
        found |= _simulated(run, workload, records, model, platform)
    return found


def _calculated(
    submissions: Sequence[tuple[float, str]], records: Mapping[str, JobRecord], times: UncontendedTimes
) -> dict[str, float]:
    """Times of all jobs that need no simulation."""
    found = {}
    for submitted_s, job_id in submissions:
        record = records[job_id]
        with contextlib.suppress(NotCalculated):
            alone = times.play(record.job, record.allocation, submitted_s)
            found[job_id] = alone.end_s - alone.start_s
    return found


def _simulated(
    run: RunSpec, workload: Workload, records: Mapping[str, JobRecord], model: JobModel, platform: Platform
) -> dict[str, float]:
    """Times of a workload's jobs, simulated one after the other."""
    policy = OneByOne({job_id: record.allocation for job_id, record in records.items()})
    settings = _without_turns(session_spec(run.policy).make_settings())
    ended = play_one_by_one(policy, settings, model, platform, workload)
    return {record.job.id: record.end_s - record.start_s for record in ended}


def play_one_by_one(
    policy: OneByOne, settings: Settings, model: JobModel, platform: Platform, workload: Workload
) -> list[JobRecord]:
    """Play jobs that are submitted far apart from each other; return their records in the order of their ends."""
    from spillway.simulator.engines.fluid import FluidEngine

    ended: list[JobRecord] = []
    session = assemble(policy, settings, model, on_record=ended.append)
    with FluidEngine(platform) as engine:
        options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
        Simulation(platform, [workload], engine, InProcessLink(session), options).run()
    return ended


def _without_turns(settings: Settings) -> Settings:
    """The run's settings without turns at the file system, and with a job's whole life on its nodes."""
    plain = Settings()
    return replace(
        settings,
        io_control=IoControl.SHARED,
        io_order=plain.io_order,
        io_node_depth=plain.io_node_depth,
        bb_life=plain.bb_life,
    )


def _one_by_one(jobs: Sequence[tuple[str, float]]) -> list[tuple[float, str]]:
    """Submission time (s) and id of each job, in order: a job is submitted when the one before reaches its walltime."""
    times_s = accumulate((walltime if walltime >= 0 else _NO_WALLTIME_GAP_S for _, walltime in jobs), initial=0.0)
    return sorted(zip(times_s, (job_id for job_id, _ in jobs), strict=False))


def _submitted_at(workload: Workload, times_s: Mapping[str, float]) -> Workload:
    """Keep the jobs of a workload that have a time, and submit each at that time."""
    jobs = StaticJobs()
    for job in workload.jobs:
        if job.id in times_s:
            job.subtime = times_s[job.id]
            if job.source is not None:
                job.source = {**job.source, "subtime": job.subtime}
            jobs.append(job)
    workload.jobs = jobs
    return workload
