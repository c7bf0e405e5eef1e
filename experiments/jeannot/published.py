"""What the paper states in numbers, beside which ours are printed. Its figures carry no values that could be read off.

Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854). Its statements without
numbers are :mod:`experiments.jeannot.claims`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from experiments.jeannot.claims import Cells, idle, mean_stretch, steady
from experiments.jeannot.run import PACKS
from workloads.jeannot import HEAVY, LIGHT, mean_share


@dataclass(frozen=True, slots=True)
class Stated:
    """A number of the paper.

    Attributes
    ----------
    quantity
        What it is.
    text
        The paper's value.
    section
        Where it stands.
    ours
        The same from our results, as text; "" where they do not hold it.
    """

    quantity: str
    text: str
    section: str
    ours: Callable[[Cells], str]


def _crossing(cells: Cells) -> str:
    """Load from which on Max uses more in the steady state than LS, mean over families and draws."""
    alphas = sorted({alpha for _, alpha, _ in cells})
    gain = {
        alpha: float(np.mean([
            steady(result.outcomes["Max"]) - steady(result.outcomes["LS"])
            for (_, load, _), result in cells.items() if load == alpha
        ]))
        for alpha in alphas
    }  # fmt: skip
    above = [alpha for alpha in alphas if all(gain[later] > 0 for later in alphas if later >= alpha)]
    return f"{above[0]:g}" if above else "never"


def _efficient(cells: Cells) -> str:
    """Mean stretch of the executions of M-BN that idle less than a tenth of the time."""
    found: Mapping[str, list[float]] = {
        name: [
            mean_stretch(result.outcomes[name])
            for (family, *_), result in cells.items()
            if family == "M-BN" and idle(result.outcomes[name]) < 0.1
        ]
        for name in ("LS", *PACKS)
    }
    return ", ".join(f"{name} {np.mean(values):.2f} ({len(values)})" for name, values in found.items() if values)


STATED: tuple[Stated, ...] = (
    Stated(
        "mean share of I/O of light and heavy jobs (BN)", "0.289 and 0.711", "I/O behavior generation",
        lambda _: f"{mean_share(LIGHT):.3f} and {mean_share(HEAVY):.3f}",
    ),
    Stated("load from which packs use more in the steady state", "over 0.6", "Lesson learned 1", _crossing),
    Stated(
        "executions of a workload behind a point", "10", "Algorithm performance",
        lambda cells: str(len({seed for *_, seed in cells})),
    ),
    Stated(
        "mean stretch of M-BN with less than 10 % idle time (executions)", "almost none (1)", "Idle time vs stretch",
        _efficient,
    ),
)  # fmt: skip
