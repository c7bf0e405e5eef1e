"""Fit the burst-buffer request model to a log that records requested memory.

Follows J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200,
section 2.5: the correlation of memory per processor with the number of processors; the best of five distributions by
the Kolmogorov-Smirnov statistic on the left-out part of a five-fold cross-validation; parameters averaged over the
folds.

Only this module needs SciPy (maximum likelihood of five distributions: a well-kept library beats own code), and loads
it when it is used.
"""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.files import parse_json
from spillway.base.limits import InputError
from spillway.workloads.draws import Draws
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import read_bytes, write_bytes
from spillway.workloads.models.burst_buffer import BurstBufferModel
from spillway.workloads.swf import SwfLog

Floats = npt.NDArray[np.float64]

DISTRIBUTIONS = {
    "exponential": "expon",
    "log-normal": "lognorm",
    "logistic": "logistic",
    "half-logistic": "halflogistic",
    "beta": "beta",
}
"""The thesis's five distributions, and their names in SciPy."""

LARGE_PROCESSORS = 64
"""Jobs of this many processors and more count as large (thesis 2.5)."""

_MOST_POINTS = 200_000


@dataclass(frozen=True, slots=True)
class MemoryRequests:
    """Input of the fit: one entry per job of a log that states a memory request > 0 and its processors.

    Attributes
    ----------
    memory_kib
        Requested memory per processor.
    processors
        Requested processors (allocated ones where the request is not known), >= 1.
    run_s
        Runtime, 0 where not known.
    jobs_in_log
        Records of the log, with and without a memory request.
    """

    memory_kib: Floats
    processors: npt.NDArray[np.int64]
    run_s: Floats
    jobs_in_log: int


@dataclass(frozen=True, slots=True)
class _FittedDistribution:
    """One row of the table.

    Attributes
    ----------
    name
        Key of :data:`DISTRIBUTIONS`.
    ks_mean, ks_sd
        Kolmogorov-Smirnov D on the left-out parts: mean and standard deviation over the folds.
    parameters, parameters_sd
        SciPy's parameters (shapes, location, scale), mean and standard deviation over the folds; KiB.
    """

    name: str
    ks_mean: float
    ks_sd: float
    parameters: tuple[float, ...]
    parameters_sd: tuple[float, ...]

    def frozen(self) -> Any:
        """The distribution as SciPy's frozen object (``cdf``, ``pdf`` ...)."""
        return getattr(_stats(), DISTRIBUTIONS[self.name])(*self.parameters)


@dataclass(frozen=True, slots=True)
class FitResult:
    """Everything the command prints.

    Attributes
    ----------
    log_name, jobs_in_log, jobs_used, points
        The log: its name, its records, those with a memory request, those drawn for the fit.
    correlations
        Pearson, Kendall and Spearman coefficients of processors and memory per processor.
    large_jobs, large_processor_time, large_memory_time
        Share of jobs of 64 processors and more: in number, processor-seconds, and memory-seconds.
    commonest_kib, commonest_share
        The most frequent request and its share of the jobs (a default of the site shows here).
    table
        One row per distribution, best (smallest D) first.
    failed
        Distributions that could not be fitted, each with the reason.
    """

    log_name: str
    jobs_in_log: int
    jobs_used: int
    points: int
    folds: int
    correlations: dict[str, float]
    large_jobs: float
    large_processor_time: float
    large_memory_time: float
    commonest_kib: float
    commonest_share: float
    table: tuple[_FittedDistribution, ...] = ()
    failed: tuple[str, ...] = ()

    def row(self, name: str) -> _FittedDistribution:
        """Row of one distribution; raise :class:`WorkloadError` where it could not be fitted."""
        for row in self.table:
            if row.name == name:
                return row
        raise WorkloadError(f"the {name} distribution could not be fitted to the memory requests of {self.log_name}")

    def model(self) -> BurstBufferModel:
        """The request model with the fitted log-normal distribution and the thesis's floors and rules."""
        sigma, location, scale = self.row("log-normal").parameters
        return BurstBufferModel(sigma=sigma, location_kib=location, scale_kib=scale)


def memory_requests(log: SwfLog, name: str = "log") -> MemoryRequests:
    """Pick the jobs with a memory request; raise :class:`WorkloadError` where the log records too few to fit."""
    chosen = [
        (record.requested_memory_kib, max(record.requested_processors, record.processors), max(record.run_s, 0))
        for record in log.records
        if record.requested_memory_kib > 0 and max(record.requested_processors, record.processors) > 0
    ]
    values = np.array(chosen, dtype=np.float64).reshape(len(chosen), 3)
    if len(np.unique(values[:, 0])) < 3:
        raise WorkloadError(
            f"the log {name!r} states a requested memory (field 10) for {len(chosen)} of its {len(log.records)} jobs "
            f"with {len(np.unique(values[:, 0]))} different values; a fit needs a log with at least 3, for example "
            f"METACENTRUM-2013-3"
        )
    return MemoryRequests(values[:, 0], values[:, 1].astype(np.int64), values[:, 2], len(log.records))


def fit_log(
    log: SwfLog, folds: int = 5, seed: int = 0, name: str = "log", most_points: int = _MOST_POINTS
) -> FitResult:
    """Fit the five distributions to a log's memory requests.

    Parameters
    ----------
    log
        A log with requested memory.
    folds
        Parts of the cross-validation, >= 2.
    seed
        Seed of the shuffle (and of the sample).
    name
        Name of the log.
    most_points
        Larger logs are sampled down to this many jobs for the fit (the rest of the analysis takes all but Kendall's
        coefficient), for the optimisers visit every point many times.
    """
    requests = memory_requests(log, name)
    count = len(requests.memory_kib)
    if not 2 <= folds <= count:
        raise WorkloadError(f"option 'folds' must be >= 2 and <= {count} (the jobs with a memory request), got {folds}")
    order = np.argsort(Draws(seed, "fit shuffle").uniform(count), kind="stable")[:most_points]
    sample = requests.memory_kib[order]
    values, counts = np.unique(requests.memory_kib, return_counts=True)
    large = requests.processors >= LARGE_PROCESSORS
    rows: list[_FittedDistribution] = []
    failed: list[str] = []
    for key in DISTRIBUTIONS:
        try:
            rows.append(_cross_validate(key, sample, folds))
        except (ValueError, RuntimeError) as error:  # SciPy's FitError and FitDataError are among these
            failed.append(f"{key}: {str(error).splitlines()[0]}")
    processor_time = requests.processors * requests.run_s
    memory_time = requests.memory_kib * requests.processors * requests.run_s
    return FitResult(
        log_name=name,
        jobs_in_log=requests.jobs_in_log,
        jobs_used=count,
        points=len(sample),
        folds=folds,
        correlations=_correlations(requests, order),
        large_jobs=float(large.mean()),
        large_processor_time=_share(processor_time, large),
        large_memory_time=_share(memory_time, large),
        commonest_kib=float(values[counts.argmax()]),
        commonest_share=float(counts.max() / count),
        table=tuple(sorted(rows, key=lambda row: row.ks_mean)),
        failed=tuple(failed),
    )


def report_lines(result: FitResult) -> list[str]:
    """The report, in lines: counts, correlations (thesis table 2.1), fits (2.2, 2.3), statistics (2.4)."""
    heading = f"KS statistic (mean and sd of {result.folds} folds)"
    lines = [
        f"log {result.log_name}: {result.jobs_used:,} of {result.jobs_in_log:,} jobs request memory"
        + (f"; fitted to a sample of {result.points:,}" if result.points < result.jobs_used else ""),
        f"commonest request: {result.commonest_kib:,.0f} KiB per processor ({result.commonest_share:.1%} of the jobs)",
        f"jobs of {LARGE_PROCESSORS} processors and more: {result.large_jobs:.2%} of the jobs, "
        f"{result.large_processor_time:.1%} of processor time, {result.large_memory_time:.1%} of memory time",
        "correlation of processors and memory per processor: "
        + ", ".join(f"{key} {value:.3f}" for key, value in result.correlations.items()),
        "",
        f"{'distribution':15}{heading:45}parameters: shapes, location, scale (KiB)",
    ]
    for row in result.table:
        pairs = zip(row.parameters, row.parameters_sd, strict=True)
        parameters = ", ".join(f"{value:.6g} ± {spread:.2g}" for value, spread in pairs)
        lines.append(f"{row.name:15}{f'{row.ks_mean:.4f} ± {row.ks_sd:.4f}':45}{parameters}")
    lines += [f"not fitted: {reason}" for reason in result.failed]
    return lines + _law_lines(result)


def _law_lines(result: FitResult) -> list[str]:
    sigma, location, scale = result.row("log-normal").parameters
    spread = math.exp(sigma**2)
    statistics = {
        "mean": location + scale * math.sqrt(spread),
        "standard deviation": scale * math.sqrt((spread - 1) * spread),
        "median": location + scale,
        "mode": location + scale / spread,
    }
    return [
        "",
        f"log-normal distribution: sigma {sigma!r}, location_kib {location!r}, scale_kib {scale!r}",
        "its " + ", ".join(f"{key} {value:,.0f}" for key, value in statistics.items()) + " KiB per processor",
    ]


def write_model(model: BurstBufferModel, path: Path) -> None:
    """Write a request model as JSON (``convert --burst-buffers FILE`` reads it)."""
    write_bytes(path, (json.dumps(asdict(model), indent=2) + "\n").encode())


def read_model(path: Path) -> BurstBufferModel:
    """Read a request model; raise :class:`WorkloadError` for unknown fields or values out of range."""
    try:
        content = parse_json(read_bytes(path))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    known = list(BurstBufferModel.__dataclass_fields__)
    if not isinstance(content, dict):
        raise WorkloadError(f"expected an object with some of {', '.join(known)}", str(path))
    for key, value in content.items():
        if key not in known:
            raise WorkloadError(f"unknown option {key!r}; known: {', '.join(known)}", str(path))
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WorkloadError(f"option {key!r} must be a number, got {value!r}", str(path))
    return BurstBufferModel(**content)


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise WorkloadError("fitting needs SciPy, which is not installed: pip install scipy") from None
    return stats


def _cross_validate(name: str, sample: Floats, folds: int) -> _FittedDistribution:
    stats = _stats()
    kind = getattr(stats, DISTRIBUTIONS[name])
    unit = float(np.median(sample))  # the optimisers work best near 1; location and scale are scaled back
    parts = np.array_split(sample / unit, folds)
    statistics: list[float] = []
    parameters: list[list[float]] = []
    for left_out, test in enumerate(parts):
        training = np.concatenate([part for index, part in enumerate(parts) if index != left_out])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # beta: a poor start of its optimiser, better ones follow
            fitted = [float(value) for value in kind.fit(training)]
            statistics.append(float(stats.kstest(test, kind(*fitted).cdf).statistic))
        parameters.append([*fitted[:-2], fitted[-2] * unit, fitted[-1] * unit])
    return _FittedDistribution(
        name=name,
        ks_mean=float(np.mean(statistics)),
        ks_sd=float(np.std(statistics)),
        parameters=tuple(float(value) for value in np.mean(parameters, axis=0)),
        parameters_sd=tuple(float(value) for value in np.std(parameters, axis=0)),
    )


def _correlations(requests: MemoryRequests, sample: npt.NDArray[np.int64]) -> dict[str, float]:
    """Pearson, Kendall, Spearman; ``nan`` where all jobs have the same size."""
    stats = _stats()
    if len(np.unique(requests.processors)) < 2:
        return dict.fromkeys(("Pearson", "Kendall", "Spearman"), math.nan)
    size, memory = requests.processors.astype(np.float64), requests.memory_kib
    return {
        "Pearson": float(stats.pearsonr(size, memory).statistic),
        "Kendall": float(stats.kendalltau(size[sample], memory[sample]).statistic),
        "Spearman": float(stats.spearmanr(size, memory).statistic),
    }


def _share(amount: Floats, chosen: npt.NDArray[np.bool_]) -> float:
    total = float(amount.sum())
    return float(amount[chosen].sum()) / total if total > 0 else 0.0
