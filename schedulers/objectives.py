"""Scores of a plan: one weight and one power per job, smaller is better.

Every objective but ``latest`` is a sum over the plan's jobs of ``weight x (start - submission) ** alpha``; that one is
the latest planned start. A weighted sum is what plan scoring can compute job by job.

References
----------
Kopanski, master's thesis 2020, section 3.4: sum of waiting times to the power alpha, latest start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schedulers.job import Job

SHORT_JOB_S = 600.0
"""Walltimes below this weigh alike (s): the field's usual threshold of the bounded slowdown."""


@dataclass(frozen=True, slots=True)
class Objective:
    """How a plan is scored.

    Attributes
    ----------
    alpha
        Power of each job's planned waiting time (s), above 0.
    beta
        Power of ``max(walltime, 600 s)`` by which a job's term is divided: 0 for waiting times alone, 0.5 between
        waiting time and slowdown, 1 for bounded slowdowns.
    latest
        Score the latest planned start instead of the sum (the thesis's text; its code summed the starts).
    """

    alpha: float = 2.0
    beta: float = 0.0
    latest: bool = False

    def weights(self, walltimes_s: Sequence[float]) -> npt.NDArray[np.float64]:
        """Weight of each job."""
        walls = np.minimum(np.asarray(walltimes_s, np.float64), 1e9)
        return np.asarray(np.maximum(walls, SHORT_JOB_S) ** -self.beta, np.float64)

    def score(self, jobs: Sequence[Job], starts_s: Sequence[float]) -> float:
        """Score of a plan: the plain definition that the compiled scoring is tested against."""
        if self.latest:
            return max(starts_s, default=0.0)
        weights = self.weights([job.walltime_s for job in jobs])
        return float(
            sum(
                weight * (start_s - job.submit_time_s) ** self.alpha
                for weight, job, start_s in zip(weights, jobs, starts_s, strict=True)
            )
        )
