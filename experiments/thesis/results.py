"""Results of the finished runs of a campaign, by model, workload and schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from analysis.metrics import bounded_slowdown, slowdown
from analysis.tables import Floats, JobTable, read_run
from experiments import summary
from experiments.spec import DEFAULT_TAU_S, RunSpec
from experiments.thesis.models import Model
from experiments.thesis.published import METRICS
from experiments.thesis.variants import ALIASES

MINUTE_S = 60.0
MINUTE_SLOWDOWN = "mean_bounded_slowdown_60s"
"""Bounded slowdown with the bound of Figure 4.41."""

Place = tuple[str, str, str]
"""Model, workload, schedule."""


class Results:
    """The finished runs.

    Parameters
    ----------
    runs
        The grid; what is not finished is as if it were not there.
    root
        The campaign's folder.
    """

    def __init__(self, runs: Sequence[RunSpec], root: Path) -> None:
        self.rows = summary.collect(runs, root, DEFAULT_TAU_S)
        self.root = root
        self._by_place: dict[Place, list[summary.Row]] = {}
        for row in self.rows:
            self._by_place.setdefault((Model.of(row["model"]).value, row["workload"], row["policy"]), []).append(row)
        self._columns: dict[Place, Mapping[str, Floats]] = {}

    def has(self, model: str, workload: str, policy: str) -> bool:
        """Whether the schedule has run on the workload."""
        return self._place(model, workload, policy) in self._by_place

    def values(self, model: str, workload: str, policy: str, metric: str) -> list[float]:
        """Values of a figure of the summary, one per seed; none where nothing has run."""
        place = self._place(model, workload, policy)
        rows = self._by_place.get(place, [])
        if metric == MINUTE_SLOWDOWN:
            return [float(self.columns(model, workload, policy)[metric].mean())] if rows else []
        return [float(row[metric]) for row in rows]

    def value(self, model: str, workload: str, policy: str, metric: str) -> float | None:
        """Mean of a figure over the seeds; ``None`` where nothing has run."""
        values = self.values(model, workload, policy, metric)
        return sum(values) / len(values) if values else None

    def columns(self, model: str, workload: str, policy: str) -> Mapping[str, Floats]:
        """One value per job that ran (first seed), for each of the thesis's metrics."""
        place = self._place(model, workload, policy)
        if place not in self._columns:
            self._columns[place] = _columns(self.table(model, workload, policy))
        return self._columns[place]

    def table(self, model: str, workload: str, policy: str) -> JobTable:
        """Read the jobs of a schedule (first seed)."""
        return read_run(self.root / self._by_place[self._place(model, workload, policy)][0]["run"])

    def pooled(self, model: str, workloads: Sequence[str], policy: str) -> Mapping[str, Floats]:
        """Values of the jobs of several workloads together."""
        found = [self.columns(model, name, policy) for name in workloads]
        return {metric: np.concatenate([columns[metric] for columns in found]) for metric in found[0]}

    def _place(self, model: str, workload: str, policy: str) -> Place:
        return model, workload, ALIASES.get(policy, policy)


def _columns(table: JobTable) -> Mapping[str, Floats]:
    ran = table.ran()
    columns = (ran.wait_s, ran.turnaround_s, slowdown(ran), bounded_slowdown(ran, DEFAULT_TAU_S))
    return dict(zip(METRICS, columns, strict=True)) | {MINUTE_SLOWDOWN: bounded_slowdown(ran, MINUTE_S)}
