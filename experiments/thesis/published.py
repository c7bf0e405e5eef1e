"""The published values, as read from the thesis's figures."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.spec import Model

TABLE = Path(__file__).with_name("published.csv")
METRICS = ("mean_waiting_time_s", "mean_turnaround_time_s", "mean_slowdown", "mean_bounded_slowdown")
"""The thesis's four metrics (bounded slowdown with a bound of 600 s)."""


@dataclass(frozen=True, order=True)
class Key:
    """Which value: model (``alloc``, ``io``), workload (``full``, ``part-0`` ... ``part-15``, ``parts`` for what sums
    up all parts), published name of the schedule, metric."""

    model: str
    workload: str
    policy: str
    metric: str


@dataclass(frozen=True)
class Value:
    """A published value and its figure in the thesis."""

    value: float
    figure: str


def read_published(path: Path = TABLE) -> Mapping[Key, Value]:
    """Read the table of published values."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            Key(row["model"], row["workload"], row["policy"], row["metric"]): Value(float(row["value"]), row["figure"])
            for row in csv.DictReader(file)
        }


def full_name(model: Model) -> str:
    """File name (without suffix) of the reassembled full workload among the reference data."""
    return f"KTH-SP2-1996-2.1-cln-{'alloc-only' if model is Model.ALLOC else 'io-aware'}-from-parts"
