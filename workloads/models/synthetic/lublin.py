"""A log by the model of Lublin and Feitelson: sizes, runtimes and gaps of all jobs of three logs of the nineties.

Sizes: a share of serial jobs, the logarithm of the others uniform in two stages, many of them powers of two. Runtimes:
their logarithm is hyper-gamma, and large jobs tend to run longer. Gaps: their logarithm is gamma. The model states no
users, no sessions and no requested times; the daily and weekly cycle is that of
:mod:`spillway.workloads.models.synthetic.arrivals` in place of the model's own.

References
----------
U. Lublin, D. G. Feitelson, *The workload on parallel supercomputers: modeling the characteristics of rigid jobs*, JPDC
63(11), 2003 (DOI 10.1016/S0743-7315(03)00108-4), sections 4 and 5, parameters of all jobs together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option
from spillway.workloads.draws import Draws, Floats, exp, log
from spillway.workloads.models.synthetic.arrivals import weekly_times
from spillway.workloads.models.synthetic.common import header_of
from spillway.workloads.swf import SwfLog, SwfRecord

SERIAL, POWER_OF_TWO = 0.244, 0.576
"""Shares of all jobs: one processor; a power of two above."""

LEAST_LOG2, BREAK_BELOW_TOP, LOWER_STAGE = 0.8, 2.5, 0.86
"""Two-stage uniform distribution of log2 of sizes: least value, break below the machine's, share below the break."""

SHORT, LONG = (4.2, 0.94), (312.0, 0.03)
"""Shape and scale of the gamma distributions of the logarithm of the runtime."""

SHORT_SHARE, SHORT_SHARE_PER_NODE = 0.78, -0.0054
_GAP = (10.2303, 0.4871)
LONGEST_LOG_RUNTIME, LONGEST_LOG_GAP = 12.0, 13.0
"""Logarithms (of s) above which a runtime or a gap is drawn anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lublin:
    """Generator ``lublin``."""

    jobs: int = option(1000, low=1, high=10_000_000, help="number of jobs")
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    load: float = option(
        0.7,
        low=1e-3,
        high=1e3,
        help="offered load: node-seconds that the jobs run over nodes x time; the log is as long as this needs",
    )
    nodes: int = option(256, low=8, high=10_000_000, help="nodes of the machine")

    def __post_init__(self) -> None:
        check(self)

    def __call__(self) -> SwfLog:
        """Draw the log."""
        sizes = self._sizes()
        run = self._runtimes(sizes)
        span_s = max(float(sizes @ run) / (self.nodes * self.load), 1.0)
        gaps = exp(_capped_gamma(self._draws("gaps"), np.full(self.jobs, _GAP[0]), _GAP[1], LONGEST_LOG_GAP))
        position = (np.cumsum(gaps) - gaps) / gaps.sum()
        submit = np.floor(weekly_times(position, span_s)).astype(np.int64)
        columns = zip(submit.tolist(), run.tolist(), sizes.tolist(), strict=True)
        records = tuple(
            SwfRecord(
                number=number, submit_s=submitted, run_s=runtime, processors=size, requested_processors=size, status=1
            )
            for number, (submitted, runtime, size) in enumerate(columns, start=1)
        )
        return SwfLog(header_of("lublin", self.jobs, self.seed, self.load, self.nodes), records)

    def _draws(self, stream: str) -> Draws:
        return Draws(self.seed, f"lublin {stream}")

    def _sizes(self) -> npt.NDArray[np.int64]:
        top = math.log2(self.nodes)
        middle = max(top - BREAK_BELOW_TOP, LEAST_LOG2)
        kind, stage = self._draws("kinds").uniform(self.jobs), self._draws("stages").uniform(self.jobs)
        place = self._draws("sizes").uniform(self.jobs)
        low = stage < LOWER_STAGE
        exponent = np.where(low, LEAST_LOG2 + place * (middle - LEAST_LOG2), middle + place * (top - middle))
        exponent = np.where(kind < SERIAL + POWER_OF_TWO, np.rint(exponent), exponent)
        sizes = np.rint(exp(exponent * math.log(2.0))).astype(np.int64)
        return np.where(kind < SERIAL, 1, np.minimum(sizes, self.nodes))

    def _runtimes(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        share = np.clip(SHORT_SHARE + SHORT_SHARE_PER_NODE * sizes, 0.0, 1.0)
        short = self._draws("branches").uniform(self.jobs) < share
        draws = self._draws("runtimes")
        logarithm = np.where(
            short,
            _capped_gamma(draws, np.full(self.jobs, SHORT[0]), SHORT[1], LONGEST_LOG_RUNTIME),
            _capped_gamma(draws, np.full(self.jobs, LONG[0]), LONG[1], LONGEST_LOG_RUNTIME),
        )
        return np.maximum(np.rint(exp(logarithm)), 1.0).astype(np.int64)


def _capped_gamma(draws: Draws, shape: Floats, scale: float, most: float) -> Floats:
    """One gamma number per shape (each >= 1), drawn anew while above ``most``."""
    values = gamma(draws, shape) * scale
    while (above := values > most).any():
        values[above] = gamma(draws, shape[above]) * scale
    return values


def gamma(draws: Draws, shape: Floats) -> Floats:
    """One number of the gamma distribution of each shape (>= 1), scale 1.

    References
    ----------
    G. Marsaglia, W. W. Tsang, *A simple method for generating gamma variables*, ACM TOMS 26(3), 2000: a cubed normal
    number, accepted by a test that needs no logarithm in nearly all cases; here it is always the exact one.
    """
    values = np.zeros(len(shape))
    left = np.arange(len(shape))
    while left.size:
        third = shape[left] - 1.0 / 3.0
        normal = draws.normal(len(left))
        root = 1.0 + normal / np.sqrt(9.0 * third)
        cube = root * root * root
        positive = cube > 0
        exact = 0.5 * normal * normal + third * (1.0 - cube + log(np.where(positive, cube, 1.0)))
        accepted = positive & (log(draws.uniform(len(left))) < exact)
        values[left[accepted]] = third[accepted] * cube[accepted]
        left = left[~accepted]
    return values
