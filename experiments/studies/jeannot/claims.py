"""The paper's statements, family by family; the texts are ours, the places the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spillway.experiments.studies import (
    Claim,
    Point,
    Premise,
    at_least,
    at_most,
    between,
    difference,
    less_than,
    mean,
    more_than,
)
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import Sample
from spillway.workloads.jeannot import FAMILIES
from spillway.workloads.ranks import rank_correlation

PACKS = ("Random", "Max", "Char")
ALL = ("LS", *PACKS)
LOW, HIGH = (0.2, 0.4), 0.8
"""Loads of compute-intensive workloads; the load of our grid that is "over 0.6" (lesson 1)."""
_CONSTANT = 0.1
"""Relative change up to which a course counts as constant."""
_PACE = (0.75, 1.25)
"""Ratios of slopes between which two strategies keep the same pace."""
LEAST = 2.0
"""Fewest jobs that must run at a time in a cell for statements on jobs that meet at the file system."""

LS = {"policy": "LS"}
_CHAR = {"policy": "Char"}


@dataclass(frozen=True)
class Fewest:
    """Jobs that run at a time, in the cell (load and strategy) of a family with the smallest sum over seeds."""

    family: str

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        cells: dict[tuple[Value, Value], list[float]] = {}
        for point in results.points({"family": self.family}):
            cells.setdefault((point["load"], point["policy"]), []).append(results.metric("jobs_at_a_time", point))
        return Sample(tuple(min(cells.values(), key=math.fsum)))


@dataclass(frozen=True)
class _OverRuns:
    """A value of all runs of a seed together.

    Attributes
    ----------
    family
        Family of the runs.
    axes
        Further values of axes that select runs.
    """

    family: str
    axes: Mapping[str, Value] = field(default_factory=dict)

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        here = results.at({"family": self.family, **self.axes})
        seeds: dict[Value, list[Point]] = {}
        for point in here.points({}):
            seeds.setdefault(point[results.unit], []).append(point)
        return Sample(tuple(self.value(here, points) for points in seeds.values()))

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Symptom(_OverRuns):
    """Rank correlation, over packs and loads, of the drift of bandwidth with the lateness of I/O-intensive jobs."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        packs = [point for point in points if point["policy"] != "LS"]
        first, second = (
            np.array([results.metric(name, point) for point in packs]) for name in ("transferring drift", "io_last")
        )
        return rank_correlation(first, second)


@dataclass(frozen=True)
class _Efficient(_OverRuns):
    """Mean stretch of the runs that idle less than a tenth of the time."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        found = [results.metric("mean_stretch", point) for point in points if results.metric("idle", point) < 0.1]
        return math.fsum(found) / len(found) if found else math.nan


@dataclass(frozen=True)
class _Slope(_OverRuns):
    """Slope of the least-squares line of mean stretch over idle time."""

    def value(self, results: Results, points: Sequence[Point]) -> float:
        """The value of one unit."""
        x, y = (np.array([results.metric(name, point) for point in points]) for name in ("idle", "mean_stretch"))
        x = x - x.mean()
        if len(x) < 2:
            raise NotRun("more than one load")
        return float(x @ y) / float(x @ x) if float(x @ x) > 0 else math.nan


@dataclass(frozen=True)
class Pace:
    """Slope of stretch over idle time of a case's strategy, divided by that of lists."""

    family: str

    def __call__(self, results: Results) -> Sample:
        """One value per unit."""
        others = replace(results, fixed=tuple(axis for axis in results.fixed if axis[0] != "policy"))
        own = {"policy": dict(results.fixed)["policy"]}
        one, other = (_Slope(self.family, axes)(others).values for axes in (own, LS))
        return Sample(tuple(a / b if b else math.nan for a, b in zip(one, other, strict=True)))


def _of(family: str) -> list[Claim]:
    """Claims on every family."""
    here = {"family": family}
    at_high: dict[str, Value] = {"family": family, "load": HIGH}
    calm = ("Random", "Max") if family == "M-BN" else PACKS
    but = " (but Char, the paper's exception)" if family == "M-BN" else ""
    return [
        Claim(
            "constant", "Lesson 1; Table 1", f"LS: utilisation changes by at most {_CONSTANT:.0%} during the execution",
            at_most(_CONSTANT), mean("computing change", **here, **LS),
        ),
        Claim(
            "less constant", "Lesson 1", "packs' utilisation varies more during the execution than that of LS",
            more_than(0), difference("unevenness", {}, LS, **here), each={"policy": PACKS},
        ),
        Claim(
            "steady state", "Lesson 1", f"load {HIGH:g}: Max uses more in the steady state than LS",
            more_than(0), difference("steady", {"policy": "Max"}, LS, **at_high),
        ),
        Claim(
            "low load", "Utilization; Table 1", "loads up to 0.4: packs use less of the platform than LS",
            less_than(0), difference("utilisation", {}, LS, **here), each={"load": LOW, "policy": PACKS},
        ),
        Claim(
            "high load", "Table 1", f"load {HIGH:g}: packs use more of the platform than LS",
            more_than(0), difference("utilisation", {}, LS, **at_high), each={"policy": PACKS},
        ),
        Claim(
            "better use", "Table 1", "LS uses more of the platform than packs, over all loads",
            less_than(0), difference("utilisation", {}, LS, **here), each={"policy": PACKS},
        ),
        Claim(
            "degrades", "Utilization; Table 1", "utilisation of LS falls from load 0.2 to load 0.8",
            less_than(0), difference("utilisation", {"load": HIGH}, {"load": LOW[0]}, **here, **LS),
        ),
        Claim(
            "exhaustion", "Utilization; Table 1", "utilisation falls more from first to last fifth with packs",
            more_than(0), difference("fall", {}, LS, **here), each={"policy": PACKS},
        ),
        Claim(
            "mean stretch", "Lesson 2; Table 1", f"packs have less mean stretch than LS{but}",
            less_than(0), difference("mean_stretch", {}, LS, **here), each={"policy": calm},
        ),
        Claim(
            "max stretch", "Lesson 2; Table 1", f"packs have less maximum stretch than LS{but}",
            less_than(0), difference("max_stretch", {}, LS, **here), each={"policy": calm},
        ),
        Claim(
            "symptom", "Lesson 3", "packs: the more bandwidth rises, the later I/O-intensive jobs start",
            more_than(0), _Symptom(family),
        ),
        Claim(
            "idle rises", "Lesson 4", "idle time rises from load 0.2 to load 0.8",
            more_than(0), difference("idle", {"load": HIGH}, {"load": LOW[0]}, **here), each={"policy": ALL},
        ),
        Claim(
            "stretch rises", "Lesson 4", "mean stretch rises from load 0.2 to load 0.8",
            more_than(0), difference("mean_stretch", {"load": HIGH}, {"load": LOW[0]}, **here), each={"policy": ALL},
        ),
        Claim(
            "Char at high load", "Lesson 4", f"load {HIGH:g}: the three others have more mean stretch than Char",
            more_than(0), difference("mean_stretch", {}, _CHAR, **at_high), each={"policy": ("LS", "Random", "Max")},
        ),
        Claim(
            "Char idles", "Idle time vs stretch", "the other packs leave less idle time than Char",
            less_than(0), difference("idle", {}, _CHAR, **here), each={"policy": ("Random", "Max")},
        ),
    ]  # fmt: skip


def _mira(family: str) -> list[Claim]:
    return [
        Claim(
            "unsorted", "Stretch", "packs that are not sorted have less mean stretch than the longest first",
            less_than(0), difference("mean_stretch", {"policy": "Random"}, {"policy": "Max"}, family=family),
        ),
        Claim(
            "same pace", "Lesson 4", "LS, Random and Max: stretch rises alike over idle time (ratio of slopes)",
            between(*_PACE), Pace(family), each={"policy": ("Random", "Max")},
        ),
    ]  # fmt: skip


def _bimodal_mira(family: str) -> list[Claim]:
    here = {"family": family}
    return [
        Claim(
            "exception", "Lesson 2", "Char has more mean stretch than LS",
            more_than(0), difference("mean_stretch", _CHAR, LS, **here),
        ),
        Claim(
            "worst", "Stretch", "Char has more mean stretch than the other packs",
            more_than(0), difference("mean_stretch", _CHAR, {}, **here), each={"policy": ("Random", "Max")},
        ),
        Claim(
            "processors fall", "Lesson 3", "packs: processors in use fall during the execution (relative change)",
            less_than(0), mean("allocated drift", **here), each={"policy": PACKS},
        ),
        Claim(
            "bandwidth rises", "Lesson 3", "packs: bandwidth in use rises during the execution (relative change)",
            more_than(0), mean("transferring drift", **here), each={"policy": PACKS},
        ),
        Claim(
            "LS steadier", "Lesson 3", "bandwidth in use changes more with packs than under LS",
            more_than(0), difference("transferring change", {}, LS, **here), each={"policy": PACKS},
        ),
        Claim(
            "I/O last", "Lesson 3", "packs start I/O-intensive jobs later than LS (rank correlation)",
            more_than(0), difference("io_last", {}, LS, **here), each={"policy": PACKS},
        ),
        Claim(
            "diverse", "Table 1", "packs start I/O-intensive jobs later than in M-No (rank correlation)",
            more_than(0), difference("io_last", here, {"family": "M-No"}), each={"policy": PACKS},
        ),
        Claim(
            "efficient", "Idle time vs stretch", "almost no stretch with less than 10 % idle time: 1, within 5 %",
            between(1.0, 1.05), _Efficient(family),
        ),
    ]  # fmt: skip


def _uniform(family: str) -> list[Claim]:
    return [
        Claim(
            "synchronised", "Stretch", "Char has less mean stretch than the other packs",
            less_than(0), difference("mean_stretch", _CHAR, {}, family=family), each={"policy": ("Random", "Max")},
        )
    ]  # fmt: skip


_FURTHER = {
    "M-BN": (_mira, _bimodal_mira),
    "M-No": (_mira,),
    "U-BN": (_uniform,),
    "U-No": (_uniform,),
}


def _claims(family: str) -> list[Claim]:
    premise = Premise(f"jobs that run at a time in {family}, where fewest", Fewest(family), at_least(LEAST))
    found = [*_of(family), *(claim for further in _FURTHER[family] for claim in further(family))]
    return [
        replace(claim, name=f"{family}: {claim.name}", statement=f"{family}: {claim.statement}", premise=premise)
        for claim in found
    ]


CLAIMS: tuple[Claim, ...] = tuple(claim for family in FAMILIES for claim in _claims(family))
"""Claims family by family; families are not pooled."""
