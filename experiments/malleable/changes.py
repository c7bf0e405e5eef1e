"""What malleable jobs change on the whole machine: each run against that of the same seed without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from experiments.malleable.cells import NONE
from experiments.malleable.measures import Results

Key = tuple[str, str, float]
"""Policy, control and share of malleable jobs."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the whole machine, and how its changes are stated.

    Attributes
    ----------
    words
        Its name.
    relative
        Whether changes are in percent of what they are compared with, or in its own unit (percentage points).
    """

    words: str
    relative: bool

    def change(self, value: float, before: float) -> float:
        """Change from ``before``; 0 where there was nothing to change."""
        if not self.relative:
            return value - before
        return 100 * (value / before - 1) if before else 0.0


MEASURES: Mapping[str, Measure] = {
    "mean_wait_s": Measure("wait (%)", True),
    "mean_turnaround_s": Measure("turnaround (%)", True),
    "utilisation_percent": Measure("nodes held (points)", False),
    "mean_delay_s": Measure("I/O delay per phase (%)", True),
    "delayed_percent": Measure("phases delayed (points)", False),
}


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean, least and most of some values."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """Of one or more values."""
        return cls(fmean(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.least:+.1f} to {self.most:+.1f})"


def changes(results: Results) -> dict[Key, dict[str, Interval]]:
    """Changes over the seeds, by policy, control and share, and by measure."""
    machine = [(cell, result) for cell, result in results.items() if cell.kind == "machine"]
    before = {(cell.get("policy"), cell.get("seed")): run for cell, run in machine if cell.get("control") == NONE}
    pairs: dict[Key, list[tuple[Mapping[str, float], Mapping[str, float]]]] = {}
    for cell, run in machine:
        base = before.get((cell.get("policy"), cell.get("seed")))
        if base is not None:
            key = (str(cell.get("policy")), str(cell.get("control")), float(cell.get("share")))
            pairs.setdefault(key, []).append((run, base))
    return {
        key: {
            name: Interval.of([measure.change(run[name], base[name]) for run, base in found])
            for name, measure in MEASURES.items()
        }
        for key, found in pairs.items()
    }
