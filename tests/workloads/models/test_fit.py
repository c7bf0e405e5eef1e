"""Fitting the request model: known parameters come back, the right distribution wins, pictures are drawn."""

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from spillway.workloads import BurstBufferModel, SwfLog, SwfRecord, WorkloadError
from spillway.workloads.draws import Draws, Floats, exp
from spillway.workloads.models.fit import DISTRIBUTIONS, fit_log, memory_requests, read_model, report_lines, write_model
from spillway.workloads.models.fit_plots import FIGURES, draw_all
from spillway.workloads.models.synthetic import kth_like

pytest.importorskip("scipy", reason="fitting needs SciPy")


def _log(memory: Floats, seed: int = 1) -> SwfLog:
    """A KTH-like log with these memory requests (KiB)."""
    log = kth_like(jobs=len(memory), seed=seed)
    pairs = zip(log.records, memory.tolist(), strict=True)
    return SwfLog(log.header, tuple(msgspec.structs.replace(r, requested_memory_kib=m) for r, m in pairs))


def _log_normal(count: int, sigma: float, location: float, scale: float) -> Floats:
    drawn: Floats = location + scale * exp(sigma * Draws(3, "memory").normal(count))
    return drawn


def test_known_parameters_come_back() -> None:
    """A log drawn from a log-normal distribution is recognised, with its parameters within a few per cent."""
    result = fit_log(_log(_log_normal(8000, 0.9, 200_000.0, 2_500_000.0)), name="drawn")
    best = result.table[0]
    assert best.name == "log-normal"
    assert best.ks_mean < 0.03
    assert best.parameters == pytest.approx((0.9, 200_000, 2_500_000), rel=0.15)
    assert [row.ks_mean for row in result.table] == sorted(row.ks_mean for row in result.table)
    assert {row.name for row in result.table} == set(DISTRIBUTIONS)
    assert abs(result.correlations["Spearman"]) < 0.05
    model = result.model()
    assert (model.sigma, model.location_kib, model.scale_kib) == best.parameters
    assert model.floor_bytes == BurstBufferModel().floor_bytes


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        ("exponential", 500.0 + 3e6 * Draws(5, "m").exponential(6000)),
        ("logistic", 5e7 + 2e6 * np.log(1 / Draws(6, "m").uniform(6000) - 1)),
    ],
)
def test_other_laws_win_on_their_own_logs(name: str, memory: Floats) -> None:
    """The cross-validation prefers the distribution of the log's draws (or one as good, within its spread)."""
    result = fit_log(_log(memory))
    assert result.row(name).ks_mean <= result.table[0].ks_mean + 0.005
    assert result.row(name).ks_mean < 1.36 / math.sqrt(6000 / 5)  # the 5 % point for one fold


def test_defaults_and_large_jobs_are_seen() -> None:
    """A site's default request shows as the commonest, and large jobs by their share of time."""
    memory = _log_normal(4000, 1.0, 0.0, 2e6)
    memory[::2] = 4 * 2.0**20
    log = _log(memory)
    result = fit_log(log)
    assert (result.commonest_kib, result.commonest_share) == (4 * 2.0**20, 0.5)
    large = [r for r in log.records if r.requested_processors >= 64]
    assert result.large_jobs == pytest.approx(len(large) / 4000)
    time = sum(r.run_s * r.requested_processors for r in log.records)
    assert result.large_processor_time == pytest.approx(sum(r.run_s * r.requested_processors for r in large) / time)


def test_report_shows_the_tables() -> None:
    """Counts, correlations, one line per distribution, the best one's statistics (thesis tables 2.1 to 2.4)."""
    lines = report_lines(fit_log(_log(_log_normal(2000, 1.0, 0.0, 2e6)), name="demo", most_points=1500))
    text = "\n".join(lines)
    assert lines[0] == "log demo: 2,000 of 2,000 jobs request memory; fitted to a sample of 1,500"
    assert all(f"\n{name} " in text for name in DISTRIBUTIONS)
    assert "Pearson" in lines[3]
    assert lines[-1].startswith("its mean ")


def test_thesis_statistics_follow_from_its_parameters() -> None:
    """The formulas of the report give the thesis's table 2.4 from table 2.3."""
    model = BurstBufferModel()
    spread = math.exp(model.sigma**2)
    assert model.location_kib + model.scale_kib * math.sqrt(spread) == pytest.approx(4804884, rel=1e-5)
    assert model.scale_kib * math.sqrt((spread - 1) * spread) == pytest.approx(7569200, rel=1e-5)
    assert model.location_kib + model.scale_kib == pytest.approx(2563753, rel=1e-5)
    assert model.location_kib + model.scale_kib / spread == pytest.approx(665852, rel=5e-3)  # 'approximated' there


def test_same_seed_same_fit() -> None:
    """The shuffle follows the seed."""
    log = _log(_log_normal(600, 1.0, 0.0, 2e6))
    assert fit_log(log, seed=4) == fit_log(log, seed=4)
    assert fit_log(log, seed=4).table != fit_log(log, seed=5).table


def test_logs_without_memory_are_refused(small_log: SwfLog) -> None:
    """The message states the counts and names a log that has enough."""
    with pytest.raises(WorkloadError) as caught:
        fit_log(small_log, name="small")
    assert str(caught.value) == (
        "the log 'small' states a requested memory (field 10) for 2 of its 8 jobs with 2 different values; "
        "a fit needs a log with at least 3, for example METACENTRUM-2013-3"
    )
    with pytest.raises(WorkloadError, match="option 'folds' must be >= 2 and <= 600"):
        fit_log(_log(_log_normal(600, 1.0, 0.0, 2e6)), folds=1)


def test_unknown_memory_is_left_out() -> None:
    """Jobs without a request, or with 0, do not count (thesis 2.5)."""
    values = [-1, 0, 5, 6, 7]
    records = [SwfRecord(n, n, requested_processors=1, requested_memory_kib=value) for n, value in enumerate(values)]
    assert memory_requests(SwfLog(records=tuple(records))).memory_kib.tolist() == [5, 6, 7]


def test_every_figure_is_drawn(tmp_path: Path) -> None:
    """One picture per kind of the thesis's figures 2.5 to 2.12, no picture empty."""
    log = _log(_log_normal(1500, 1.0, 0.0, 2e6))
    paths = draw_all(log, fit_log(log, name="demo"), tmp_path / "new" / "folder")
    assert [path.stem for path in paths] == list(FIGURES)
    assert len(FIGURES) == 8
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 8000 for path in paths)


def test_model_file_round_trip(tmp_path: Path) -> None:
    """convert reads the file that fit writes; mistakes are named."""
    model = BurstBufferModel(sigma=0.5, location_kib=1.0, scale_kib=2.0)
    path = tmp_path / "model.json"
    write_model(model, path)
    assert read_model(path) == model
    for text, message in (
        ('{"sigmas": 1}', "unknown option 'sigmas'; known: sigma, location_kib"),
        ('{"sigma": "1"}', "option 'sigma' must be a number, got '1'"),
        ('{"sigma": 0}', "option 'sigma' must be > 0, got 0"),
        ("[]", "expected an object with some of sigma"),
        ("{", "not a JSON text"),
    ):
        path.write_text(text)
        with pytest.raises(WorkloadError, match=message):
            read_model(path)
