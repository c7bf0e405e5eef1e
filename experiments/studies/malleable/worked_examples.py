"""The paper's worked examples, computed by the controllers of the product (sections 4.2.1 and 4.2.2)."""

from __future__ import annotations

from collections.abc import Mapping

from spillway.schedulers.controllers.coupling import obtain_period, select_largest_period
from spillway.schedulers.controllers.prediction import Phase
from spillway.schedulers.controllers.shifting import obtain_shift, reduction, relative_speedup

_UNCERTAINTY_S = 2.0


def numbers() -> Mapping[str, float]:
    """Compute the examples: shifts, speed-ups, both figures, and a coupling.

    ``reduction`` and ``shift`` are those of a shift of 10 s with an overhead of 1 s. ``figure_7`` and ``figure_8`` are
    the shifts less their values in the text: the phase's own duration plus the time until the overlap; the overlap.
    Durations are not printed; 30 s are assumed.
    """
    shift_s, overhead_s, long_s, early_s, late_s = 10.0, 1.0, 30.0, 80.0, 100.0
    reduced_s = reduction(shift_s, overhead_s, _UNCERTAINTY_S)
    first, second = Phase(late_s, long_s, 300.0), Phase(early_s, long_s, 305.0)
    periods = Phase(0.0, long_s, 220.0), Phase(0.0, long_s, 440.0)
    larger = select_largest_period(*periods)
    relative = relative_speedup(100.0, 50.0)
    assert relative is not None, "50 s of 100 s can be saved"
    return {
        "reduction": reduced_s,
        "shift": reduced_s - 2 * overhead_s,
        "speedup_100": relative,
        "speedup_200": relative_speedup(200.0, 50.0) or 0.0,
        "absolute": 6.0 * relative,
        "figure_7": obtain_shift(first, second) - (long_s + late_s - early_s),
        "figure_8": obtain_shift(second, first) - (early_s + long_s - late_s),
        "coupled": larger + 1,
        "multiple": obtain_period(periods[larger].period_s, periods[1 - larger].period_s) / 220.0,
    }
