"""Times of staging and running, fitted to measured runs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.platforms.cli import main
from spillway.platforms.errors import PlatformError
from spillway.platforms.sites.measurements import MeasuredRun, fit_runs, least_deviations, read_runs

OWN = Path(__file__).parents[1] / "data" / "measured.csv"


def runs(kind: str, slope: float, jobs: int = 6, noise: float = 0.0) -> list[MeasuredRun]:
    """Runs with a staging of ``1 s + slope x GB`` and a run time of ``2 s + 8 s / cores``."""
    rng = np.random.default_rng(1)
    return [
        MeasuredRun(
            str(job), kind, 1.0, True, 2.0**job, 1.0, size * 1e9, 0.0,
            (1.0 + slope * size) * (1 + noise * rng.normal()), 2.0 + 8.0 / 2.0**job, 0.5,
        )
        for job in range(jobs)
        for size in (0.0, 1.0, 2.0, 5.0)
    ]  # fmt: skip


def test_a_known_machine_is_found() -> None:
    """Without noise the coefficients are those that made the runs, and left-out runs are met; constants are not."""
    stage_in, run, stage_out = fit_runs(runs("striped", 7.0))
    assert (stage_in.group, stage_in.runs, stage_in.jobs) == ("striped", 18, 6)  # nothing staged: not used
    assert stage_in.coefficients == pytest.approx({"s": 1.0, "s/GB": 7.0})
    assert stage_in.errors[1] < 1e-9
    assert stage_in.of_constants == pytest.approx((13 / 15, 31 / 36), rel=0.02)  # 1 s/GB for 8, 15 and 36 s
    assert run.coefficients == pytest.approx({"s": 2.0, "s / cores": 8.0, "s/pipeline": 0.0, "s/GB": 0.0})
    assert stage_out.coefficients == {"s": pytest.approx(0.5)}
    assert stage_out.of_constants is None


def test_one_outlier_moves_little() -> None:
    """The least sum of deviations, not of squares: a run that took twenty times as long does not count twenty times."""
    terms = np.array([[1.0, x] for x in range(1, 21)])
    times = terms @ np.array([1.0, 2.0])
    times[7] *= 20
    assert least_deviations(terms, times) == pytest.approx([1.0, 2.0], rel=1e-3)


@given(
    slopes=st.lists(st.floats(0, 5), min_size=2, max_size=3),
    sizes=st.lists(st.floats(0.1, 9), min_size=4, max_size=12, unique=True),
    known=st.floats(0, 1),
)
@settings(max_examples=30, deadline=None)
def test_fits_are_not_negative(slopes: list[float], sizes: list[float], known: float) -> None:
    """Coefficients are at least 0, for any known part; times made from such coefficients are met."""
    terms = np.array([[size**power for power in range(len(slopes))] for size in sizes])
    times = terms @ np.array(slopes) + known + 0.1
    terms[:, 0] = 1.0
    found = least_deviations(terms, times, np.full(len(times), known))
    assert (found >= 0).all()
    if slopes[0] > 0.01:
        assert terms @ found + known == pytest.approx(times, rel=0.05)


def test_parts_are_of_whole_jobs() -> None:
    """A job with equal runs is met if one of them is in the fit: left out as a whole it is not."""
    odd = [run if run.job != "5" else MeasuredRun(*_with(run, stage_in_s=99.0)) for run in runs("x", 1.0)]
    stage_in = next(fit_runs(odd, folds=6))
    assert stage_in.errors[1] > 0.9


def _with(run: MeasuredRun, **changes: float) -> tuple[object, ...]:
    return tuple(changes.get(name, getattr(run, name)) for name in MeasuredRun.__slots__)


def test_same_seed_same_errors() -> None:
    """The shuffle of the jobs is the seed's."""
    noisy = runs("x", 1.0, jobs=12, noise=0.2)
    assert list(fit_runs(noisy, seed=3)) == list(fit_runs(noisy, seed=3))
    assert list(fit_runs(noisy, seed=3)) != list(fit_runs(noisy, seed=4))


def test_measured_runs(reference: Path) -> None:
    """Cori and Summit: staging of left-out jobs is met far better than by the constants; coefficients as documented."""
    folder = reference / "data/sites/measured-bb"
    measured = [run for path in sorted(folder.glob("*.csv")) for run in read_runs(path)]
    assert len(measured) == 150 + 150 + 300 + 300 + 150
    first = next(run for run in measured if run.job == "105461")
    assert (first.kind, first.cores, first.pipelines, first.intermediate) == ("onnode", 16.0, 1.0, False)
    assert first.staged_bytes == 32 * 8744 * 2880  # whole blocks of FITS files
    assert (first.stage_in_s, first.run_s) == (1.2066369199892506, 11.804 + 3.93)
    staging = {fit.group: fit for fit in fit_runs(measured) if fit.model == "stage-in"}
    rates = {group: round(1e3 / one.coefficients["s/GB"]) for group, one in staging.items()}
    assert rates == {"onnode": 648, "private": 141, "striped": 163}
    medians = {group: round(one.errors[0], 3) for group, one in staging.items()}
    assert medians == {"onnode": 0.019, "private": 0.152, "striped": 0.188}
    of_constants = {group: round(one.of_constants[0], 3) for group, one in staging.items() if one.of_constants}
    assert of_constants == {"onnode": 0.355, "private": 0.867, "striped": 0.846}


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A small file of the same layout: three times, fitted and with their errors."""
    assert main(["fit", str(OWN), "--folds", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "stage-in, private (4 runs of 4 jobs): 2 s/GB",
        "  held-out error: median 0.0%, 90th percentile 0.0%",
        "  constants (buffer 6.5 GB/s, file system 1 GB/s): median 50.0%, 90th percentile 50.0%",
        "  bandwidth of one job: 500 MB/s",
        "run, private, allocation 5, intermediate files in it (4 runs of 4 jobs): 10 s",
        "  held-out error: median 0.0%, 90th percentile 0.0%",
        "  constants (buffer 6.5 GB/s, file system 1 GB/s): median 0.9%, 90th percentile 1.2%",
        "stage-out, private (4 runs of 4 jobs): 0.5 s",
        "  held-out error: median 0.0%, 90th percentile 0.0%",
        "  constants: not compared, the bytes are not stated",
    ]


@pytest.mark.parametrize(("text", "message"), [
    ("", "line 1: expected measured runs with a column ID"),
    ("ID FITS BB_TYPE", "line 1: expected measured runs with a column NB_CORES"),
    ("HEAD", "line 1: expected measured runs below the header, got an empty table"),
    ("HEAD\n1 Y PRIVATE 2", "line 2: expected 13 words as in the header, separated by single blanks, got 4"),
    ("HEAD\n1 Y PRIVATE 0 1 1 1 1 5 1 1 1 1", "line 2: NB_CORES: expected a number of at least 1, got '0'"),
    ("HEAD\n1 Y PRIVATE 2 1 1 x 1 5 1 1 1 1", "line 2: BB_SIZE_FILES_MB: expected a number of at least 0, got 'x'"),
    ("HEAD\n1 Y PRIVATE 2 1 1 1 nan 5 1 1 1 1", "line 2: TOTAL_SIZE_FILES_MB: expected a number of at least 0"),
])  # fmt: skip
def test_malformed(text: str, message: str, tmp_path: Path) -> None:
    """With line and column."""
    path = tmp_path / "runs.csv"
    path.write_text(text.replace("HEAD", OWN.read_text().partition("\n")[0]))
    with pytest.raises(PlatformError) as caught:
        read_runs(path)
    assert f"{path}, {message}" in str(caught.value)


def test_too_few_jobs() -> None:
    """A cross-validation needs as many jobs as parts, and two parts."""
    with pytest.raises(PlatformError, match="stage-in, x: 3 jobs cannot be parted into 5"):
        list(fit_runs(runs("x", 1.0, jobs=3)))
    with pytest.raises(PlatformError, match="needs 2 parts or more, got 1"):
        list(fit_runs(runs("x", 1.0), folds=1))
