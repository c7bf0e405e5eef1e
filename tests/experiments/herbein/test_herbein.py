"""The second paper's evaluation in small: I/O-aware never blocks, I/O-ignorant does; the command end to end."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.herbein.growth import decision_times
from experiments.herbein.published import AWARE, IGNORANT, PROVISIONINGS, published
from experiments.herbein.run import Point, Result, run, summary
from workloads.herbein import DIVERSE_RATES, HerbeinModel, HerbeinOptions, draw_herbein, fit_herbein
from workloads.swf import SwfHeader, SwfLog, SwfRecord, write_swf


def log() -> SwfLog:
    """A log whose jobs are so large that they fill CTS-1."""
    records = tuple(
        SwfRecord(i, 40 * i, 0, 300 + 70 * (i % 9), 2 ** (5 + i % 6), requested_s=1200, status=1, user=i % 4)
        for i in range(60)
    )
    return SwfLog(SwfHeader(), records)


@pytest.fixture(scope="module")
def model() -> HerbeinModel:
    """That log's model."""
    return fit_herbein(log())


def play(model: HerbeinModel, **fields: str) -> Result:
    """One small run."""
    options = HerbeinOptions(jobs=40, mean_gap_s=20.0, rates=DIVERSE_RATES if fields.get("mix") == "diverse" else (
        (18_000_000, 1.0),
    ))  # fmt: skip
    point = Point(**{"policy": "easy", "contention": "waterfill", **fields})  # type: ignore[arg-type]
    return run(point, draw_herbein(model, options))


@pytest.mark.parametrize("platform", PROVISIONINGS)
@pytest.mark.parametrize(("policy", "mix"), [("easy", "constant"), ("fcfs", "diverse")])
def test_io_aware_jobs_always_compute(model: HerbeinModel, platform: str, policy: str, mix: str) -> None:
    """Sections 5.2 and 5.3: 100 % of the allocated time is computation, and no job varies, at every provisioning."""
    result = summary(play(model, platform=platform, scheduler=AWARE, policy=policy, mix=mix))
    assert result["computing_percent"] == pytest.approx(100.0, abs=1e-6)
    assert result["least_job_percent"] == pytest.approx(100.0, abs=1e-6)
    assert result["contended_percent"] == 0.0


def test_io_ignorant_jobs_block_with_less_bandwidth(model: HerbeinModel) -> None:
    """Perfect provisioning: no contention. 30 % less: contention, and no job below 49 / 70 (66.7 % in whole MB/s)."""
    assert summary(play(model, platform="cts1", scheduler=IGNORANT))["contended_percent"] == 0.0
    exact = summary(play(model, platform="cts1-30", scheduler=IGNORANT))
    whole = summary(play(model, platform="cts1-30", scheduler=IGNORANT, contention="waterfill-mb"))
    assert exact["contended_percent"] > 10
    assert exact["computing_percent"] < 99
    assert exact["least_job_percent"] >= 69.9
    assert 66.6 <= whole["least_job_percent"] <= exact["least_job_percent"]


def test_growth_measures_every_answer(model: HerbeinModel) -> None:
    """Quantiles in order, one decision per instant."""
    found = decision_times(model, 360, AWARE, HerbeinOptions(jobs=30))
    assert 0 < found["p50_cpu_s"] <= found["p99_cpu_s"] <= found["longest_cpu_s"]
    assert found["p99_wall_s"] > 0
    assert 30 <= found["decisions"] <= 60


def test_published_values() -> None:
    """The paper's numbers are found by place; "" where it states none."""
    assert published("cts1-30", IGNORANT, "computing_percent") == "79.1"
    assert published("cts1-10", IGNORANT, "computing_percent") == ""


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, figures and one line per run; a second time nothing is run again."""
    write_swf(log(), tmp_path / "log.swf")
    arguments = ["herbein", "--quick", "--jobs", "12", "--workers", "1", "--log", str(tmp_path / "log.swf")]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    rows = list(csv.DictReader((tmp_path / "out/runs.csv").open(encoding="utf-8")))
    assert len(rows) == 8
    assert all(float(row["computing_percent"]) == pytest.approx(100) for row in rows if row["scheduler"] == AWARE)
    assert len(list((tmp_path / "out/figures").rglob("figure?.png"))) == 4
    assert "(79.1)" in capsys.readouterr().out
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out/runs").rglob("*.json")}
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out/runs").rglob("*.json")}
