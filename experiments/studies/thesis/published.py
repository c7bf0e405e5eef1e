"""The published values: read from the thesis's figures, and measured in new runs of its scheduler."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PUBLISHED = Path(__file__).with_name("published.csv")
"""Values of the thesis: 16 split workloads and the full one, both models. ``figure`` is empty for values that are not
in its figures (makespans of section 4.6, seconds spent in the scheduler): they come from its published notebooks."""

MEASURED = Path(__file__).with_name("measured.csv")
"""Values of the published scheduler on the published inputs, run under the real Batsim 4.2, to all digits. Makespans
count from t = 0, one second before the first job."""

METRICS: Mapping[str, str] = {
    "mean_waiting_time_s": "waiting time",
    "mean_turnaround_time_s": "turnaround time",
    "mean_slowdown": "slowdown",
    "mean_bounded_slowdown": "bounded slowdown",
}
"""The thesis's four metrics and their names (bounded slowdown with a bound of 600 s)."""

UNSOUND: Mapping[tuple[str, str, str], str] = {
    ("io", "part-13", "window-1"): "published mean wait 462 s where all others have 2,000 to 3,400 s: a truncated run",
}
"""Unusable published values: model, workload, schedule, and the reason. They are left out on both sides."""


MODELS: Mapping[str, str] = {"alloc": "rigid", "io": "io"}
"""Job model by its name in the tables."""


@dataclass(frozen=True, order=True)
class Key:
    """Key of a value: model, workload, published name of the schedule, metric.

    Models are ``rigid`` and ``io``; workloads ``full``, ``part-0`` to ``part-15``, and ``parts`` for summaries of all
    parts.
    """

    model: str
    workload: str
    policy: str
    metric: str


@dataclass(frozen=True)
class Value:
    """A published value and its figure in the thesis ("": no figure)."""

    value: float
    figure: str = ""


@cache
def read_published(path: Path = PUBLISHED) -> Mapping[Key, Value]:
    """Read a table of published values."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            Key(MODELS[row["model"]], row["workload"], row["policy"], row["metric"]): Value(
                float(row["value"]), row.get("figure", "")
            )
            for row in csv.DictReader(file)
        }


def is_sound(model: str, workload: str, policy: str) -> bool:
    """Whether the published value can be trusted."""
    return (model, workload, policy) not in UNSOUND
