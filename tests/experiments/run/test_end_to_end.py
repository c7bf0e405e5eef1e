"""The command line from end to end, on small workloads: results, resuming, failures, Ctrl-C, other simulators."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillway.experiments.campaign.folder.summary import COLUMNS, METRICS
from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

ROOT = Path(__file__).resolve().parents[3]

PATIENCE_S = 600.0
"""After so long something hangs, on the slowest machine, too."""
SMALL = ["run", "--workload", "kth-like:jobs=60", "--policy", "fcfs", "--policy", "easy", "--no-plots"]
DETERMINISTIC = ("jobs.csv", "allocations.csv", "rejections.csv", "machine.json", "metrics.json", "schedule.csv")


def rows(folder: Path, name: str = "summary.csv") -> list[dict[str, str]]:
    """Rows of a campaign's table."""
    return csv_rows(folder / name)


def run_folders(folder: Path) -> dict[str, Path]:
    """A campaign's run folders by policy."""
    return {row["policy"]: folder / row["run"] for row in rows(folder)}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished comparison of two policies, run by one worker."""
    folder = tmp_path_factory.mktemp("campaign") / "one"
    assert main([*SMALL, "--workers", "1", "--out", str(folder)]) == 0
    return folder


def test_storage_nodes_have_their_groups(done: Path) -> None:
    """The thesis's Dragonfly: one storage node per chassis, four chassis in each of three groups."""
    machine = json.loads((run_folders(done)["easy"] / "machine.json").read_text())
    assert [storage["group"] for storage in machine["storages"]] == ["g0"] * 4 + ["g1"] * 4 + ["g2"] * 4


def test_summary_has_every_column(done: Path) -> None:
    """The table has the promised columns, filled for every run."""
    table = rows(done)
    assert [row["policy"] for row in table] == ["fcfs", "easy"]
    assert tuple(table[0]) == tuple(name for name in COLUMNS if name != "cancelled")  # no job was
    assert {"workload", "policy", "engine", "seed", "scheduler_cpu_s", "peak_rss_bytes"} <= set(COLUMNS)
    assert all(value for row in table for value in row.values())
    assert table[0]["workload"] == "kth-like"
    assert int(table[0]["jobs"]) == 60


def test_run_folder_is_complete(done: Path) -> None:
    """Each run has its files, and the command that repeats it."""
    folder = run_folders(done)["easy"]
    assert {*DETERMINISTIC, "timings.json", "run.json", "manifest.json"} == {path.name for path in folder.iterdir()}
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "finished"
    assert record["configuration"]["settings"]["depth"] == 1
    assert record["versions"]["numpy"]
    assert (done / record["configuration"]["workload"]["path"]).exists()
    assert "--policy easy:depth=1" in record["repeat"]


def test_repeat_command_repeats(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in run.json gives the same run again, under the same name."""
    folder = run_folders(done)["easy"]
    command = json.loads((folder / "run.json").read_text())["repeat"].split()
    monkeypatch.chdir(done)
    assert main([*command[command.index("run") : -1], str(tmp_path), "--no-plots"]) == 0
    again = run_folders(tmp_path)
    (name,) = again.values()
    assert (name / "jobs.csv").read_bytes() == (folder / "jobs.csv").read_bytes()
    assert name.name.rsplit("_", 1)[1] == folder.name.rsplit("_", 1)[1]


def test_finished_runs_are_not_repeated(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second call runs nothing; a further policy only runs itself."""
    before = {path: path.stat().st_mtime_ns for path in done.glob("*/jobs.csv")}
    assert main([*SMALL, "--out", str(done)]) == 0
    assert "2 of 2 runs are already there" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in done.glob("*/jobs.csv")} == before


def test_another_tau_needs_no_new_run(done: Path) -> None:
    """The bound of the bounded slowdown belongs to the table, not to the run."""
    before = rows(done)[0]["mean_bounded_slowdown"]
    assert main([*SMALL, "--tau", "10", "--out", str(done)]) == 0
    assert float(rows(done)[0]["mean_bounded_slowdown"]) >= float(before)
    assert main([*SMALL, "--out", str(done)]) == 0
    assert rows(done)[0]["mean_bounded_slowdown"] == before


def test_over_zeromq_by_two_workers_the_same(done: Path, tmp_path: Path) -> None:
    """Nothing but measured times depends on the number of runs at once, nor on a socket between two processes."""
    assert main([*SMALL, "--transport", "zmq", "--workers", "2", "--out", str(tmp_path)]) == 0
    for policy, folder in run_folders(done).items():
        for name in DETERMINISTIC:
            assert (folder / name).read_bytes() == (run_folders(tmp_path)[policy] / name).read_bytes(), name
    one, other = ([row | {"run": ""} for row in rows(folder, "results.csv")] for folder in (done, tmp_path))
    assert one == other


def program(path: Path, text: str) -> str:
    """Write an executable script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_batsim_program(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--engine batsim starts the program that BATSIM names, with Batsim's own options."""
    batsim = program(tmp_path / "batsim", f'cd {ROOT} && exec {sys.executable} -m spillway simulate "$@"')
    monkeypatch.setenv("BATSIM", batsim)
    out = tmp_path / "out"
    assert main([*SMALL, "--engine", "batsim", "--out", str(out)]) == 0
    assert (run_folders(out)["easy"] / "jobs.csv").read_bytes() == (run_folders(done)["easy"] / "jobs.csv").read_bytes()


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("echo it went wrong; exit 134", "ended with exit code 134 in the middle: it went wrong"),
        ("echo Oops; exit 0", "the simulation deadlocked (its process ended without saying so): Oops"),
    ],
)
def test_a_dying_simulator(
    script: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last words are the cause of the failure; the exit code says that a run failed; the next call tries again."""
    monkeypatch.setenv("BATSIM", program(tmp_path / "batsim", script))
    out = tmp_path / "out"
    arguments = ["run", "--workload", "kth-like:jobs=5", "--policy", "fcfs", "--engine", "batsim", "--out", str(out)]
    assert main(arguments) == 1
    assert cause in capsys.readouterr().out
    (folder,) = out.glob("kth-like_*")
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"
    assert "RunFailed" in (folder / "log.txt").read_text()
    assert main(arguments) == 1


def test_a_simulator_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Silence beyond the bound ends the run, and the process with it."""
    monkeypatch.setenv("BATSIM", program(tmp_path / "batsim", f"echo $$ > {tmp_path}/pid; exec sleep 600"))
    arguments = ["run", "--workload", "kth-like:jobs=5", "--policy", "fcfs", "--engine", "batsim", "--silence", "1"]
    monkeypatch.setattr("spillway.experiments.run.offspring.GRACE_S", 0.2)
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert "no message of a simulator in 1 s" in capsys.readouterr().out
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_no_batsim(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without Batsim an error says so before anything runs."""
    monkeypatch.setenv("BATSIM", "/nowhere/batsim")
    assert main([*SMALL, "--engine", "batsim", "--out", str(tmp_path)]) == 2
    assert "BATSIM='/nowhere/batsim' is no program; install Batsim 4" in capsys.readouterr().err


LOG = """; MaxProcs: 16
1 0 -1 100 4 -1 -1 4 200 -1 1 7 1 1 1 -1 -1 -1
2 10 -1 50 16 -1 -1 16 60 -1 1 8 1 1 1 -1 -1 -1
3 20 -1 500 1 -1 -1 1 400 -1 1 7 1 1 1 -1 -1 -1
"""


def test_an_own_log_is_enough(tmp_path: Path) -> None:
    """Only the log is given: machine, five policies and folder have defaults."""
    (tmp_path / "mine.swf").write_text(LOG)
    assert main(["run", "--workload", str(tmp_path / "mine.swf"), "--out", str(tmp_path / "out")]) == 0
    table = rows(tmp_path / "out")
    assert [row["policy"] for row in table] == ["fcfs", "filler", "easy-no-bb", "easy", "sjf-easy"]
    assert {row["jobs"] for row in table} == {"3"}
    assert {row["killed"] for row in table} == {"1"}
    assert {path.name for path in (tmp_path / "out" / "plots").glob("*.png")} >= {"waiting-time.png", "gantt-easy.png"}


def test_a_log_of_a_larger_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the jobs do not fit on the thesis machine, one is made that they fit on; --platform thesis reports them."""
    without_header = LOG.partition("\n")[2]
    (tmp_path / "wide.swf").write_text(without_header.replace(" 16 ", " 160 "))
    given = ["run", "--workload", str(tmp_path / "wide.swf"), "--policy", "easy", "--no-plots", "--notes"]
    assert main([*given, "--out", str(tmp_path / "a")]) == 0
    assert "made for this workload: at least 160 compute nodes" in capsys.readouterr().out
    assert rows(tmp_path / "a")[0]["rejected"] == "0"
    assert main([*given, "--platform", "thesis", "--force", "--out", str(tmp_path / "b")]) == 0
    assert "1 of 3 jobs request more than the 96 compute nodes of thesis" in capsys.readouterr().out
    assert rows(tmp_path / "b")[0]["rejected"] == "1"


def test_io_aware_jobs(tmp_path: Path) -> None:
    """Rows are those of the real jobs; the sub-jobs and the phases have files of their own."""
    arguments = ["run", "--workload", "kth-like:jobs=40", "--policy", "easy", "--model", "io", "--no-plots"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    row = rows(tmp_path)[0]
    assert row["jobs"] == "40"
    folder = tmp_path / row["run"]
    assert len((folder / "batsim_jobs.csv").read_text().splitlines()) > 200
    jobs = csv_rows(folder / "jobs.csv")
    for job in jobs:
        spent = sum(float(job[f"{name}_s"]) for name in ("stage_in", "compute", "stage_out"))
        assert spent <= float(job["execution_time"]) + 0.05  # each stage is heard of one latency late
        assert job["allocated_resources"]
        assert float(job["contention_slowdown"]) > 0.999
        assert float(job["uncontended_s"]) == pytest.approx(
            float(job["execution_time"]) / float(job["contention_slowdown"]), rel=0.01, abs=1.0
        )
    assert max(float(job["contention_slowdown"]) for job in jobs) > 1.0


def test_a_job_alone_is_not_slowed_down(tmp_path: Path) -> None:
    """One job has no other beside it: the run and the uncontended run are the same."""
    arguments = ["run", "--workload", "kth-like:jobs=1", "--policy", "easy", "--model", "io", "--no-plots"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    [job] = csv_rows(tmp_path / rows(tmp_path)[0]["run"] / "jobs.csv")
    assert float(job["uncontended_s"]) > 0
    assert float(job["contention_slowdown"]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("number", "policies", "transport", "said"),
    [
        (signal.SIGINT, ["conservative"], "direct", "stopped; 0 runs are finished, 1 are left"),
        (signal.SIGTERM, ["conservative"], "direct", "stopped by SIGTERM; 0 runs are finished, 1 are left"),
        (signal.SIGTERM, ["conservative"], "zmq", "stopped by SIGTERM; 0 runs are finished, 1 are left"),
        (signal.SIGINT, ["conservative", "fcfs"], "direct", "stopped; 0 runs are finished, 2 are left"),
    ],
)
def test_ctrl_c_and_resume(number: int, policies: list[str], transport: str, said: str, tmp_path: Path) -> None:
    """Ctrl-C ends all processes at once and cleanly; the same command continues. One run is played in the first."""
    arguments = ["run", "--workload", "kth-like:jobs=20000", "--no-plots", "--workers", "1", "--transport", transport]
    arguments += [f"--policy={name}" for name in policies]
    process = subprocess.Popen(
        [sys.executable, "run_experiments.py", *arguments, "--out", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE_S
    while not list(tmp_path.glob(".partial/kth-like_*/allocations.csv")) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, number)
    told, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, errors + told
    assert f"{said}: repeat the command to go on" in errors
    assert "Traceback" not in errors
    assert {path.name for path in tmp_path.iterdir()} == {"comparison.json", "inputs"}  # and no lock


@pytest.mark.parametrize("seconds", [0.0, 0.2, 0.5])
def test_ctrl_c_while_modules_are_loaded(seconds: float, tmp_path: Path) -> None:
    """All processes receive it; the one that loads modules for runs prints no traceback."""
    arguments = ["run", "--workload", "kth-like:jobs=20000", "--out", str(tmp_path / "results")]
    process = subprocess.Popen(
        [sys.executable, "run_experiments.py", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + PATIENCE_S
    while len(children.read_text().split()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[0]
    assert process.returncode == 130
    assert "stopped" in said
    assert "Traceback" not in said


def test_metrics_are_the_analysis_ones(done: Path) -> None:
    """The table's figures are those that the analysis computes from the files."""
    from spillway.analysis.measures.metrics import summarise
    from spillway.analysis.tables.jobs import read_run

    for row in rows(done):
        summary = summarise(read_run(done / row["run"]), 600.0).as_dict()
        assert summary.pop("cancelled") == 0
        assert [float(row[name]) for name in METRICS if name in row] == pytest.approx(list(summary.values()))


def test_explain_repeats_a_run_that_kept_no_reasons(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first question costs a run, the second does not; the schedule is the same with and without notes."""
    folder = run_folders(done)["easy"]
    (folder / "reasons.csv").unlink(missing_ok=True)
    waited = max(csv_rows(folder / "jobs.csv"), key=lambda job: float(job["waiting_time"]))
    assert main(["explain", str(folder), waited["job_id"]]) == 0
    first = capsys.readouterr()
    assert "repeating the run" in first.err
    assert first.out.startswith(f"Job {waited['job_id']} of user ")
    assert " requested " in first.out
    assert "It waited" in first.out
    assert main(["explain", str(folder), waited["job_id"]]) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert second.err == ""
    (folder / "reasons.csv").unlink()
