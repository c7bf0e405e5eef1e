"""The machine that a log is played on is the one that the log, or its owner, states."""

import json
from pathlib import Path

import pytest

import spillway as sw
from spillway.base import units
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, PolicySpec, WorkloadSpec
from spillway.workloads.conversion.needs import needs_of
from spillway.workloads.load import load_table
from spillway.workloads.logs.reading import Reading
from tests.kit.tables import csv_by, csv_rows

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
    """Run FCFS on a log; its row in the table."""
    return play_all(path, out, *more)["fcfs"]


def play_all(path: Path, out: Path, *more: str) -> dict[str, dict[str, str]]:
    """The rows of all policies, by name."""
    assert (
        main(["run", "--workload", str(path), "--policy", "fcfs", "--no-plots", "--notes", "--out", str(out), *more])
        == 0
    )
    return csv_by(out / "summary.csv", "policy")


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
        ("; MaxProcs: 240\n", ("--nodes", "50", "--force"), 50),
        ("", (), 96),
    ],
)
def test_the_stated_size(header: str, more: tuple[str, ...], expected: int, tmp_path: Path) -> None:
    """The header's processors decide, not the widest job; ``--nodes`` overrides them."""
    path = log(tmp_path / "site.swf", header, [4, 90, 1, 16])
    row = play(path, tmp_path / "out", *more)
    assert nodes(tmp_path / "out", row) == expected


def test_what_is_assumed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The machine's origin and the assumptions about it are printed, and a guess is called one."""
    play(log(tmp_path / "a.swf", "; MaxProcs: 240\n", [4]), tmp_path / "a")
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "a: machine: 240 nodes of 1 processor each (the workload states so many; --nodes N and --processors-per-node N "
        "state others)" in said
    )
    assert "240 compute nodes; assumed are one storage node of 40GB for every 8 of them" in said
    play(log(tmp_path / "b.swf", "", [4]), tmp_path / "b")
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "b: machine: a guess, because the workload states neither its size nor its starts, and its widest job "
        "requests 4; --nodes N states the real one" in said
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
        inputs.assumed(*pair, PolicySpec(policy="easy"))["offered_load"]
        for pair in inputs.pairs(sources, platforms, ModelSpec(name="rigid"), 0)
    ]
    assert loads[0]["compute"] == pytest.approx(2 * loads[1]["compute"])
    assert loads[0]["compute"] == pytest.approx(200 * 800 / (16 * 199 * 40))
    assert [load.split(":")[0] for load in loads[2:]] == ["not stated", "not stated"]
    assert "only 5 jobs fit the machine" in loads[2]


@pytest.mark.parametrize(("header", "expected"), [("; MaxProcs: 120\n", 120), ("", 96)])
def test_a_campaign_takes_the_same_machine(
    header: str, expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A campaign file that names no machine plays a log on that of ``run``, with a note: the same run (was: thesis)."""
    path = log(tmp_path / "site.swf", header, [4, 90, 1, 16])
    row = play(path, tmp_path / "run")
    capsys.readouterr()
    campaign = tmp_path / "campaign.toml"
    campaign.write_text('plots = false\n[[workload]]\nsource = "site.swf"\n[[policy]]\npolicy = "fcfs"\n')
    assert main([str(campaign), "--out", str(tmp_path / "out")]) == 0
    assert "site: machine: " in " ".join(capsys.readouterr().out.split())
    (found,) = csv_rows(tmp_path / "out" / "summary.csv")
    assert nodes(tmp_path / "out", found) == expected
    assert found["run"] == row["run"]


SITE = Path(__file__).parents[2] / "workloads" / "data" / "site-sacct.txt"
"""120 jobs of a Slurm of three partitions: arrays, steps, GPUs, dependencies, burst buffers of up to 10 TiB a job."""


def machine_of(out: Path, row: dict[str, str]) -> tuple[int, list[int]]:
    """Compute nodes and capacities of storage nodes of the machine of a run."""
    machine = json.loads((out / row["run"] / "machine.json").read_text())
    return len(machine["nodes"]), [storage["capacity_bytes"] for storage in machine["storages"]]


def test_an_operators_log_from_its_text_to_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Was: 40 GB per 8 nodes for any requests, a sixth of the jobs rejected; the site's schedule fits now."""
    needs = needs_of(load_table(SITE)[0])
    row = play(SITE, tmp_path / "all", "--no-replay")
    assert row["rejected"] == "0"
    nodes, (pool,) = machine_of(tmp_path / "all", row)
    assert nodes == needs.nodes
    assert needs.buffers <= pool <= 1.1 * needs.buffers
    said = " ".join(capsys.readouterr().out.split())
    assert f"site-sacct: machine: {nodes} nodes (most in use at once by the log's own times; --nodes N states" in said
    assert f"burst buffers in one pool (requests of {needs.buffer_jobs} jobs: up to 11TB by one and" in said
    assert "shared by all partitions (most nodes in use at once: batch " in said
    rows = play_all(SITE, tmp_path / "batch", "--policy", "replay", "--where", "partition=batch")
    assert (
        machine_of(tmp_path / "batch", rows["replay"])[0]
        == needs_of(load_table(SITE, Reading(where=("partition=batch",)))[0]).nodes
    )
    assert "start late" not in capsys.readouterr().out


@pytest.mark.parametrize(("size", "expected"), [("300 TB", [300 * 10**12]), ("0", [])])
def test_stated_burst_buffers(
    size: str, expected: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one pool, with or without the number of nodes; 0: no burst buffers. The line on the machine states them."""
    for name, more in (("a", ()), ("b", ("--nodes", "200"))):
        row = play(SITE, tmp_path / name, "--no-replay", "--burst-buffer-total", size, "--force", *more)
        assert machine_of(tmp_path / name, row)[1] == expected
    words = (
        "300TB of burst buffers in one pool, as stated, shared" if expected else "no burst buffers, as stated, shared"
    )
    assert words in " ".join(capsys.readouterr().out.split())


def test_a_log_without_header_gets_the_nodes_that_it_had_in_use(tmp_path: Path) -> None:
    """Was: 96 nodes for any log of SWF. Its own schedule is played as it was, drawn buffers and all."""
    rows = "".join(
        f"{n} {20 * n} {n % 7} 4000 {1 + n % 5} -1 -1 {1 + n % 5} 9000 -1 1 7 1 1 1 -1 -1 -1\n" for n in range(1, 301)
    )
    (tmp_path / "bare.swf").write_text(rows)
    found = play_all(tmp_path / "bare.swf", tmp_path / "out", "--policy", "replay")
    nodes, pool = machine_of(tmp_path / "out", found["replay"])
    assert nodes == needs_of(load_table(tmp_path / "bare.swf")[0]).nodes > 500
    assert len(pool) == 1
    assert float(found["replay"]["mean_waiting_time_s"]) == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize("chosen", [(), ("--where", "user=u03"), ("--where", "partition=batch")])
def test_a_converted_log_is_for_the_machine_of_a_run(
    chosen: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Was: 96 nodes and 12 storage nodes of 40 GB for any log; its jobs' buffers were cut to those."""
    made = tmp_path / "made.json"
    assert main(["workload", "convert", str(SITE), "--out", str(made), *chosen]) == 0
    said = capsys.readouterr().out
    row = play(SITE, tmp_path / "out", "--no-replay", *chosen)
    nodes, (pool,) = machine_of(tmp_path / "out", row)
    assert json.loads(made.read_text())["nb_res"] == nodes
    assert f"machine: {nodes} nodes (most in use at once by the log's own times" in said
    assert f"; --nodes N states others), {units.SIZE.write(pool)} of burst buffers in one pool (--storage-nodes" in said
    (played,) = (tmp_path / "out" / "inputs").glob("*.json")
    assert json.loads(played.read_text())["profiles"] == json.loads(made.read_text())["profiles"]
    again = ["run", str(made), "--policy", "fcfs", "--no-plots", "--out", str(tmp_path / "again")]
    assert main(again) == 2  # a Batsim workload states no burst buffers; most of these jobs were rejected
    assert "jobs could never run: " in capsys.readouterr().err
    assert main([*again, "--burst-buffer-total", units.SIZE.write(pool)]) == 0


@pytest.mark.parametrize("door", ["run", "whatif", "campaign", "api"])
def test_a_machine_that_cannot_be_the_logs_is_refused(
    door: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 200 jobs of 8 of 16 nodes for 100 s, one every 20 s, offer 2.51 times the machine."""
    path = log(tmp_path / "busy.swf", "; MaxProcs: 16\n", [8] * 200, gap_s=20)
    (tmp_path / "c.toml").write_text('plots = false\n[[workload]]\nsource = "busy.swf"\n[[policy]]\npolicy = "fcfs"\n')
    commands = {
        "run": ["run", str(path), "--policy", "fcfs"],
        "whatif": ["whatif", str(path), "--set", "load=x1.1", "--shakes", "0"],
        "campaign": ["campaign", str(tmp_path / "c.toml")],
    }
    message = "busy on nodes-16: the jobs request 2.5 times its 16 nodes"
    if door == "api":
        with pytest.raises(SpecError, match=message):
            sw.compare(path, "fcfs", progress=False)
        assert len(sw.compare(path, "fcfs", progress=False, force=True, folder=tmp_path / "out").runs) == 1
        return
    more = ["--out", str(tmp_path / "out"), *(() if door == "campaign" else ("--no-plots",))]
    assert main([*commands[door], *more]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "--nodes N states the machine (a load of 1 needs 41 nodes in use); --force" in error
    assert main([*commands[door], *more, "--force"]) == 0


def test_buffers_that_a_machine_cannot_give_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the size that mends it."""
    run = ["run", str(SITE), "--policy", "fcfs", "--no-plots", "--out", str(tmp_path / "out")]
    assert main([*run, "--burst-buffer-total", "100GB"]) == 2
    error = capsys.readouterr().err
    assert "of 120 jobs could never run" in error
    assert "request more burst buffer than it can give (--burst-buffer-total 11TB can)" in error
    assert main([*run, "--burst-buffer-total", "11TB"]) == 0
