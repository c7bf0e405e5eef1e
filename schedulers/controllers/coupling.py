"""Algorithm 4: resize one of two applications so that one I/O period is a multiple of the other. Pure functions.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.2.2, Algorithm 4, Figure 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spillway.schedulers.applications.performance import PerformanceModel
from spillway.schedulers.controllers.prediction import Phase


@dataclass(frozen=True, slots=True)
class Coupling:
    """A new size for one of two applications.

    Attributes
    ----------
    chosen
        0 or 1: which of the two.
    period_s
        Target for its period, in seconds.
    speedup
        Relative speed-up of its period (line 3); below 1: it becomes slower.
    """

    chosen: int
    period_s: float
    speedup: float


def select_largest_period(first: Phase, second: Phase) -> int:
    """Return which of two applications has the larger period (0 or 1; the first of equals)."""
    return 0 if first.period_s >= second.period_s else 1


def obtain_period(larger_s: float, smaller_s: float) -> float:
    """Return the multiple of the smaller period that is nearest to the larger one (halves go down), at least once."""
    return max(1, math.ceil(larger_s / smaller_s - 0.5)) * smaller_s


def couple(first: Phase, second: Phase, tolerance: float) -> Coupling | None:
    """Apply Algorithm 4, lines 1 to 3.

    Parameters
    ----------
    tolerance
        Tolerated relative difference between period and multiple, >= 0.

    Returns
    -------
    Coupling or None
        ``None`` when the periods fit already, or one of them is not known.
    """
    if not (first.period_s > 0 and second.period_s > 0):
        return None
    chosen = select_largest_period(first, second)
    larger, smaller = (first, second) if chosen == 0 else (second, first)
    period_s = obtain_period(larger.period_s, smaller.period_s)
    if abs(larger.period_s - period_s) <= tolerance * period_s:
        return None
    return Coupling(chosen, period_s, larger.period_s / period_s)


def coupled_size(
    coupling: Coupling, phase: Phase, model: PerformanceModel, nodes: int, base: int, iterations: int
) -> int | None:
    """Return the size with which an application gets the period (line 4); ``None`` where its own size is the nearest.

    The duration of an I/O phase does not depend on the size, so only the iterations can change the period. The result
    is the size with the period nearest to the target, scaled from the present period by the model; of equally near
    sizes the smallest. Sizes below ``base`` are not considered: no application becomes slower than its user requested.

    Parameters
    ----------
    phase
        Prediction for the chosen application.
    nodes, base
        Its present size and the size that it was submitted with.
    iterations
        Iterations between two of its I/O phases.
    """
    compute_s = phase.period_s - phase.duration_s
    if compute_s <= 0 or iterations <= 0:
        return None
    scale = compute_s / model.iteration_s(nodes)
    first = max(base, model.minimum)
    periods = model.iterations_s[first - model.minimum :] * scale + phase.duration_s
    size = first + int(abs(periods - coupling.period_s).argmin())
    now_s, then_s = phase.period_s, periods.item(size - first)
    return size if abs(then_s - coupling.period_s) < abs(now_s - coupling.period_s) else None
