"""The thesis's schedules by their published names.

References
----------
Kopanski, master's thesis 2020, sections 4.2-4.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from spillway.base.options import Value
from spillway.experiments.run.sessions import typed
from spillway.experiments.run.spec import PolicySpec

RESERVATION = ("fcfs", "no-future-1", "backfill-1", "filler")
"""Schedules of section 4.2: effects of reservations of burst buffers."""

BEST = ("backfill-1", "backfill-sjf-1", "maxutil-1.0-1", "window-1", "plan-square-0", "plan-cube-0")
"""Schedules of section 4.6: the best of each kind."""

SPLIT = tuple(dict.fromkeys((*RESERVATION, *BEST)))
"""Schedules of the split workloads (Figures 4.10-4.13, 4.22-4.25, 4.42-4.49, 4.54-4.61)."""

BASELINE = "backfill-sjf-1"
"""The baseline of the thesis's normalised figures."""

ALIASES: Mapping[str, str] = {"plan-start-0": "plan-sum-0", "plan-start-1": "plan-sum-1"}
"""Schedules that are equal to others in the published code: it sums the planned starts where the text takes the latest
one, and this sum differs from the sum of waiting times by a constant."""

CORRECTED = " corrected"
"""End of the name of a schedule whose reserved jobs start when their reservation begins, as in the text."""

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
}


def spec_of(name: str) -> PolicySpec:
    """Policy that literally reproduces a published schedule.

    The number at the end of a name is the reservation depth, one before it the balance factor.

    Raises
    ------
    KeyError
        The thesis has no such schedule.
    """
    text = ALIASES.get(name, name)
    if text in _NAMES:
        return PolicySpec(policy=_NAMES[text], literal=True, label=text)
    base, _, depth = text.rpartition("-")
    options: dict[str, Value] = {"depth": depth}
    head, _, balance = base.rpartition("-")
    if head == "maxutil":
        base, options = head, {"balance": balance, "depth": depth}
    return typed(PolicySpec(policy=_NAMES[base], options=options, literal=True, label=text))


def is_random(name: str) -> bool:
    """Whether a schedule depends on the seed: plan-based schedules anneal, all others are deterministic."""
    return name.startswith("plan")
