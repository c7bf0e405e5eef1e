"""Which figure of the thesis shows what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.thesis.models import Model
from experiments.thesis.published import METRICS
from experiments.thesis.variants import BASELINE, BEST, DEPTH, MAXUTIL, PLAN, RESERVATION, WINDOW

LONG_TAIL = 8000
TAIL = 4000
"""Jobs per schedule in the thesis's tail plots: in section 4.2, and everywhere else."""

MODEL_NAMES = {Model.ALLOC: "Alloc-Only", Model.IO: "IO-Aware"}


@dataclass(frozen=True)
class Family:
    """Four neighbouring figures, one per metric.

    Attributes
    ----------
    section
        Section of the thesis.
    model
        The job model.
    first
        Number of the first figure (the 38 of Figure 4.38): the one about waiting times.
    policies
        Published names of the schedules, in the order of the figures.
    tail
        Jobs in the tail plot (figures of the full workload).
    """

    section: str
    model: Model
    first: int
    policies: tuple[str, ...]
    tail: int = TAIL

    @property
    def numbers(self) -> Mapping[str, str]:
        """Figure numbers by metric."""
        return {metric: f"4.{self.first + index}" for index, metric in enumerate(METRICS)}


FULL_FIGURES = (
    Family("4.2.1", Model.ALLOC, 4, RESERVATION, LONG_TAIL),
    Family("4.2.2", Model.IO, 16, RESERVATION, LONG_TAIL),
    Family("4.3", Model.IO, 26, MAXUTIL),
    Family("4.4", Model.IO, 30, WINDOW),
    Family("4.5", Model.IO, 34, PLAN),
    Family("4.6.1", Model.ALLOC, 38, BEST),
    Family("4.6.2", Model.IO, 50, BEST),
    Family("4.7", Model.IO, 62, DEPTH),
)
"""Mean, quantiles and tail of the full workload."""

PART_FIGURES = (
    Family("4.2.1", Model.ALLOC, 10, RESERVATION),
    Family("4.2.2", Model.IO, 22, RESERVATION),
    Family("4.6.1", Model.ALLOC, 42, BEST),
    Family("4.6.2", Model.IO, 54, BEST),
)
"""Means of each part of the split workload."""

RATIO_FIGURES = (
    Family("4.6.1", Model.ALLOC, 46, tuple(name for name in BEST if name != BASELINE)),
    Family("4.6.2", Model.IO, 58, tuple(name for name in BEST if name != BASELINE)),
)
"""Means of the parts, divided by those of backfill-sjf-1."""

LOAD_FIGURES = {Model.ALLOC: ("4.8", "4.9"), Model.IO: ("4.20", "4.21")}
"""Compute nodes, and burst-buffer bytes, that the waiting jobs request; schedules of section 4.2, full workload."""

SYSTEM_FIGURES = {
    Model.ALLOC: {"makespan_s": "4.2", "compute_utilisation": "4.3"},
    Model.IO: {"makespan_s": "4.14", "compute_utilisation": "4.15"},
}
"""Makespan and utilisation of the schedules of section 4.2, full workload."""

GANTT_FIGURE = "4.1"
"""Gantt chart of no-future-1, Alloc-Only."""

MINUTE_BOUND = "4.41"
"""The one figure whose bounded slowdown has a bound of 60 s instead of 600 s."""
