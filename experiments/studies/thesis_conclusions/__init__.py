"""What of Kopański's thesis holds: its six conclusions, on its own workloads and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.studies.claims import Claim, Region, at_least, at_most, between, within
from experiments.studies.measures import Compared, mean, ratio
from experiments.studies.points import Value
from experiments.studies.product import Product
from experiments.studies.results import Results
from experiments.studies.statistics import Sample
from experiments.studies.study import Study
from experiments.studies.thesis_conclusions.play import CORRECTED, measure, policy, workload

PARTS = tuple(f"part-{number}" for number in range(16))
WAIT, BOUNDED = "mean_waiting_time_s", "mean_bounded_slowdown"
METRICS = (WAIT, "mean_turnaround_time_s", "mean_slowdown", BOUNDED)
DEEPER = tuple(f"backfill-{depth}" for depth in (2, 3))
SJF_DEEPER = ("backfill-sjf-2",)

PART: Mapping[str, Value] = {"scale": "part"}
RIGID: Mapping[str, Value] = {"scale": "part", "model": "rigid"}


@dataclass(frozen=True)
class Shift:
    """By what factor I/O effects change a schedule's wait in relation to another's, part by part (conclusion 6)."""

    policy: str
    base: str

    def __call__(self, results: Results) -> Sample:
        """One ratio of ratios per part."""
        found = [
            results.at({"model": model, **PART}).ratio(WAIT, {"policy": self.policy}, {"policy": self.base})
            for model in ("io", "rigid")
        ]
        return Sample(tuple(one / other for one, other in zip(*(sample.values for sample in found), strict=True)), True)


def _against(name: str, policy: str, other: str, region: Region, place: str, statement: str, **more: object) -> Claim:
    """A claim on the mean waits of two schedules over the parts, Alloc-Only."""
    metric = str(more.pop("metric", WAIT))
    compared = ratio(metric, {"policy": policy}, {"policy": other}, **RIGID)
    return Claim(name, place, statement, region, compared, **more)  # type: ignore[arg-type]


def _full(metric: str, policy: str, other: str, model: str) -> Compared:
    return ratio(metric, {"policy": policy}, {"policy": other}, scale="full", model=model)


CLAIMS = (
    Claim(
        "1 whole log", "conclusion 1, figure 4.4",
        "without reservations of burst buffers EASY waits about as long as FCFS, or longer (whole log, Alloc-Only; "
        "taken: at least 0.9 times as long)",
        at_least(0.9), _full(WAIT, "no-future-1", "fcfs", "rigid"), exact=True,
    ),
    Claim(
        "1 whole log, I/O", "conclusion 1, figure 4.16",
        "the same, IO-Aware (the published waits are 1,552,291 and 5,634,632 s)",
        at_least(0.9), _full(WAIT, "no-future-1", "fcfs", "io"), exact=True,
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
    _against(
        "2 narrow", "no-future-1", "backfill-1", at_most(1), "conclusion 2",
        "at the benefit of narrow jobs, which pass them", metric="narrow_wait_s",
    ),
    Claim(
        "3 wait", "conclusion 3, figure 4.54", "plan-based scheduling improves the mean wait of SJF-EASY by 20 %",
        within(0.80, 0.03), _full(WAIT, "plan-square-0", "backfill-sjf-1", "io"), exact=True,
    ),
    Claim(
        "3 bounded slowdown", "conclusion 3, figure 4.57", "and the mean bounded slowdown by 27 %",
        within(0.73, 0.03), _full(BOUNDED, "plan-square-0", "backfill-sjf-1", "io"), exact=True,
    ),
    *(
        Claim(
            f"3 better in {metric.removeprefix('mean_').removesuffix('_s').replace('_', ' ')}", "conclusion 3",
            f"plan-based scheduling is better than SJF-EASY in {metric.removesuffix('_s').replace('_', ' ')}",
            at_most(1), ratio(metric, {"policy": "plan-square-0"}, {"policy": "backfill-sjf-1"}, **PART),
            each={"model": ("rigid", "io")},
        )
        for metric in METRICS
    ),
    Claim(
        "3 outliers", "conclusion 3", "at the price of slightly longer longest waits than canonical backfilling",
        at_least(1), ratio("max_waiting_time_s", {"policy": "plan-square-0"}, {"policy": "backfill-1"}, **PART),
        each={"model": ("rigid", "io")},
    ),
    *(
        _against(
            f"4 {deeper}", deeper, deeper[:-1] + "1", at_least(1), "conclusion 4, figure 4.62",
            f"a reservation depth of {deeper[-1]} waits longer than of 1, by the published code",
        )
        for deeper in (*DEEPER, *SJF_DEEPER)
    ),
    *(
        _against(
            f"4 {deeper}{CORRECTED}", deeper + CORRECTED, deeper[:-1] + "1", at_least(1), "conclusion 4, section 4.7",
            f"the same where reserved jobs start when their reservation begins, as the text has it ({deeper[-1]})",
        )
        for deeper in (*DEEPER, *SJF_DEEPER)
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
        within(61.15, 0.03, relative=True), mean(BOUNDED, scale="full", model="rigid", policy="backfill-1"), exact=True,
    ),
    Claim(
        "tau of 60 s", "figure 4.41", "the same with a bound of 60 s, which the figure's code has",
        within(61.15, 0.03, relative=True),
        mean("mean_bounded_slowdown_60s", scale="full", model="rigid", policy="backfill-1"), exact=True,
    ),
    Claim(
        "storage utilisation", "figure 4.3", "storage is used by 67 % (backfill-1, whole log)",
        within(0.67, 0.01), mean("storage_utilisation", scale="full", model="rigid", policy="backfill-1"), exact=True,
    ),
    Claim(
        "storage, as published", "figure 4.3", "the same by the published code: bytes per node, over 12 x 5 GB",
        within(0.67, 0.01),
        mean("storage_utilisation_published", scale="full", model="rigid", policy="backfill-1"), exact=True,
    ),
    _against(
        "plan-start", "plan-start" + CORRECTED, "plan-sum-0", between(0.999, 1.001), "figure 4.34",
        "planning for the latest start (the text's objective) waits as long as for the sum of starts",
    ),
)  # fmt: skip

STUDY = Study(
    name="thesis-conclusions",
    title="What of Kopański's thesis holds",
    source="J. Kopański, Optimisation of job scheduling for supercomputers with burst buffers, 2020",
    play=Product(workload=workload, policy=policy, measure=measure, own=("scale",)),
    grids=(
        {
            "scale": ("part",),
            "model": ("rigid", "io"),
            "workload": PARTS,
            "policy": ("fcfs", "no-future-1", "backfill-1", "filler", "backfill-sjf-1", "plan-square-0"),
        },
        {
            "scale": ("part",),
            "model": ("rigid",),
            "workload": PARTS,
            "policy": (
                *(name + end for name in (*DEEPER, *SJF_DEEPER) for end in ("", CORRECTED)),
                "plan-sum-0",
                "plan-start" + CORRECTED,
            ),
        },
        {
            "scale": ("full",),
            "model": ("rigid",),
            "workload": ("full",),
            "policy": ("fcfs", "no-future-1", "backfill-1"),
        },
        {
            "scale": ("full",),
            "model": ("io",),
            "workload": ("full",),
            "policy": ("fcfs", "no-future-1", "backfill-sjf-1", "plan-square-0"),
        },
    ),
    claims=CLAIMS,
    quick={"workload": ("part-4",), "policy": ("fcfs", "no-future-1", "backfill-1", "filler")},
    unit="workload",
    notes=(
        "Parts of the log are the units: 16 of them, each played once per schedule, annealing with seed 0.",
        "Equal numbers need the published inputs (below SPILLWAY_DATA); else burst buffers are drawn from the log. "
        "The whole log is put together from the parts, for its original files are lost.",
    ),
)
