"""Measured runs with burst buffers: fitted times of staging and computing, compared with constants.

A run is a line of the measurements of SWarp on Cori's DataWarp (private and striped) and on Summit's node-local
buffers: words separated by single blanks, some of them empty, under a header with as many. Times are fitted by

* stage-in: ``a + b * bytes`` by kind of buffer;
* run: ``a + b / cores + c * (pipelines - 1) + d * bytes read from the file system`` by kind and allocation of
  the buffer and by whether intermediate files are in it;
* stage-out: ``a`` by kind of buffer; the bytes staged out are not stated.

with coefficients of at least 0 and the least sum of relative deviations. All files of these runs are of one size, so
that a cost per file and one per byte cannot be kept apart. Errors are those of left-out jobs: all repetitions of a job
are in one part of the cross-validation.

References
----------
L. Pottier et al., *Modeling the Performance of Scientific Workflow Executions on HPC Platforms with Burst Buffers*,
CLUSTER 2020 (the measurements).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.platforms.errors import PlatformError

Floats = npt.NDArray[np.float64]

_FILE_SYSTEM_BYTES_PER_S = 1e9
_BUFFER_BYTES_PER_S = 6.5e9
"""Bandwidths of file system and burst buffer that users of WRENCH take."""

_MIB = 2**20
"""Bytes of the columns' MB: with 2^20, a file of 24.016 MB has whole blocks of 2,880 bytes, as FITS files do."""
_NUMBERS = {
    "NB_CORES": "cores",
    "NB_PIPELINE": "pipelines",
    "BB_NB_FILES": "files",
    "BB_SIZE_FILES_MB": "staged",
    "TOTAL_SIZE_FILES_MB": "total",
    "BB_ALLOC_SIZE_MB": "allocation",
    "STAGEIN_TIME_S": "stage_in_s",
    "RESAMPLE_TIME_S": "resample_s",
    "COMBINE_TIME_S": "combine_s",
    "STAGEOUT_TIME_S": "stage_out_s",
}
_NAMES = ("ID", "FITS", "BB_TYPE")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run.

    Attributes
    ----------
    job
        The batch job of the run, shared with others of the same configuration.
    kind
        Kind of buffer: ``striped``, ``private``, ``onnode``.
    allocation
        Size of the buffer as in the column (labelled MB; its values look like GB).
    intermediate
        Whether intermediate files were in the buffer, too.
    cores, pipelines
        Cores of the program; pipelines side by side.
    staged_bytes
        Input copied into the buffer before the run.
    direct_bytes
        Input left on the file system, for each pipeline.
    stage_in_s, run_s, stage_out_s
        The measured times.
    """

    job: str
    kind: str
    allocation: float
    intermediate: bool
    cores: float
    pipelines: float
    staged_bytes: float
    direct_bytes: float
    stage_in_s: float
    run_s: float
    stage_out_s: float


def read_runs(path: Path) -> list[MeasuredRun]:
    """Read one file of measurements.

    Raises
    ------
    PlatformError
        The file is not such a table; the message names line and column.
    """
    try:
        lines = text_of(read_file(path)).splitlines()
    except InputError as error:
        raise PlatformError(str(error), str(path)) from None
    header = lines[0].rstrip("\n").split(" ") if lines else []
    missing = [name for name in (*_NAMES, *_NUMBERS) if name not in header]
    if missing:
        raise PlatformError(f"expected measured runs with a column {missing[0]}", str(path), 1)
    runs = []
    for number, line in enumerate(lines[1:], start=2):
        words = line.split(" ")
        if len(words) != len(header):
            raise PlatformError(
                f"expected {len(header)} words as in the header, separated by single blanks, got {len(words)}",
                str(path),
                number,
            )
        runs.append(_run(dict(zip(header, words, strict=True)), str(path), number))
    if not runs:
        raise PlatformError("expected measured runs below the header, got an empty table", str(path), 1)
    return runs


def _run(row: Mapping[str, str], source: str, line: int) -> MeasuredRun:
    values = {}
    for column, name in _NUMBERS.items():
        try:
            values[name] = float(row[column])
        except ValueError:
            values[name] = -1.0
        least = 1.0 if name in ("cores", "pipelines") else 0.0
        if not least <= values[name] < 1e15:
            raise PlatformError(f"{column}: expected a number of at least {least:g}, got {row[column]!r}", source, line)
    return MeasuredRun(
        row["ID"],
        row["BB_TYPE"].lower(),
        values["allocation"],
        row["FITS"] == "Y",
        values["cores"],
        values["pipelines"],
        values["staged"] * _MIB,
        max(values["total"] / values["pipelines"] - values["staged"], 0.0) * _MIB,
        values["stage_in_s"],
        values["resample_s"] + values["combine_s"],
        values["stage_out_s"],
    )


@dataclass(frozen=True, slots=True)
class Model:
    """A time as a function of a run's properties.

    Attributes
    ----------
    name
        Name of the time.
    time
        The measured time of a run, s.
    group
        Runs with the same text have the same coefficients; ``""``: the run is not used.
    terms
        Factor of each coefficient.
    known
        Seconds that the constants give for the bytes moved; ``None`` if the bytes are not stated.
    free
        Terms that are fitted with the constants, too.
    """

    name: str
    time: Callable[[MeasuredRun], float]
    group: Callable[[MeasuredRun], str]
    terms: Mapping[str, Callable[[MeasuredRun], float]]
    known: Callable[[MeasuredRun], float] | None
    free: tuple[str, ...] = ()


def _kind_and_place(run: MeasuredRun) -> str:
    place = "in it" if run.intermediate else "on the file system"
    return f"{run.kind}, allocation {run.allocation:g}, intermediate files {place}"


MODELS = (
    Model(
        "stage-in",
        lambda run: run.stage_in_s,
        lambda run: run.kind if run.staged_bytes > 0 else "",
        {"s": lambda run: 1.0, "s/GB": lambda run: run.staged_bytes / 1e9},
        lambda run: run.staged_bytes / min(_FILE_SYSTEM_BYTES_PER_S, _BUFFER_BYTES_PER_S),
    ),
    Model(
        "run",
        lambda run: run.run_s,
        _kind_and_place,
        {
            "s": lambda run: 1.0,
            "s / cores": lambda run: 1.0 / run.cores,
            "s/pipeline": lambda run: run.pipelines - 1.0,
            "s/GB": lambda run: run.direct_bytes / 1e9,
        },
        lambda run: run.staged_bytes / _BUFFER_BYTES_PER_S + run.direct_bytes / _FILE_SYSTEM_BYTES_PER_S,
        ("s", "s / cores", "s/pipeline"),
    ),
    Model("stage-out", lambda run: run.stage_out_s, lambda run: run.kind, {"s": lambda run: 1.0}, None),
)


@dataclass(frozen=True, slots=True)
class FittedModel:
    """One model, fitted to the runs of one group.

    Attributes
    ----------
    model, group
        Names of the model and of the group of runs.
    runs, jobs
        Numbers of runs and jobs.
    coefficients
        Coefficients by term, fitted to all runs.
    errors
        Relative errors of left-out runs: median, and 90th percentile.
    of_constants
        The same for the constants; ``None`` if the bytes are not stated.
    """

    model: str
    group: str
    runs: int
    jobs: int
    coefficients: Mapping[str, float]
    errors: tuple[float, float]
    of_constants: tuple[float, float] | None


def fit_runs(runs: Sequence[MeasuredRun], folds: int = 5, seed: int = 0) -> Iterator[FittedModel]:
    """Fit all models, with the errors of a cross-validation.

    Parameters
    ----------
    folds
        Parts of the jobs, each left out once; at least 2.
    seed
        Seed of the shuffle of the jobs.

    Raises
    ------
    PlatformError
        A group has fewer jobs than parts, or there is one part only.
    """
    if folds < 2:
        raise PlatformError(f"a cross-validation needs 2 parts or more, got {folds}")
    for model in MODELS:
        named = sorted(((model.group(run), run) for run in runs), key=lambda pair: pair[0])
        for group, members in groupby(named, key=lambda pair: pair[0]):
            if group:
                yield _fit(model, group, [run for _, run in members], folds, seed)


def _fit(model: Model, group: str, runs: Sequence[MeasuredRun], folds: int, seed: int) -> FittedModel:
    jobs = sorted({run.job for run in runs})
    if len(jobs) < folds:
        raise PlatformError(f"{model.name}, {group}: {len(jobs)} jobs cannot be parted into {folds}")
    order = np.random.default_rng(seed).permutation(len(jobs))
    part_of = {job: place % folds for place, job in zip(order.tolist(), jobs, strict=True)}
    parts = np.array([part_of[run.job] for run in runs])
    times = _positive(np.array([model.time(run) for run in runs]), model, group)
    terms = np.array([[term(run) for term in model.terms.values()] for run in runs])
    fitted = _errors(terms, times, np.zeros(len(runs)), parts)
    constants = None
    if model.known is not None:
        free = terms[:, [place for place, name in enumerate(model.terms) if name in model.free]]
        constants = _errors(free, times, np.array([model.known(run) for run in runs]), parts)
    coefficients = dict(zip(model.terms, least_deviations(terms, times).tolist(), strict=True))
    return FittedModel(model.name, group, len(runs), len(jobs), coefficients, fitted, constants)


def _positive(times: Floats, model: Model, group: str) -> Floats:
    if not (times > 0).all():
        raise PlatformError(f"{model.name}, {group}: a measured time is 0; relative errors need times above 0")
    return times


def _errors(terms: Floats, times: Floats, known: Floats, parts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Median and 90th percentile of the relative errors of runs that were left out of the fit."""
    errors = np.zeros(len(times))
    for part in np.unique(parts):
        out = parts == part
        coefficients = least_deviations(terms[~out], times[~out], known[~out])
        errors[out] = np.abs(terms[out] @ coefficients + known[out] - times[out]) / times[out]
    return float(np.median(errors)), float(np.quantile(errors, 0.9))


_ROUNDS = 60
_LEAST_DEVIATION = 1e-4
"""Relative deviation below which the weight of a run stays the same."""


def least_deviations(terms: Floats, times: Floats, known: Floats | None = None) -> Floats:
    """Coefficients of at least 0 with nearly the least sum of relative deviations ``|terms @ c + known - t| / t``.

    Least squares are repeated with the inverse deviations as weights; the term with the most negative contribution is
    left out, until no coefficient is negative.
    """
    scaled = terms / times[:, None]
    wanted = np.ones(len(times)) if known is None else 1.0 - known / times
    kept = _independent(scaled)
    coefficients: Floats = np.zeros(terms.shape[1])
    while kept:
        weights = np.ones(len(times))
        found: Any = np.zeros(len(kept))
        for _ in range(_ROUNDS):
            found = np.linalg.lstsq(scaled[:, kept] * weights[:, None], wanted * weights, rcond=None)[0]
            weights = 1.0 / np.sqrt(np.maximum(np.abs(scaled[:, kept] @ found - wanted), _LEAST_DEVIATION))
        if (found >= 0).all():
            coefficients[kept] = found
            break
        kept.pop(int(np.argmin(found * np.abs(scaled[:, kept]).mean(axis=0))))
    return coefficients


def _independent(columns: Floats) -> list[int]:
    """Columns that are no combination of those before them; a constant number of cores, say, repeats the constant."""
    kept: list[int] = []
    for place in range(columns.shape[1]):
        if np.linalg.matrix_rank(columns[:, [*kept, place]]) > len(kept):
            kept.append(place)
    return kept


def report(fitted: Iterable[FittedModel]) -> Iterator[str]:
    """Lines of text: coefficients, held-out errors, and those of the constants."""
    for fit in fitted:
        terms = " + ".join(f"{value:.3g} {name}" for name, value in fit.coefficients.items() if value > 1e-9) or "0 s"
        yield f"{fit.model}, {fit.group} ({fit.runs} runs of {fit.jobs} jobs): {terms}"
        yield f"  held-out error: {_both(fit.errors)}"
        if fit.of_constants is None:
            yield "  constants: not compared, the bytes are not stated"
        else:
            yield f"  constants (buffer 6.5 GB/s, file system 1 GB/s): {_both(fit.of_constants)}"
        slope = fit.coefficients.get("s/GB", 0.0)
        if fit.model == "stage-in" and slope > 0:
            yield f"  bandwidth of one job: {1e3 / slope:.0f} MB/s"


def _both(errors: tuple[float, float]) -> str:
    return f"median {errors[0]:.1%}, 90th percentile {errors[1]:.1%}"
