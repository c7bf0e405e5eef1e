"""Comparisons of policies: paired differences on the same jobs, with intervals over independent units.

Intervals over runs, or over long periods of one run, follow Student's t distribution, and are longer on the side of the
long tail where units are skewed (:mod:`spillway.analysis.measures.units`).

References
----------
Cliff, *Dominance statistics: ordinal analyses to answer ordinal questions*, Psychological Bulletin 114, 1993 (delta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures.units import Estimate, Units, ratio_of, typical_ratio, units_of
from spillway.analysis.tables.jobs import Floats, JobTable

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval ``[low, high]``; both ends are NaN where the data give no interval."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class PairedComparison:
    """Comparison of a policy with a baseline over pairs (the same jobs).

    Attributes
    ----------
    ratio
        Mean of the policy over mean of the baseline; below 1 is better for times. Where the intervals are over
        runs, it is the geometric mean of the runs' ratios: the ratio of a typical run.
    difference
        Mean of policy minus baseline.
    win, loss
        Shares of pairs in which the policy's value is smaller, larger; the rest are ties.
    effect
        Cohen's d of the paired differences (mean over standard deviation); 0 when they do not vary.
    pairs
        Number of pairs.
    over
        Units that the intervals are over (``5 runs``); "" without intervals.
    """

    ratio: Interval
    difference: Interval
    win: float
    loss: float
    effect: float
    pairs: int
    over: str = ""


def mean_interval(runs: Sequence[Floats]) -> Interval:
    """Mean over all jobs of some runs, with its interval; each run in order of submission."""
    values = np.concatenate(runs) if runs else np.empty(0)
    if not values.size:
        return Interval(math.nan, math.nan, math.nan)
    units = units_of([run[:, None] for run in runs])
    if units is None:
        return Interval(float(values.mean()), math.nan, math.nan)
    mean = ratio_of(units, None)
    return _log_interval(mean) if values.min() >= 0 and mean.value > 0 else _interval_of(mean)


def compare_runs(
    policy: Sequence[Floats],
    baseline: Sequence[Floats],
    chosen: Sequence[npt.NDArray[np.bool_]] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> PairedComparison:
    """Compare values of the same jobs under two policies, run by run.

    Parameters
    ----------
    policy, baseline
        For each run one value per job, in order of submission, the same jobs in both.
    chosen
        Mask of the compared jobs of each run; default: all. Periods are cut from all jobs.
    confidence
        Of each interval, in (0, 1). Where several comparisons are to hold together, 1 - (1 - confidence) / comparisons.

    Raises
    ------
    AnalysisError
        The runs differ in length, or have no job.
    """
    if [len(run) for run in policy] != [len(run) for run in baseline] or not sum(map(len, policy)):
        raise AnalysisError("paired runs must have the same jobs, and at least one")
    runs = [np.column_stack(both) for both in zip(policy, baseline, strict=True)]
    weights = [mask.astype(np.float64) for mask in chosen] if chosen is not None else None
    values = np.concatenate(runs)
    if chosen is not None:
        values = values[np.concatenate(chosen)]
    delta = values[:, 0] - values[:, 1]
    means = values.mean(axis=0)
    spread = float(delta.std(ddof=1)) if delta.size > 1 else 0.0
    ratio = Interval(_ratio(float(means[0]), float(means[1])), math.nan, math.nan)
    difference = Interval(float(delta.mean()), math.nan, math.nan)
    units = units_of([np.column_stack((run, run[:, 0] - run[:, 1])) for run in runs], weights)
    if units is not None:
        ratio = (
            _log_interval(ratio_of(units, 1), confidence) if units.neighbours else _typical(units, ratio, confidence)
        )
        difference = _interval_of(ratio_of(units, None, 2), confidence)
    return PairedComparison(
        ratio=ratio,
        difference=difference,
        win=float((delta < 0).mean()),
        loss=float((delta > 0).mean()),
        effect=float(delta.mean()) / spread if spread > 0 else 0.0,
        pairs=int(delta.size),
        over=units.words if units is not None else "",
    )


def _typical(units: Units, pooled: Interval, confidence: float) -> Interval:
    """Ratio of a typical run; the ratio over all jobs, without an interval, where single runs have no ratio."""
    logs = typical_ratio(units)
    if math.isnan(logs.value):
        return pooled
    found = _interval_of(logs, confidence)
    return Interval(math.exp(found.value), _exp(found.low), _exp(found.high))


def _log_interval(ratio: Estimate, confidence: float = CONFIDENCE) -> Interval:
    """Interval of a positive ratio, symmetric on the logarithmic scale where units are not skewed."""
    if not ratio.value > 0:
        return Interval(ratio.value, math.nan, math.nan)
    below, above = ratio.reach(confidence)
    return Interval(ratio.value, ratio.value / _exp(below / ratio.value), ratio.value * _exp(above / ratio.value))


def _interval_of(found: Estimate, confidence: float = CONFIDENCE) -> Interval:
    below, above = found.reach(confidence)
    return Interval(found.value, found.value - below, found.value + above)


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def align(first: JobTable, second: JobTable) -> tuple[JobTable, JobTable]:
    """Return both tables restricted to the jobs that ran in both, in the same order.

    Raises
    ------
    AnalysisError
        No job ran in both: the workloads differ, or each policy rejected the jobs that the other ran.
    """
    if not comparable(first, second):
        raise AnalysisError("no job ran in both results: compare policies on the same workload")
    first, second = first.ran(), second.ran()
    row_of = {key: row for row, key in enumerate(_keys(second))}
    keys = _keys(first)
    rows = np.array([row for row, key in enumerate(keys) if key in row_of], dtype=np.intp)
    return first.take(rows), second.take(np.array([row_of[keys[row]] for row in rows], dtype=np.intp))


def in_order(first: JobTable, second: JobTable) -> tuple[JobTable, JobTable]:
    """The same as :func:`align`, jobs in order of submission."""
    first, second = align(first, second)
    order = np.argsort(first.submit_s, kind="stable")
    return first.take(order), second.take(order)


def comparable(first: JobTable, second: JobTable) -> bool:
    """Whether at least one job ran in both; a policy may have rejected every job, or just those that the other ran."""
    return not set(_keys(first.ran())).isdisjoint(_keys(second.ran()))


def _keys(table: JobTable) -> list[tuple[str, str]]:
    return list(zip(table.workload, table.job_id, strict=True))


def _ratio(policy: float, baseline: float) -> float:
    return float(policy / baseline) if baseline else float("nan")
