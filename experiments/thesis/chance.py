"""How much of a deviation is chance: annealed schedules differ from seed to seed, and a published value is one draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Draws:
    """Our seeds of a schedule, and the one draw that was published, as means over the same parts.

    Attributes
    ----------
    published
        The published mean over the parts.
    means
        Ours, by seed.
    deviation
        Standard deviation of one seed's mean over the parts, from the spread of the seeds within each part.
    """

    published: float
    means: tuple[float, ...]
    deviation: float

    @property
    def mean(self) -> float:
        """Mean over our seeds."""
        return math.fsum(self.means) / len(self.means)

    @property
    def distance(self) -> float:
        """Published minus ours, in standard errors of that difference: within -2 to 2 it may well be chance."""
        error = self.deviation * math.sqrt(1.0 + 1.0 / len(self.means))
        return (self.published - self.mean) / error if error else math.nan


def draws_of(ours: Sequence[Sequence[float]], published: Sequence[float]) -> Draws | None:
    """Sum up a schedule.

    Parameters
    ----------
    ours
        Values by part, and for each part by seed, as many for all.
    published
        The published value of each part.

    Returns
    -------
    Draws | None
        ``None`` with fewer than two seeds or no part: then nothing is known about chance.
    """
    seeds = min((len(values) for values in ours), default=0)
    if seeds < 2:
        return None
    values = np.array([part[:seeds] for part in ours], np.float64)
    deviation = math.sqrt(float(values.var(axis=1, ddof=1).sum())) / len(values)
    return Draws(float(np.mean(published)), tuple(float(mean) for mean in values.mean(axis=0)), deviation)
