"""Failures by rate and by trace: the file of events that they make, and the same spelling everywhere."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.failures import Failures, events_text, horizon_s, parse
from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.simulator.reading.events import load_events
from spillway.workloads.batsim.workload import Workload, WorkloadJob

TINY = parse_platform(resolve_platform("tiny"))
"""Eight nodes n0 to n7 (ids 0 to 7), storage nodes 8 and 9, and the file system, 10."""


def jobs(count: int = 3) -> Workload:
    """Jobs of four nodes and 600 s, a minute apart."""
    made = tuple(WorkloadJob(number, 60 * number, 4, "p", 600) for number in range(count))
    return Workload("w", 8, made, {"p": {"type": "delay", "delay": 500}})


def events(text: str, seed: int = 0, workload: Workload | None = None) -> list[dict[str, Any]]:
    """The events that a generator makes for the platform tiny."""
    generator = parse(text)
    assert generator is not None
    return [json.loads(line) for line in events_text(generator, TINY, workload or jobs(), seed).splitlines()]


def test_each_host_goes_and_comes_back_in_turn(tmp_path: Path) -> None:
    """Batsim refuses a host that goes out twice; repairs take the stated time; the simulator reads the file."""
    made = events("failures:node_mtbf=900,storage_mtbf=2000,repair=120,until=50000", seed=3)
    assert [event["timestamp"] for event in made] == sorted(event["timestamp"] for event in made)
    by_host = defaultdict(list)
    for event in made:
        by_host[int(event["resources"])].append((event["timestamp"], event["type"]))
    assert set(by_host) == set(range(10)), "the file system does not fail"
    for story in by_host.values():
        assert [kind for _, kind in story] == ["machine_unavailable", "machine_available"] * (len(story) // 2)
        for (down_s, _), (up_s, _) in zip(story[::2], story[1::2], strict=True):
            assert up_s - down_s == pytest.approx(120)
            assert down_s < 50_000
    path = tmp_path / "made.events"
    path.write_text("".join(json.dumps(event) + "\n" for event in made))
    assert len(load_events(path, 11, forward_unknown=False)) == len(made)


def test_rates() -> None:
    """Over a long time a host fails once every MTBF and repair: 8 nodes, 2 storage nodes, 2 000 failures and more."""
    made = events("failures:node_mtbf=900,storage_mtbf=1900,repair=100,until=300000")
    down = [int(event["resources"]) for event in made if event["type"] == "machine_unavailable"]
    nodes = sum(host < 8 for host in down)
    assert nodes == pytest.approx(8 * 300, rel=0.05)
    assert len(down) - nodes == pytest.approx(2 * 150, rel=0.15)


def test_seeds() -> None:
    """Same seed, same failures; the generator's own seed goes before the run's; hosts do not depend on each other."""
    text = "failures:node_mtbf=900,until=20000"
    assert events(text, 1) == events(text, 1) != events(text, 2)
    assert events(f"{text},seed=1", 7) == events(text, 1)
    both = events(f"{text},storage_mtbf=900", 1)
    assert [event for event in both if int(event["resources"]) < 8] == events(text, 1)


def test_horizon_by_hand() -> None:
    """Three jobs of 4 nodes and 600 s on 8 nodes: last submission at 120 s, 900 s of the machine, twice."""
    assert horizon_s(jobs(), 8) == 120 + 2 * 900
    assert horizon_s(jobs(1), 8) == 2 * 600, "no less than the longest job"
    assert max(event["timestamp"] for event in events("failures:node_mtbf=300,repair=1")) < 1921


def test_a_trace(tmp_path: Path) -> None:
    """Outages by the names of hosts; one without an end is for good."""
    path = tmp_path / "trace.csv"
    path.write_text("host,down_s,up_s\nn3,50,500\nbb1,70,\nn3,600,601.5\n")
    assert events(f"failures:trace={path}") == [
        {"timestamp": 50.0, "type": "machine_unavailable", "resources": "3"},
        {"timestamp": 70.0, "type": "machine_unavailable", "resources": "9"},
        {"timestamp": 500.0, "type": "machine_available", "resources": "3"},
        {"timestamp": 600.0, "type": "machine_unavailable", "resources": "3"},
        {"timestamp": 601.5, "type": "machine_available", "resources": "3"},
    ]


def test_a_trace_with_parts(tmp_path: Path) -> None:
    """Rows with bytes drain as many bytes of a storage node, and bring it back; the others are outages."""
    path = tmp_path / "trace.csv"
    path.write_text("host,down_s,up_s,drained_bytes\nbb0,50,500,4000000000\nbb1,70,80,\n")
    assert events(f"failures:trace={path}") == [
        {"timestamp": 50.0, "type": "storage_drained", "resources": "8", "bytes": 4_000_000_000},
        {"timestamp": 70.0, "type": "machine_unavailable", "resources": "9"},
        {"timestamp": 80.0, "type": "machine_available", "resources": "9"},
        {"timestamp": 500.0, "type": "storage_drained", "resources": "8", "bytes": 0},
    ]


def test_failures_of_a_part() -> None:
    """At the times at which whole storage nodes would fail, a quarter of 10 GB goes; compute nodes fail as before."""
    text = "failures:storage_mtbf=900,node_mtbf=5000,until=20000"
    whole, parts = events(text), events(f"{text},storage_part=0.25")
    assert [(event["timestamp"], event["resources"]) for event in parts] == [
        (event["timestamp"], event["resources"]) for event in whole
    ]
    for before, event in zip(whole, parts, strict=True):
        if int(event["resources"]) < 8:
            assert event == before
        else:
            assert event["type"] == "storage_drained"
            assert event["bytes"] == (2_500_000_000 if before["type"] == "machine_unavailable" else 0)


@pytest.mark.parametrize(("lines", "message"), [
    ("host,down,up\n", "1: expected the columns host,down_s,up_s[,drained_bytes], got 'host,down,up'"),
    ("", "1: expected the columns"),
    ("host,down_s,up_s\nn99,1,2\n", "2: the machine has no host 'n99'"),
    ("host,down_s,up_s\nn1,5,4\n", "2: expected 0 <= down_s < up_s"),
    ("host,down_s,up_s\nn1,nan,4\n", "2: expected 0 <= down_s < up_s"),
    ("host,down_s,up_s\nn1,5\n", "2: expected host,down_s,up_s, got 2 fields"),
    ("host,down_s,up_s,drained_bytes\nbb0,5,9,-1\n", "2: expected a whole number of drained_bytes above 0"),
    ("host,down_s,up_s,drained_bytes\nbb0,5,9\n", "expected host,down_s,up_s,drained_bytes, got 3 fields"),
    ("host,down_s,up_s\nn1,5,9\nn1,7,20\n", "host n1 goes out at 7 s and is out until 9 s already"),
])  # fmt: skip
def test_wrong_traces(lines: str, message: str, tmp_path: Path) -> None:
    """Named with file, line and host."""
    path = tmp_path / "trace.csv"
    path.write_text(lines)
    with pytest.raises(SpecError) as caught:
        events(f"failures:trace={path}")
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [
    ("failures", "expected rates"),
    ("failures:node_mtbf=9,trace=x.csv", "expected rates"),
    ("failures:mtbf=9", "unknown option"),
    ("failures:node_mtbf=9,storage_part=0.5", "storage_part goes with storage_mtbf"),
    ("failures:storage_mtbf=9,storage_part=0", "storage_part"),
    ("failures:node_mtbf=-1", "node_mtbf"),
    ("failures:node_mtbf=9,repair=0", "repair"),
    ("failures:node_mtbf=1,repair=1,until=1e9", "more than 5,000,000"),
])  # fmt: skip
def test_wrong_options(text: str, message: str) -> None:
    """Refused with the expected form."""
    with pytest.raises(SpecError, match=message):
        events(text)


def test_a_file_is_no_generator() -> None:
    """Only the generator's own name is taken as one."""
    assert parse("failures.jsonl") is None
    assert parse("failures:node_mtbf=5") == Failures(node_mtbf=5.0)


def test_doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``run`` and a campaign file make the same runs; the file that was made repeats them; each seed has its own."""
    monkeypatch.chdir(tmp_path)
    job = {"id": 1, "subtime": 0, "res": 4, "profile": "p", "walltime": 900}
    profiles = {"p": {"type": "delay", "delay": 600}}
    Path("jobs.json").write_text(json.dumps({"nb_res": 8, "jobs": [job], "profiles": profiles}))
    text = "failures:node_mtbf=2000,repair=60"
    command = ["run", "--workload", "jobs.json", "--platform", "tiny", "--policy", "easy", "--no-plots"]
    assert main([*command, "--on-outage", "requeue", "--events", text, "--out", "one"]) == 0
    Path("c.toml").write_text(
        f'events = "{text}"\nplots = false\nseeds = [0, 1]\n[[workload]]\nsource = "jobs.json"\n'
        '[[platform]]\nsource = "tiny"\n[[policy]]\npolicy = "easy"\nsession = { on_outage = "requeue" }\n'
    )
    assert main(["c.toml", "--out", "two"]) == 0
    (made,) = Path("one/inputs").glob("failures-*.events")
    assert made.name in {path.name for path in Path("two/inputs").glob("failures-*.events")}
    assert len(list(Path("two/inputs").glob("failures-*.events"))) == 2
    assert main([*command, "--on-outage", "requeue", "--events", str(made), "--out", "three"]) == 0
    tables = [next(Path(out).glob("jobs_*s0_*/jobs.csv")).read_bytes() for out in ("one", "two", "three")]
    assert tables[0] == tables[1] == tables[2]
    assert b"1#2" in tables[0], "the job was interrupted"
