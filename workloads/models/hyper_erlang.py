"""The hyper-Erlang distribution of common order: fitted by three moments, drawn reproducibly.

A value is, with a probability, the sum of ``order`` exponential times of one mean, else of another. The order is the
least with which the distribution has the first three moments of the sample that it is fitted to.

References
----------
Jann, Pattnaik, Franke, Wang, Skovira, Riordan, *Modeling of workload in MPPs*, JSSPP 1997, section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.workloads.draws import Draws, Floats, log
from spillway.workloads.errors import WorkloadError

_LARGEST_ORDER = 64


@dataclass(frozen=True, slots=True)
class HyperErlang:
    """A hyper-Erlang distribution of common order.

    Attributes
    ----------
    order
        Exponential stages of both branches, >= 1.
    share
        Probability of the first branch, 0 to 1.
    first, second
        Mean of one stage in each branch, > 0.
    """

    order: int
    share: float
    first: float
    second: float

    @property
    def mean(self) -> float:
        """Mean of the distribution."""
        return self.order * (self.share * self.first + (1.0 - self.share) * self.second)

    def moment(self, power: int) -> float:
        """Raw moment of a power >= 1."""
        rising = math.prod(self.order + step for step in range(power))
        return rising * (self.share * self.first**power + (1.0 - self.share) * self.second**power)

    def draw(self, draws: Draws, count: int) -> Floats:
        """``count`` values."""
        stage = np.where(draws.uniform(count) < self.share, self.first, self.second)
        sums = -log(draws.uniform(count * self.order)).reshape(count, self.order)
        total: Floats = np.zeros(count)
        for column in range(self.order):
            total = total + sums[:, column]
        return np.asarray(total * stage, np.float64)


def fit_hyper_erlang(values: npt.ArrayLike) -> HyperErlang:
    """Fit the distribution with the first three moments of a sample, of the least order that can have them.

    Raises
    ------
    WorkloadError
        Fewer than three values, negative ones, a mean of 0, or moments that no order up to 64 can have (values that
        hardly differ).
    """
    sample = np.asarray(values, np.float64)
    if len(sample) < 3 or sample.min() < 0 or not sample.mean() > 0:
        raise WorkloadError(
            f"a hyper-Erlang fit needs at least 3 values >= 0 with a mean > 0, got {len(sample)} values"
        )
    scale = float(sample.mean())
    moments = [float(np.mean((sample / scale) ** power)) for power in (1, 2, 3)]
    for order in range(1, _LARGEST_ORDER + 1):
        found = _with_moments(moments, order)
        if found is not None:
            share, first, second = found
            return HyperErlang(order, share, first * scale, second * scale)
    raise WorkloadError(f"no hyper-Erlang distribution of order up to {_LARGEST_ORDER} has the moments of these values")


def _with_moments(moments: list[float], order: int) -> tuple[float, float, float] | None:
    """Share and stage means of the distribution of an order with these raw moments; ``None``: it cannot have them.

    Divided by the moments of an Erlang distribution of mean ``order``, the moments are those of a two-point
    distribution of the means; its points are the roots of ``x**2 - total x + product``.
    """
    one, two, three = (
        moment / math.prod(order + step for step in range(power)) for power, moment in enumerate(moments, start=1)
    )
    spread = two - one * one
    if spread <= 0:
        return None
    total = (three - one * two) / spread
    product = (one * three - two * two) / spread
    if product <= 0 or total * total <= 4 * product:
        return None
    root = math.sqrt(total * total - 4 * product)
    first, second = (total - root) / 2, (total + root) / 2
    share = (second - one) / (second - first)
    return (share, first, second) if first > 0 and 0 <= share <= 1 else None
