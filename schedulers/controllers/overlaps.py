"""Total and partial collisions of predicted I/O phases, among any number of applications."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.schedulers.controllers.prediction import Phase

Floats = npt.NDArray[np.float64]


class Extent(enum.Enum):
    """Share of the shorter phase that a collision covers."""

    PARTIAL = "partial"
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two phases that collide.

    Attributes
    ----------
    first, second
        Their places in the given sequence, ``first < second``.
    start_s, seconds
        Start and duration of the time in which both transfer.
    extent
        Whether one lies wholly within the other.
    """

    first: int
    second: int
    start_s: float
    seconds: float
    extent: Extent


def overlaps(phases: Sequence[Phase]) -> list[Overlap]:
    """Find every pair of colliding phases, ordered by start, then by place. Phases that only touch do not collide."""
    order = sorted(range(len(phases)), key=lambda index: (phases[index].start_s, index))
    found: list[Overlap] = []
    open_phases: list[int] = []
    for index in order:
        phase = phases[index]
        open_phases = [other for other in open_phases if phases[other].end_s > phase.start_s]
        if phase.duration_s > 0:
            found += [_overlap(phases, other, index) for other in open_phases]
            open_phases.append(index)
    return sorted(found, key=lambda overlap: (overlap.start_s, overlap.first, overlap.second))


def _overlap(phases: Sequence[Phase], earlier: int, later: int) -> Overlap:
    start_s = phases[later].start_s
    seconds = min(phases[earlier].end_s, phases[later].end_s) - start_s
    shorter_s = min(phases[earlier].duration_s, phases[later].duration_s)
    extent = Extent.TOTAL if seconds >= shorter_s * (1 - 1e-12) else Extent.PARTIAL
    return Overlap(min(earlier, later), max(earlier, later), start_s, seconds, extent)


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

    @classmethod
    def of(cls, phases: Sequence[Phase]) -> Fleet:
        """Arrays of these phases."""
        table = np.array([(phase.start_s, phase.duration_s, phase.period_s) for phase in phases], np.float64)
        return cls(*table.reshape(-1, 3).T)

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
