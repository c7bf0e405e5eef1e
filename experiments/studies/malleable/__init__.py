"""Singh & Carretero 2019, sections 2 and 5.1: colliding I/O phases, and the effects of blocking, shifting, coupling.

Tolerances follow from the paper's own repetitions: its I/O phases came up to 0.9 s off their predictions (1 s for
times, but no more than half of the value, so that 0 never agrees), three repetitions ended with 57, 59 and 59
processes (1 process), percentages are whole (0.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.malleable.cases import play, same
from spillway.experiments.studies.malleable.figures import Bars, Excluded, Shift, Writers
from spillway.experiments.studies.malleable.jacobi import PARAMETERS
from spillway.experiments.studies.measures import change
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample
from spillway.experiments.studies.study import Computed


@dataclass(frozen=True)
class Points:
    """Difference of a value between two controls in percentage points of the baseline, seed by seed."""

    metric: str
    case: str
    above: str
    below: str

    def __call__(self, results: Results) -> Sample:
        """One value per seed."""
        one, other = (
            change(self.metric, {"control": control}, {"control": "baseline"}, case=self.case)(results).values
            for control in (self.above, self.below)
        )
        return Sample(tuple(more - less for more, less in zip(one, other, strict=True)))


STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    Computed(play, same=same, batch=4),
    measures={"points": Points},
    parameters=PARAMETERS,
    figures=[
        Writers("figure-1"),
        Shift("figure-13"),
        Bars("figure-14", "C", "execution time (s)", ("cpu", "transfer", "delay")),
        Bars("figure-15", "D", "I/O time (s)", ("transfer", "delay")),
        Bars("figure-16", "D", "execution time (s)", ("cpu", "transfer", "delay")),
        Excluded("use-case-c"),
    ],
)
