"""Staging everywhere: the command line, campaign files, and the fields of a Batsim workload."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main

SOURCE = "kth-like:jobs=20,seed=1"


def inputs(out: Path) -> list[dict[str, object]]:
    """The workloads that a campaign has prepared, by name of their files."""
    return [json.loads(path.read_text()) for path in sorted((out / "inputs").glob("*.json"))]


def test_one_source_twice(tmp_path: Path) -> None:
    """Two workloads of a campaign that differ in their conversion only are two files (they were once the first's)."""
    text = 'plots = false\n[[policy]]\npolicy = "fcfs"\n[[platform]]\nsource = "thesis"\n'
    for name, minutes in (("a", 10), ("b", 20)):
        text += f'[[workload]]\nsource = "{SOURCE}"\nname = "{name}"\nconvert = {{ staging = "minutes={minutes}" }}\n'
    (tmp_path / "sweep.toml").write_text(text)
    assert main([str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "out")]) == 0
    times = [{job["stage_in_s"] for job in data["jobs"]} for data in inputs(tmp_path / "out")]  # type: ignore[attr-defined]
    assert times == [{600.0}, {1200.0}]


def test_run_and_convert_agree(tmp_path: Path) -> None:
    """``run`` draws the staging that ``workload convert`` writes."""
    out = tmp_path / "out"
    drawn = ["--staging", "minutes=15,spread=1", "--stripes", "2"]
    log = str(tmp_path / "log.swf")
    assert main(["workload", "synth", SOURCE, "--out", log]) == 0
    assert main(["workload", "convert", log, "--out", str(tmp_path / "made.json"), *drawn]) == 0
    command = ["run", "--workload", log, "--policy", "fcfs", "--platform", "thesis", "--no-plots", "--no-replay"]
    assert main([*command, *drawn, "--out", str(out)]) == 0
    (prepared,) = inputs(out)
    made = json.loads((tmp_path / "made.json").read_text())
    assert (prepared["jobs"], prepared["profiles"]) == (made["jobs"], made["profiles"])


def test_a_workload_is_taken_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is drawn for a Batsim workload, and that is said."""
    made = str(tmp_path / "made.json")
    assert main(["workload", "synth", SOURCE, "--out", made]) == 0
    assert main(["run", "--workload", made, "--staging", "minutes=5", "--out", str(tmp_path / "out")]) == 2
    assert "staging goes with logs and generators" in capsys.readouterr().err


@pytest.mark.parametrize(("life", "rejected"), [("with-nodes", 8), ("slurm", 0), ("two-reservations", 0)])
def test_staging_is_played_or_refused(life: str, rejected: int, tmp_path: Path) -> None:
    """Rigid jobs stage if burst buffers have lives of their own; else they are rejected, and the field is named."""
    command = ["run", "--workload", "kth-like:jobs=8,seed=1", "--platform", "thesis", "--policy", "easy", "--no-plots"]
    out = tmp_path / "out"
    assert main([*command, "--staging", "minutes=10", "--bb-life", life, "--out", str(out)]) == 0
    (table,) = out.glob("*/rejections.csv")
    reasons = table.read_text().splitlines()[1:]
    assert len(reasons) == rejected
    assert all("stage_in_s" in reason for reason in reasons)
