"""Independent units of a comparison: whole runs, or long periods of one run, never single jobs.

Jobs of one queue wait for each other, so that a thousand waiting times are worth a few independent ones at high load,
and an interval over jobs is several times too narrow. Where there are enough runs (seeds, workloads), each is one unit.
Otherwise runs are cut into periods of equally many jobs in order of submission, provided that the means of many such
periods show no correlation between neighbours. Without such units the data have no interval.

References
----------
Law, Carson, *A sequential procedure for determining the length of a steady-state simulation*, Operations Research 27,
1979 (batch means and the correlation of neighbours); Cochran, *Sampling techniques*, 1977, chapter 6 (ratios); Johnson,
*Modified t tests and confidence intervals for asymmetrical populations*, JASA 73, 1978 (skewness).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST_RUNS = 5
"""Fewest runs for which each run is one unit."""

_FINEST = 512
"""Largest number of periods over all runs, which is tried first."""

_INDEPENDENT = 256
"""Fewest periods that are tested for independence."""

PERIODS = 8
"""Number of periods to which independent ones are joined: longer periods depend on each other even less."""

FEWEST_JOBS = 10
"""Fewest jobs of a period."""

SHORTEST = 50_000
"""Fewest jobs, over all runs, for periods: a short run that looks independent is a quiet one."""

LIMIT = 1.28
"""Correlation of neighbours below which they count as uncorrelated, in standard errors (one-sided test at 10 %)."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Units:
    """Sums over the jobs of each unit.

    Attributes
    ----------
    counts
        Jobs (or weights) of each unit, shape (units,).
    sums
        Sums of each column over them, shape (units, columns).
    words
        Name of the units for readers (``5 runs``).
    neighbours
        Whether they follow each other in time, so that some correlation may be left between them.
    """

    counts: Floats
    sums: Floats
    words: str
    neighbours: bool = False


def units_of(runs: Sequence[Floats], weights: Sequence[Floats] | None = None) -> Units | None:
    """Independent units of some runs; ``None`` where the data have no independent units.

    Parameters
    ----------
    runs
        For each run one row per job in order of submission, shape (jobs, columns).
    weights
        For each run a weight per job (0: it does not count); default: 1.
    """
    weights = weights if weights is not None else [np.ones(len(run)) for run in runs]
    if len(runs) >= FEWEST_RUNS:
        sums = np.array([weight @ run for run, weight in zip(runs, weights, strict=True)])
        return Units(np.array([weight.sum() for weight in weights]), sums, f"{len(runs)} runs")
    jobs = min((len(run) for run in runs), default=0)
    if jobs * len(runs) < SHORTEST:
        return None
    periods = min(_FINEST // max(len(runs), 1), jobs // FEWEST_JOBS)
    while periods * len(runs) >= _INDEPENDENT:
        counts, sums = _cut(runs, weights, periods)
        if _correlation(counts, sums) < LIMIT / math.sqrt(len(counts)):
            joined = min(periods, -(-PERIODS // len(runs)))
            counts, sums = _cut(runs, weights, joined)
            where = "the run" if len(runs) == 1 else f"each of {len(runs)} runs"
            return Units(counts, sums, f"{joined} periods of {where}", neighbours=True)
        periods //= 2
    return None


@dataclass(frozen=True)
class Estimate:
    """A value estimated from independent units.

    Attributes
    ----------
    value
        The value.
    error
        Its standard error.
    skewness
        Skewness of the values of single units.
    units
        Number of units.
    """

    value: float
    error: float
    skewness: float
    units: int

    def reach(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Lengths of the interval of some confidence below and above the value.

        From Student's t distribution, longer on the side of the long tail by Johnson's correction for skewed units,
        since a few units rarely include one of the busy ones that dominate the mean. The other side is not shortened.
        """
        student_t = student(self.units - 1, confidence)
        longer = self.error * self.skewness / math.sqrt(self.units) * (1 / 6 + student_t**2 / 3)
        return student_t * self.error - min(longer, 0.0), student_t * self.error + max(longer, 0.0)


_UNKNOWN = Estimate(math.nan, math.nan, 0.0, FEWEST_RUNS)


def ratio_of(units: Units, over: int | None, column: int = 0) -> Estimate:
    """A ratio of sums over units.

    Parameters
    ----------
    over
        The column of the denominator; ``None``: the counts, so that the ratio is a mean.
    column
        The column of the numerator.
    """
    number = len(units.counts)
    below = units.counts if over is None else units.sums[:, over]
    whole = below.sum()
    if not whole:
        return _UNKNOWN
    ratio = units.sums[:, column].sum() / whole
    left = units.sums[:, column] - ratio * below
    spread = math.sqrt(number / (number - 1) * float(left @ left)) / abs(whole)
    if units.neighbours:  # correlation that the test may have missed
        beside = min(0.9, max(0.0, _lag_one(left) + 1 / number))
        spread *= math.sqrt((1 + beside) / (1 - beside))
    return Estimate(float(ratio), float(spread), _skewness(left), number)


def typical_ratio(units: Units) -> Estimate:
    """Mean logarithm of the ratio of the first column to the second in single units.

    Runs of a busy machine differ so much that the few busiest determine a ratio of their sums. NaN unless at least two
    units, and all units with jobs, have both sums above 0.
    """
    known = (units.sums[:, 0] > 0) & (units.sums[:, 1] > 0)
    if known.sum() < 2 or known.sum() < np.count_nonzero(units.counts):
        return _UNKNOWN
    logs = np.log(units.sums[known, 0] / units.sums[known, 1])
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    return Estimate(float(logs.mean()), error, _skewness(logs), len(logs))


def student(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of Student's t distribution, exact to 1e-3 from 4 degrees of freedom on.

    Up to 95 % it is the series of Abramowitz, Stegun (26.7.5). Further out the series is too short, and its value is
    the start of Newton's iteration on the exact distribution.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    quantile = z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))
    if confidence > CONFIDENCE:
        half = (degrees + 1) / 2
        scale = 2 * math.exp(math.lgamma(half) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
        for _ in range(20):
            density = scale * (1 + quantile**2 / degrees) ** -half
            quantile += (confidence - student_share(quantile, degrees)) / density
    return quantile


def student_share(reach: float, degrees: int) -> float:
    """Probability of [-reach, reach] under Student's t distribution (Abramowitz, Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(reach / math.sqrt(degrees))
    odd = degrees % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for place in range(1, degrees // 2 + 1):
        total += term
        term *= math.cos(angle) ** 2 * (2 * place - 1 + odd) / (2 * place + odd)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def _skewness(values: Floats) -> float:
    """Skewness, unbiased for a normal distribution; 0 for fewer than three values, or where they do not vary."""
    number = len(values)
    left = values - values.mean()
    spread = float(left.std(ddof=1))
    if number < 3 or spread == 0:
        return 0.0
    return number / ((number - 1) * (number - 2)) * float((left**3).sum()) / spread**3


def _cut(runs: Sequence[Floats], weights: Sequence[Floats], periods: int) -> tuple[Floats, Floats]:
    """Counts and sums of periods of equally many jobs, run after run."""
    counts, sums = [], []
    for run, weight in zip(runs, weights, strict=True):
        period = np.arange(len(run)) * periods // len(run)
        counts.append(np.bincount(period, weight, periods))
        sums.append(np.column_stack([np.bincount(period, weight * column, periods) for column in run.T]))
    return np.concatenate(counts), np.concatenate(sums)


def _correlation(counts: Floats, sums: Floats) -> float:
    """The largest correlation of neighbours among the deviations of each mean, and of the first two columns' ratio."""
    left = [column - counts * (column.sum() / max(counts.sum(), 1e-300)) for column in sums.T]
    if sums.shape[1] > 1 and sums[:, 1].sum():
        left.append(sums[:, 0] - sums[:, 1] * (sums[:, 0].sum() / sums[:, 1].sum()))
    return max(_lag_one(column) for column in left)


def _lag_one(values: Floats) -> float:
    centred = values - values.mean()
    spread = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / spread if spread > 0 else 0.0
