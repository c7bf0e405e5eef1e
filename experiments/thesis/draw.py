"""The thesis's kinds of figures, drawn from our runs; diamonds are the published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.axes import Axes

from analysis.plots.bars import bars
from analysis.plots.distribution import distribution
from analysis.plots.gantt import gantt
from analysis.plots.load_timeline import load_timeline
from analysis.plots.normalised_boxes import normalised_boxes
from analysis.plots.panels import panels
from analysis.plots.part_bars import part_bars
from analysis.plots.style import save
from analysis.tables import Floats
from experiments.thesis.checks import Published, ratios
from experiments.thesis.figures import MODEL_NAMES, Family
from experiments.thesis.inputs import FULL
from experiments.thesis.published import METRICS, Key, is_sound
from experiments.thesis.results import Results
from experiments.thesis.variants import BASELINE, RESERVATION

GANTT_JOBS = 3500
"""Jobs in the thesis's Gantt chart (Figure 4.1)."""


class Artist:
    """Draws figures into a folder.

    Parameters
    ----------
    results
        The finished runs.
    published
        The published values.
    folder
        Where the pictures go.
    original
        Whether the runs had the published inputs; else published values of single workloads are not drawn.
    """

    def __init__(self, results: Results, published: Published, folder: Path, *, original: bool) -> None:
        self._results = results
        self._published = published
        self._folder = folder
        self._original = original

    def full(self, family: Family, metric: str, workloads: Sequence[str]) -> Path | None:
        """Mean, quantiles and tail of all jobs of the workloads, by schedule."""
        model = family.model.value
        policies = [p for p in family.policies if all(self._results.has(model, w, p) for w in workloads)]
        if not policies or not workloads:
            return None
        values = {policy: self._results.pooled(model, workloads, policy)[metric] for policy in policies}
        marks = self._marks(model, FULL, policies, metric) if list(workloads) == [FULL] else {}
        title = METRICS.get(metric, "bounded slowdown (60 s)").capitalize()
        ax = distribution(values, title=title, seconds=metric.endswith("time_s"), tail=family.tail, marks=marks)
        return self._save(ax, f"{family.section}-{model}-{metric}-full")

    def parts(self, family: Family, metric: str, parts: Sequence[str]) -> Path | None:
        """Mean of each part, by schedule."""
        model = family.model.value
        values = {
            policy: {
                part: self._results.columns(model, part, policy)[metric]
                for part in parts
                if self._results.has(model, part, policy)
            }
            for policy in family.policies
        }
        values = {policy: columns for policy, columns in values.items() if columns}
        if not values:
            return None
        marks: dict[str, dict[str, float]] = {policy: {} for policy in values}
        for part in parts:
            for policy, value in self._marks(model, part, list(values), metric).items():
                marks[policy][part] = value
        title = f"Mean {METRICS[metric]} by part ({MODEL_NAMES[family.model]})"
        ax = part_bars(values, title=title, unit="s" if metric.endswith("_s") else "", marks=marks)
        return self._save(ax, f"{family.section}-{model}-{metric}-parts")

    def ratios(self, family: Family, metric: str, parts: Sequence[str]) -> Path | None:
        """Means of the parts in relation to the baseline's."""
        model = family.model.value
        found: dict[str, Floats] = {}
        marks = {}
        for policy in family.policies:
            ours, theirs = ratios(self._results, self._published, model, policy, metric, parts)
            if ours:
                found[policy] = np.array(ours)
                marks[policy] = median(theirs)
        if not found:
            return None
        title = f"{METRICS[metric].capitalize()} ({MODEL_NAMES[family.model]})"
        ax = normalised_boxes(found, title=title, baseline=BASELINE, marks=marks)
        return self._save(ax, f"{family.section}-{model}-{metric}-normalised")

    def load(self, family: Family, workload: str, *, storage: bool) -> Path | None:
        """What the waiting jobs request over time, one chart per schedule."""
        model = family.model.value
        policies = [policy for policy in RESERVATION if self._results.has(model, workload, policy)]
        if not policies:
            return None
        axes = panels(len(policies), 1, width=11.0, height=2.6 * len(policies))
        for policy, ax in zip(policies, axes, strict=True):
            load_timeline(self._results.table(model, workload, policy), ax, storage=storage, title=policy)
        return self._save(axes[0], f"{family.section}-{model}-{'storage' if storage else 'compute'}-load")

    def system(self, family: Family, metric: str) -> Path | None:
        """Makespan or utilisation of the full workload."""
        model = family.model.value
        values = {p: np.array(self._results.values(model, FULL, p, metric)) for p in family.policies}
        values = {policy: column for policy, column in values.items() if column.size}
        if not values:
            return None
        marks = self._marks(model, FULL, list(values), metric)
        words = metric.removesuffix("_s").replace("_", " ").capitalize()
        runs = {policy: [column[k : k + 1] for k in range(column.size)] for policy, column in values.items()}
        ax = bars(runs, title=f"{words} ({MODEL_NAMES[family.model]})", seconds=metric.endswith("_s"), marks=marks)
        return self._save(ax, f"{family.section}-{model}-{metric}")

    def gantt(self, model: str, workload: str, policy: str) -> Path | None:
        """Which job held which node and burst buffer when, for the first 3500 jobs to start."""
        if not self._results.has(model, workload, policy):
            return None
        table = self._results.table(model, workload, policy).ran()
        table = table.take(np.argsort(table.start_s, kind="stable")[:GANTT_JOBS])
        ax = gantt(table, title=f"{policy} on {workload} ({model})")
        return self._save(ax, f"gantt-{model}-{workload}-{policy}")

    def _marks(self, model: str, workload: str, policies: Sequence[str], metric: str) -> Mapping[str, float]:
        if not self._original:
            return {}
        return {
            policy: self._published[key].value
            for policy in policies
            if (key := Key(model, workload, policy, metric)) in self._published and is_sound(model, workload, policy)
        }

    def _save(self, ax: Axes, stem: str) -> Path:
        return save(ax, self._folder / stem)[0]
