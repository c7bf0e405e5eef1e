"""Comparing policies: intervals by bootstrap, and paired differences on the same jobs.

All resampling is seeded, so the same files give the same intervals.

References
----------
Efron, Tibshirani, *An introduction to the bootstrap*, 1993, chapters 6 and 13 (percentile intervals);
Cliff, *Dominance statistics: ordinal analyses to answer ordinal questions*, Psychological Bulletin 114, 1993 (delta).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.tables import Floats, JobTable

RESAMPLES = 1000
CONFIDENCE = 0.95
GROUPS = 10_000
"""Number of rows above which groups of rows are resampled."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval ``[low, high]``."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Paired:
    """Comparison of a policy with a baseline over pairs (the same jobs, or the same parts).

    Attributes
    ----------
    ratio
        Mean of the policy over mean of the baseline; below 1 is better for times.
    difference
        Mean of policy minus baseline.
    win, loss
        Shares of pairs in which the policy's value is smaller, larger; what remains are ties.
    effect
        Cohen's d of the paired differences (mean over standard deviation); 0 when they do not vary.
    pairs
        Number of pairs.
    """

    ratio: Interval
    difference: Interval
    win: float
    loss: float
    effect: float
    pairs: int


def bootstrap_mean(
    values: Floats, *, seed: int = 0, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> Interval:
    """Mean with a percentile bootstrap interval over the values."""
    if not values.size:
        return Interval(float("nan"), float("nan"), float("nan"))
    means = _resampled_means(values[:, None], seed, resamples)[:, 0]
    return _interval(float(values.mean()), means, confidence)


def compare_pairs(
    policy: Floats, baseline: Floats, *, seed: int = 0, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> Paired:
    """Compare values pair by pair, resampling pairs together.

    Raises
    ------
    AnalysisError
        The two columns differ in length, or are empty.
    """
    if policy.shape != baseline.shape or not policy.size:
        raise AnalysisError(f"paired values must be equally many and not none, got {policy.size} and {baseline.size}")
    means = _resampled_means(np.column_stack((policy, baseline)), seed, resamples)
    delta = policy - baseline
    spread = float(delta.std(ddof=1)) if delta.size > 1 else 0.0
    return Paired(
        ratio=_interval(_ratio(policy.mean(), baseline.mean()), _ratios(means[:, 0], means[:, 1]), confidence),
        difference=_interval(float(delta.mean()), means[:, 0] - means[:, 1], confidence),
        win=float((delta < 0).mean()),
        loss=float((delta > 0).mean()),
        effect=float(delta.mean()) / spread if spread > 0 else 0.0,
        pairs=int(delta.size),
    )


def align(first: JobTable, second: JobTable) -> tuple[JobTable, JobTable]:
    """Return both tables restricted to the jobs that ran in both, in the same order.

    Raises
    ------
    AnalysisError
        No job ran in both: these are results of different workloads.
    """
    if not comparable(first, second):
        raise AnalysisError("no job ran in both results: compare policies on the same workload")
    first, second = first.ran(), second.ran()
    row_of = {key: row for row, key in enumerate(_keys(second))}
    keys = _keys(first)
    rows = np.array([row for row, key in enumerate(keys) if key in row_of], dtype=np.intp)
    return first.take(rows), second.take(np.array([row_of[keys[row]] for row in rows], dtype=np.intp))


def comparable(first: JobTable, second: JobTable) -> bool:
    """Whether at least one job ran in both; a policy may have rejected every job, or just those that the other ran."""
    return not set(_keys(first.ran())).isdisjoint(_keys(second.ran()))


def _keys(table: JobTable) -> list[tuple[str, str]]:
    return list(zip(table.workload, table.job_id, strict=True))


def _resampled_means(values: Floats, seed: int, resamples: int) -> Floats:
    """Means of resamples with replacement; one resample in memory at a time.

    Above :data:`GROUPS` rows, randomly made groups of rows are drawn instead of rows: the mean of that many values
    varies alike, and the time does not grow with the number of jobs.
    """
    rng = np.random.default_rng(seed)
    if len(values) > GROUPS:
        values = _group_means(values, rng)
    size = len(values)
    means = np.empty((resamples, values.shape[1]))
    for row in range(resamples):
        counts = np.bincount(rng.integers(0, size, size), minlength=size)
        means[row] = counts @ values / size
    return means


def _group_means(values: Floats, rng: np.random.Generator) -> Floats:
    """Means of equally large random groups, shifted so that their average is that of all rows."""
    per_group = len(values) // GROUPS
    chosen = rng.permutation(len(values))[: per_group * GROUPS]
    means: Floats = values[chosen].reshape(GROUPS, per_group, values.shape[1]).mean(axis=1)
    means += values.mean(axis=0) - means.mean(axis=0)
    return means


def _interval(value: float, resampled: Floats, confidence: float) -> Interval:
    tail = 100 * (1 - confidence) / 2
    low, high = np.nanpercentile(resampled, [tail, 100 - tail]) if np.isfinite(resampled).any() else (np.nan, np.nan)
    return Interval(value, float(low), float(high))


def _ratio(policy: float, baseline: float) -> float:
    return float(policy / baseline) if baseline else float("nan")


def _ratios(policy: Floats, baseline: Floats) -> Floats:
    return np.divide(policy, baseline, out=np.full_like(policy, np.nan), where=baseline != 0)
