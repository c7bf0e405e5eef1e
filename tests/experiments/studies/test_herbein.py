"""The study of Herbein et al. in small: I/O-aware never blocks, I/O-ignorant does; the command without any file."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.studies.herbein import STUDY, logs
from spillway.experiments.studies.herbein.play import AWARE, IGNORANT, Row, play, summary
from spillway.experiments.studies.local_logs import at_hand
from spillway.experiments.studies.points import Point, Value, Values
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.tables import Ratios
from spillway.experiments.studies.verdicts import Verdict, judge
from spillway.workloads.models.herbein import HerbeinOptions
from tests.kit.tables import csv_rows
from tools.benchmarks.decision_load import decision_times


def point(**changes: Value) -> Point:
    """A point for a small test of the generated log, with large jobs."""
    axes: dict[str, Value] = {
        "contention": "exact", "order": "fcfs", "test": "levels", "jobs": 90, "policy": "easy",
        "under": 30, "scheduler": IGNORANT, "log": "kth-like", "size": 3.375, "seed": 0,
    }  # fmt: skip
    return Point(tuple((axes | changes).items()))


@pytest.mark.parametrize(("under", "policy"), [(0, "fcfs"), (30, "easy")])
def test_io_aware_jobs_always_compute(under: int, policy: str) -> None:
    """Sections 5.2 and 5.3: 100 % of the allocated time is computation, and no job varies, at every provisioning."""
    found = play(point(under=under, policy=policy, scheduler=AWARE))
    assert found["computing_percent"] == pytest.approx(100.0, abs=1e-2)
    assert found["least_job_percent"] == pytest.approx(100.0, abs=0.05)
    assert found["contended_percent"] == 0.0


def test_io_ignorant_jobs_block_with_less_bandwidth() -> None:
    """Full file system: no contention. 30 % less: no job below 49 / 70, and in whole MB/s no job below 12 / 18."""
    assert play(point(under=0))["contended_percent"] == 0.0
    exact, whole = play(point()), play(point(contention="whole-mb"))
    assert exact["contended_percent"] > 5
    assert exact["computing_percent"] < 95
    assert 69.9 <= exact["least_job_percent"] < 99
    assert 66.6 <= whole["least_job_percent"] <= exact["least_job_percent"]


def test_the_table_of_ratios_compares_the_two_schedulers() -> None:
    """It had 1.00 in every line: the I/O-ignorant scheduler was compared with itself."""
    values = {
        point(test="loads", seed=seed, scheduler=scheduler): {
            "mean_turnaround_s": turnaround,
            "computing_percent": 80.0,
        }
        for seed in range(5)
        for scheduler, turnaround in ((IGNORANT, 100.0 + seed), (AWARE, 2 * (100.0 + seed)))
    }
    [table] = [table for table in STUDY.tables if isinstance(table, Ratios)]
    ((key, found),) = table.estimates(Results(values)).items()
    assert key == ("easy", "kth-like", 3.375, AWARE)
    assert found["mean_turnaround_s"].value == pytest.approx(2.0)
    assert found["computing_percent"].value == pytest.approx(1.0)


def test_a_table_that_compares_a_baseline_with_itself_is_refused() -> None:
    """Its rows must have the axis that is compared."""
    with pytest.raises(ValueError, match="rows must have the axes of its baseline, scheduler is missing"):
        Ratios("t", {"mean_turnaround_s": "turnaround"}, ("log",), against={"scheduler": IGNORANT})


def test_turnarounds_are_of_jobs_that_both_schedulers_run() -> None:
    """A job that the empty machine cannot carry is refused by one of them: it counts in neither mean."""
    rows = [Row(10, 1, 0.0, 0.0, 20.0, 10.0), Row(30, 1, 0.0, 60.0, 160.0, 100.0)]
    found = summary(rows, [True, False])
    assert (found["mean_turnaround_s"], found["mean_wait_s"]) == (20.0, 0.0)
    assert found["computing_percent"] == pytest.approx(100 * (10 * 10 + 30 * 100) / (10 * 20 + 30 * 100))
    assert (found["least_job_percent"], found["most_job_percent"]) == (50.0, 100.0)
    assert found["state_change_s"] == pytest.approx(160 / 8)


def test_jobs_with_less_bandwidth_first() -> None:
    """Section 4.3 as a reading: another order of the queue gives another schedule of the same jobs."""
    small = play(point(order="small-io", scheduler=AWARE))
    assert small["mean_wait_s"] != play(point(scheduler=AWARE))["mean_wait_s"]


def made_up(point: Point) -> Values:
    """Results in which all is as published, but for contention at one level and a gain that hangs on the reading."""
    under, aware, seed = point.whole("under"), point["scheduler"] == AWARE, point.whole("seed")
    blocked = 0.0 if aware else under * 20.9 / 30
    gain = 1.52 if point["contention"] == "exact" else 1.3
    return {
        "computing_percent": 100 / 1.29 if under == 30 and not aware else 100 - blocked,
        "least_job_percent": 100.0 if aware or not under else 100 - 33.3 * under / 30,
        "most_job_percent": 100.0,
        "contended_percent": 0.0 if aware or not under else 60.0 + seed / 100 - (20.0 if under == 10 else 0.0),
        "mean_turnaround_s": 1000.0 * (1 + (gain - 1) * under / 30 if aware else 1.0),
        "state_change_s": 31.7,
    }


def test_claims_are_judged_on_both_sides() -> None:
    """Published values are met, 40 % of contention is not, nor 77.5 % of computation, nor 1.3 for 1.52."""
    verdicts = {}
    for contention in ("exact", "whole-mb"):
        points = [point.replaced(contention=contention) for point in STUDY.points()]
        judged = judge(STUDY.claims, Results({item: made_up(item) for item in points}), STUDY.fitted(
            {"contention": contention}
        ))  # fmt: skip
        verdicts[contention] = {verdict.claim.name: verdict.verdict for verdict in judged}
    exact, whole = verdicts["exact"], verdicts["whole-mb"]
    missed = {"contention 10 %", "computing 30 %"}
    assert {name for name, verdict in exact.items() if not verdict.holds} == missed
    assert exact["turnaround 30 %"] is Verdict.FITS_ONE_RUN
    assert whole["turnaround 30 %"] is Verdict.NOT_REPRODUCED
    assert whole["least job 30 %"] is Verdict.FITTED


def test_a_size_that_was_chosen_for_the_contention_is_fitted() -> None:
    """The load is not tuned: 1.5 is a reading, and claims that hold under it are not called reproduced."""
    assert STUDY.fitted(STUDY.usual) == {}
    assert STUDY.fitted({"size": 1.5}) == {"size": tuple(f"contention {under} %" for under in (10, 20, 30))}
    assert {choice.axis for choice in STUDY.choices} == {"log", "size", "contention", "order", "policy"}
    assert len(list(STUDY.readings())) == 4 * len(STUDY.choices[0].readings) + 4


def test_logs_that_are_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without network and data only the generated log is left; sizes take the same share of any machine."""
    monkeypatch.delenv("SPILLWAY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert at_hand(logs.LOGS) == ["kth-like"]
    widest = max(job.res for job in logs.workload_of("kth-like", 300, 0, 3.375).jobs)
    assert 0.5 * 3888 <= widest <= 3888


def test_the_command_needs_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line per point; nothing is judged, and no published value is beside ours."""
    sets = ("log=kth-like", "jobs=12", "seed=0", "under=30", "test=levels", "policy=easy")
    command = ["study", "herbein", "--quick", *(word for node_set in sets for word in ("--set", node_set))]
    assert main([*command, "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    rows = csv_rows(tmp_path / "out/points.csv")
    assert {row["log"] for row in rows} == {"kth-like"}
    assert {row["scheduler"] for row in rows} == {AWARE, IGNORANT}
    assert all(float(row["contended_percent"]) == 0 for row in rows if row["scheduler"] == AWARE)
    printed = capsys.readouterr().out
    assert "23 claims: 0 reproduced, 0 fits one run, 0 fitted, 0 not reproduced, 23 not judged" in printed
    assert "66.7" not in printed
    assert len(list((tmp_path / "out/figures").glob("*.png"))) == 3


def test_decision_times_are_measured() -> None:
    """Quantiles in order, for a machine of any size."""
    found = decision_times(logs.model_of("kth-like"), 360, True, HerbeinOptions(jobs=30, size_factor=30))
    assert 0 < found[0] <= found[1] <= found[2] <= found[3] <= found[5]
    assert found[4] > 0 < found[6]
