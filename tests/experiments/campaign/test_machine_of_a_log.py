"""The machine that a log is played on is the one that the log, or its owner, states."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs import Inputs
from spillway.experiments.campaign.machines import load
from spillway.experiments.cli import main
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, WorkloadSpec

ROW = "{number} {submit} -1 {run} {size} -1 -1 {size} {wall} -1 1 7 1 1 1 -1 -1 -1\n"


def log(path: Path, header: str, sizes: list[int], gap_s: int = 60, run_s: int = 100) -> Path:
    """Write a log of jobs of these sizes, one every ``gap_s``."""
    rows = [
        ROW.format(number=number, submit=gap_s * number, run=run_s, size=size, wall=2 * run_s)
        for number, size in enumerate(sizes, start=1)
    ]
    path.write_text(header + "".join(rows))
    return path


def play(path: Path, out: Path, *more: str) -> dict[str, str]:
    """Run FCFS on a log; the row of the run in the table."""
    assert (
        main(["run", "--workload", str(path), "--policy", "fcfs", "--no-plots", "--notes", "--out", str(out), *more])
        == 0
    )
    with (out / "summary.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    return row


def nodes(out: Path, row: dict[str, str]) -> int:
    """Compute nodes of the machine that a run was played on."""
    machine = json.loads((out / row["run"] / "machine.json").read_text())
    return len(machine["nodes"])


@pytest.mark.parametrize(
    ("header", "more", "expected"),
    [
        ("; MaxProcs: 240\n", (), 240),  # was: a machine of 144 nodes ("fit-128")
        ("; MaxProcs: 2400\n", (), 2400),  # was: the 96 nodes of the thesis
        ("; MaxNodes: 101\n", (), 101),
        ("; MaxProcs: 240\n", ("--processors-per-node", "2"), 120),
        ("; MaxProcs: 240\n", ("--nodes", "50"), 50),
        ("", (), 96),
    ],
)
def test_the_stated_size(header: str, more: tuple[str, ...], expected: int, tmp_path: Path) -> None:
    """The header's processors decide, not the widest job; ``--nodes`` overrides them."""
    path = log(tmp_path / "site.swf", header, [4, 90, 1, 16])
    row = play(path, tmp_path / "out", *more)
    assert nodes(tmp_path / "out", row) == expected


@pytest.mark.parametrize("count", [1, 7, 8, 24, 96, 100, 192, 193, 240])
def test_exactly_so_many_nodes(count: int) -> None:
    """Also where they are no multiple of the eight nodes of a switch: one storage node for each eight, or part."""
    facts = load(PlatformSpec(source=f"nodes:{count},burst_buffer=80GB")).facts
    assert (facts.nodes, facts.storage_nodes, facts.storage_bytes) == (count, -(-count // 8), 80 * 10**9)


def test_a_size_may_have_a_space(tmp_path: Path) -> None:
    """``200 GB`` is ``200GB``: the same machine, by the same name."""
    path = log(tmp_path / "site.swf", "", [4])
    rows = [
        play(path, tmp_path / name, "--nodes", "8", "--burst-buffer", size)
        for name, size in (("a", "200 GB"), ("b", "200GB"))
    ]
    assert rows[0]["run"] == rows[1]["run"]
    machine = json.loads((tmp_path / "a" / rows[0]["run"] / "machine.json").read_text())
    assert [storage["capacity_bytes"] for storage in machine["storages"]] == [200 * 10**9]


def test_what_is_assumed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the machine comes from, what of it is assumed, and a guess is called one."""
    play(log(tmp_path / "a.swf", "; MaxProcs: 240\n", [4]), tmp_path / "a")
    said = " ".join(capsys.readouterr().out.split())
    assert "a: the workload states a machine of 240 nodes" in said
    assert "240 compute nodes; assumed are one storage node of 40GB for every 8 of them" in said
    play(log(tmp_path / "b.swf", "", [4]), tmp_path / "b")
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "b: the workload states no size of its machine, and its widest job requests 4 nodes: the machine is a guess"
        in said
    )


def test_offered_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: 200 jobs of 8 of 16 nodes for 100 s, one every 40 s, offer 200 x 800 / (16 x 199 x 40) = 1.26."""
    path = log(tmp_path / "busy.swf", "; MaxProcs: 16\n", [8] * 200, gap_s=40)
    play(path, tmp_path / "out")
    said = " ".join(capsys.readouterr().out.split())
    assert "busy: offered load: 1.26 of the compute nodes" in (tmp_path / "out" / "assumptions.txt").read_text()
    assert "offered load: 1.26 of the compute nodes" in said
    assert "WARNING: the jobs request 1.26 times the compute nodes of this machine" in said
    quiet = log(tmp_path / "quiet.swf", "; MaxProcs: 16\n", [1] * 200, gap_s=400)
    play(quiet, tmp_path / "quiet")
    assert "WARNING" not in capsys.readouterr().out


def test_every_run_states_its_load_or_why_there_is_none(tmp_path: Path) -> None:
    """On each machine that a JSON workload is played on, half on the one of twice the size; few jobs: the reason."""
    jobs = [{"id": str(job), "subtime": 40 * job, "res": 8, "profile": "p", "walltime": 200} for job in range(200)]
    for name, some in (("many", jobs), ("few", jobs[:5])):
        made = {"nb_res": 16, "jobs": some, "profiles": {"p": {"type": "parallel_homogeneous", "cpu": 1e11, "com": 0}}}
        (tmp_path / f"{name}.json").write_text(json.dumps(made))
    inputs = Inputs(tmp_path / "out", lambda _: None)
    sources = [WorkloadSpec(source=str(tmp_path / f"{name}.json")) for name in ("many", "few")]
    platforms = [PlatformSpec(source=f"nodes:{nodes}") for nodes in (16, 32)]
    loads = [
        inputs.assumed(*pair)["offered_load"] for pair in inputs.pairs(sources, platforms, ModelSpec(name="rigid"), 0)
    ]
    assert loads[0]["compute"] == pytest.approx(2 * loads[1]["compute"])
    assert loads[0]["compute"] == pytest.approx(200 * 800 / (16 * 199 * 40))
    assert [load.split(":")[0] for load in loads[2:]] == ["not stated", "not stated"]
    assert "5 jobs that fit the machine" in loads[2]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--nodes", "0"), "expected a whole number >= 1, got '0'"),
        (("--nodes", "4", "--platform", "thesis"), "--nodes and --platform exclude each other"),
        (("--burst-buffer", "1GB"), "--burst-buffer goes with --nodes N"),
        (("--nodes", "4", "--burst-buffer", "1XB"), "--burst-buffer: unknown unit 'XB' in '1XB'"),
        (("--nodes", "4", "--burst-buffer", "200"), "--burst-buffer: '200' has no unit: expected one of B, kB, MB, GB"),
        (("--platform", "nodes:9,burst_buffer=200"), "burst_buffer: '200' has no unit"),
        (("--platform", "nodes:x"), "expected nodes:N or nodes:N,burst_buffer=SIZE"),
        (("--platform", "nodes:9,storage=1GB"), "expected nodes:N or nodes:N,burst_buffer=SIZE"),
    ],
)
def test_mistakes(more: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2, nothing written."""
    path = log(tmp_path / "site.swf", "", [4])
    code = main(["run", "--workload", str(path), "--no-plots", "--out", str(tmp_path / "out"), *more])
    errors = capsys.readouterr().err
    assert code == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(("header", "expected"), [("; MaxProcs: 120\n", 120), ("", 96)])
def test_a_campaign_takes_the_same_machine(
    header: str, expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A campaign file that names no machine puts a log where ``run`` does, and says so: the same run (was: thesis)."""
    path = log(tmp_path / "site.swf", header, [4, 90, 1, 16])
    row = play(path, tmp_path / "run")
    capsys.readouterr()
    campaign = tmp_path / "campaign.toml"
    campaign.write_text('plots = false\n[[workload]]\nsource = "site.swf"\n[[policy]]\npolicy = "fcfs"\n')
    assert main([str(campaign), "--out", str(tmp_path / "out")]) == 0
    assert "site: the workload states" in " ".join(capsys.readouterr().out.split())
    with (tmp_path / "out" / "summary.csv").open(newline="") as stream:
        (found,) = csv.DictReader(stream)
    assert nodes(tmp_path / "out", found) == expected
    assert found["run"] == row["run"]
