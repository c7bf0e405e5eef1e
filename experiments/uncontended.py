"""How long the jobs of an IO-Aware run would have taken without contention: what slowdowns by contention refer to.

Each is played by itself, on the nodes and storage nodes that it had in the run. So what remains is what a job's own
transfers do to each other. That is calculated (:mod:`experiments.uncontended_times`); only the jobs that cannot be
calculated so are simulated once more, one after the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.prepared import checked
from experiments.sessions import model_of, session_spec
from experiments.spec import RunSpec
from experiments.uncontended_times import NotCalculated, UncontendedTimes
from platforms.model import Platform
from platforms.xml_reader import load_platform
from schedulers.assembly import Settings, assemble
from schedulers.core.job import Allocation
from schedulers.jobmodels.gates import IoControl
from schedulers.jobmodels.io_aware import IoAware
from schedulers.jobmodels.record import JobRecord
from schedulers.policykit.decisions import Decision, Start
from schedulers.policykit.view import View
from simulator.broker import Simulation
from simulator.links import InProcessLink
from simulator.options import SimulationOptions
from simulator.registry import Workload
from simulator.submitters import in_order_of_submission
from simulator.workload import load_workload

NO_WALLTIME_GAP_S = 86_400.0
"""Time to the next submission after a job without a walltime. A job that takes longer only makes the next one wait."""


@dataclass(frozen=True)
class OneByOne:
    """Starts one job at a time, in order of submission, on given allocations (by full job id)."""

    allocations: Mapping[str, Allocation]

    def __call__(self, view: View) -> Iterator[Decision]:
        """Start the first waiting job if nothing runs."""
        if not view.running and view.queue:
            job = view.queue[0]
            yield Start(job, self.allocations[job.id])


def uncontended_s(
    run: RunSpec, root: Path, records: Mapping[str, JobRecord], platform: Platform | None = None
) -> dict[str, float]:
    """How long each job of a finished IO-Aware run takes by itself.

    Parameters
    ----------
    run
        The run; its platform, workload and settings are used again, its policy is not. The fluid engine plays.
    root
        The campaign's folder.
    records
        What the run's jobs did, by full id; only these are played, but for jobs without nodes.
    platform
        The run's platform, where it has been read already.

    Returns
    -------
    dict[str, float]
        Seconds from start to end, drains included, by full id.
    """
    from simulator.engines.fluid import FluidEngine  # loads kernels

    model = model_of(run)
    assert isinstance(model, IoAware)
    model = replace(model, early_release=False)
    records = {job_id: record for job_id, record in records.items() if record.allocation.nodes}
    platform = platform or load_platform(checked(root, run.platform))
    workload = _one_by_one(load_workload(checked(root, run.workload)), records)
    with FluidEngine(platform) as engine:
        found = _calculated(workload, records, UncontendedTimes(platform, engine, model))
    workload.jobs = [job for job in workload.jobs if job.id not in found]
    if workload.jobs:
        found |= _simulated(run, workload, records, model, platform)
    return found


def _calculated(workload: Workload, records: Mapping[str, JobRecord], times: UncontendedTimes) -> dict[str, float]:
    """The times of all jobs that need no simulation."""
    found = {}
    for submitted_s, job in in_order_of_submission(workload.jobs):
        record = records[job.id]
        with contextlib.suppress(NotCalculated):
            found[job.id] = times.seconds(record.job, record.allocation, submitted_s)
    return found


def _simulated(
    run: RunSpec, workload: Workload, records: Mapping[str, JobRecord], model: IoAware, platform: Platform
) -> dict[str, float]:
    """The times of a workload's jobs, simulated one after the other."""
    from simulator.engines.fluid import FluidEngine  # loads kernels

    found: dict[str, float] = {}
    session = assemble(
        OneByOne({job_id: record.allocation for job_id, record in records.items()}),
        _without_turns(session_spec(run.policy).make_settings()),
        model,
        on_record=lambda record: found.update({record.job.id: record.end_s - record.start_s}),
        direct=True,
    )
    with FluidEngine(platform) as engine:
        options = SimulationOptions(dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True)
        Simulation(platform, [workload], engine, InProcessLink(session.handle), options).run()
    return found


def _without_turns(settings: Settings) -> Settings:
    """The run's settings, but for turns at the file system, which a single job need not wait for, and with all that a
    job does on its nodes.
    """
    plain = Settings()
    return replace(
        settings,
        io_control=IoControl.SHARED,
        io_order=plain.io_order,
        io_node_depth=plain.io_node_depth,
        bb_life=plain.bb_life,
    )


def _one_by_one(workload: Workload, records: Mapping[str, JobRecord]) -> Workload:
    """Keep the jobs that have records, and submit each when the one before has reached its walltime."""
    workload.jobs = [job for job in workload.jobs if job.id in records]
    time_s = 0.0
    for job in workload.jobs:
        job.subtime = time_s
        if job.source is not None:
            job.source = {**job.source, "subtime": time_s}
        time_s += job.walltime if job.walltime >= 0 else NO_WALLTIME_GAP_S
    return workload
