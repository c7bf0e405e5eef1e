"""The statistics of all studies: seeds are the units, and claims of one family are tested together.

A *sample* has one value for each independent unit (a seed, a part of a log): values within a unit are averaged first,
so that many points with one seed are no evidence of many seeds. Intervals are Student's: of logarithms for ratios, of
arcsines of roots for shares (Anscombe, Biometrika 35, 1948), so that they end at none and all; p-values of several
claims are adjusted with Holm's method (Scand. J. Statist. 6, 1979).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from spillway.analysis.measures.units import student, student_share

LEVEL = 0.05
"""A claim is decided if the adjusted p-value of the contrary is below this."""

CONFIDENCE = 0.95

FEWEST = 5
"""Number of units (seeds) below which intervals are not shown, and random values are not judged."""


@dataclass(frozen=True)
class Sample:
    """One value per independent unit.

    Attributes
    ----------
    values
        Values; NaN where the measure is undefined (a ratio to a mean of 0).
    ratios
        Whether they are ratios: their means are geometric.
    whole
        The largest possible value of shares (1, 100 for percent); 0: they are no shares.
    """

    values: tuple[float, ...]
    ratios: bool = False
    whole: float = 0.0

    @property
    def defined(self) -> bool:
        """Whether every value can be used: finite, and above 0 for ratios."""
        return bool(self.values) and all(
            math.isfinite(value) and (value > 0 or not self.ratios) for value in self.values
        )


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval of 95 %; both ends are the mean if nothing varied, and NaN for a single unit."""

    value: float
    low: float
    high: float
    units: int


def estimate(sample: Sample, *, one: bool = False) -> Estimate:
    """Mean of a sample with its interval; NaN if a value is undefined.

    Parameters
    ----------
    one
        Whether the interval is a prediction interval, for a single further unit.
    """
    if not sample.defined:
        return Estimate(math.nan, math.nan, math.nan, len(sample.values))
    mean, error, units = _moments(sample)
    error = _of_one(error, units) if one else error
    reach = student(units - 1, CONFIDENCE) * error if error else 0.0 if units > 1 else math.nan
    value = math.fsum(sample.values) / units if sample.whole else _back(mean, sample)
    return Estimate(value, _back(mean - reach, sample), _back(mean + reach, sample), units)


def resampled(groups: Sequence[Sequence[float]], draws: int = 2000, seed: int = 0) -> Estimate:
    """Geometric mean of ratios in groups of unequal kind, all with the same weight; interval by bootstrap.

    Parameters
    ----------
    groups
        Ratios above 0: for each group (a log) one per unit (a period). Groups are drawn with replacement, and units
        within each, so that the interval holds for other logs of this kind.
    draws, seed
        Number of draws and seed of the bootstrap; the ends are its 2.5th and 97.5th percentiles.
    """
    logs = [[math.log(value) if value > 0 else math.nan for value in group] for group in groups if group]
    units = sum(map(len, logs))
    if not logs or any(math.isnan(value) for group in logs for value in group):
        return Estimate(math.nan, math.nan, math.nan, units)
    centre = math.fsum(math.fsum(group) / len(group) for group in logs) / len(logs)
    rng = Random(seed)
    means = sorted(
        math.fsum(math.fsum(rng.choices(group, k=len(group))) / len(group) for group in rng.choices(logs, k=len(logs)))
        / len(logs)
        for _ in range(draws)
    )
    low, high = means[int(0.025 * draws)], means[min(int(0.975 * draws), draws - 1)]
    return Estimate(math.exp(centre), math.exp(low), math.exp(high), units)


def beyond(sample: Sample, edge: float, *, above: bool, one: bool = False) -> float:
    """Probability of a sample this far on its side of an edge if the true mean were on the other (one-sided t-test).

    Parameters
    ----------
    above
        Whether the sample's mean is assumed to be above the edge.
    one
        Whether the test is on a single further unit, not on the true mean.
    """
    if sample.whole and (edge <= 0 if above else edge >= sample.whole):
        return 0.0  # no share lies there
    mean, error, units = _moments(sample)
    error = _of_one(error, units) if one else error
    distance = (mean - _forth(edge, sample)) * (1 if above else -1)
    if not error:
        return 0.0 if distance >= 0 else 1.0
    share = student_share(abs(distance) / error, units - 1)
    return (1 - share) / 2 if distance >= 0 else (1 + share) / 2


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for their number: the chance of a single false alarm among all stays below each."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: (item[1], item[0]))):
        running = max(running, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def geometric(values: Sequence[float]) -> float:
    """Geometric mean; NaN if a value is not above 0."""
    if not values or not all(value > 0 for value in values):
        return math.nan
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _moments(sample: Sample) -> tuple[float, float, int]:
    """Mean, its standard error and the number of units, on the scale of the sample."""
    values = np.array([_forth(value, sample) for value in sample.values], np.float64)
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    mean = math.fsum(values) / len(values)
    return mean, 0.0 if spread <= 1e-12 * abs(mean) else spread / math.sqrt(len(values)), len(values)


def _of_one(error: float, units: int) -> float:
    """Standard error of a single further unit from that of the mean."""
    return error * math.sqrt(units + 1)


def _forth(value: float, sample: Sample) -> float:
    if sample.whole:
        return math.asin(math.sqrt(min(max(value / sample.whole, 0.0), 1.0)))
    if not sample.ratios:
        return value
    return math.log(value) if value > 0 else -math.inf


def _back(value: float, sample: Sample) -> float:
    if sample.whole:
        return sample.whole * math.sin(min(max(value, 0.0), math.pi / 2)) ** 2
    return math.exp(value) if sample.ratios else value
