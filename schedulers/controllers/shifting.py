"""Algorithm 3: move an application's next I/O phase forward by giving it more nodes for a while. Pure functions.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.2.1, Algorithm 3, Eq. 2, Figures 6 to 9.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from spillway.schedulers.applications.performance import PerformanceModel
from spillway.schedulers.controllers.overlaps import Fleet
from spillway.schedulers.controllers.prediction import Phase


class Refusal(enum.Enum):
    """Reasons against a shift."""

    NO_CONTROL_POINTS = "no two control points lie between now and its I/O phase"
    TOO_SHORT = "the time between its control points is shorter than what it should save"
    THIRD = "the shifted phase would collide with a third application's"
    TOO_SLOW = "no size of it is fast enough"
    NO_NODES = "too few nodes are idle"
    UNWILLING = "it is being resized already, or has one size only"


@dataclass(frozen=True, slots=True)
class Shift:
    """A shift that avoids a collision.

    Attributes
    ----------
    shift_s
        Seconds by which the I/O phase has to come earlier (``T_shift``).
    reduction_s
        Seconds that the iterations between the two control points have to save (``dT_reconf``): the shift, both
        reconfigurations and the uncertainty.
    speedup
        Relative speed-up required for that (Eq. 2).
    extra
        Further nodes required for the speed-up, > 0.
    """

    shift_s: float
    reduction_s: float
    speedup: float
    extra: int


def select_application(first: Phase, second: Phase, equal: float, similar: float) -> int:
    """Return which of two applications to reconfigure (paper: ``select_application``): 0 or 1.

    When the periods are similar but not equal, the application with the shorter period is reconfigured: its phases then
    come earlier every time, and the distance grows. When they are equal or very different, it is the application whose
    I/O phase comes first, as its shift is the smallest; at equal starts the first.

    Parameters
    ----------
    equal, similar
        Largest relative differences of periods that are called equal, and similar; ``0 <= equal <= similar``. The
        paper gives no numbers. Its cases bound them: in B and C (periods that differ by 1.5 % and not at all) the
        application whose phase came first was reconfigured, and the four large shifts per run of D (11 %) are those of
        the shorter period.
    """
    longer, shorter = max(first.period_s, second.period_s), min(first.period_s, second.period_s)
    difference = (longer - shorter) / longer if longer > 0 else 0.0
    if equal < difference <= similar:
        return 0 if first.period_s < second.period_s else 1
    return 0 if first.start_s <= second.start_s else 1


def obtain_shift(shifted: Phase, other: Phase) -> float:
    """Seconds by which a phase must come earlier to end when the other begins (paper: ``obtain_shift``).

    Figure 7 (it comes after the other): its own duration and the time by which the other began before it. Figure 8 (it
    comes before the other): the overlap. Both are the same difference.
    """
    return shifted.end_s - other.start_s


def reduction(shift_s: float, overhead_s: float, uncertainty_s: float) -> float:
    """Seconds that the resized part has to save: the shift, two reconfigurations, and the uncertainty (line 6)."""
    return shift_s + 2.0 * overhead_s + uncertainty_s


def relative_speedup(original_s: float, reduction_s: float) -> float | None:
    """Speed-up that saves ``reduction_s`` of ``original_s`` (Eq. 2); ``None`` where no speed-up can."""
    return original_s / (original_s - reduction_s) if reduction_s < original_s else None


def evaluate_interference(shifted: Phase, earlier_s: float, others: Fleet) -> bool:
    """Whether a phase that comes ``earlier_s`` earlier would collide with a phase of the other applications."""
    moved = Phase(shifted.start_s - earlier_s, shifted.duration_s, shifted.period_s)
    return len(others.periodically_colliding(moved)) > 0


def plan_shift(
    shifted: Phase,
    other: Phase,
    others: Fleet,
    *,
    original_s: float,
    overhead_s: float,
    uncertainty_s: float,
    model: PerformanceModel,
    nodes: int,
    idle: int,
) -> Shift | Refusal:
    """Apply Algorithm 3 to the chosen application.

    Parameters
    ----------
    shifted, other
        Next phases of the chosen application and of the one with which it collides.
    others
        The remaining applications.
    original_s
        Time of the iterations between the two control points with the present size (``T_orig``); 0 without two such
        points.
    overhead_s
        Seconds of one reconfiguration.
    uncertainty_s
        Extra shift for errors of the prediction (paper: 2 s).
    model, nodes
        The chosen application's model and present size.
    idle
        Idle nodes that it could receive.
    """
    shift_s = obtain_shift(shifted, other)
    if original_s <= 0:
        return Refusal.NO_CONTROL_POINTS
    if evaluate_interference(shifted, shift_s + uncertainty_s, others):
        return Refusal.THIRD
    reduction_s = reduction(shift_s, overhead_s, uncertainty_s)
    speedup = relative_speedup(original_s, reduction_s)
    if speedup is None or not math.isfinite(speedup):
        return Refusal.TOO_SHORT
    size = model.nodes_for(nodes, speedup)
    if size is None:
        return Refusal.TOO_SLOW
    if size - nodes > idle:
        return Refusal.NO_NODES
    return Shift(shift_s, reduction_s, speedup, size - nodes)
