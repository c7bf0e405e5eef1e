"""Collisions of predicted I/O phases, among any number of applications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.schedulers.controllers.prediction import Phase

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """Predicted phases of many applications as arrays, for questions about one of them.

    Attributes
    ----------
    starts, durations, periods
        Seconds; one entry per application. An entry that starts at infinity collides with nothing.
    """

    starts: Floats
    durations: Floats
    periods: Floats

    def without(self, places: Sequence[int]) -> Fleet:
        """Return the fleet without these applications: their phases get no duration and collide with nothing."""
        durations = self.durations.copy()
        durations[list(places)] = 0.0
        return Fleet(self.starts, durations, self.periods)

    def colliding(self, phase: Phase) -> npt.NDArray[np.int64]:
        """Places of the applications whose *next* phase collides with this one, the earliest collision first."""
        begins = np.maximum(self.starts, phase.start_s)
        lengths = np.minimum(self.starts + self.durations, phase.end_s) - begins
        hits = np.flatnonzero(lengths > 0)
        found: npt.NDArray[np.int64] = hits[np.argsort(begins[hits], kind="stable")]
        return found

    def periodically_colliding(self, phase: Phase) -> npt.NDArray[np.int64]:
        """Places of the applications with *any* coming phase that collides with this one.

        Phase ``m`` of an application starts at ``start + m * period``; only the first one that ends after ``phase``
        begins has to be compared.
        """
        if not phase.duration_s > 0:
            return np.zeros(0, np.int64)
        periods = np.where(self.periods > 0, self.periods, np.inf)
        behind = phase.start_s - (self.starts + self.durations)
        ahead = np.isfinite(self.starts) & (behind >= 0) & np.isfinite(periods)
        steps = np.zeros_like(self.starts)
        steps[ahead] = np.floor(behind[ahead] / periods[ahead]) + 1.0
        starts = self.starts.copy()
        starts[ahead] += steps[ahead] * periods[ahead]
        collides = (starts < phase.end_s) & (starts + self.durations > phase.start_s) & (self.durations > 0)
        return np.flatnonzero(collides)
