"""Scores of a plan: one weight and one power per job, smaller is better.

Every objective but ``latest`` is a sum over the plan's jobs of ``weight x (start - submission) ** alpha``, which can be
computed job by job; ``latest`` is the latest planned start.

References
----------
Kopanski, master's thesis 2020, section 3.4: sum of waiting times to the power alpha, latest start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_SHORT_JOB_S = 600.0
"""Walltimes below this weigh alike (s): the field's usual threshold of the bounded slowdown."""


@dataclass(frozen=True, slots=True)
class Objective:
    """The score of a plan.

    Attributes
    ----------
    alpha
        Power of each job's planned waiting time (s), above 0.
    beta
        Power of ``max(walltime, 600 s)`` by which a job's term is divided: 0 for waiting times alone, 0.5 between
        waiting time and slowdown, 1 for bounded slowdowns.
    guard_s, guard_power
        Every term is multiplied by ``1 + (wait / guard_s) ** guard_power``: about 1 for waits well below the guard,
        while waits beyond it weigh as with the power ``alpha + guard_power``.
    latest
        Score the latest planned start instead of the sum (the thesis's text; its code summed the starts).
    """

    alpha: float = 2.0
    beta: float = 0.0
    latest: bool = False
    guard_s: float = math.inf
    guard_power: float = 1.5

    def weights(self, walltimes_s: Sequence[float]) -> npt.NDArray[np.float64]:
        """Weight of each job."""
        walls = np.minimum(np.asarray(walltimes_s, np.float64), 1e9)
        return np.asarray(np.maximum(walls, _SHORT_JOB_S) ** -self.beta, np.float64)
