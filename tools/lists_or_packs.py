"""Learns from the study's runs whether lists or packs suit a workload.

``python -m tools.lists_or_packs results/jeannot`` does it and writes two files of data.

An example is a workload of the study with the results of packs (Max) and lists (LS) on it. The examples are kept beside
this module; the coefficients learned from all of them are data of the product
(:mod:`spillway.workloads.models.recommend`). They are judged on seeds that were not used for learning.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from spillway.base.arguments import tell
from spillway.base.durable import write_text
from spillway.experiments.studies.jeannot import STUDY
from spillway.experiments.studies.jeannot.play import drawn, protocol_of
from spillway.experiments.studies.points import Point, Value
from spillway.workloads.models.recommend import LEARNED, OBJECTIVES, Features, Recommender, measure_workload

EXAMPLES = Path(__file__).with_name("lists_or_packs.csv")
FIXED: Mapping[str, Value] = {"jobs": 100, "kinds": "independent", "literal": False, **STUDY.usual, "volume": "whole"}
"""The conditions of the study, but with volumes at which jobs that fit on the processors may need more bandwidth than
there is: otherwise packs and lists differ by less."""
METRICS = {"makespan": "makespan_s", "stretch": "mean_stretch"}
_FOLDS = 5
_RIDGE = 1.0
DIGITS = 6
"""Significant digits in both files, so that they do not depend on a machine's rounding."""


@dataclass(frozen=True)
class _Example:
    """A workload of the study, its features, and the logarithms of packs over lists by objective."""

    family: str
    load: float
    seed: int
    features: Features
    differences: Mapping[str, float]


@dataclass(frozen=True)
class RecommendationQuality:
    """Quality of recommendations on workloads that were not used for learning.

    Attributes
    ----------
    right
        Share of workloads for which the better of the two was recommended (ties count as right).
    packs_better
        Share of workloads on which packs were better.
    recommended, always_list, always_pack
        Mean excess over the better of the two, as a ratio minus 1.
    """

    right: float
    packs_better: float
    recommended: float
    always_list: float
    always_pack: float


def features_of(family: str, load: float, seed: int) -> Features:
    """Features of a workload of the study."""
    point = Point((("family", family), ("load", load), *FIXED.items(), ("seed", seed)))
    return measure_workload(drawn(point).workload, protocol_of(point).bandwidth)


def _examples_from(points: Path) -> list[_Example]:
    """Examples from the ``points.csv`` of the study: its own reading only."""
    with points.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if all(row[axis] == str(at) for axis, at in FIXED.items())]
    runs = {(row["family"], row["load"], row["seed"], row["policy"]): row for row in rows}
    found = []
    for family, load, seed in dict.fromkeys(key[:3] for key in runs):
        packs, lists = runs[family, load, seed, "Max"], runs[family, load, seed, "LS"]
        gains = {name: math.log(float(packs[metric]) / float(lists[metric])) for name, metric in METRICS.items()}
        found.append(_Example(family, float(load), int(seed), features_of(family, float(load), int(seed)), gains))
    return found


def to_csv(examples: Iterable[_Example]) -> str:
    """Write examples as CSV, with numbers of as many digits as the coefficients have."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["family", "load", "seed", *(field.name for field in fields(Features)), *OBJECTIVES])
    for example in examples:
        values = (*astuple(example.features), *(example.differences[name] for name in OBJECTIVES))
        writer.writerow([example.family, example.load, example.seed, *(f"{value:.{DIGITS}g}" for value in values)])
    return text.getvalue()


def read_examples(text: str) -> list[_Example]:
    """Read the text of :func:`to_csv`."""
    names = [field.name for field in fields(Features)]
    return [
        _Example(
            row["family"],
            float(row["load"]),
            int(row["seed"]),
            Features(**{name: float(row[name]) for name in names}),
            {name: float(row[name]) for name in OBJECTIVES},
        )
        for row in csv.DictReader(io.StringIO(text))
    ]


def learn_from(examples: Sequence[_Example]) -> Recommender:
    """Fit both models to workloads with the logarithms of packs over lists, by objective."""
    inputs = np.array([example.features.vector() for example in examples])
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale[scale == 0] = 1.0
    inputs = (inputs - mean) / scale
    gram = inputs.T @ inputs + _RIDGE * np.eye(inputs.shape[1])
    models = {}
    for objective in OBJECTIVES:
        wanted = np.array([example.differences[objective] for example in examples])
        weights = np.linalg.solve(gram, inputs.T @ (wanted - wanted.mean()))
        models[objective] = np.concatenate(([wanted.mean()], weights))
    return Recommender(mean, scale, models)


def to_text(recommender: Recommender) -> str:
    """The coefficients as CSV: one row each for means and scales of the inputs, and for each model."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows: dict[str, Iterable[float]] = {"mean": [0.0, *recommender.mean], "scale": [1.0, *recommender.scale]}
    rows |= recommender.models
    writer.writerows([name, *(f"{value:.{DIGITS}g}" for value in values)] for name, values in rows.items())
    return text.getvalue()


def judge(examples: Sequence[_Example]) -> dict[str, RecommendationQuality]:
    """Learn from four fifths of the seeds and judge on the remaining fifth, for each fifth."""
    recommenders = [
        learn_from([example for example in examples if example.seed % _FOLDS != fold]) for fold in range(_FOLDS)
    ]
    found = {}
    for objective in OBJECTIVES:
        gains = np.array([example.differences[objective] for example in examples])
        predicted = [recommenders[example.seed % _FOLDS].predict(example.features, objective) for example in examples]
        packs = np.array(predicted) < 0
        excess_pack, excess_list = np.expm1(np.maximum(gains, 0)), np.expm1(np.maximum(-gains, 0))
        found[objective] = RecommendationQuality(
            float(np.mean(np.where(packs, gains <= 0, gains >= 0))),
            float(np.mean(gains < 0)),
            float(np.mean(np.where(packs, excess_pack, excess_list))),
            float(excess_list.mean()),
            float(excess_pack.mean()),
        )
    return found


def main(folder: Path) -> None:
    """Write examples and coefficients from a folder of the study's results; print their quality."""
    write_text(EXAMPLES, to_csv(_examples_from(folder / "points.csv")))
    examples = read_examples(EXAMPLES.read_text(encoding="utf-8"))
    write_text(LEARNED, to_text(learn_from(examples)))
    for objective, one in judge(examples).items():
        tell(f"{objective}, {len(examples)} workloads: {one}")
    tell(f"written: {EXAMPLES}, {LEARNED}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/jeannot"))
