"""What has been observed of one application: running means of its iterations' and I/O phases' durations. Immutable.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 4.1 and 4.2: records per application of all phases
with their durations; averages of the previous phases are extrapolated; after a reconfiguration the values are computed
anew for the new configuration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from msgspec import Struct

from spillway.schedulers.applications.performance import PerformanceModel


class Mean(Struct, frozen=True, gc=False):
    """Mean and spread of what has been observed (Welford's sums).

    Attributes
    ----------
    count
        Observations, >= 0.
    mean
        Their mean; 0 while there is none.
    squares
        Sum of squared differences from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> Mean:
        """With one observation more."""
        count = self.count + 1
        difference = value - self.mean
        mean = self.mean + difference / count
        return Mean(count, mean, self.squares + difference * (value - mean))

    @property
    def deviation(self) -> float:
        """Standard deviation of a sample; 0 with fewer than two observations."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    def variance_of_sum(self, parts: float) -> float:
        """Squared standard error of the predicted sum of ``parts`` further values, with the mean's own uncertainty."""
        if self.count < 2:
            return 0.0
        variance = self.squares / (self.count - 1)
        return parts * variance + parts * parts * variance / self.count


NOTHING = Mean()
"""The mean of no observations."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What has been seen of an application.

    Attributes
    ----------
    per_iteration
        By number of nodes: seconds per iteration, one observation per interval between control points.
    io
        Seconds of the I/O phases, without the time that a gate made them wait.
    """

    per_iteration: tuple[tuple[int, Mean], ...] = ()
    io: Mean = NOTHING

    def interval(self, nodes: int, iterations: int, seconds: float) -> Observed:
        """After an interval between two control points."""
        known = dict(self.per_iteration)
        mean = known.pop(nodes, NOTHING).add(seconds / iterations)
        return replace(self, per_iteration=(*known.items(), (nodes, mean)))

    def io_phase(self, seconds: float) -> Observed:
        """After an I/O phase."""
        return replace(self, io=self.io.add(seconds))

    def iteration(self, nodes: int, model: PerformanceModel) -> Mean:
        """Seconds per iteration on so many nodes: observed, else what was observed last scaled by the model.

        Without any observation: the model's value, with no observation counted.
        """
        for size, mean in self.per_iteration:
            if size == nodes:
                return mean
        if not self.per_iteration:
            return Mean(0, model.iteration_s(nodes))
        size, mean = self.per_iteration[-1]
        ratio = model.iteration_s(nodes) / model.iteration_s(size)
        return Mean(mean.count, mean.mean * ratio, mean.squares * ratio * ratio)
