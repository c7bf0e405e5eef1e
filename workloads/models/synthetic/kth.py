"""A log that resembles the KTH SP2 log of 1996, made from a seed: for demonstrations and tests without network.

The shapes below are own counts of KTH-SP2-1996-2.1-cln (Parallel Workloads Archive), rounded: popular sizes, popular
requested times, the weekly cycle, sessions of similar jobs. Three kinds of runtime are mixed, in shares that depend on
the requested time: jobs that end within their first minute, jobs that run up to (some beyond) their limit, and all
others, which use an even share of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option
from spillway.workloads.draws import Draws, Floats, exp
from spillway.workloads.models.synthetic.arrivals import burst_times, session_lengths, weekly_times
from spillway.workloads.models.synthetic.common import header_of
from spillway.workloads.swf import SwfLog, SwfRecord

_SIZES = (
    (1, 329), (2, 135), (3, 48), (4, 104), (5, 39), (6, 24), (7, 11), (8, 94), (9, 31), (10, 21), (11, 2), (12, 11),
    (15, 10), (16, 48), (17, 5), (20, 7), (24, 5), (25, 5), (30, 3), (32, 24), (33, 2), (36, 3), (40, 5), (48, 3),
    (50, 4), (60, 4), (64, 10), (70, 1), (80, 7), (90, 2), (96, 3),
)  # fmt: skip
"""Processors and their weight, per mille."""

_WALLTIMES = (
    (60, 54, 0.95, 0.03), (120, 33, 0.78, 0.02), (180, 18, 0.58, 0.02), (240, 10, 0.62, 0.02), (300, 93, 0.68, 0.02),
    (600, 86, 0.45, 0.03), (900, 49, 0.34, 0.06), (1200, 26, 0.26, 0.06), (1800, 51, 0.20, 0.10),
    (2700, 20, 0.16, 0.15), (3600, 57, 0.15, 0.14), (5400, 23, 0.10, 0.14), (7200, 48, 0.11, 0.17),
    (9000, 26, 0.15, 0.12), (10800, 24, 0.11, 0.19), (12000, 47, 0.05, 0.15), (13800, 31, 0.10, 0.22),
    (14400, 116, 0.09, 0.28), (18000, 15, 0.15, 0.26), (24000, 12, 0.11, 0.32), (30000, 22, 0.14, 0.28),
    (36000, 24, 0.08, 0.34), (43200, 15, 0.07, 0.38), (50400, 21, 0.07, 0.48), (54000, 62, 0.13, 0.40),
    (72000, 5, 0.15, 0.40), (100000, 2, 0.06, 0.35), (144000, 5, 0.13, 0.40), (216000, 7, 0.06, 0.55),
)  # fmt: skip
"""Requested seconds, weight per mille, share of jobs that end at once, share that run up to the limit."""

_EARLY_MEDIAN_S, _EARLY_SIGMA = 17.0, 0.9
_BEYOND_LIMIT = 0.07
_SAME_RUNTIME = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class KthLike:
    """Generator ``kth-like``."""

    jobs: int = option(1000, low=1, high=10_000_000, help="number of jobs")
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    load: float = option(
        0.72,
        low=1e-3,
        high=1e3,
        help="offered load: node-seconds that the jobs hold (runs cut at the requested time) over nodes x time; the "
        "log is as long as this needs",
    )  # KTH: 0.72 of the thesis's 96 nodes
    nodes: int = option(
        96, low=1, high=10_000_000, help="nodes of the machine; sizes above it are left out of the draw"
    )
    session_exponent: float = option(
        2.2, low=1.01, high=100, help="sessions of k similar jobs come in proportion to k to the power of minus this"
    )  # KTH: about 2.3
    session_longest: int = option(50, unit="jobs", low=1, high=100_000, help="most jobs of a session")
    gap_median_s: float = option(
        60.0,
        unit="s",
        low=1e-3,
        high=1e6,
        help="median time between the jobs of a session; the gaps are log-normal (sigma 3), at most two days",
    )
    feedback: float = option(
        0.5,
        low=0,
        high=1,
        help="degree to which users hold back while the machine is loaded: at 0 sessions begin independently of each "
        "other, at 1 each waits for its share of the load to pass (KTH's load varies little from week to week)",
    )

    def __post_init__(self) -> None:
        check(self)

    def __call__(self) -> SwfLog:
        """Draw the log."""
        lengths = session_lengths(self._draws("sessions"), self.jobs, self.session_exponent, self.session_longest)
        sizes, row = self._requests(lengths)
        walltime = np.asarray([entry[0] for entry in _WALLTIMES], np.int64)[row]
        run = _runtimes(self._draws("runtimes"), row, walltime, lengths)
        held = np.cumsum(np.minimum(run, walltime) * sizes)
        span_s = max(int(held[-1]) / (self.nodes * self.load), 1.0)
        first = np.cumsum(lengths) - lengths
        independent = np.sort(self._draws("starts").uniform(len(lengths)))
        load_before = np.concatenate(([0], held))[first] / held[-1]
        position = (1.0 - self.feedback) * independent + self.feedback * load_before
        starts = weekly_times(position, span_s)
        times = burst_times(self._draws("gaps"), starts, lengths, self.gap_median_s, sigma=3.0, longest_s=2 * 86400.0)
        submit = np.floor(np.fmod(times, span_s)).astype(np.int64)  # the end of the log continues at its beginning
        users = np.repeat(self._draws("users").choose(1.0 / np.arange(4, 204), len(lengths)) + 1, lengths)
        order = np.lexsort((np.arange(self.jobs), submit))
        columns = zip(*(column[order].tolist() for column in (submit, run, sizes, walltime, users)), strict=True)
        records = tuple(
            SwfRecord(
                number=number,
                submit_s=submitted,
                run_s=runtime,
                processors=size,
                requested_processors=size,
                requested_s=requested,
                status=int(runtime < requested),
                user=user,
            )
            for number, (submitted, runtime, size, requested, user) in enumerate(columns, start=1)
        )
        return SwfLog(header_of("kth-like", self.jobs, self.seed, self.load, self.nodes), records)

    def _draws(self, stream: str) -> Draws:
        return Draws(self.seed, f"kth-like {stream}")

    def _requests(self, lengths: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Nodes and row of the walltime table of every job: drawn once per session."""
        fitting = [(size, weight) for size, weight in _SIZES if size <= self.nodes]
        which = self._draws("sizes").choose([weight for _, weight in fitting], len(lengths))
        sizes = np.asarray([size for size, _ in fitting], np.int64)[which]
        row = self._draws("walltimes").choose([entry[1] for entry in _WALLTIMES], len(lengths))
        return np.repeat(sizes, lengths), np.repeat(row, lengths)


def kth_like(jobs: int = 1000, seed: int = 0, load: float = 0.72, nodes: int = 96) -> SwfLog:
    """Draw a KTH-like log (:class:`KthLike` has all options)."""
    return KthLike(jobs=jobs, seed=seed, load=load, nodes=nodes)()


def _runtimes(
    draws: Draws, row: npt.NDArray[np.int64], walltime: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Runtime of every job in whole seconds, >= 1; half of the jobs of a session run as long as the one before."""
    count = len(row)
    early = np.asarray([entry[2] for entry in _WALLTIMES])[row]
    limit = np.asarray([entry[3] for entry in _WALLTIMES])[row]
    kind = draws.uniform(count)
    at_once = _EARLY_MEDIAN_S * exp(_EARLY_SIGMA * draws.normal(count))
    beyond = draws.uniform(count) < _BEYOND_LIMIT
    rest = draws.exponential(count)
    to_limit = walltime * np.where(beyond, 1.0 + 0.003 * rest, np.maximum(1.0 - 0.008 * rest, 0.5))
    between = np.maximum(0.97 * draws.uniform(count) * walltime, np.minimum(at_once, walltime * 0.9))
    run: Floats = np.where(kind < early, at_once, np.where(kind < early + limit, to_limit, between))
    repeats = draws.uniform(count) < _SAME_RUNTIME
    repeats[np.cumsum(lengths) - lengths] = False
    source = np.maximum.accumulate(np.where(repeats, 0, np.arange(count)))
    run = run[source] * np.where(repeats, 1.0 + 0.02 * (draws.uniform(count) - 0.5), 1.0)
    return np.maximum(np.rint(run), 1.0).astype(np.int64)
