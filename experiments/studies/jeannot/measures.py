"""Measures of one execution: stretch, utilisation, and the use of resources over its course.

Definitions (the paper's section "Evaluation criterion", made exact):

* *stretch*: time from start to end over the uncontended time, equation (1); it includes waiting for I/O, but not
  waiting for a start (all jobs are submitted at the beginning).
* *utilisation*: processor-seconds of computing over all processor-seconds.
* *idle*: processor-seconds that no job held, over all until the last job ends (Figure 9).
* *course*: means over equal parts of the execution. The paper does not state where its steady state begins and ends;
  ours lies between a tenth and six tenths of the execution.
* *bound*: share of the execution in which a waiting job fits on the idle nodes, but its average bandwidth does not fit
  beside those of the running jobs; 0 if the strict constraint never delays a start.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.sub_jobs import owner_of
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.operations import operations_of
from spillway.workloads.models.ranks import rank_correlation

Floats = npt.NDArray[np.float64]

PARTS = 50
"""Parts of an execution."""
STEADY = (0.1, 0.6)
"""Range of the steady state, as shares of the execution."""
EARLY, LATE = (0.1, 0.4), (0.5, 0.8)
"""Parts between which a drift is measured: neither the start nor the exhaustion at the end."""
FIRST, LAST = (0.0, 0.2), (0.8, 1.0)
"""Parts between which the exhaustion is measured."""
DRAWN = 25
"""Number of parts of a course in figures."""
_COURSES = ("computing", "allocated", "transferring", "running")


@dataclass(frozen=True)
class Execution:
    """An execution that has ended.

    Attributes
    ----------
    records
        Records of the jobs, in the order of their ends.
    computing
        Start, end (s) and nodes of every compute operation.
    transferring
        Start and end (s) of every transfer.
    """

    records: Sequence[JobRecord]
    computing: Sequence[tuple[float, float, int]]
    transferring: Sequence[tuple[float, float]]

    @classmethod
    def of(cls, records: Sequence[JobRecord], path: Path) -> Execution:
        """Read the operations from the simulator's table of jobs, which has a row for each."""
        nodes = {record.job.id: record.job.nodes for record in records}
        computing, transferring = [], []
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                if owner := owner_of(row["workload_name"]):
                    start_s, end_s = float(row["starting_time"]), float(row["finish_time"])
                    if row["profile"].startswith("delay"):
                        computing.append((start_s, end_s, nodes[owner]))
                    else:
                        transferring.append((start_s, end_s))
        return cls(records, computing, transferring)

    def in_use(self) -> list[tuple[float, float]]:
        """Intervals in which the file system's bandwidth was in use."""
        found: list[tuple[float, float]] = []
        for start_s, end_s in sorted(self.transferring):
            if found and start_s <= found[-1][1]:
                found[-1] = (found[-1][0], max(found[-1][1], end_s))
            else:
                found.append((start_s, end_s))
        return found


def measure(execution: Execution, processors: int, bandwidth: float) -> dict[str, float]:
    """Measure an execution that has ended.

    Parameters
    ----------
    processors
        Processors of the machine.
    bandwidth
        Bandwidth of the file system, bytes per second: a job has all of it uncontended.

    Returns
    -------
    dict[str, float]
        The values of :func:`stretches` and of this module, and the courses, ``computing 0`` to ``running 24``.
    """
    jobs = [record.job for record in execution.records]
    start, end = _instants(execution.records)
    nodes = np.array([job.nodes for job in jobs], np.float64)
    makespan = float(end.max())
    computing = np.array(execution.computing, np.float64).reshape(-1, 3)
    transferring = np.array(execution.in_use(), np.float64).reshape(-1, 2)
    courses = {
        "computing": course(computing[:, 0], computing[:, 1], computing[:, 2] / processors, makespan),
        "allocated": course(start, end, nodes / processors, makespan),
        "transferring": course(transferring[:, 0], transferring[:, 1], np.ones(len(transferring)), makespan),
        "running": course(start, end, np.ones(len(jobs)), makespan),
    }
    found = stretches(execution.records, processors)
    found["utilisation"] = float(courses["computing"].mean())
    found["steady"] = window(courses["computing"], STEADY)
    found["unevenness"] = unevenness(courses["computing"])
    found["fall"] = window(courses["computing"], FIRST) - window(courses["computing"], LAST)
    shares = np.array([_io_share(job, bandwidth) for job in jobs])
    found["io_last"] = rank_correlation(start, shares)
    found["bound"] = bound(start, end, nodes, shares, processors)
    for name, values in courses.items():
        found[f"{name} drift"] = drift(values)
        found[f"{name} change"] = abs(drift(values))
        found |= {f"{name} {part}": float(mean) for part, mean in enumerate(values.reshape(DRAWN, -1).mean(axis=1))}
    return {name: round(value, 9) for name, value in found.items()}


def stretches(records: Sequence[JobRecord], processors: int) -> dict[str, float]:
    """Measures that follow from starts and ends."""
    start, end = _instants(records)
    nodes = np.array([record.job.nodes for record in records], np.float64)
    stretch = (end - start) / np.array([float(record.job.extras["requested_s"]) for record in records])
    makespan = float(end.max())
    return {
        "makespan_s": makespan,
        "mean_stretch": float(stretch.mean()),
        "max_stretch": float(stretch.max()),
        "idle": float(1 - ((end - start) * nodes).sum() / (makespan * processors)),
        "jobs_at_a_time": float((end - start).sum() / makespan),
    }


def _instants(records: Sequence[JobRecord]) -> tuple[Floats, Floats]:
    return np.array([record.start_s for record in records]), np.array([record.end_s for record in records])


def window(values: Floats, part: tuple[float, float]) -> float:
    """Mean of a course over a part of the execution."""
    return float(values[round(part[0] * PARTS) : round(part[1] * PARTS)].mean())


def drift(values: Floats) -> float:
    """Relative change of a course between :data:`EARLY` and :data:`LATE`; 0 in a steady state."""
    early, late = window(values, EARLY), window(values, LATE)
    return (late - early) / (0.5 * (late + early)) if late + early > 0 else 0.0


def unevenness(values: Floats) -> float:
    """Coefficient of variation of a course's tenths between the first tenth and eight tenths of the execution."""
    tenths = np.array([window(values, (tenth / 10, (tenth + 1) / 10)) for tenth in range(1, 8)])
    return float(tenths.std() / tenths.mean()) if tenths.mean() > 0 else 0.0


def bound(start: Floats, end: Floats, nodes: Floats, rates: Floats, processors: int) -> float:
    """Share of an execution in which a waiting job fits on the idle nodes but not in the bandwidth that is left.

    Parameters
    ----------
    rates
        Average bandwidths of the jobs as shares of the file system's.
    """
    times = np.unique(np.concatenate(([0.0], start, end)))
    held_s = 0.0
    for begin, stop in itertools.pairwise(times.tolist()):
        running, waiting = (start <= begin) & (end > begin), start > begin
        fits = nodes[waiting] <= processors - nodes[running].sum()
        held_s += (stop - begin) * bool((fits & (rates[waiting] > 1 - rates[running].sum() + 1e-9)).any())
    return held_s / float(times[-1])


def course(start: Floats, end: Floats, weight: Floats, makespan: float) -> Floats:
    """Sum of the weights of the current intervals, averaged over each part of the execution."""
    edges = np.linspace(0.0, makespan, PARTS + 1)
    times = np.concatenate((start, end))
    order = np.argsort(times, kind="stable")
    steps = np.concatenate((weight, -weight))[order]
    times = times[order]
    level = np.concatenate(([0.0], np.cumsum(steps)))
    integral = np.concatenate(([0.0], np.cumsum(level[1:-1] * np.diff(times)))) if len(times) else np.zeros(1)
    place = np.searchsorted(times, edges, side="right")
    before = np.maximum(place - 1, 0)
    value = np.where(place > 0, integral[before] + level[place] * (edges - times[before]), 0.0)
    return np.asarray(np.diff(value) / (makespan / PARTS), np.float64)


def _io_share(job: Job, bandwidth: float) -> float:
    """Share of I/O in a job's uncontended time: also its average bandwidth over the file system's."""
    operations = operations_of(job.profile)
    return operations.io_bytes / bandwidth / operations.uncontended_s(bandwidth) if operations else 0.0
