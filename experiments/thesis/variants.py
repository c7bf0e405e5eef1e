"""The thesis's schedules by their published names, and which figures show them.

References
----------
Kopanski, master's thesis 2020, sections 4.2-4.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.spec import Model, PolicySpec

SPLIT = (
    "fcfs", "no-future-1", "filler", "backfill-1", "backfill-sjf-1", "maxutil-1.0-1", "window-1", "plan-square-0",
    "plan-cube-0",
)  # fmt: skip
"""Schedules of the split workloads (Figures 4.10-4.13, 4.22-4.25, 4.42-4.49, 4.54-4.61)."""

FULL: Mapping[Model, tuple[str, ...]] = {
    Model.ALLOC: SPLIT,
    Model.IO: (
        *SPLIT, "filler-sjf", "maxutil-0.5-1", "maxutil-1.5-1", "maxutil-2.0-1", "window-0", "plan-sum-0", "plan-sum-1",
        "plan-square-1", "plan-start-0", "plan-start-1", "backfill-2", "backfill-3", "backfill-4", "backfill-sjf-2",
        "backfill-sjf-3", "backfill-sjf-4", "plan-square-2", "plan-square-3",
    ),
}  # fmt: skip
"""Schedules of the full workloads (Figures 4.4-4.7, 4.16-4.19, 4.26-4.41, 4.50-4.53, 4.62-4.65)."""


@dataclass(frozen=True)
class Verdict:
    """How close a reproduced value must come.

    Attributes
    ----------
    relative
        Largest relative deviation of a mean over the 16 parts.
    single
        Largest relative deviation of one part: schedules are chaotic, a second's difference early on may decide.
    """

    relative: float
    single: float


TOLERANCES: Mapping[str, Verdict] = {"filler": Verdict(0.05, 0.20), "no-future-1": Verdict(0.05, 0.50)}
DEFAULT_TOLERANCE = Verdict(0.03, 0.20)
RATIO_TOLERANCE = 0.05
"""Largest absolute deviation of a median normalised to backfill-sjf-1."""

_NAMES: Mapping[str, str] = {
    "fcfs": "fcfs",
    "filler": "filler",
    "filler-sjf": "filler-sjf",
    "no-future": "easy-no-bb",
    "backfill": "easy",
    "backfill-sjf": "sjf-easy",
    "maxutil": "maxutil",
    "window": "window",
    "plan-sum": "plan-sum",
    "plan-square": "plan-square",
    "plan-cube": "plan-cube",
    "plan-start": "plan-start",
}


def spec_of(name: str) -> PolicySpec:
    """Policy with which a published schedule is reproduced, to the letter.

    The number at the end of a name is the reservation depth, one before it the balance factor.

    Raises
    ------
    KeyError
        The thesis has no such schedule.
    """
    base, _, tail = name.rpartition("-")
    if name in _NAMES:
        base, options = name, {}
    else:
        options = {"depth": tail}
        head, _, factor = base.rpartition("-")
        if head == "maxutil":
            base, options = head, {"balance": factor, "depth": tail}
    return PolicySpec(policy=_NAMES[base], options=options, literal=True, label=name)
