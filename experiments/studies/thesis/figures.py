"""Figures of the thesis's kinds, drawn from our runs (first seeds); diamonds are published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from spillway.analysis.metrics import bounded_slowdown, slowdown
from spillway.analysis.plots.bars import bars
from spillway.analysis.plots.distribution import distribution
from spillway.analysis.plots.gantt import gantt
from spillway.analysis.plots.load_timeline import load_timeline
from spillway.analysis.plots.normalised_boxes import normalised_boxes
from spillway.analysis.plots.panels import panels
from spillway.analysis.plots.part_bars import part_bars
from spillway.analysis.plots.style import save
from spillway.analysis.tables import Floats, JobTable, read_run
from spillway.experiments.run.spec import DEFAULT_TAU_S
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.study import Figure
from spillway.experiments.studies.thesis.claims import MODELS, MedianOverParts
from spillway.experiments.studies.thesis.inputs import FULL, PARTS
from spillway.experiments.studies.thesis.play import MINUTE_S, lacks
from spillway.experiments.studies.thesis.published import METRICS, Key, is_sound, read_published
from spillway.experiments.studies.thesis.schedules import BASELINE, BEST, DEPTH, MAXUTIL, PLAN, RESERVATION, WINDOW

LONG_TAIL, TAIL = 8000, 4000
"""Jobs per schedule in the thesis's tail plots: in section 4.2, and everywhere else."""

GANTT_JOBS = 3500
"""Jobs in the thesis's Gantt chart (Figure 4.1)."""

Tables = Mapping[str, Mapping[str, JobTable]]
"""Jobs by schedule and workload."""


@dataclass(frozen=True)
class Distributions:
    """Mean, quantiles and tail of all jobs of the whole log (or of all parts if it was not played): four metrics.

    Attributes
    ----------
    section
        Section of the thesis.
    model
        The job model.
    policies
        Schedules, in the order of the figures.
    tail
        Jobs in the tail plot.
    minute
        Whether bounded slowdowns have the bound of 60 s of Figure 4.41.
    whole
        Whether the section has figures of the whole log only.
    """

    section: str
    model: str
    policies: tuple[str, ...]
    tail: int = TAIL
    minute: bool = False
    whole: bool = True

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if any schedule was played; return their files."""
        tables = _tables_of(results, self.model, FULL, self.policies)
        full = bool(tables)
        if not full and not self.whole:
            tables = _tables_of(results, self.model, "part", self.policies)
        return [path for metric in METRICS if tables for path in self._draw(results, tables, metric, full, folder)]

    def _draw(self, results: Results, tables: Tables, metric: str, full: bool, folder: Path) -> list[Path]:
        minute = self.minute and full and metric == "mean_bounded_slowdown"
        values = {
            policy: np.concatenate(
                [column(table, metric, MINUTE_S if minute else DEFAULT_TAU_S) for table in found.values()]
            )
            for policy, found in tables.items()
        }
        title = "Bounded slowdown (60 s)" if minute else METRICS[metric].capitalize()
        name = f"{metric}_60s" if minute else metric
        marks = marks_of(results, self.model, FULL, values, name) if full else {}
        ax = distribution(values, title=title, seconds=metric.endswith("time_s"), tail=self.tail, marks=marks)
        return save(ax, folder / f"{self.section}-{self.model}-{metric}-full")


@dataclass(frozen=True)
class Parts:
    """Means of each part, by schedule: four metrics."""

    section: str
    model: str
    policies: tuple[str, ...]

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if any schedule was played; return their files."""
        tables = _tables_of(results, self.model, "part", self.policies)
        return [path for metric in METRICS if tables for path in self._draw(results, tables, metric, folder)]

    def _draw(self, results: Results, tables: Tables, metric: str, folder: Path) -> list[Path]:
        values = {
            policy: {part: column(table, metric, DEFAULT_TAU_S) for part, table in found.items()}
            for policy, found in tables.items()
        }
        by_part = {part: marks_of(results, self.model, part, values, metric) for part in PARTS}
        marks = {
            policy: {part: by_part[part][policy] for part in found if policy in by_part[part]}
            for policy, found in values.items()
        }
        title = f"Mean {METRICS[metric]} by part ({MODELS[self.model]})"
        ax = part_bars(values, title=title, unit="s" if metric.endswith("_s") else "", marks=marks)
        return save(ax, folder / f"{self.section}-{self.model}-{metric}-parts")


@dataclass(frozen=True)
class Ratios:
    """Means of the parts as multiples of the baseline's, by schedule: four metrics."""

    section: str
    model: str
    policies: tuple[str, ...]

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if any schedule was played; return their files."""
        return [path for metric in METRICS for path in self._draw(results, metric, folder)]

    def _draw(self, results: Results, metric: str, folder: Path) -> list[Path]:
        found: dict[str, Floats] = {}
        marks = {}
        for policy in self.policies:
            measure = MedianOverParts(metric, self.model, policy)
            if all(_points_of(results, self.model, "part", name) for name in (policy, BASELINE)):
                ratios = measure.ratios(results)[0]
                if not ratios:
                    continue
                found[policy] = np.array(list(ratios.values()))
                if original(results):
                    marks[policy] = median(measure.published(ratios).values())
        if not found:
            return []
        title = f"{METRICS[metric].capitalize()} ({MODELS[self.model]})"
        ax = normalised_boxes(found, title=title, baseline=BASELINE, marks=marks)
        return save(ax, folder / f"{self.section}-{self.model}-{metric}-normalised")


@dataclass(frozen=True)
class _System:
    """Makespan and utilisation of the whole log, by schedule."""

    section: str
    model: str

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if the whole log was played; return their files."""
        drawn: list[Path] = []
        for metric in ("makespan_s", "compute_utilisation"):
            values = {
                policy: [np.array([results.metric(metric, point)]) for point in points]
                for policy in RESERVATION
                if (points := _points_of(results, self.model, FULL, policy))
            }
            if values:
                words = metric.removesuffix("_s").replace("_", " ").capitalize()
                marks = marks_of(results, self.model, FULL, values, metric)
                seconds = metric.endswith("_s")
                ax = bars(values, title=f"{words} ({MODELS[self.model]})", seconds=seconds, marks=marks)
                drawn += save(ax, folder / f"{self.section}-{self.model}-{metric}")
        return drawn


@dataclass(frozen=True)
class Loads:
    """Requests of waiting jobs over time (nodes; bytes), a chart for each schedule: whole log, or first part."""

    section: str
    model: str

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures, if any schedule was played; return their files."""
        tables = _first_of(results, self.model, RESERVATION)
        drawn: list[Path] = []
        for storage in (False, True) if tables else ():
            axes = panels(len(tables), 1, width=11.0, height=2.6 * len(tables))
            for (policy, table), ax in zip(tables.items(), axes, strict=True):
                load_timeline(table, ax, storage=storage, title=policy)
            drawn += save(axes[0], folder / f"{self.section}-{self.model}-{'storage' if storage else 'compute'}-load")
        return drawn


@dataclass(frozen=True)
class Gantt:
    """Nodes and burst buffers of jobs over time, for the first jobs to start, of the whole log or a part."""

    model: str
    policy: str

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figure, if the schedule was played; return its files."""
        drawn: list[Path] = []
        for table in _first_of(results, self.model, (self.policy,)).values():
            ran = table.ran()
            first = ran.take(np.argsort(ran.start_s, kind="stable")[:GANTT_JOBS])
            title = f"{self.policy}, {MODELS[self.model]}"
            drawn += save(gantt(first, title=title), folder / f"gantt-{self.model}-{self.policy}")
        return drawn


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


def _first_of(results: Results, model: str, policies: Iterable[str]) -> Mapping[str, JobTable]:
    """Jobs of each schedule on the whole log, or on the first part if the whole log was not played."""
    policies = tuple(policies)
    tables = _tables_of(results, model, FULL, policies) or _tables_of(results, model, "part", policies)
    return {policy: next(iter(found.values())) for policy, found in tables.items()}


def column(table: JobTable, metric: str, tau_s: float) -> Floats:
    """One value for each job that ran."""
    ran = table.ran()
    if metric == "mean_bounded_slowdown":
        return bounded_slowdown(ran, tau_s)
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
FIGURES: tuple[Figure, ...] = (
    Gantt("rigid", "no-future-1"),
    Gantt("rigid", "plan-square-0"),
    *(figure for model, section in (("rigid", "4.2.1"), ("io", "4.2.2")) for figure in (
        _System(section, model),
        Distributions(section, model, RESERVATION, LONG_TAIL, whole=False),
        Loads(section, model),
        Parts(section, model, RESERVATION),
    )),
    Distributions("4.3", "io", MAXUTIL),
    Distributions("4.4", "io", WINDOW),
    Distributions("4.5", "io", PLAN),
    *(figure for model, section in (("rigid", "4.6.1"), ("io", "4.6.2")) for figure in (
        Distributions(section, model, BEST, minute=model == "rigid", whole=False),
        Parts(section, model, BEST),
        Ratios(section, model, _REST),
    )),
    Distributions("4.7", "io", DEPTH),
)  # fmt: skip
"""Figures 4.1 to 4.65, section by section."""
