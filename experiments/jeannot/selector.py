"""List or packs? A recommendation from the workload alone, learned from draws and judged on others.

What is measured of a workload needs no execution: sizes, uncontended times and volumes of its jobs, which the paper
expects of monitoring (Darshan) and of users.

* *I/O load*: equation (2).
* *homogeneity*: coefficients of variation of characteristic times, of shares of I/O, of sizes.
* *steady state*: what packs, longest first, would draw from the file system in their first and second half as planned,
  without contention: the relative change, signed; and the correlation of a job's duration with its share of I/O.
* *pressure*: bandwidth that the jobs want on average if they fill the processors in proportion to their sizes: above 1
  the strict constraint of lists binds.

Two linear models (ridge) predict by how much packs (Max) differ from LS: in makespan (the platform's view) and in mean
stretch (the user's), both as logarithms of ratios. The objective chosen decides which is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from experiments.jeannot.inference import rank_correlation
from experiments.jeannot.run import Result
from workloads.errors import WorkloadError
from workloads.workload import Workload

Floats = npt.NDArray[np.float64]

OBJECTIVES: Mapping[str, str] = {"makespan": "makespan_s", "stretch": "mean_stretch"}
"""What can be minimised: field of :class:`experiments.jeannot.measures.Outcome`."""
PACK = "Max"
"""The pack variant that is recommended; the paper's default."""
RIDGE = 1.0


class Features(msgspec.Struct, frozen=True):
    """What is measured of a workload (see the module)."""

    load: float
    pressure: float
    characteristic_variation: float
    share_variation: float
    size_variation: float
    mean_size: float
    planned_drift: float
    duration_share_correlation: float

    def vector(self) -> Floats:
        """Features, their squares, and their products with the load."""
        values = np.array(msgspec.structs.astuple(self), np.float64)
        return np.concatenate((values, values**2, values[0] * values[1:]))


def measure_workload(workload: Workload, bandwidth: float) -> Features:
    """Measure a workload of jobs that state periods.

    Raises
    ------
    WorkloadError
        A job states no periods.
    """
    nodes = np.array([job.res for job in workload.jobs], np.float64) / workload.nb_res
    compute, transfer, counts = np.array([_period(workload, job.profile, bandwidth) for job in workload.jobs]).T
    uncontended = counts * (compute + transfer)
    share = transfer / (compute + transfer)
    area = float((nodes * uncontended).sum())
    return Features(
        load=float((uncontended * share).sum()) / area,
        pressure=float((nodes * uncontended * share / nodes).sum()) / area,
        characteristic_variation=_variation(compute + transfer),
        share_variation=_variation(share),
        size_variation=_variation(nodes),
        mean_size=float(nodes.mean()),
        planned_drift=_planned_drift(nodes, uncontended, share),
        duration_share_correlation=rank_correlation(uncontended, share),
    )


def _period(workload: Workload, profile: str, bandwidth: float) -> tuple[float, float, float]:
    periods: Any = workload.profiles[profile].get("periods")
    if not isinstance(periods, dict):
        raise WorkloadError(f"profile {profile!r} states no 'periods': nothing is known of its I/O")
    return float(periods["compute_s"]), float(periods["io_bytes"]) / bandwidth, float(periods["count"])


def _variation(values: Floats) -> float:
    return float(values.std() / values.mean()) if values.mean() > 0 else 0.0


def _planned_drift(nodes: Floats, uncontended: Floats, share: Floats) -> float:
    """Relative change of the planned use of bandwidth between the first and the second half of packs, longest first."""
    left = list(np.argsort(-uncontended, kind="stable"))
    spans: list[float] = []
    volumes: list[float] = []
    while left:
        free, volume, span, later = 1.0 + 1e-9, 0.0, 0.0, []
        for job in left:
            io_s = uncontended[job] * share[job]
            longest = max(span, uncontended[job])
            if nodes[job] <= free and (volume == 0.0 or volume + io_s <= longest):
                free, volume, span = free - nodes[job], volume + io_s, longest
            else:
                later.append(job)
        spans.append(span)
        volumes.append(volume)
        left = later
    ends = np.cumsum(spans)
    half = 0.5 * ends[-1]
    rates = np.array(volumes) / np.array(spans)
    first = np.clip(half - (ends - spans), 0.0, spans)
    early, late = float(rates @ first) / half, float(rates @ (np.array(spans) - first)) / half
    return (late - early) / (0.5 * (late + early)) if late + early > 0 else 0.0


class Model(msgspec.Struct, frozen=True):
    """A linear model: standardised inputs, weights, intercept."""

    mean: list[float]
    scale: list[float]
    weights: list[float]
    intercept: float

    def predict(self, features: Features) -> float:
        """Logarithm of packs over LS; negative: packs are better."""
        inputs = (features.vector() - np.array(self.mean)) / np.array(self.scale)
        return self.intercept + float(inputs @ np.array(self.weights))


class Selector(msgspec.Struct, frozen=True):
    """One model per objective."""

    models: dict[str, Model]

    def recommend(self, features: Features, objective: str) -> str:
        """``list`` or ``pack``."""
        return "pack" if self.models[objective].predict(features) < 0 else "list"


@dataclass(frozen=True, slots=True)
class Example:
    """A workload and by how much packs differed from LS on it: logarithms of ratios by objective."""

    features: Features
    differences: Mapping[str, float]


def example(workload: Workload, bandwidth: float, result: Result) -> Example:
    """What a finished point teaches."""
    packs, lists = result.outcomes[PACK], result.outcomes["LS"]
    differences = {
        objective: float(np.log(getattr(packs, field) / getattr(lists, field)))
        for objective, field in OBJECTIVES.items()
    }
    return Example(measure_workload(workload, bandwidth), differences)


def learn(examples: Sequence[Example]) -> Selector:
    """Fit both models."""
    inputs = np.array([one.features.vector() for one in examples])
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale[scale == 0] = 1.0
    inputs = (inputs - mean) / scale
    models = {}
    for objective in OBJECTIVES:
        wanted = np.array([one.differences[objective] for one in examples])
        gram = inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1])
        weights = np.linalg.solve(gram, inputs.T @ (wanted - wanted.mean()))
        models[objective] = Model(mean.tolist(), scale.tolist(), weights.tolist(), float(wanted.mean()))
    return Selector(models)


class Judged(msgspec.Struct, frozen=True):
    """How good recommendations were on workloads that nothing was learned from.

    Attributes
    ----------
    right
        Share of workloads for which the better of the two was recommended (equals count as right).
    packs_better
        Share of workloads on which packs were better.
    selector, always_list, always_pack
        Mean excess over the better of the two, as a ratio minus 1: following the recommendation, always LS, always
        packs.
    """

    workloads: int
    right: float
    packs_better: float
    selector: float
    always_list: float
    always_pack: float


def evaluate(selector: Selector, examples: Sequence[Example]) -> dict[str, Judged]:
    """Judge a selector on examples, by objective."""
    found = {}
    for objective in OBJECTIVES:
        differences = np.array([one.differences[objective] for one in examples])
        packs = np.array([selector.recommend(one.features, objective) == "pack" for one in examples])
        excess_pack, excess_list = np.expm1(np.maximum(differences, 0)), np.expm1(np.maximum(-differences, 0))
        found[objective] = Judged(
            len(examples),
            float(np.mean(np.where(packs, differences <= 0, differences >= 0))),
            float(np.mean(differences < 0)),
            float(np.mean(np.where(packs, excess_pack, excess_list))),
            float(excess_list.mean()),
            float(excess_pack.mean()),
        )
    return found
