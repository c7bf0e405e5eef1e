"""Do plans transfer? Planning, backfilling and the field's methods since 2019 on logs not used to choose settings.

Settings are chosen on the odd periods (``transfer-choosing``); the even ones (``transfer``) are looked at as rarely as
possible, and every look is recorded in ``looks.csv`` beside this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.experiments.studies.claims import Claim, Measure, Parameter, Region, at_least, at_most
from spillway.experiments.studies.figures import Forest
from spillway.experiments.studies.local_logs import at_hand
from spillway.experiments.studies.measures import ratio
from spillway.experiments.studies.points import Grid, Value
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample, geometric
from spillway.experiments.studies.study import Study
from spillway.experiments.studies.tables import Means, Ratios
from spillway.experiments.studies.transfer.logs import LOGS, PERIODS, platform, workload
from spillway.experiments.studies.transfer.play import LITERAL, POLICIES, measure, policy

LOADS = (0.6, 0.75, 0.9)
BUFFERS = (0.5, 1.0, 2.0)
JOBS = 300
_COSTLY = ("atlas",)
"""Logs of machines on which a plan takes about twenty times as long."""

WAIT = "mean_wait_s"
_GOALS = ("plan", "plan guarded", "plan-square")
_EASY_ORDERS = tuple(name for name in POLICIES if "easy" in name)
OWN = ("period", "jobs", "load", "buffers")

RATIOS = {
    "mean_wait_s": "mean wait",
    "mean_bounded_slowdown": "bounded slowdown",
    "p99_wait_s": "99 % wait",
    "max_wait_s": "longest wait",
    "scheduler_cpu_s": "scheduler CPU",
}


def log_of(period: Value) -> str:
    """The log of a period."""
    return str(period).rpartition(" ")[0]


def _periods(names: Sequence[str], parity: int, each: int) -> list[Value]:
    """The first ``each`` odd or even periods of logs."""
    return [f"{name} {number}" for name in names for number in range(parity, PERIODS, 2)[:each]]


def _grids(parity: int, policies: Sequence[str], each: int) -> list[Grid]:
    """All loads at the thesis's buffers, and all buffers at the middle load; only the middle of both if costly."""
    common: Grid = {"jobs": [JOBS], "model": ["rigid"], "policy": list(policies), "load": [LOADS[1]], "buffers": [1.0]}
    every = {**common, "period": _periods(at_hand(LOGS), parity, each)}
    quick = {**common, "period": _periods([name for name in at_hand(LOGS) if name not in _COSTLY], parity, each)}
    return [every, {**quick, "load": LOADS}, {**quick, "buffers": BUFFERS}, {**quick, "model": ["io"]}]


@dataclass(frozen=True)
class Better:
    """Share of a period's runs in which a policy waits less than the baseline."""

    policy: str

    def __call__(self, results: Results) -> Sample:
        """One share per period."""
        pairs = _beside(results, self.policy, (LITERAL,))
        return Sample(tuple(sum(own < least for own, least in runs) / len(runs) for runs in pairs))


@dataclass(frozen=True)
class AgainstBest:
    """Mean wait over that of the best of some policies in each run, known only afterwards: one ratio per period."""

    policy: str
    others: tuple[str, ...]

    def __call__(self, results: Results) -> Sample:
        """Geometric means over the runs of a period."""
        pairs = _beside(results, self.policy, self.others)
        return Sample(tuple(geometric([own / least for own, least in runs]) for runs in pairs), ratios=True)


def _beside(results: Results, policy: str, others: Sequence[str]) -> list[list[tuple[float, float]]]:
    """By period, the mean wait of each run of a policy, and the least mean wait of some others on the same jobs."""
    runs: dict[Value, list[tuple[float, float]]] = {}
    for point in results.points({"policy": policy}):
        least = min(results.metric(WAIT, point.replaced(policy=other)) for other in others)
        runs.setdefault(point[results.unit], []).append((results.metric(WAIT, point), least))
    return list(runs.values())


def _goals(name: str) -> list[Claim]:
    """The issue's goals for a policy."""
    against = {"policy": name}, {"policy": LITERAL}
    stated: Sequence[tuple[str, str, Region, Measure]] = (
        ("mean wait", "of the literal plan's mean wait", at_most(0.88), ratio(WAIT, *against)),
        ("bounded slowdown", "of its bounded slowdown", at_most(0.85), ratio("mean_bounded_slowdown", *against)),
        ("99 % wait", "of its 99th percentile of waits", at_most(1.0), ratio("p99_wait_s", *against)),
        ("longest wait", "of its longest wait", at_most(1.0), ratio("max_wait_s", *against)),
        ("periods", "of the runs of a period are better than the literal plan's", at_least(2 / 3), Better(name)),
        (
            "best order",
            "of the wait of the best EASY order of each run",
            at_most(0.95),
            AgainstBest(name, _EASY_ORDERS),
        ),
    )
    return [
        Claim(f"{name}: {short}", "our goal", f"{name}: {region.published} {words}", region, measured,
              share_of=1.0 if short == "periods" else 0.0)
        for short, words, region, measured in stated
    ]  # fmt: skip


def _tables() -> list[Means]:
    """Ratios to the literal plan: over all loads, by load, by buffers, and with I/O; and to the least possible wait."""
    wait = {WAIT: "mean wait"}
    kinds: Sequence[tuple[str, Mapping[str, str], tuple[str, ...], Mapping[str, Value]]] = (
        ("All loads, Alloc-Only", RATIOS, (), {"model": "rigid", "buffers": 1.0}),
        ("By load", wait, ("load",), {"model": "rigid", "buffers": 1.0}),
        ("By size of burst buffers", wait, ("buffers",), {"model": "rigid", "load": LOADS[1]}),
        ("IO-Aware", RATIOS, (), {"model": "io"}),
    )
    ratios = [
        Ratios(title, metrics, ("policy", *rows), {"policy": LITERAL}, only, log_of)
        for title, metrics, rows, only in kinds
    ]
    bound = {"over_bound": "mean wait over the least of any schedule"}
    return [*ratios, Means("Scale", bound, ("policy", "load"), only={"model": "rigid", "buffers": 1.0})]


def _figure(tables: Sequence[Means]) -> Forest:
    """Mean and longest waits of all policies over the literal plan's."""
    every, io = tables[0], tables[3]
    panels = {
        "mean wait, Alloc-Only": (every, WAIT),
        "longest wait, Alloc-Only": (every, "max_wait_s"),
        "mean wait, IO-Aware": (io, WAIT),
    }
    return Forest("ratios", panels, f"over {LITERAL}'s")


def study(name: str, title: str, parity: int, policies: Sequence[str], each: int) -> Study:
    """Make the study on the odd or the even periods.

    Parameters
    ----------
    parity
        1: odd periods, 0: even ones.
    policies
        Names of :data:`spillway.experiments.studies.transfer.play.POLICIES` and ``ABLATIONS``.
    each
        Periods of every log.
    """
    tables = _tables()
    return Study(
        name=name,
        title=title,
        play=Product(workload=workload, platform=platform, policy=policy, measure=measure, own=OWN),
        grids=_grids(parity, policies, each),
        claims=[claim for one in _GOALS if one in policies for claim in _goals(one)],
        quick={"period": ["kth-like 1"], "jobs": [60], "load": [0.9], "buffers": [1.0], "model": ["rigid"],
               "policy": ["easy", LITERAL, "plan"]},
        parameters=[
            Parameter("jobs", str(JOBS), "of a period"),
            Parameter("loads", "0.6, 0.75, 0.9", "the issue's; gaps of a log are stretched or pressed alike"),
            Parameter("buffers", "0.5, 1, 2",
                      "times the thesis's 40 GB per eight processors; requests by its distribution"),
            Parameter("least wait", "60 s", "shorter waits count as this in ratios"),
        ],
        tables=tables,
        figures=[_figure(tables)],
        unit="period",
        notes=[
            f"Logs at hand: {', '.join(at_hand(LOGS))}. NASA and Lublin's model state no requested times: twice the "
            "runtime, at least 300 s, in whole minutes.",
        ],
    )  # fmt: skip


STUDY = study("transfer", "Planning on periods not used to choose settings", 0, [*POLICIES], 4)
