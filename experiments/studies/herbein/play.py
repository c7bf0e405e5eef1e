"""One point: a drawn workload on CTS-1, played by the product's own session and engine, and its results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spillway.experiments.run import manifest, provenance
from spillway.experiments.studies.herbein.logs import LOGS, drawn
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.simulation import platform, simulate
from spillway.platforms.model import Platform
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import Estimates, Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.model.job import Job
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import Running
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.engines.native import FluidEngine, WaterfillEngine
from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.models.herbein import CHANGES_PER_JOB

AWARE, IGNORANT = "aware", "ignorant"
NODES = 3888
"""Compute nodes of CTS-1."""
_FULL_RATE = 70e9
"""Full bandwidth of its file system, bytes per second."""


def play(point: Point) -> Values:
    """Play a point and return its figures."""
    workload, machine = drawn(point), platform(_name(point.whole("under")))
    diary, order = EndRecorder(workload), {"order": point.text("order"), "fill_order": point.text("order")}
    settings = Settings(estimates=Estimates.REQUESTED, bandwidth=point.text("scheduler"))
    session = assemble(POLICIES[point.text("policy")].build(order), settings, Rigid(), observer=diary)
    engine, contended = ENGINES[point.text("contention")](machine), math.nan
    simulate(session, workload, machine, engine)
    if isinstance(engine, WaterfillEngine):
        contended = 100.0 * engine.contended_s / engine.busy_s if engine.busy_s else 0.0
    fits = [row.rate * row.nodes <= _FULL_RATE * (100 - point.whole("under")) / 100 for row in diary.rows]
    return summary(diary.rows, fits) | {
        "contended_percent": contended,
        "rejected": float(diary.rejected_jobs),
        "offered_percent": 100.0 * offered(workload),
    }


def inputs(point: Point) -> Any:
    """Checksums of a point's inputs."""
    under = point.whole("under")
    return {"log": _checksum(point.text("log")), "platform": provenance.platform_checksum(_name(under))}


def policies(point: Point) -> list[str]:
    """The policy of a point."""
    return [point.text("policy")]


class Row(NamedTuple):
    """A job that ended: its compute nodes, I/O rate per node (bytes per second), instants, seconds of computation."""

    nodes: int
    rate: int
    submit_s: float
    start_s: float
    end_s: float
    computing_s: float


class EndRecorder(Observer):
    """Records every job that ended; jobs are never killed here, so that each has finished its computation."""

    def __init__(self, workload: Workload) -> None:
        self._computing_s = {str(job.id): computing_s(workload, job) for job in workload.jobs}
        self.rows: list[Row] = []
        self.rejected_jobs = 0

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Count a rejected job."""
        self.rejected_jobs += 1

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record a row."""
        job = running.job
        assert state is JobState.COMPLETED_SUCCESSFULLY, f"job {job.id} was stopped: {state.value}"
        computing = self._computing_s[job.id.rpartition("!")[2]]
        self.rows.append(Row(job.nodes, job.io_rate, job.submit_time_s, running.start_s, now_s, computing))


def computing_s(workload: Workload, job: WorkloadJob) -> float:
    """Seconds that a job takes if it is never blocked; nodes of CTS-1 do 1e9 flop/s."""
    return float(workload.profiles[job.profile]["cpu"]) / 1e9


def offered(workload: Workload) -> float:
    """Work of all jobs as a share of the machine's capacity between the first submission and the last."""
    work = sum(job.res * computing_s(workload, job) for job in workload.jobs)
    span_s = workload.jobs[-1].subtime - workload.jobs[0].subtime
    return work / (NODES * span_s) if span_s > 0 else math.inf


def summary(rows: Sequence[Row], fits: Sequence[bool]) -> dict[str, float]:
    """Figures of one test.

    Parameters
    ----------
    fits
        Jobs whose streams fit on the empty machine. The I/O-aware scheduler refuses the others (3.4), so that waits
        and turnarounds of both schedulers are those of these jobs.

    Notes
    -----
    ``computing_percent``: share of the allocated node time in which jobs compute (5.2); ``least_job_percent`` and
    ``most_job_percent``: the same of single jobs (5.3); ``state_change_s``: first submission to last
    end over four changes per job (5.4).
    """
    nodes, _, submit, start, end, computing = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    both = np.array(fits)
    held = end - start
    computing = np.minimum(computing, held)
    shares = np.divide(computing, held, out=np.ones_like(held), where=held > 0)
    span_s = float(end.max() - submit.min())
    return {
        "computing_percent": float(100 * (nodes @ computing) / (nodes @ held)),
        "least_job_percent": float(100 * shares.min()),
        "most_job_percent": float(100 * shares.max()),
        "mean_turnaround_s": float((end - submit)[both].mean()),
        "mean_wait_s": float((start - submit)[both].mean()),
        "state_change_s": span_s / (CHANGES_PER_JOB * len(nodes)),
    }


ENGINES: Mapping[str, Callable[[Platform], Engine]] = {
    "exact": WaterfillEngine,
    "whole-mb": partial(WaterfillEngine, whole_units=True),
    "fluid": FluidEngine,
}
"""Models of shared bandwidth: section 4.4, the same in whole MB/s, SimGrid's parallel tasks."""


def _name(under: int) -> str:
    return f"cts1-{under}" if under else "cts1"


@lru_cache(maxsize=len(LOGS))
def _checksum(log: str) -> str:
    """Checksum of the local copy, else the source: a public log or a generator is the same everywhere."""
    place = Path(LOGS[log].place)
    return manifest.checksum(place) if place.is_file() else LOGS[log].source
