"""The thesis's six conclusions as claims, on its own workloads and schedules; and further points.

Units are the sixteen parts of the log, or draws of its burst buffers for the whole log. An annealed schedule is
represented by its mean over the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from spillway.experiments.studies.claims import Claim, Region, at_least, at_most, between, less_than, more_than, within
from spillway.experiments.studies.measures import mean
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample
from spillway.experiments.studies.thesis.published import METRICS
from spillway.experiments.studies.thesis.schedules import CORRECTED

WAIT, BOUNDED = "mean_waiting_time_s", "mean_bounded_slowdown"
DEEPER = ("backfill-2", "backfill-3", "backfill-sjf-2")

_PART: Mapping[str, Value] = {"scale": "part"}

WIDEST = 0.5
"""A number of the whole log is judged if the interval of a single draw of its burst buffers is no wider than half of
it; set knowing the values of one draw."""


@dataclass(frozen=True)
class Against:
    """A schedule's value as a multiple of another's, each the mean over its seeds; one per unit.

    Attributes
    ----------
    metric, policy, other
        The metric, and the compared schedules.
    axes
        The axes that both have in common.
    """

    metric: str
    policy: str
    other: str
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """Ratios of the units."""
        return Sample(tuple(self.by_unit(results).values()), ratios=True)

    def by_unit(self, results: Results) -> dict[Value, float]:
        """Ratios by the unit's value, where both were played."""
        here = results.at(self.axes)
        above, below = (here.means(self.metric, {"policy": name}) for name in (self.policy, self.other))
        return {unit: value / below[unit] if below[unit] > 0 else nan for unit, value in above.items() if unit in below}


@dataclass(frozen=True)
class Shift:
    """Factor by which I/O effects change a schedule's wait relative to another's, part by part (conclusion 6)."""

    policy: str
    base: str

    def __call__(self, results: Results) -> Sample:
        """One ratio of ratios per part."""
        io, rigid = (
            Against(WAIT, self.policy, self.base, {"model": model, **_PART}).by_unit(results)
            for model in ("io", "rigid")
        )
        return Sample(tuple(value / rigid[part] for part, value in io.items() if part in rigid), ratios=True)


def _against(
    name: str, policy: str, other: str, region: Region, place: str, statement: str, metric: str = WAIT
) -> Claim:
    """A claim on two schedules over the parts, Alloc-Only."""
    return Claim(name, place, statement, region, Against(metric, policy, other, {"model": "rigid", **_PART}))


@dataclass(frozen=True)
class _Passing:
    """Ratio of the waits of wide and narrow jobs, under one schedule over that under another, by part."""

    policy: str
    other: str

    def __call__(self, results: Results) -> Sample:
        """One ratio of ratios per part."""
        wide, narrow = (
            Against(metric, self.policy, self.other, {"model": "rigid", **_PART}).by_unit(results)
            for metric in ("wide_wait_s", "narrow_wait_s")
        )
        return Sample(tuple(value / narrow[part] for part, value in wide.items() if part in narrow), ratios=True)


def _full(metric: str, policy: str, other: str, model: str) -> Against:
    """Two schedules on the whole log, by draw of its burst buffers."""
    return Against(metric, policy, other, {"scale": "full", "model": model})


def _words(policy: str) -> str:
    """The usual name of a backfilling schedule."""
    return "SJF-EASY" if policy.startswith("backfill-sjf") else "EASY"


CONCLUSIONS = (
    Claim(
        "1 whole log", "conclusion 1, figure 4.4",
        "without reservations of burst buffers EASY waits about as long as FCFS, or longer (whole log, Alloc-Only; "
        "taken: at least 0.9 times as long)",
        at_least(0.9), _full(WAIT, "no-future-1", "fcfs", "rigid"),
    ),
    Claim(
        "1 whole log, I/O", "section 4.2, figure 4.16", "IO-Aware, whole log: without them EASY waits less than FCFS",
        less_than(1), _full(WAIT, "no-future-1", "fcfs", "io"),
    ),
    _against(
        "1 parts", "no-future-1", "backfill-1", at_least(2), "conclusion 1, figure 4.10",
        "without these reservations waits are drastically longer than with them (taken: twice)",
    ),
    _against(
        "1 tail", "no-future-1", "backfill-1", at_least(2), "conclusion 1, figure 4.4",
        "and their distribution is far more extensive (99th percentile; taken: twice)", metric="p99_waiting_time_s",
    ),
    _against(
        "2 wide", "no-future-1", "backfill-1", at_least(2), "conclusion 2",
        "wide jobs (half of the machine or more) wait far longer without these reservations (taken: twice)",
        metric="wide_wait_s",
    ),
    Claim(
        "2 narrow", "conclusion 2", "narrow jobs pass wide ones: without these reservations wide jobs wait longer in "
        "proportion to narrow ones", more_than(1), _Passing("no-future-1", "backfill-1"),
    ),
    Claim(
        "3 wait", "conclusion 3, figure 4.54", "plan-based scheduling improves the mean wait of SJF-EASY by 20 %",
        within(0.80, 0.005), _full(WAIT, "plan-square-0", "backfill-sjf-1", "io"), one_run=WIDEST,
    ),
    Claim(
        "3 bounded slowdown", "conclusion 3, figure 4.57", "and the mean bounded slowdown by 27 %",
        within(0.73, 0.005), _full(BOUNDED, "plan-square-0", "backfill-sjf-1", "io"), one_run=WIDEST,
    ),
    *(
        Claim(
            f"3 better in {metric.removeprefix('mean_').removesuffix('_s').replace('_', ' ')}", "conclusion 3",
            f"plan-based scheduling is better than SJF-EASY in {metric.removesuffix('_s').replace('_', ' ')}",
            at_most(1), Against(metric, "plan-square-0", "backfill-sjf-1", _PART),
            each={"model": ("rigid", "io")},
        )
        for metric in METRICS
    ),
    Claim(
        "3 outliers", "conclusion 3", "at the price of slightly longer longest waits than canonical backfilling",
        at_least(1), Against("max_waiting_time_s", "plan-square-0", "backfill-1", _PART),
        each={"model": ("rigid", "io")},
    ),
    *(
        _against(
            f"4 {deeper}", deeper, deeper[:-1] + "1", at_least(1), "conclusion 4, figure 4.62",
            f"{_words(deeper)}: a reservation depth of {deeper[-1]} waits longer than of 1, by the published code",
        )
        for deeper in DEEPER
    ),
    *(
        _against(
            f"4 {deeper}{CORRECTED}", deeper + CORRECTED, deeper[:-1] + "1", at_least(1), "conclusion 4, section 4.7",
            f"{_words(deeper)}, {deeper[-1]}: the same where reserved jobs start when their reservation begins, "
            "as in the text",
        )
        for deeper in DEEPER
    ),
    _against(
        "4 none", "filler", "backfill-1", at_least(1), "conclusion 4",
        "without any reservation some jobs are delayed far longer (longest wait)", metric="max_waiting_time_s",
    ),
    _against(
        "5 means", "filler", "backfill-1", between(0.9, 1.1), "conclusion 5",
        "two schedules with almost the same mean wait (taken: within 10 %) ...",
    ),
    _against(
        "5 tails", "filler", "backfill-1", at_least(1.5), "conclusion 5",
        "... have quite different distributions (99th percentile; taken: 1.5 times)", metric="p99_waiting_time_s",
    ),
    *(
        Claim(
            f"6 {name}", "conclusion 6",
            f"I/O effects do not change the wait of {name} in relation to backfill-1 (taken: by 10 % at most)",
            between(0.9, 1.1), Shift(name, "backfill-1"),
        )
        for name in ("filler", "no-future-1", "plan-square-0")
    ),
    Claim(
        "6 sjf", "conclusion 6", "the exception is SJF-EASY, which I/O effects make worse (taken: by 5 % or more)",
        at_least(1.05), Shift("backfill-sjf-1", "backfill-1"),
    ),
    Claim(
        "tau of figure 4.41", "figure 4.41", "bounded slowdown of backfill-1, with the text's bound (600 s)",
        within(61.15, 0.005), mean(BOUNDED, scale="full", model="rigid", policy="backfill-1"), one_run=WIDEST,
    ),
    Claim(
        "tau of 60 s", "figure 4.41", "the same with a bound of 60 s, which the figure's code has",
        within(61.15, 0.005), mean("mean_bounded_slowdown_60s", scale="full", model="rigid", policy="backfill-1"),
        one_run=WIDEST,
    ),
    Claim(
        "storage utilisation", "figure 4.3", "storage is used by 67 % (backfill-1, whole log)",
        within(0.67, 0.005), mean("storage_utilisation", scale="full", model="rigid", policy="backfill-1"),
        one_run=WIDEST, share_of=1,
    ),
    Claim(
        "storage, as published", "figure 4.3", "the same by the published code: bytes per node, over 12 x 5 GB",
        within(0.67, 0.005),
        mean("storage_utilisation_published", scale="full", model="rigid", policy="backfill-1"), one_run=WIDEST,
        share_of=1,
    ),
    _against(
        "plan-start", "plan-start" + CORRECTED, "plan-sum-0", between(0.999, 1.001), "figure 4.34",
        "planning for the latest start (the text's objective) waits as long as for the sum of starts",
    ),
)  # fmt: skip
