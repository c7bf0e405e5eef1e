"""Figures of the thesis's kinds, drawn from our runs (first seeds); diamonds are published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.measures.metrics import bounded_slowdown, slowdown
from spillway.analysis.plots.distributions import distribution, normalised_boxes, part_bars
from spillway.analysis.plots.style import save
from spillway.analysis.tables.jobs import Floats, JobTable, read_run
from spillway.experiments.run.spec import Playing
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.study import Figure
from spillway.experiments.studies.thesis.claims import MODELS, MedianOverParts
from spillway.experiments.studies.thesis.inputs import FULL, PARTS
from spillway.experiments.studies.thesis.play import lacks
from spillway.experiments.studies.thesis.published import METRICS, Key, is_sound, read_published
from spillway.experiments.studies.thesis.schedules import BASELINE, BEST, RESERVATION

LONG_TAIL, TAIL = 8000, 4000
"""Jobs per schedule in the thesis's tail plots: in section 4.2, and in 4.6."""

Tables = Mapping[str, Mapping[str, JobTable]]
"""Jobs by schedule and workload."""


@dataclass(frozen=True)
class _MetricFigures:
    """A figure for each of the four metrics.

    Attributes
    ----------
    section
        Section of the thesis.
    model
        The job model.
    policies
        Schedules, in the order of the figures.
    """

    section: str
    model: str
    policies: tuple[str, ...]
    kind = ""

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if any schedule was played; return their files."""
        drawn = {metric: self.draw(results, metric) for metric in METRICS}
        place = f"{self.section}-{self.model}"
        return [path for name, ax in drawn.items() if ax for path in save(ax, folder / f"{place}-{name}-{self.kind}")]

    def draw(self, results: Results, metric: str) -> Axes | None:
        """Draw a metric; ``None`` if no schedule was played."""
        raise NotImplementedError


@dataclass(frozen=True)
class Distributions(_MetricFigures):
    """Mean, quantiles and tail of all jobs of the whole log (or of all parts if it was not played).

    Attributes
    ----------
    tail
        Jobs in the tail plot.
    """

    tail: int = TAIL
    kind = "full"

    def draw(self, results: Results, metric: str) -> Axes | None:
        """See :meth:`_MetricFigures.draw`."""
        full = tables = _tables_of(results, self.model, FULL, self.policies)
        if not full:
            tables = _tables_of(results, self.model, "part", self.policies)
        values = {
            policy: np.concatenate([column(table, metric) for table in found.values()])
            for policy, found in tables.items()
        }
        marks = marks_of(results, self.model, FULL, values, metric) if full else {}
        title, seconds = METRICS[metric].capitalize(), metric.endswith("time_s")
        return distribution(values, title=title, seconds=seconds, tail=self.tail, marks=marks) if values else None


class Parts(_MetricFigures):
    """Means of each part, by schedule."""

    kind = "parts"

    def draw(self, results: Results, metric: str) -> Axes | None:
        """See :meth:`_MetricFigures.draw`."""
        values = {
            policy: {part: column(table, metric) for part, table in found.items()}
            for policy, found in _tables_of(results, self.model, "part", self.policies).items()
        }
        by_part = {part: marks_of(results, self.model, part, values, metric) for part in PARTS}
        marks = {
            policy: {part: by_part[part][policy] for part in found if policy in by_part[part]}
            for policy, found in values.items()
        }
        title, unit = f"Mean {METRICS[metric]} by part ({MODELS[self.model]})", "s" if metric.endswith("_s") else ""
        return part_bars(values, title=title, unit=unit, marks=marks) if values else None


class Ratios(_MetricFigures):
    """Means of the parts as multiples of the baseline's, by schedule."""

    kind = "normalised"

    def draw(self, results: Results, metric: str) -> Axes | None:
        """See :meth:`_MetricFigures.draw`."""
        found: dict[str, Floats] = {}
        marks = {}
        for policy in self.policies:
            measure = MedianOverParts(metric, self.model, policy)
            if all(_points_of(results, self.model, "part", name) for name in (policy, BASELINE)):
                ratios = measure.ratios(results)[0]
                if ratios:
                    found[policy] = np.array(list(ratios.values()))
                    marks[policy] = median(measure.published_ratios(ratios).values())
        title = f"{METRICS[metric].capitalize()} ({MODELS[self.model]})"
        marks = marks if original(results) else {}
        return normalised_boxes(found, title=title, baseline=BASELINE, marks=marks) if found else None


def _points_of(results: Results, model: str, scale: str, policy: str) -> list[Point]:
    """Points of a schedule with the first seed."""
    wanted: dict[str, Value] = {"scale": scale, "model": model, "policy": policy, "seed": 0}
    return [point for point in results.values if point.matches(wanted)]


def _tables_of(results: Results, model: str, scale: str, policies: Iterable[str]) -> Tables:
    """Jobs that ran, by schedule and workload; schedules that were not played are left out."""
    found = {policy: _points_of(results, model, scale, policy) for policy in policies}
    return {
        policy: {point.text("workload"): read_run(results.folders[point]) for point in points}
        for policy, points in found.items()
        if points
    }


def column(table: JobTable, metric: str) -> Floats:
    """One value for each job that ran."""
    ran = table.ran()
    if metric == "mean_bounded_slowdown":
        return bounded_slowdown(ran, Playing.tau_s)
    columns: Mapping[str, Floats] = {
        "mean_waiting_time_s": ran.wait_s,
        "mean_turnaround_time_s": ran.turnaround_s,
        "mean_slowdown": slowdown(ran),
    }
    return columns[metric]


def original(results: Results) -> bool:
    """Whether the inputs are the published ones; otherwise published values of single workloads are not comparable."""
    return not lacks(next(iter(results.values)))


def marks_of(results: Results, model: str, workload: str, policies: Iterable[str], metric: str) -> dict[str, float]:
    """Published values of a workload by schedule."""
    keys = {policy: Key(model, workload, policy, metric) for policy in policies}
    published = read_published() if original(results) else {}
    return {
        policy: published[key].value
        for policy, key in keys.items()
        if key in published and is_sound(model, workload, policy)
    }


_REST = tuple(name for name in BEST if name != BASELINE)
FIGURES: tuple[Figure, ...] = tuple(
    figure
    for model, section, best in (("rigid", "4.2.1", "4.6.1"), ("io", "4.2.2", "4.6.2"))
    for figure in (
        Distributions(section, model, RESERVATION, LONG_TAIL),
        Parts(section, model, RESERVATION),
        Distributions(best, model, BEST),
        Parts(best, model, BEST),
        Ratios(best, model, _REST),
    )
)
"""Figures of sections 4.2 and 4.6."""
