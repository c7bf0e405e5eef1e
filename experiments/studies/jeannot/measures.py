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

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spillway.experiments.studies.jeannot.calendar import Traces
from spillway.experiments.studies.points import Values
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.operations import operations_of
from spillway.workloads.ranks import rank_correlation

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


def measure(traces: Traces, processors: int, bandwidth: float) -> dict[str, float]:
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
    jobs = [job for job, *_ in traces.jobs]
    start, end = (np.array([entry[place] for entry in traces.jobs]) for place in (1, 2))
    nodes = np.array([job.nodes for job in jobs], np.float64)
    makespan = float(end.max())
    computing = np.array(traces.computing, np.float64).reshape(-1, 3)
    transferring = np.array(traces.transferring, np.float64).reshape(-1, 2)
    courses = {
        "computing": course(computing[:, 0], computing[:, 1], computing[:, 2] / processors, makespan),
        "allocated": course(start, end, nodes / processors, makespan),
        "transferring": course(transferring[:, 0], transferring[:, 1], np.ones(len(transferring)), makespan),
        "running": course(start, end, np.ones(len(jobs)), makespan),
    }
    found = dict(stretches([(job, begin, stop) for job, begin, stop, _ in traces.jobs], processors))
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


def stretches(jobs: Sequence[tuple[Job, float, float]], processors: int) -> Values:
    """Measures that follow from starts and ends, which the product's records have, too."""
    start, end = (np.array([entry[place] for entry in jobs]) for place in (1, 2))
    nodes = np.array([job.nodes for job, *_ in jobs], np.float64)
    stretch = (end - start) / np.array([float(job.extras["requested_s"]) for job, *_ in jobs])
    makespan = float(end.max())
    return {
        "makespan_s": makespan,
        "mean_stretch": float(stretch.mean()),
        "max_stretch": float(stretch.max()),
        "idle": float(1 - ((end - start) * nodes).sum() / (makespan * processors)),
        "jobs_at_a_time": float((end - start).sum() / makespan),
    }


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
