"""Recorded run times contain their I/O: computing is what remains, so that a job alone takes as long as it did."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs import read
from spillway.experiments.campaign.machines import load
from spillway.experiments.campaign.sources import expand
from spillway.experiments.cli import main
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, WorkloadSpec
from spillway.workloads.workload import Workload

ROW = "{number} {submit} 0 {run} {size} -1 -1 {size} {wall} -1 1 7 1 1 1 -1 -1 -1\n"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve jobs, one a week, whose run times are from 20 s to 11 h; each requests a burst buffer from the model."""
    path = tmp_path_factory.mktemp("io") / "site.swf"
    runs = [20, 20, 600, 1800, 3600, 5400, 7200, 10800, 14400, 20000, 30000, 40000]
    rows = [
        ROW.format(number=i, submit=604_800 * i, run=run, size=1 + i % 5, wall=4 * run)
        for i, run in enumerate(runs, start=1)
    ]
    path.write_text("; MaxProcs: 16\n" + "".join(rows))
    return path


def converted(path: Path, model: str, **convert: float) -> Workload:
    """The workload that a run under this model plays."""
    (source,) = expand(WorkloadSpec(source=str(path), convert=convert))
    return read(source, load(PlatformSpec(source="nodes:16")), ModelSpec(name=model), 0)[0]


def test_a_job_alone_takes_its_recorded_time(log: Path, tmp_path: Path) -> None:
    """Within what a checkpoint takes; before, I/O came on top. Jobs whose I/O alone takes longer are counted."""
    common = ["--nodes", "16", "--model", "io", "--policy", "fcfs", "--no-plots", "--notes", "--no-replay"]
    assert main(["run", str(log), *common, "--out", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("site_fcfs*")
    with (run / "jobs.csv").open(newline="") as stream:
        jobs = [(float(row["execution_time"]), row) for row in csv.DictReader(stream)]
    recorded = [20, 20, 600, 1800, 3600, 5400, 7200, 10800, 14400, 20000, 30000, 40000]
    longer = [took - run_s for (took, _), run_s in zip(jobs, recorded, strict=True) if took > 1.02 * run_s + 1]
    notes = (tmp_path / "assumptions.txt").read_text()
    (note,) = [line for line in notes.splitlines() if "recorded run times contain the I/O" in line]
    assert f"of {len(longer):,} nothing remains" in note
    assert len(longer) <= 2


def test_the_thesis_rule_is_there_for_who_asks(log: Path) -> None:
    """An own kappa, and models that move nothing, convert as they did."""
    whole = [profile["cpu"] for profile in converted(log, "rigid").profiles.values()]
    rule = [profile["cpu"] for profile in converted(log, "io", kappa=40.0).profiles.values()]
    left = [profile["cpu"] for profile in converted(log, "io").profiles.values()]
    assert all(1 <= ours <= theirs for ours, theirs in zip(left, whole, strict=True))
    assert rule != left
    assert sum(left) < sum(whole)


def test_what_io_alone_outlasts_is_clipped_and_counted(log: Path) -> None:
    """On a machine whose file system is slow, short jobs compute one flop; the note says how many."""
    (source,) = expand(WorkloadSpec(source=str(log)))
    slow = load(PlatformSpec(source="nodes:16", changes={"pfs.bandwidth": "1MBps"}))
    workload = read(source, slow, ModelSpec(name="io"), 0)[0]
    clipped = sum(profile["cpu"] == 1 for profile in workload.profiles.values())
    assert clipped >= 2
    assert f"of {clipped:,} nothing remains" in workload.notes[-1]
