"""Workloads of Jeannot, Pallez and Vidal: two job protocols times two I/O protocols, at a given I/O load.

A job is periodic: ``n`` times computing for ``w`` s, then a transfer of ``v`` bytes. Four families combine sizes and
durations (``M``: as on Mira, ``U``: uniform) with I/O (``No``: one normal distribution, ``BN``: two). Where the paper's
text leaves a choice or contradicts itself, the choice is an option here; its default is stated with the reason.

* *Volumes.* The printed formula has ``v = X w Q / P`` in units of time. The mean size of the uniform protocol, though,
  is derived from ``v = X w``: only then does its formula give the requested load.
* *Load.* With ``X`` of mean alpha truncated to [0, 1], equation (2) does not yield alpha (for ``M-No`` it yields 0.31
  to 0.57 for alpha from 0.2 to 0.8). So all volumes of a family are multiplied by one factor that makes the expected
  load alpha; ``literal`` leaves them.
* *Kinds of BN.* The share of jobs with much I/O "depends on the I/O load". ``independent``: the share with which the
  mean share of I/O is alpha, but at least 0.1 and at most 0.9. ``steered``: in order, whenever the load of the jobs so
  far is below alpha (the paper says that I/O and processors "are not independently chosen").
* *Sizes of U.* A uniform distribution on all of ``{1, 2, ..., 2048}`` has a mean of 341. "Of mean Q" is read as uniform
  on the largest (or smallest) of these sizes, mixed from the two subsets with means that enclose Q. On a machine of P
  nodes then at most ``P / Q = alpha (1 + E) / E`` applications run at a time on average, whatever P is: 1 to 2.
* *Spreads.* The normal distribution of shares of ``No`` has "variance sigma = 0.1": a variance like that of ``BN``,
  which is fixed by its means of 0.289 and 0.711, or a deviation. "A variance of 10 percent of the median time" of
  Mira's durations: a deviation of a tenth of it, or a variance, which depends on the unit of time: hours, in which the
  medians are given.
* *4,096 nodes.* "Less than 4K nodes" an hour, "between 4K and 16K" two: of exactly 4,096 nodes one or the other.

References
----------
Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Workload
Generation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option, required
from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.draws import Draws, exp
from spillway.workloads.errors import WorkloadError

Floats = npt.NDArray[np.float64]

FAMILIES = ("M-BN", "M-No", "U-BN", "U-No")
_VARIANCE = 0.1
"""Variance of the normal distributions before truncation."""
LIGHT, HEAVY = 0.1, 0.9
"""Means, before truncation, of the two distributions of ``BN``."""
_LEAST_PREVALENCE = 0.1
"""Least share of each of the two kinds of ``BN``: beyond, a workload would not be bi-normal any more."""
LEAST_PERIODS, MOST_PERIODS = 10, 100
_MIRA_RATE = 1.35e-4
"""Parameter of Mira's distribution of sizes, per node."""
_MIRA_UNIT = 512
"""Nodes of a midplane, the smallest partition: the platform's node."""
_MIRA_DURATIONS: tuple[tuple[int, float], ...] = ((4096, 3600.0), (16384, 7200.0), (49152, 1800.0))
"""Largest number of nodes, and median duration (s) up to it."""
_MIRA_SPREAD = 0.1
"""Standard deviation over median of Mira's durations, or variance over median with both in hours."""
HOUR_S = 3600.0
_CALIBRATION_JOBS = 60_000


@dataclass(frozen=True, slots=True)
class JobProtocol:
    """Machine of a job protocol.

    Attributes
    ----------
    platform
        Built-in platform.
    processors
        Nodes of that platform.
    bandwidth
        Bandwidth of its file system, bytes per second.
    """

    platform: str
    processors: int
    bandwidth: float


PROTOCOLS: Mapping[str, JobProtocol] = {
    "M": JobProtocol("mira", 96, 240e9),
    "U": JobProtocol("uniform-2048", 2048, 10e9),
}

_SPREADS = ("variance", "deviation")


@dataclass(frozen=True, slots=True, kw_only=True)
class JeannotOptions:
    """Options of a drawn workload."""

    family: str = required(choices=FAMILIES, help="sizes, durations and shares of I/O of the jobs")
    load: float = option(0.5, low=1e-3, high=1.0, help="I/O load to reach, equation (2)")
    jobs: int = option(100, low=1, high=10_000_000, help="number of jobs; the paper does not state it")
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    volume: str = option(
        "proportional",
        choices=("proportional", "whole"),
        help="time of an uncontended transfer: X w Q / P, as printed, or X w",
    )
    sizes: str = option(
        "uniform",
        choices=("uniform", "formula"),
        help="sizes of U: all powers of two alike, or of the mean that the paper derives",
    )
    kinds: str = option("independent", choices=("independent", "steered"), help="which jobs of BN have much I/O")
    shares: str = option(
        "variance", choices=_SPREADS, help="parameter of the normal distribution of No's shares that is 0.1"
    )
    durations: str = option(
        "deviation", choices=_SPREADS, help="parameter of M's durations that is a tenth of their median"
    )
    limit: str = option(
        "long", choices=("long", "short"), help="median duration of jobs of exactly 4,096 nodes of M: 2 h or 1 h"
    )
    literal: bool = option(False, help="leave volumes as the printed formulas give them, whatever the load")
    tolerance: float = option(0.05, low=1e-9, high=1.0, help="draws with a load that differs by more are rejected")
    attempts: int = option(1000, low=1, high=10_000_000, help="give up after this many rejected draws")
    mean_gap_s: float = option(
        0.0,
        unit="s",
        low=0.0,
        high=1e9,
        help="mean time between submissions (exponential); 0: all at once",
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def protocol(self) -> JobProtocol:
        """The family's protocol."""
        return PROTOCOLS[self.family[0]]


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs as arrays: nodes, number of periods, seconds of computing and of uncontended transfer of a period."""

    nodes: npt.NDArray[np.int64]
    periods: npt.NDArray[np.int64]
    compute_s: Floats
    transfer_s: Floats

    def load(self, processors: int) -> float:
        """The I/O load, equation (2)."""
        uncontended_s = self.periods * (self.compute_s + self.transfer_s)
        return float((self.periods * self.transfer_s).sum() * processors / (self.nodes * uncontended_s).sum())


@dataclass(frozen=True, slots=True)
class WorkloadDraw:
    """A workload, with its load and the draws before it.

    Attributes
    ----------
    load
        Its I/O load, equation (2).
    factor
        Factor of the volumes.
    rejected
        Loads of the draws that were rejected before.
    """

    workload: Workload
    load: float
    factor: float
    rejected: tuple[float, ...]


def draw_jeannot(options: JeannotOptions) -> WorkloadDraw:
    """Draw a workload; the same options give the same workload, on every machine.

    Raises
    ------
    WorkloadError
        No draw came close enough to the given load.
    """
    processors = options.protocol.processors
    factor = 1.0 if options.literal else calibrate(options)
    rejected: list[float] = []
    for attempt in range(options.attempts):
        jobs = _draw(options, f"{attempt}", options.jobs).scaled(factor)
        load = jobs.load(processors)
        if options.literal or abs(load - options.load) <= options.tolerance:
            return WorkloadDraw(_workload(options, jobs, load, len(rejected)), load, factor, tuple(rejected))
        rejected.append(load)
    raise WorkloadError(
        f"{options.family}: in {options.attempts} draws of {options.jobs} jobs no I/O load was within "
        f"{options.tolerance:g} of {options.load:g}; take more jobs or a larger tolerance"
    )


def calibrate(options: JeannotOptions) -> float:
    """Factor for all volumes that makes the expected load of a family alpha (bisection on many jobs)."""
    usual = JeannotOptions(family=options.family, load=options.load)
    others = ("jobs", "seed", "literal", "tolerance", "attempts", "mean_gap_s")
    return _calibrate(replace(options, **{name: getattr(usual, name) for name in others}))


@lru_cache(maxsize=256)
def _calibrate(options: JeannotOptions) -> float:
    raw = _draw(options, "calibration", _CALIBRATION_JOBS)
    low, high = 0.0, 64.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        load = raw.scaled(middle).load(options.protocol.processors)
        low, high = (middle, high) if load < options.load else (low, middle)
    return round(0.5 * (low + high), 9)


def mean_share(mean: float) -> float:
    """Mean of a normal distribution of this mean and of variance 0.1, truncated to [0, 1] (0.289 for 0.1)."""
    deviation = math.sqrt(_VARIANCE)
    low, high = -mean / deviation, (1 - mean) / deviation
    inside = 0.5 * (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2)))
    density = (math.exp(-low * low / 2) - math.exp(-high * high / 2)) / math.sqrt(2 * math.pi)
    return mean + deviation * density / inside


def prevalence(alpha: float) -> float:
    """Share of jobs with much I/O in ``BN`` for a mean share of I/O of alpha; at least 0.1, at most 0.9."""
    light, heavy = mean_share(LIGHT), mean_share(HEAVY)
    return min(max((alpha - light) / (heavy - light), _LEAST_PREVALENCE), 1 - _LEAST_PREVALENCE)


def mean_of(family: str, alpha: float) -> float:
    """Expected share E(X) of a family."""
    if family.endswith("No"):
        return mean_share(alpha)
    heavy = prevalence(alpha)
    return heavy * mean_share(HEAVY) + (1 - heavy) * mean_share(LIGHT)


def mean_size(family: str, alpha: float, processors: int) -> float:
    """Mean number of processors of the uniform protocol: ``P E(X) / (alpha (1 + E(X)))``."""
    share = mean_of(family, alpha)
    return processors * share / (alpha * (1 + share))


# ---------------------------------------------------------------------- draws


@dataclass(frozen=True, slots=True)
class _RawDraws:
    """Draws before the volumes' factor: ``span_s`` is a period's computing time, with ``whole`` the whole period."""

    nodes: npt.NDArray[np.int64]
    periods: npt.NDArray[np.int64]
    share: Floats
    span_s: Floats
    whole: bool

    def scaled(self, factor: float) -> Jobs:
        share = factor * self.share
        compute_s = self.span_s / (1 + share) if self.whole else self.span_s
        return Jobs(self.nodes, self.periods, compute_s, share * compute_s)


def _draw(options: JeannotOptions, stream: str, count: int) -> _RawDraws:
    def draws(what: str) -> Draws:
        return Draws(options.seed, f"jeannot/{options.family}/{options.load:g}/{stream}/{what}")

    width = MOST_PERIODS - LEAST_PERIODS + 1
    periods = LEAST_PERIODS + np.floor(draws("periods").uniform(count) * width).astype(np.int64)
    nodes = _SIZES[options.family[0]](options, draws, count)
    mira = options.family[0] == "M"
    span_s = (
        _mira_durations(options, nodes, draws("durations")) / periods if mira else _minutes(draws("durations"), count)
    )
    part = nodes / options.protocol.processors
    scale = part if options.volume == "proportional" else np.ones(count)
    if options.family.endswith("No"):
        deviation = _VARIANCE if options.shares == "deviation" else math.sqrt(_VARIANCE)
        share = _truncated(draws("shares"), np.full(count, options.load), deviation)
    elif options.kinds == "independent":
        heavy = draws("kinds").uniform(count) < prevalence(options.load)
        share = _truncated(draws("shares"), np.where(heavy, HEAVY, LIGHT))
    else:
        kinds = [_truncated(draws(f"shares/{mean}"), np.full(count, mean)) for mean in (LIGHT, HEAVY)]
        share = _steered(options.load, kinds[0] * scale, kinds[1] * scale, part, periods * span_s, mira) / scale
    return _RawDraws(nodes, periods, share * scale, span_s, mira)


def _steered(alpha: float, light: Floats, heavy: Floats, part: Floats, span_s: Floats, whole: bool) -> Floats:
    """Share of I/O of each job: the heavy one whenever the load of the jobs before is below alpha."""
    found = np.empty(len(part))
    transferred_s = area = 0.0
    for index, (low, high, width, span) in enumerate(zip(light, heavy, part, span_s, strict=True)):
        found[index] = share = high if transferred_s < alpha * area or not index else low
        compute_s = span / (1 + share) if whole else span
        transferred_s += share * compute_s
        area += width * (1 + share) * compute_s
    return found


def _minutes(draws: Draws, count: int) -> Floats:
    """Seconds of a compute operation of the uniform protocol: 10 to 100 minutes."""
    return np.asarray(60.0 * (10 + 90 * draws.uniform(count)), np.float64)


Streams = Callable[[str], Draws]


def _truncated(draws: Draws, means: Floats, deviation: float = math.sqrt(_VARIANCE)) -> Floats:
    """Normal numbers of these means, drawn again until they lie in [0, 1]."""
    found = np.full(len(means), -1.0)
    while (missing := (found < 0) | (found > 1)).any():
        found[missing] = means[missing] + deviation * draws.normal(int(missing.sum()))
    return found


def _mira_sizes(options: JeannotOptions, draws: Streams, count: int) -> npt.NDArray[np.int64]:
    units = np.arange(1, options.protocol.processors + 1)
    return np.asarray(units[draws("sizes").choose(exp(-_MIRA_RATE * _MIRA_UNIT * units), count)], np.int64)


def _mira_durations(options: JeannotOptions, units: npt.NDArray[np.int64], draws: Draws) -> Floats:
    limits = [limit for limit, _ in _MIRA_DURATIONS]
    if options.limit == "long":
        limits[0] -= 1
    medians = np.array([median for _, median in _MIRA_DURATIONS])
    median = medians[np.minimum(np.searchsorted(limits, units * _MIRA_UNIT), len(limits) - 1)]
    spread = np.full(len(units), _MIRA_SPREAD)
    if options.durations == "variance":
        spread = np.sqrt(_MIRA_SPREAD / (median / HOUR_S))
    found = np.zeros(len(units))
    while (missing := found <= 0).any():
        found[missing] = (median * (1 + spread * draws.normal(len(units))))[missing]
    return found


def _uniform_sizes(options: JeannotOptions, draws: Streams, count: int) -> npt.NDArray[np.int64]:
    processors = options.protocol.processors
    sizes = 2 ** np.arange(processors.bit_length())
    if options.sizes == "uniform":
        return np.asarray(sizes[draws("sizes").choose(np.ones(len(sizes)), count)], np.int64)
    wanted = round(mean_size(options.family, options.load, processors), 6)
    first, second, weight = _subsets(sizes, wanted)
    picked = draws("subsets").uniform(count) < weight
    rank = draws("sizes").uniform(count)
    start, width = np.where(picked, second[0], first[0]), np.where(picked, len(second), len(first))
    return np.asarray(sizes[start + np.floor(rank * width).astype(np.int64)], np.int64)


def _subsets(sizes: npt.NDArray[np.int64], wanted: float) -> tuple[Sequence[int], Sequence[int], float]:
    """Two runs of consecutive sizes with means that enclose the given one, and the weight of the second.

    From {1} over {1, 2} ... to all sizes, then to {2, ...} ... and only the largest: means ascend all the way.
    """
    last = len(sizes)
    runs = [range(end) for end in range(1, last + 1)] + [range(start, last) for start in range(1, last)]
    means = [float(sizes[list(run)].mean()) for run in runs]
    if wanted <= means[0] or wanted >= means[-1]:
        run = runs[0] if wanted <= means[0] else runs[-1]
        return run, run, 0.0
    place = next(place for place in range(1, len(runs)) if means[place] >= wanted)
    weight = (wanted - means[place - 1]) / (means[place] - means[place - 1])
    return runs[place - 1], runs[place], weight


_SIZES: Mapping[str, Callable[[JeannotOptions, Streams, int], npt.NDArray[np.int64]]] = {
    "M": _mira_sizes,
    "U": _uniform_sizes,
}


# ---------------------------------------------------------------------- as a workload


def _workload(options: JeannotOptions, jobs: Jobs, load: float, rejected: int) -> Workload:
    gaps = options.mean_gap_s * Draws(options.seed, "jeannot/arrivals").exponential(options.jobs)
    submits = np.cumsum(gaps) - gaps[0]
    made, profiles = [], {}
    for index in range(options.jobs):
        job, profile = periodic_job(
            index + 1,
            round(float(submits[index]), 3),
            int(jobs.nodes[index]),
            int(jobs.periods[index]),
            round(float(jobs.compute_s[index]), 6),
            round(float(jobs.transfer_s[index]) * options.protocol.bandwidth),
            options.protocol.bandwidth,
        )
        made.append(job)
        profiles[job.profile] = profile
    notes = (f"I/O load {load:.3f} of requested {options.load:g}, after {rejected} rejected draws",)
    name = f"{options.family.lower()}-{options.load:g}-{options.seed}"
    return Workload(
        name, options.protocol.processors, tuple(made), profiles, "Jeannot, Pallez, Vidal 2023", {}, notes
    )  # fmt: skip


def periodic_job(
    number: int, submit_s: float, nodes: int, periods: int, compute_s: float, io_bytes: float, bandwidth: float
) -> tuple[WorkloadJob, Profile]:
    """A periodic job that every Batsim can read: a ``delay`` of its uncontended time, and the field ``periods``.

    The job states no walltime: waiting for I/O must not kill it. ``requested_s`` is its uncontended time, ``io_rate``
    its average I/O bandwidth per node, rounded up.

    Parameters
    ----------
    io_bytes
        Bytes of a period, for the whole job.
    bandwidth
        Bandwidth of the file system, bytes per second.
    """
    uncontended_s = periods * (compute_s + io_bytes / bandwidth)
    rate = math.ceil(periods * io_bytes / uncontended_s / nodes) if io_bytes else 0
    profile: Profile = {
        "type": "delay",
        "delay": uncontended_s,
        "periods": {"count": periods, "compute_s": compute_s, "io_bytes": io_bytes},
    }
    return WorkloadJob(
        number, submit_s, nodes, f"job{number}", None, {"requested_s": uncontended_s, "io_rate": rate}
    ), profile
