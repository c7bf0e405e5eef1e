"""Which runs the figures need."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from experiments.gang.run import MIGRATE, MIXED_NAME, NEXT_QUANTUM, POLICY_NAMES, Point
from workloads.gang import MEAN_GAP_S, MEAN_TIMES_S

CLASSES = ("0.5", "0.33", "0.1")
"""High, medium and low I/O intensity (section 3.4.1)."""

COSTS_S = (0.0, 10.0, 20.0, 30.0)
LIMITS = (0, 16, 32, 64, 128, 256, 320)


@dataclass(frozen=True)
class Grid:
    """What is repeated.

    Attributes
    ----------
    times_s
        Mean execution times; the last is the one of figure 8.
    seeds
        Workloads.
    jobs, mean_gap_s, layout
        As in :class:`experiments.gang.run.Point`.
    migration_start
        When migrated jobs restart.
    costs_s, limits
        Values of figure 8.
    """

    times_s: tuple[int, ...] = MEAN_TIMES_S
    seeds: tuple[int, ...] = (0, 1, 2)
    jobs: int = 10_000
    mean_gap_s: float = MEAN_GAP_S
    layout: str = "contiguous"
    migration_start: str = NEXT_QUANTUM
    costs_s: tuple[float, ...] = COSTS_S
    limits: tuple[int, ...] = LIMITS

    def point(self, policy: str, time_s: int, mix: str, seed: int, **others: Any) -> Point:
        """A run of this grid."""
        return Point(
            policy=policy, mean_time_s=time_s, mix=mix, seed=seed, jobs=self.jobs, mean_gap_s=self.mean_gap_s,
            layout=self.layout, migration_start=self.migration_start if policy == MIGRATE else NEXT_QUANTUM, **others,
        )  # fmt: skip

    def figure_9(self) -> Iterator[Point]:
        """Four policies, three intensities, all loads; figures 4 and 6 are parts of it."""
        for seed, mix, time_s, policy in itertools.product(self.seeds, CLASSES, self.times_s, POLICY_NAMES):
            yield self.point(policy, time_s, mix, seed)

    def figure_8(self) -> Iterator[Point]:
        """Migration's cost and limit at the highest load."""
        for seed, mix in itertools.product(self.seeds, CLASSES):
            for cost_s in self.costs_s:
                yield self.point(MIGRATE, self.times_s[-1], mix, seed, cost_s=cost_s)
            for limit in self.limits:
                yield self.point(MIGRATE, self.times_s[-1], mix, seed, limit=limit)

    def figure_10(self) -> Iterator[Point]:
        """Four policies on mixed workloads."""
        for seed, time_s, policy in itertools.product(self.seeds, self.times_s, POLICY_NAMES):
            yield self.point(policy, time_s, MIXED_NAME, seed)

    def points(self, figures: Iterable[int]) -> list[Point]:
        """All runs of some figures, each once."""
        found: dict[Point, None] = {}
        for figure in figures:
            found.update(dict.fromkeys(_FIGURES[figure](self)))
        return list(found)


_FIGURES = {4: Grid.figure_9, 6: Grid.figure_9, 8: Grid.figure_8, 9: Grid.figure_9, 10: Grid.figure_10}
FIGURES = tuple(_FIGURES)
"""Figures of the paper that can be repeated."""
