"""One run: a drawn workload on CTS-1 under one scheduler and one contention model, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from experiments import kept, provenance
from experiments.herbein.meter import MeteredEngine, Stopwatch
from experiments.herbein.published import AWARE
from experiments.kept import Found
from platforms.catalogue import platform_from
from platforms.model import Platform
from schedulers.core.job import Allocation, Job
from schedulers.core.machine import MachineDefaults
from schedulers.core.session import Observer, Session
from schedulers.jobmodels.rigid import Rigid
from schedulers.jobmodels.runtime import ProgramRuntime
from schedulers.options import show
from schedulers.policies import POLICIES
from schedulers.policykit.estimates import Requested
from schedulers.policykit.view import Running
from schedulers.timeline.placement import NodeOrder, Placement
from schedulers.wire.messages import JobState
from simulator.broker import Simulation
from simulator.engines.base import Engine
from simulator.engines.waterfill import WaterfillEngine
from simulator.links import InProcessLink
from simulator.options import SimulationOptions
from simulator.workload import workload_from_object
from workloads.herbein import CHANGES_PER_JOB
from workloads.workload import Workload

NODES = 3888
"""Compute nodes of CTS-1."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """What one run is.

    Attributes
    ----------
    platform
        Name of a platform.
    policy
        ``fcfs``, ``easy`` or any other.
    scheduler
        ``aware`` or ``ignorant`` of I/O.
    contention
        ``waterfill`` (section 4.4), ``waterfill-mb`` (the same in whole MB/s, as the authors' emulator) or ``fluid``
        (SimGrid's parallel tasks).
    seed
        Seed of the workload.
    mix
        ``constant`` (18 MB/s per node) or ``diverse``.
    foreign_share
        Share of the file system kept for others' traffic.
    node_order
        Placement.
    """

    platform: str
    policy: str
    scheduler: str
    contention: str = "waterfill"
    seed: int = 0
    mix: str = "constant"
    foreign_share: float = 0.0
    node_order: str = "first-fit"

    @property
    def id(self) -> str:
        """Stable name of its files."""
        parts = [self.platform, self.policy, self.scheduler, self.contention, self.mix, f"seed{self.seed}"]
        if self.foreign_share:
            parts.append(f"foreign{show(self.foreign_share)}")
        if self.node_order != "first-fit":
            parts.append(self.node_order)
        return "_".join(parts)


class Result(msgspec.Struct, frozen=True):
    """What came of a run.

    Attributes
    ----------
    nodes, submit_s, start_s, end_s
        One entry per job, in order of ends: compute nodes and instants.
    held_nodes, held_s, computing_s
        One entry per job, in order of ends, as measured at the engine: nodes, time held, time spent computing.
    decisions_s, decisions_cpu_s
        Wall-clock seconds and CPU seconds of every answer of the scheduler but the first (which describes the machine).
    contended_percent
        Share of the time with running jobs in which some job got less than it requested; -1 where not known.
    rejected
        Jobs that can never fit.
    wall_s
        Seconds that the run took.
    """

    nodes: list[int]
    submit_s: list[float]
    start_s: list[float]
    end_s: list[float]
    held_nodes: list[int]
    held_s: list[float]
    computing_s: list[float]
    decisions_s: list[float]
    decisions_cpu_s: list[float]
    contended_percent: float
    rejected: int
    wall_s: float


class Diary(Observer):
    """Notes every job that ended; jobs are never killed here, so that each has computed all it had to."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, float, float]] = []
        self.rejected_jobs = 0

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Count."""
        self.rejected_jobs += 1

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Nothing to note."""

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Note nodes, submission, start and end."""
        job = running.job
        assert state is JobState.COMPLETED_SUCCESSFULLY, f"job {job.id} was stopped: {state.value}"
        self.rows.append((job.nodes, job.submit_time_s, running.start_s, now_s))


def _fluid(platform: Platform) -> Engine:
    from simulator.engines.fluid import FluidEngine  # loads kernels

    return FluidEngine(platform)


ENGINES: Mapping[str, Callable[[Platform], Engine]] = {
    "waterfill": WaterfillEngine,
    "waterfill-mb": partial(WaterfillEngine, whole_units=True),
    "fluid": _fluid,
}
"""Contention models by name."""


def run(point: Point, workload: Workload, platform: Platform | None = None) -> Result:
    """Run a point in this process."""
    begin = time.perf_counter()
    platform = platform or _platform(point.platform)
    diary = Diary()
    session = Session(
        POLICIES[point.policy].build(),
        ProgramRuntime(Rigid()),
        placement=Placement(NodeOrder(point.node_order)),
        defaults=MachineDefaults(bandwidth=point.scheduler == AWARE, foreign_share=point.foreign_share),
        estimator=Requested(),
        observer=diary,
    )
    watch = Stopwatch(session)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": str(job.id)} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    engine: Engine = ENGINES[point.contention](platform)
    metered = MeteredEngine(engine, platform)
    with engine:
        link, options = InProcessLink(watch.handle), SimulationOptions(fail_on_deadlock=True)
        Simulation(platform, [workload_from_object(data)], cast(Engine, metered), link, options).run()
        share = -1.0
        if isinstance(engine, WaterfillEngine):
            share = 100.0 * engine.contended_s / engine.busy_s if engine.busy_s else 0.0
    columns: list[list[Any]] = [list(column) for column in zip(*diary.rows, strict=True)] or [[]] * 4
    columns += [list(column) for column in zip(*metered.rows, strict=True)] or [[]] * 3
    wall_s = time.perf_counter() - begin
    nodes, submit, start, end, width, held, computing = columns
    return Result(
        nodes, submit, start, end, width, held, computing, watch.wall_s, watch.cpu_s, share, diary.rejected_jobs, wall_s
    )


@lru_cache(maxsize=4)
def _platform(name: str) -> Platform:
    """A platform never changes: several runs of a process share it."""
    return platform_from(name)


def summary(result: Result) -> dict[str, float]:
    """The figures of one run (:data:`experiments.herbein.report.COLUMNS` has what they mean)."""
    nodes, start, end = (np.array(column, np.float64) for column in (result.nodes, result.start_s, result.end_s))
    computing, held, width = np.array(result.computing_s), np.array(result.held_s), np.array(result.held_nodes)
    submit = np.array(result.submit_s)
    shares = np.divide(computing, held, out=np.ones_like(held), where=held > 0)
    decisions, cpu = np.array(result.decisions_s), np.array(result.decisions_cpu_s)
    return {
        "jobs": float(len(nodes)),
        "rejected": float(result.rejected),
        "computing_percent": float(100 * (width @ computing) / (width @ held)),
        "least_job_percent": float(100 * shares.min()),
        "job_stretch": float((1.0 / np.maximum(shares, 1e-9)).mean()),
        "contended_percent": result.contended_percent,
        "mean_turnaround_s": float((end - submit).mean()),
        "mean_wait_s": float((start - submit).mean()),
        "makespan_s": float(end.max() - submit.min()),
        "busy_percent": float(100 * (width @ held) / (NODES * (end.max() - submit.min()))),
        "state_change_s": float((end.max() - submit.min()) / (CHANGES_PER_JOB * len(nodes))),
        "decisions": float(len(decisions)),
        **{f"decision_p{q}_s": float(np.percentile(decisions, q)) for q in (50, 75, 95, 99)},
        **{f"decision_cpu_p{q}_s": float(np.percentile(cpu, q)) for q in (50, 99)},
        "decision_max_s": float(decisions.max()),
        "wall_s": result.wall_s,
    }


def file_of(point: Point, workload: Workload, folder: Path) -> Path:
    """Where a run's result is kept: the name has the point and the workload, whatever made it."""
    return folder / f"{point.id}_{workload.checksum[:8]}.json"


def look(point: Point, workload: Workload, folder: Path) -> Found:
    """What is kept of a point (:mod:`experiments.kept`)."""
    return kept.look(file_of(point, workload, folder), _requested(point, workload), _code(point))


def run_to_file(point: Point, workload: Workload, folder: Path) -> None:
    """Run a point and keep its result."""
    result = run(point, workload)
    kept.keep(file_of(point, workload, folder), _requested(point, workload), _code(point), result)


def read(path: Path) -> Result:
    """Read a kept result."""
    return kept.read(path, Result)


def _requested(point: Point, workload: Workload) -> dict[str, Any]:
    platform = provenance.platform_checksum(point.platform)
    return {"point": point, "workload": workload.checksum, "platform": platform}


def _code(point: Point) -> str:
    return provenance.code(point.policy, __name__)


def averaged(rows: list[Mapping[str, float]]) -> dict[str, float]:
    """Means over seeds; of the least job the least, of the longest decision the longest; -1 where one is unknown."""
    pick = {"least_job_percent": min, "decision_max_s": max}
    return {
        name: float(pick[name](row[name] for row in rows)) if name in pick else float(np.mean([r[name] for r in rows]))
        for name in rows[0]
    }
