"""Malleable applications in campaigns: one row per real job, for any of their parts."""

from pathlib import Path

from spillway.experiments.cli import main
from spillway.workloads.cli import main as workloads
from tests.kit.tables import csv_rows


def test_run_of_malleable_applications(tmp_path: Path) -> None:
    """A drawn workload under EASY with both controllers: every job has its row, some were resized and expanded."""
    source, out = tmp_path / "m.json", tmp_path / "out"
    assert workloads(["malleable", "kth-like:jobs=15,seed=3", "--out", str(source), "--share", "1"]) == 0
    settings = [
        "--model",
        "malleable:expansion=io,interference=phase-shifting",
        "--io-control",
        "exclusive",
    ]
    where = ["--workload", str(source), "--platform", "thesis", "--policy", "easy", "--no-plots", "--workers", "1"]
    assert main(["run", *where, *settings, "--out", str(out)]) == 0
    (folder,) = [path for path in out.iterdir() if (path / "jobs.csv").exists()]
    rows = csv_rows(folder / "jobs.csv")
    assert len(rows) == 15
    assert {row["workload_name"] for row in rows} == {"w0"}
    assert all(float(row["finish_time"]) > float(row["starting_time"]) for row in rows)
    assert any(int(row["most_nodes"]) > int(row["requested_number_of_resources"]) for row in rows)
    assert (folder / "batsim_jobs.csv").exists()
    phases = csv_rows(folder / "io_phases.csv")
    assert phases
    assert all(float(phase["asked_s"]) <= float(phase["begin_s"]) < float(phase["end_s"]) for phase in phases)
    errors = sorted(abs(float(phase["asked_s"]) - float(phase["predicted_start_s"])) for phase in phases)
    assert errors[len(errors) // 2] < 30.0, "half of the predictions are off by more than 30 s"
