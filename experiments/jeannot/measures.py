"""What is measured of one execution: stretch, utilisation, and the use of resources over its course.

Definitions (the paper's section "Evaluation criterion", made exact):

* *stretch*: time from start to end over the uncontended time, equation (1); with waiting for I/O; waiting
  for a start is not (all jobs are there from the beginning).
* *utilisation*: processor-seconds of computing over all processor-seconds.
* *idle ratio*: processor-seconds that no job held over all, until the last job ends (Figure 9).
* *course*: means over equal parts of the execution. The paper does not state where its steady state begins and ends;
  ours lies between a tenth and six tenths of the execution.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from experiments.jeannot.direct import Traces
from schedulers.core.job import Job
from schedulers.core.operations import operations_of

Floats = npt.NDArray[np.float64]

PARTS = 50
"""Parts of an execution."""
STEADY = (0.1, 0.6)
"""Where the steady state is looked for, as shares of the execution."""
EARLY, LATE = (0.1, 0.4), (0.5, 0.8)
"""Parts that a drift is measured between: neither the start nor the exhaustion at the end."""


class Outcome(msgspec.Struct, frozen=True):
    """One execution.

    Attributes
    ----------
    makespan_s
        End of the last job.
    utilisation, idle
        Over the whole execution.
    mean_stretch, max_stretch
        Over the jobs.
    mean_flow_s
        Mean time from submission to end.
    computing, allocated, transferring
        Course of the share of processors that compute, of those that jobs hold, and of the time in which the file
        system is in use; :data:`PARTS` values each.
    running
        Course of the number of running jobs.
    nodes, start_s, end_s, alone_s, waited_s, io_share
        One entry per job, in order of ends; ``io_share``: part of the uncontended time that is I/O.
    """

    makespan_s: float
    utilisation: float
    idle: float
    mean_stretch: float
    max_stretch: float
    mean_flow_s: float
    computing: list[float]
    allocated: list[float]
    transferring: list[float]
    running: list[float]
    nodes: list[int]
    start_s: list[float]
    end_s: list[float]
    alone_s: list[float]
    waited_s: list[float]
    io_share: list[float]

    def steady(self, course: str = "computing") -> float:
        """Mean of a course over the steady state."""
        return window(getattr(self, course), STEADY)

    def drift(self, course: str) -> float:
        """Relative change of a course between :data:`EARLY` and :data:`LATE`; 0 in a steady state."""
        early, late = window(getattr(self, course), EARLY), window(getattr(self, course), LATE)
        return (late - early) / (0.5 * (late + early)) if late + early > 0 else 0.0

    def unevenness(self, course: str) -> float:
        """Coefficient of variation of a course's tenths between the first tenth and eight tenths of the execution."""
        values = np.array([window(getattr(self, course), (tenth / 10, (tenth + 1) / 10)) for tenth in range(1, 8)])
        return float(values.std() / values.mean()) if values.mean() > 0 else 0.0

    def fall(self, course: str) -> float:
        """Mean of a course over the first fifth of the execution minus that over the last."""
        return window(getattr(self, course), (0.0, 0.2)) - window(getattr(self, course), (0.8, 1.0))


def window(course: Sequence[float], part: tuple[float, float]) -> float:
    """Mean of a course over a part of the execution."""
    return float(np.mean(course[round(part[0] * PARTS) : round(part[1] * PARTS)]))


def measure(traces: Traces, processors: int, bandwidth: float) -> Outcome:
    """Measure an execution that has ended.

    Parameters
    ----------
    processors
        Of the machine.
    bandwidth
        Of the file system, bytes per second: what a job has uncontended.
    """
    jobs = traces.jobs
    start = np.array([start_s for _, start_s, _, _ in jobs])
    end = np.array([end_s for _, _, end_s, _ in jobs])
    nodes = np.array([job.nodes for job, *_ in jobs], np.float64)
    uncontended = np.array([float(job.extras["requested_s"]) for job, *_ in jobs])
    makespan = float(end.max())
    stretch = (end - start) / uncontended
    computing = np.array(traces.computing, np.float64).reshape(-1, 3)
    transferring = np.array(traces.transferring, np.float64).reshape(-1, 2)
    total = makespan * processors
    return Outcome(
        makespan_s=makespan,
        utilisation=float(((computing[:, 1] - computing[:, 0]) * computing[:, 2]).sum() / total),
        idle=float(1 - ((end - start) * nodes).sum() / total),
        mean_stretch=float(stretch.mean()),
        max_stretch=float(stretch.max()),
        mean_flow_s=float(np.mean([end_s - job.submit_time_s for job, _, end_s, _ in jobs])),
        computing=_course(computing[:, 0], computing[:, 1], computing[:, 2] / processors, makespan),
        allocated=_course(start, end, nodes / processors, makespan),
        transferring=_course(transferring[:, 0], transferring[:, 1], np.ones(len(transferring)), makespan),
        running=_course(start, end, np.ones(len(jobs)), makespan),
        nodes=[job.nodes for job, *_ in jobs],
        start_s=_rounded(start),
        end_s=_rounded(end),
        alone_s=_rounded(uncontended),
        waited_s=_rounded(np.array([account.waited_s for *_, account in jobs])),
        io_share=_rounded(np.array([_io_share(job, bandwidth) for job, *_ in jobs])),
    )


def _course(start: Floats, end: Floats, weight: Floats, makespan: float) -> list[float]:
    """Mean over each part of the execution of the weights of the intervals under way."""
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
    return _rounded(np.diff(value) / (makespan / PARTS))


def _io_share(job: Job, bandwidth: float) -> float:
    operations = operations_of(job.profile)
    return operations.io_bytes / bandwidth / operations.uncontended_s(bandwidth) if operations else 0.0


def _rounded(values: Floats) -> list[float]:
    found: list[float] = np.round(values, 6).tolist()
    return found
