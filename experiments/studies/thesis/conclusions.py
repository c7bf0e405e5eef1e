"""Measures of the thesis's six conclusions, on its own workloads and schedules.

Units are the sixteen parts of the log, or draws of its burst buffers for the whole log. An annealed schedule is
represented by its mean over the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample

WAIT = "mean_waiting_time_s"

_PART: Mapping[str, Value] = {"scale": "part"}


@dataclass(frozen=True)
class Against:
    """A schedule's value as a multiple of another's, each the mean over its seeds; one per unit.

    Attributes
    ----------
    metric, policy, other
        The metric, and the compared schedules.
    axes
        The axes that both have in common.
    """

    metric: str
    policy: str
    other: str
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """Ratios of the units."""
        return Sample(tuple(self.by_unit(results).values()), ratios=True)

    def by_unit(self, results: Results) -> dict[Value, float]:
        """Ratios by the unit's value, where both were played."""
        here = results.at(self.axes)
        above, below = (here.means(self.metric, {"policy": name}) for name in (self.policy, self.other))
        return {unit: value / below[unit] if below[unit] > 0 else nan for unit, value in above.items() if unit in below}


@dataclass(frozen=True)
class Shift:
    """Factor by which I/O effects change a schedule's wait relative to another's, part by part (conclusion 6)."""

    policy: str
    base: str

    def __call__(self, results: Results) -> Sample:
        """One ratio of ratios per part."""
        io, rigid = (
            Against(WAIT, self.policy, self.base, {"model": model, **_PART}).by_unit(results)
            for model in ("io", "rigid")
        )
        return Sample(tuple(value / rigid[part] for part, value in io.items() if part in rigid), ratios=True)


@dataclass(frozen=True)
class Passing:
    """Ratio of the waits of wide and narrow jobs, under one schedule over that under another, by part."""

    policy: str
    other: str

    def __call__(self, results: Results) -> Sample:
        """One ratio of ratios per part."""
        wide, narrow = (
            Against(metric, self.policy, self.other, {"model": "rigid", **_PART}).by_unit(results)
            for metric in ("wide_wait_s", "narrow_wait_s")
        )
        return Sample(tuple(value / narrow[part] for part, value in wide.items() if part in narrow), ratios=True)
