"""The evaluation of Herbein et al. (HPDC 2016): I/O-aware against I/O-ignorant scheduling on CTS-1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from spillway.experiments.studies.claims import Choice, Claim, Parameter, Region, at_least, between, within
from spillway.experiments.studies.figures import Lines
from spillway.experiments.studies.herbein.logs import LOGS, SUBMISSIONS
from spillway.experiments.studies.herbein.play import AWARE, IGNORANT, inputs, play, policies
from spillway.experiments.studies.local_logs import at_hand
from spillway.experiments.studies.measures import Compared, Mean, mean, ratio
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample
from spillway.experiments.studies.study import SEEDS, Computed, Study
from spillway.experiments.studies.tables import Means, Ratios
from spillway.workloads.herbein import PAPER_JOBS, PAPER_STATE_CHANGE_S

NATURAL, AS_IN_LOG, LARGER, TWICE = 3.375, 1.0, 1.5, 2.0
SIZES = (AS_IN_LOG, LARGER, TWICE, NATURAL)
_UNDER = (10, 20, 30)
"""Missing percentages of the file system's 70 GB/s."""

_FEWER_JOBS = 600
"""Jobs of a test that compares loads, logs and readings."""

LEVELS, LOADS, FCFS = "levels", "loads", "fcfs"
MAIN: Mapping[str, Value] = {"test": LEVELS}
COMPUTING, LEAST, TURNAROUND = "computing_percent", "least_job_percent", "mean_turnaround_s"
TENTH, HUNDREDTH = 0.05, 0.005
"""Half of the last digit that the paper prints: 79.1 %, 1.29."""

OPEN = ("log", "size", "order", "contention", "policy")
"""Choices for ambiguous points of the paper."""
WIDEST = 0.5
"""A number of the paper's one workload is judged if the interval of a workload of ours is no wider than half of it; set
knowing the numbers."""

METRICS = {
    COMPUTING: "computing (%)",
    LEAST: "least job (%)",
    "contended_percent": "contention (%)",
    TURNAROUND: "turnaround (s)",
    "offered_percent": "offered (%)",
    "state_change_s": "between state changes (s)",
    "rejected": "refused",
}
"""Values in tables, with their headings."""


@dataclass(frozen=True)
class Steps:
    """The smallest change of a value from one level of the file system to the next lower one, seed by seed.

    ``value`` gives one number per seed; ``sign``: -1 if it must fall.
    """

    value: Mean | Compared
    sign: int

    def __call__(self, results: Results) -> Sample:
        """One value per seed."""
        levels = [self.value(results.at({"under": under})).values for under in (0, *_UNDER)]
        return Sample(
            tuple(
                min(self.sign * (after - before) for before, after in pairwise(of_seed))
                for of_seed in zip(*levels, strict=True)
            )
        )


def _mean(metric: str, scheduler: str) -> Mean:
    return mean(metric, scheduler=scheduler, **MAIN)


def _ratio(metric: str, **axes: Value) -> Compared:
    return ratio(metric, {"scheduler": AWARE}, {"scheduler": IGNORANT}, **(axes or MAIN))


def _at(
    name: str, place: str, statement: str, region: Region, value: Mean | Compared, *under: int, one: float = 0.0
) -> Claim:
    """A claim at each of these levels of the file system; ``one``: largest width of the interval of one workload."""
    unit, whole = ("", 0) if isinstance(value, Compared) else ("%", 100)
    return Claim(name, place, statement, region, value, unit, {"under": under}, OPEN, one, share_of=whole)


CLAIMS = (
    *(
        _at(
            f"contention {under} %", "4.4", f"with {under} % less, jobs contend during 55 to 65 % of the time",
            between(55, 65), _mean("contended_percent", IGNORANT), under, one=WIDEST,
        )
        for under in _UNDER
    ),
    _at(
        "no contention, 0 %", "4.4", "with the full file system no job contends", within(0, 0.5),
        _mean("contended_percent", IGNORANT), 0,
    ),
    _at(
        "no contention, aware", "4.4", "under I/O-aware scheduling no job contends, at any level", within(0, 0.5),
        _mean("contended_percent", AWARE), 0, *_UNDER,
    ),
    _at(
        "computing 0 %", "5.2, figure 5", "I/O-ignorant, full file system: all allocated node time is computation",
        within(100, TENTH), _mean(COMPUTING, IGNORANT), 0,
    ),
    _at(
        "computing 30 %", "5.2, figure 5", "I/O-ignorant, 30 % less: share of the allocated node time in computation",
        within(79.1, TENTH), _mean(COMPUTING, IGNORANT), 30, one=WIDEST,
    ),
    Claim(
        "computing falls", "5.2, figure 5", "I/O-ignorant: that share falls from level to level (smallest fall)",
        at_least(0), Steps(_mean(COMPUTING, IGNORANT), -1), "%", depends=OPEN,
    ),
    _at(
        "computing, aware", "5.2, figure 5", "I/O-aware: all allocated node time is computation, at every level",
        within(100, TENTH), _mean(COMPUTING, AWARE), 0, *_UNDER,
    ),
    _at(
        "steady 0 %", "5.3, figure 6", "I/O-ignorant, full file system: no job varies (least share of a job)",
        within(100, TENTH), _mean(LEAST, IGNORANT), 0,
    ),
    _at(
        "least job 30 %", "5.3, figure 6", "I/O-ignorant, 30 % less: least share of a job", within(66.7, TENTH),
        _mean(LEAST, IGNORANT), 30, one=WIDEST,
    ),
    _at(
        "best job 30 %", "5.3, figure 6", "I/O-ignorant, 30 % less: largest share of a job", within(100, TENTH),
        _mean("most_job_percent", IGNORANT), 30,
    ),
    Claim(
        "variability grows", "5.3, figure 6", "I/O-ignorant: jobs vary more from level to level (smallest growth)",
        at_least(0), Steps(_mean(LEAST, IGNORANT), -1), "%", depends=OPEN,
    ),
    _at(
        "steady, aware", "5.3, figure 6", "I/O-aware: no job varies, at any level (least share of a job)",
        within(100, TENTH), _mean(LEAST, AWARE), 0, *_UNDER,
    ),
    Claim(
        "state changes", "5.4", "states of jobs change every 31.7 s on average (full file system)",
        within(PAPER_STATE_CHANGE_S, TENTH), mean("state_change_s", scheduler=IGNORANT, under=0, **MAIN), "s",
        depends=OPEN, one_run=WIDEST,
    ),
    *(
        _at(
            f"{name} 0 %", "5.5, figure 8", f"{name}, aware to ignorant, full file system", within(1, HUNDREDTH),
            _ratio(metric), 0,
        )
        for name, metric in (("efficiency", COMPUTING), ("turnaround", TURNAROUND))
    ),
    *(
        _at(
            f"{name} 30 %", "5.5, figure 8", f"{name}, aware to ignorant, 30 % less", region, _ratio(metric), 30,
            one=WIDEST,
        )
        for name, metric, region in (
            ("efficiency", COMPUTING, replace(within(1.29, HUNDREDTH), published="1.29 ± 0.005 (its 79.1 %: 1.264)")),
            ("turnaround", TURNAROUND, within(1.52, HUNDREDTH)),
        )
    ),
    *(
        Claim(
            f"{name} grows", "5.5, figure 8", f"the ratio of {name} grows from level to level (smallest growth)",
            at_least(0), Steps(_ratio(metric), 1), depends=OPEN,
        )
        for name, metric in (("efficiency", COMPUTING), ("turnaround", TURNAROUND))
    ),
    *(
        Claim(
            f"{name}, FCFS", "5.1", f"FCFS shows similar trends: at 30 % its ratio of {name}, too, is above 1",
            at_least(1), _ratio(metric, test=FCFS), depends=OPEN,
        )
        for name, metric in (("efficiency", COMPUTING), ("turnaround", TURNAROUND))
    ),
)  # fmt: skip

_LOG_WORDS = {
    "atlas": "LLNL's Atlas, 1,152 nodes",
    "lublin": "the model of Lublin and Feitelson, 256 nodes; it has no time limits, elapsed times are taken",
    "kth-like": "generated, like KTH's SP2, 100 nodes: needs no file",
}
"""Logs that are compared if they are at hand; ``kth`` can be set, too."""

CHOICES = (
    Choice(
        "log",
        "the traces of LLNL's Cab and Zin are not public (4.2)",
        {name: _LOG_WORDS[name] for name in at_hand(LOGS) if name in _LOG_WORDS},
    ),
    Choice(
        "size",
        "sizes of jobs are extrapolated to 3,888 nodes, by no rule that is stated (4.2)",
        {
            AS_IN_LOG: "Atlas's own (other logs: the same share of their machine); nothing is extrapolated",
            LARGER: "Atlas's x 1.5",
            TWICE: "Atlas's x 2",
            NATURAL: "in proportion to the machines: Atlas's x 3,888 / 1,152",
        },
        {LARGER: tuple(f"contention {under} %" for under in _UNDER)},
    ),
    Choice(
        "contention",
        "a least share of 66.7 % (5.3) is below 49/70: the formula of 4.4 gives 70.0 %",
        {"exact": "the formula of 4.4", "whole-mb": "the same in whole MB/s, as one version of the authors' emulator"},
        {"whole-mb": ("least job 30 %",)},
        crossed=False,
    ),
    Choice(
        "order",
        "I/O requirements are part of a priority function (4.3); jobs are in order of submission (3.4)",
        {
            "fcfs": "order of submission: EASY has no priority function",
            "small-io": "least bandwidth of all its nodes first",
            "large-io": "most bandwidth of all its nodes first",
        },
        crossed=False,
    ),
    Choice(
        "policy",
        "the figures are EASY's (5.2, 5.3, 5.5); FCFS has similar trends (5.1)",
        {"easy": "EASY", "fcfs": "FCFS"},
        crossed=False,
    ),
)

_COMMON: Mapping[str, list[Value]] = {"mix": ["constant"], "pace": [SUBMISSIONS]}
_BOTH = [IGNORANT, AWARE]


def _over_load(metric: str, words: str) -> Lines:
    """A ratio over the sizes of jobs, a line for each log."""
    return Lines(
        f"{metric} ratio", f"{words}, aware / ignorant", x="size", x_words="size factor of Atlas (3.375: natural)",
        by="log", only={"test": LOADS, "policy": "easy"},
        measure=ratio(metric, {"scheduler": AWARE}, {"scheduler": IGNORANT}),
    )  # fmt: skip


def _over_levels(metric: str, words: str) -> Lines:
    return Lines(metric, words, x="under", x_words="bandwidth that is missing (%)", by="scheduler", only=MAIN)


def _as_played(point: Point) -> Point:
    """The point without the purpose of its test and the order of its axes, which have no effect."""
    return Point(tuple(sorted(point.replaced(test=LEVELS).axes)))


STUDY = Study(
    name="herbein",
    title="I/O-aware scheduling on CTS-1",
    source="Herbein et al., Scalable I/O-Aware Job Scheduling for Burst Buffer Enabled HPC Clusters, HPDC 2016",
    play=Computed(play, inputs, policies, batch=10, same=_as_played),
    grids=[
        {
            "test": [LEVELS], "jobs": [PAPER_JOBS], "policy": ["easy"], **_COMMON, "under": [0, *_UNDER],
            "scheduler": _BOTH, "seed": range(30),
        },
        {
            "test": [FCFS], "jobs": [PAPER_JOBS], "policy": ["fcfs"], **_COMMON, "under": [30], "scheduler": _BOTH,
            "seed": range(30),
        },
        {
            "test": [LOADS], "jobs": [_FEWER_JOBS], "policy": ["easy", "fcfs"], **_COMMON, "under": [30],
            "scheduler": _BOTH, "log": list(CHOICES[0].readings), "size": SIZES, "seed": SEEDS,
        },
    ],
    claims=CLAIMS,
    quick={"seed": SEEDS, "size": [AS_IN_LOG], "log": [CHOICES[0].usual]},
    parameters=[
        Parameter("gap", "126.8 s", "mean time between submissions: four changes of state per job, 31.7 s apart (5.4)"),
        Parameter("widest", WIDEST, "width of one workload's interval, as a share of a published number, up to which "
                  "it is judged; set knowing the numbers and our values"),
        Parameter("fewer jobs", str(_FEWER_JOBS), "tests in which loads, logs and readings are compared; else 2,500"),
    ],
    choices=CHOICES,
    crossing={"test": [LEVELS], "jobs": [_FEWER_JOBS], "under": [0, *_UNDER], "seed": SEEDS},
    tables=[
        Means("By level", METRICS, ("under", "scheduler"), only=MAIN),
        Means("By log and size, 30 % less", METRICS, ("log", "size", "policy", "scheduler"), only={"test": LOADS}),
        Ratios(
            "Aware to ignorant, 30 % less", {TURNAROUND: "turnaround", COMPUTING: "efficiency"},
            ("policy", "log", "size", "scheduler"), against={"scheduler": IGNORANT}, only={"test": LOADS},
        ),
    ],
    figures=[
        _over_levels(COMPUTING, "allocated node time computing (%)"),
        _over_levels(LEAST, "least share of a job (%)"),
        _over_levels("contended_percent", "time with contention (%)"),
        _over_load(COMPUTING, "efficiency"),
        _over_load(TURNAROUND, "turnaround"),
    ],
    notes=[
        "The paper's efficiency of 1.29 is not that of its own 79.1 %, which gives 100 / 79.1 = 1.264.",
        "The paper adds no waiting for the scheduler's own time here; decision times are measured by "
        "'python -m tools.benchmarks.decision_load'.",
    ],
)  # fmt: skip
