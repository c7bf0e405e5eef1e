"""One setting at a time against what the site did: what is asked, what is played, what is said."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from spillway.analysis.compare import Interval, Paired
from spillway.experiments.campaign import whatif
from spillway.experiments.campaign.campaign import run_grids
from spillway.experiments.campaign.machines import load
from spillway.experiments.campaign.pool import Pool
from spillway.experiments.campaign.whatif_answer import Asked, Relation, Row, sentences
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import PlatformSpec
from spillway.platforms import parse_platform
from spillway.workloads.batsim_json import read_batsim

ROW = "{number} {submit} {wait} {run} {size} -1 -1 {size} {wall} -1 1 7 1 1 1 -1 -1 -1\n"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 jobs of a machine of 16 nodes whose site kept them waiting for ten minutes more than was needed."""
    path = tmp_path_factory.mktemp("whatif") / "site.swf"
    rows = [
        ROW.format(number=i, submit=40 * i, wait=600 + 100 * (i // 4), run=100, size=4 + 4 * (i % 3 == 0), wall=200)
        for i in range(1, 121)
    ]
    path.write_text("; MaxProcs: 16\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def answered(log: Path) -> tuple[Path, str]:
    """The folder of a question with five settings, and what was printed."""
    settings = ["storage.capacity=x1.5", "pfs.bandwidth=2GBps", "nodes=x0.5,load=x0.5", "policy=fcfs", "walltime=150s"]
    question = whatif.question_of(str(log), settings, platform=PlatformSpec(source="auto"), plots=False, together=False)
    root = log.parent / "out"
    console = Console(record=True, width=180, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    code = run_grids(question.grids, root, Pool(execute, 1), console, conclude=question.answer)
    assert code == 0
    return root, console.export_text()


def table(root: Path) -> dict[str, dict[str, str]]:
    """Rows of the written table by setting."""
    with (root / "whatif.csv").open(newline="") as stream:
        return {row["setting"]: row for row in csv.DictReader(stream)}


def test_the_site_the_policy_and_each_setting(answered: tuple[Path, str]) -> None:
    """A row for each; the site's mean wait is that of the log, the settings' own effect is against the policy."""
    root, printed = answered
    rows = table(root)
    assert list(rows) == [
        "what the site did", "unchanged", "storage.capacity=x1.5", "pfs.bandwidth=2GBps", "nodes=x0.5,load=x0.5",
        "policy=fcfs", "walltime=150s",
    ]  # fmt: skip
    assert rows["what the site did"]["policy"] == "replay"
    waits = [600 + 100 * (i // 4) for i in range(1, 121)]
    assert float(rows["what the site did"]["mean_waiting_time_s"]) == pytest.approx(np.mean(waits), rel=0.3)
    assert float(rows["unchanged"]["to_site_ratio"]) < 0.5
    assert rows["pfs.bandwidth=2GBps"]["to_same_difference_s"] == "0.0"
    assert rows["nodes=x0.5,load=x0.5"]["to_site_ratio"] == ""  # the site had other arrivals
    assert {row["to_same_ratio_low"] for row in list(rows.values())[2:]} == {"nan"}  # one short log
    said = (root / "whatif.txt").read_text()
    assert "pfs.bandwidth=2GBps: under easy every job starts when it did. Under the job model rigid no job" in said
    assert "That is the policy's doing: the site's schedule is recorded" in said
    assert "Where there is no interval" in said
    assert all(line in printed for line in said.splitlines())


def test_settings_are_tried_on_the_same_jobs(answered: tuple[Path, str]) -> None:
    """Another machine does not change what the jobs request: there is one workload but for changed jobs."""
    root, _ = answered
    workloads = {path.name.rpartition("-")[0]: read_batsim(path) for path in (root / "inputs").glob("*.json")}
    assert len(workloads) == 3
    same, loaded, capped = (workloads[name] for name in sorted(workloads, key=len))
    if "walltime" in sorted(workloads, key=len)[1]:
        loaded, capped = capped, loaded
    assert [job.res for job in loaded.jobs] == [job.res for job in same.jobs]
    assert loaded.jobs[-1].subtime - 1 == 2 * (same.jobs[-1].subtime - 1)
    assert {job.walltime for job in capped.jobs} == {150.0}
    machines = sorted(len(json.loads(path.read_text())["nodes"]) for path in root.glob("*/machine.json"))
    assert machines == [8, 16, 16, 16, 16, 16, 16]


def test_asked_again_nothing_runs(answered: tuple[Path, str], log: Path) -> None:
    """The same question goes on where it stopped; one setting more only plays that one."""
    root, _ = answered
    before = {path: path.stat().st_mtime_ns for path in root.glob("*/manifest.json")}
    question = whatif.question_of(str(log), ["policy=fcfs"], platform=PlatformSpec(source="auto"), plots=False)
    console = Console(width=180, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    assert run_grids(question.grids, root, Pool(execute, 1), console, conclude=question.answer) == 0
    assert {path: path.stat().st_mtime_ns for path in root.glob("*/manifest.json")} == before


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("nodes=x0.9", {"nodes": "x0.9"}),
        ("nodes=120,load=x1.1", {"nodes": "120", "load": "x1.1"}),
        ("policy=easy:depth=2,order=sjf,load=0.9", {"policy": "easy:depth=2,order=sjf", "load": "0.9"}),
    ],
)
def test_settings_are_read(text: str, values: dict[str, str]) -> None:
    """Also several, and a policy's own options."""
    assert whatif.parse_knob(text).values == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("storage.capcity=x2", "unknown setting 'storage.capcity'; did you mean 'storage.capacity'?; known: nodes,"),
        ("nodes", "expected nodes=VALUE (compute nodes"),
        ("nodes=3,nodes=4", "'nodes' stands twice"),
        ("zzz=1", "unknown setting 'zzz'; known: nodes"),
    ],
)
def test_settings_that_are_refused(text: str, message: str) -> None:
    """With the nearest name, and all that are known."""
    with pytest.raises(SpecError) as caught:
        whatif.parse_knob(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("source", "changes", "message"),
    [
        ("nodes:100", {"nodes": "x-1"}, "nodes=x-1: expected a factor such as x1.2"),
        ("nodes:100", {"nodes": "1.5"}, "expected a whole number of nodes"),
        ("nodes:96", {"storage.bandwidth": "x2"}, "is a Dragonfly"),
        ("cts1-10", {"nodes": "x2"}, "only a machine that is given by its number of nodes"),
        (
            "nodes:100",
            {"storage.capacity": "4 elephants"},
            "expected a factor such as x1.2 or +20%, or a value with its unit such as 40GB",
        ),
        ("uniform-2048", {"storage.capacity": "x2"}, "has no storage nodes"),
    ],
)
def test_machines_that_cannot_be_changed_so(source: str, changes: dict[str, str], message: str) -> None:
    """The error names the setting, the machine and what to do."""
    with pytest.raises(SpecError) as caught:
        load(PlatformSpec(source=source, changes=changes))
    assert message in str(caught.value)


def test_a_changed_machine() -> None:
    """Factor or value, both stated; nodes alone leave file system and storage nodes what they are."""
    machine = load(PlatformSpec(source="nodes:100", changes={"storage.capacity": "x1.5", "nodes": "x0.8"}))
    assert (machine.facts.nodes, machine.facts.storage_bytes) == (80, 60 * 10**9)
    assert machine.notes == ("it has 80 compute nodes, not 100", "storage.capacity is 60GB, not 40GB")
    assert 'bandwidth="5208MBps"' in machine.xml


def test_changed_capacities_of_racks(tmp_path: Path) -> None:
    """Racks that state a capacity of their own take the factor too, and a value instead of it."""
    for change, bytes_each in (("x2", 2 * 3511074291712), ("+100%", 2 * 3511074291712), ("5 TB", 5 * 10**12)):
        machine = load(PlatformSpec(source="tuolumne", changes={"storage.capacity": change}))
        assert parse_platform(machine.xml).host("tuolumne256").properties["capacity_bytes"] == str(bytes_each)


def test_devices_are_no_link(tmp_path: Path) -> None:
    """Where storage nodes state what their devices read, their link's bandwidth alone changes nothing: refused."""
    file = tmp_path / "mine.toml"
    file.write_text('base = "tiny"\n[storage]\nread_bandwidth = "300MBps"\n')
    with pytest.raises(SpecError, match="state what their devices read and write"):
        load(PlatformSpec(source=str(file), changes={"storage.bandwidth": "x2"}))


def paired(ratio: Interval) -> Relation:
    """A relation with this ratio."""
    one = Paired(ratio, Interval(1.0, math.nan, math.nan), 0.5, 0.4, 0.1, 10, "5 runs")
    return Relation(one, 3600.0, 3600.0 * ratio.value)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Interval(0.75, 0.6, 0.9), "45 min on average, 25 % less (95 % interval 40 % less to 10 % less), not 1 h as"),
        (Interval(0.75, 0.5, 1.1), "25 % less (95 % interval 50 % less to 10 % more), which may be chance, not 1 h as"),
        (Interval(1.5, math.nan, math.nan), "1 h 30 min on average, 50 % more (no interval), not 1 h as"),
        (Interval(4.0, 3.5, 4.5), "4.0 times as much (95 % interval 3.5 times as much to 4.5 times as much)"),
    ],
)
def test_sentences_claim_what_the_interval_allows(ratio: Interval, words: str) -> None:
    """Certain, open, or without an interval."""
    figures: Any = [SimpleNamespace(rejected=0, killed=0)]
    same = Row(Asked("unchanged", ()), "easy", "rigid", [], figures)
    row = Row(Asked("nodes=9", ("nodes",)), "easy", "rigid", [], figures, to_same=paired(ratio))
    (said,) = sentences([same, row])
    assert words in said
    assert said.startswith("nodes=9: under easy jobs wait")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing: --set"),
        (["--set", "storage.capcity=x2"], "did you mean 'storage.capacity'?"),
        (["--set", "nodes=many"], "nodes=many: expected a factor such as x1.2 or +20%, or a value such as 120"),
        (
            ["--set", "storage.capacity=1.2"],
            "storage.capacity=1.2: expected a factor such as x1.2 or +20%, or a value with its unit such as 40GB",
        ),
        (
            ["--set", "walltime=24"],
            "walltime=24: expected a factor such as x0.5 or -50%, or a longest time such as 24h",
        ),
        (["--set", "nodes=3", "--nodes", "4", "--burst-buffer", "200"], "--burst-buffer: '200' has no unit"),
        (["--set", "policy=esay"], "did you mean 'easy'?"),
        (["--set", "load=x0"], "load=x0: expected a factor such as x1.1 or +10%, or a load such as 0.9, above 0"),
        (
            ["--set", "walltime=3 weeks"],
            "walltime=3 weeks: expected a factor such as x0.5 or -50%, or a longest time such",
        ),
        (["--set", "nodes=3", "--set", "nodes=4", "--together"], "--together: nodes is set to 3 and to 4"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, before anything runs."""
    out = log.parent / "mistakes"
    assert main(["whatif", str(log), *arguments, "--out", str(out)]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert message in said[0]
    assert not list(out.glob("*/run.json"))
