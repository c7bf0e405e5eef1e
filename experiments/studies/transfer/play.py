"""Policies and measures of the transfer study; its inputs are in :mod:`spillway.experiments.studies.transfer.logs`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from spillway.analysis.measures.bounds import least_mean_wait_s
from spillway.analysis.tables.jobs import read_run
from spillway.base.options import Value
from spillway.experiments.run import folders
from spillway.experiments.run.sessions import parse_policy
from spillway.experiments.run.spec import PolicySpec
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.product import summary_of

LITERAL = "plan-square literal"
"""Kopański's plan-square-0 by its published code, with the deviations of its timeline: the baseline of all ratios."""

POLICIES: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("study.toml").read_text("utf-8"))["policies"]
"""Policies by their names in the tables: those with orders are EASY backfilling in that order throughout; after
``learned`` ablations of our plan-square, of the default and of EASY, one part left out or changed at a time."""

_LEAST_WAIT_S = 60.0
"""Shorter waits count as this: a ratio of two waits near 0 is meaningless."""


def policy(point: Point) -> PolicySpec:
    """A policy by its name in the tables or on the command line; after a comma the session's estimates."""
    label = point.text("policy")
    name, _, estimates = label.partition(", ")
    session: dict[str, Value] = {"estimates": estimates} if estimates else {}
    return parse_policy(POLICIES.get(name, name), literal=name == LITERAL, session=session, label=label)


def measure(folder: Path) -> Values:
    """The run's summary, waits of at least a minute for ratios, mean wait over its bound, the scheduler's CPU time."""
    found = summary_of(folder)
    waits = {f"{name}_wait_s": max(found[f"{name}_waiting_time_s"], _LEAST_WAIT_S) for name in ("mean", "p99", "max")}
    bound_s = max(least_mean_wait_s(read_run(folder)), _LEAST_WAIT_S)
    cpu_s = float(folders.read_json(folder / "timings.json")["scheduler_cpu_s"])
    return found | waits | {"over_bound": waits["mean_wait_s"] / bound_s, "scheduler_cpu_s": cpu_s}
