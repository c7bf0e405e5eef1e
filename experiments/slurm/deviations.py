"""Deviations of the simulated starts from those of a real Slurm."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spillway.analysis.document.blocks import Table
from spillway.experiments.slurm.recording import Recording

MEDIAN_S = 1.0
"""Largest median of the absolute deviations that passes, s."""
_BEYOND_INTERVAL_S = 2.0
"""The 95th percentile passes up to the interval of backfill passes and this, s."""


class _Deviations(NamedTuple):
    """Absolute deviations of starts, s; infinite for a job that never started."""

    median_s: float
    p95_s: float
    largest_s: float
    bound_p95_s: float

    @property
    def passes(self) -> bool:
        """Whether median and 95th percentile are within their bounds."""
        return self.median_s <= MEDIAN_S and self.p95_s <= self.bound_p95_s

    def __str__(self) -> str:
        return f"median {self.median_s:.3f} s, p95 {self.p95_s:.3f} s, largest {self.largest_s:.3f} s"


def deviations(recording: Recording, starts: Sequence[float]) -> _Deviations:
    """Compare the simulated starts (s) with the recorded ones."""
    each = sorted(_deviation(job.started, start) for job, start in zip(recording.jobs, starts, strict=True))
    p95_s = each[math.ceil(0.95 * len(each)) - 1]
    bound_s = recording.settings.bf_interval_s + _BEYOND_INTERVAL_S
    return _Deviations(statistics.median(each), p95_s, each[-1], bound_s)


def _deviation(recorded_s: float | None, start_s: float) -> float:
    return math.inf if recorded_s is None or math.isnan(start_s) else abs(start_s - recorded_s)


class Waits(NamedTuple):
    """Waits from submission to start, dependencies included; infinite for a job that was never started.

    Attributes
    ----------
    recorded_s, simulated_s
        Mean in Slurm and in the simulator, s.
    error_s
        Mean over the jobs of the absolute difference between the two waits of a job, s.
    """

    recorded_s: float
    simulated_s: float
    error_s: float

    @property
    def deviation(self) -> float:
        """The simulated mean beyond that in Slurm, as a share of the latter."""
        return _share(self.simulated_s - self.recorded_s, self.recorded_s)

    @property
    def error(self) -> float:
        """Mean error of a job's wait, as a share of the mean wait in Slurm."""
        return _share(self.error_s, self.recorded_s)

    def __str__(self) -> str:
        return (
            f"mean {self.recorded_s:.2f} s in Slurm, {self.simulated_s:.2f} s simulated ({self.deviation:+.2%}), "
            f"mean error of a job's wait {self.error_s:.3f} s ({self.error:.2%})"
        ).replace("%", " %")


def waits(recording: Recording, starts: Sequence[float]) -> Waits:
    """Compare the waits until the simulated starts (s) with the recorded ones."""
    recorded, simulated = [], []
    for job, start_s in zip(recording.jobs, starts, strict=True):
        assert job.submitted is not None
        assert job.started is not None
        recorded.append(job.started - job.submitted)
        simulated.append(math.inf if math.isnan(start_s) else start_s - job.submitted)
    errors = [abs(simulation - other) for simulation, other in zip(simulated, recorded, strict=True)]
    return Waits(statistics.fmean(recorded), statistics.fmean(simulated), statistics.fmean(errors))


class NoiseFloor(NamedTuple):
    """Waits of the simulator with regular passes beside several runs of the same jobs on a real Slurm.

    Attributes
    ----------
    means_s
        Mean wait in each real run, s.
    apart
        Mean difference of a job's wait between two real runs, as a share of the mean wait; by pairs.
    simulated
        The simulator against each real run.
    """

    means_s: tuple[float, ...]
    apart: tuple[float, ...]
    simulated: tuple[Waits, ...]

    @property
    def jobs_within(self) -> bool:
        """Whether a job's wait differs from real runs by no more on average than two of these do at most."""
        return statistics.fmean(run.error for run in self.simulated) <= max(self.apart)

    @property
    def mean_within(self) -> bool:
        """Whether the mean wait is at most as far from the range of the real means as that is wide."""
        least_s, most_s = min(self.means_s), max(self.means_s)
        found_s, width_s = statistics.fmean(run.simulated_s for run in self.simulated), most_s - least_s
        return least_s - width_s <= found_s <= most_s + width_s

    def __str__(self) -> str:
        errors, means = [item.error for item in self.simulated], [run.simulated_s for run in self.simulated]
        rows = (
            ("a job's wait", self.jobs_within, f"{_range(self.apart, '.0%')} between two real runs",
             f"{_range(errors, '.0%')} simulated"),
            ("mean wait", self.mean_within, f"{_range(self.means_s, '.2f')} s in real runs",
             f"{_range(means, '.2f')} s simulated"),
        )  # fmt: skip
        return "\n".join(
            f"{what}: {'within' if within else 'beyond'} the noise floor ({real}; {ours})".replace("%", " %")
            for what, within, real, ours in rows
        )


def noise_floor(runs: Sequence[Recording], regular: Sequence[Sequence[float]]) -> NoiseFloor:
    """Compare runs of the same jobs with each other, and with simulated starts (s), one sequence a run."""
    real = [[(job.started or 0.0) - (job.submitted or 0.0) for job in run.jobs] for run in runs]
    apart = tuple(
        _share(
            statistics.fmean(abs(simulation - other) for simulation, other in zip(*both, strict=True)),
            statistics.fmean(both[0]),
        )
        for both in itertools.combinations(real, 2)
    )
    simulated = tuple(itertools.starmap(waits, zip(runs, regular, strict=True)))
    return NoiseFloor(tuple(map(statistics.fmean, real)), apart, simulated)


def _range(values: Sequence[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}"


def _share(part: float, whole: float) -> float:
    """Part of a whole; of a whole of 0: 0 for a part of 0, else infinite."""
    if whole:
        return part / whole
    return math.copysign(math.inf, part) if part else 0.0


class Priorities(NamedTuple):
    """Priorities of waiting jobs in each of their partitions, at the instants of a recording.

    Attributes
    ----------
    compared
        Number of priorities that both have.
    different
        Number of these that differ: they are whole numbers, so by whole units.
    missing
        Number that only Slurm has: the job does not wait then in the simulator.
    """

    compared: int
    different: int
    missing: int

    def __str__(self) -> str:
        return f"{self.compared} compared, {self.different} different; {self.missing} of jobs that do not wait then"


def priorities(recording: Recording, simulated: Sequence[Mapping[tuple[int, str], int]]) -> Priorities:
    """Compare the output of ``sprio`` with the simulated priorities at these instants, by job and partition."""
    compared = different = missing = 0
    for instant, found in zip(recording.instants, simulated, strict=False):
        for row in instant.priorities:
            number, partition, priority = row.split()[:3]
            other = found.get((int(number), partition))
            if other is None:
                missing += 1
            else:
                compared, different = compared + 1, different + (other != int(priority))
    return Priorities(compared, different, missing)


def table(recording: Recording, starts: Sequence[float]) -> Table:
    """One row per job: its requests, its starts in Slurm and in the simulator (s), and their difference."""
    rows = []
    for number, (job, start_s) in enumerate(zip(recording.jobs, starts, strict=True), start=1):
        assert job.submitted is not None
        assert job.started is not None
        request, by = job.request, "backfill" if job.backfilled else "main"
        times = f"{job.submitted:.3f}", f"{job.started:.3f}", f"{start_s:.3f}", f"{start_s - job.started:+.3f}"
        rows.append((f"{number}", f"{request.nodes}", f"{request.units}", f"{request.limit_min}", *times, by))
    columns = ("job", "nodes", "units", "limit, min", "submitted, s", "Slurm, s", "simulated, s", "deviation, s", "by")
    return Table(columns, rows)
