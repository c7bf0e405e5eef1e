"""Observations of one application: running means of the durations of its iterations and I/O phases. Immutable.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 4.1 and 4.2: records per application of all phases
with their durations; averages of the previous phases are extrapolated; after a reconfiguration the values are computed
anew for the new configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec import Struct

from spillway.schedulers.applications.performance import PerformanceModel


class Mean(Struct, frozen=True, gc=False):
    """Mean and spread of observed values (Welford's sums).

    Attributes
    ----------
    count
        Observations, >= 0.
    mean
        Their mean; 0 without observations.
    squares
        Sum of squared differences from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> Mean:
        """Return the mean with one more observation."""
        count = self.count + 1
        difference = value - self.mean
        mean = self.mean + difference / count
        return Mean(count, mean, self.squares + difference * (value - mean))

    def variance_of_sum(self, parts: float) -> float:
        """Squared standard error of the predicted sum of ``parts`` further values, with the mean's own uncertainty."""
        if self.count < 2:
            return 0.0
        variance = self.squares / (self.count - 1)
        return parts * variance + parts * parts * variance / self.count


NOTHING = Mean()
"""The mean of no observations."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Observations of an application.

    Attributes
    ----------
    per_iteration
        By number of nodes: seconds per iteration, one observation per interval between control points.
    io
        Seconds of the I/O phases, without waiting times at a gate.
    """

    per_iteration: tuple[tuple[int, Mean], ...] = ()
    io: Mean = NOTHING

    def interval(self, nodes: int, iterations: int, seconds: float) -> Observations:
        """Return the observations with one more interval between two control points."""
        known = dict(self.per_iteration)
        mean = known.pop(nodes, NOTHING).add(seconds / iterations)
        return replace(self, per_iteration=(*known.items(), (nodes, mean)))

    def io_phase(self, seconds: float) -> Observations:
        """Return the observations with one more I/O phase."""
        return replace(self, io=self.io.add(seconds))

    def iteration(self, nodes: int, model: PerformanceModel) -> Mean:
        """Seconds per iteration on ``nodes`` nodes: observed, else those of the last new size, scaled by the model.

        Without observations: the model's value, with a count of 0.
        """
        for size, mean in self.per_iteration:
            if size == nodes:
                return mean
        if not self.per_iteration:
            return Mean(0, model.iteration_s(nodes))
        size, mean = self.per_iteration[-1]
        ratio = model.iteration_s(nodes) / model.iteration_s(size)
        return Mean(mean.count, mean.mean * ratio, mean.squares * ratio * ratio)
