"""Sequences of operations through ``run_experiments.py run``: any policy with any control, one row per real job."""

import json
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_by

BANDWIDTH = 240e9
"""Of the built-in platform mira."""


def write(path: Path, walltime_s: float = 5000.0) -> Path:
    """Three jobs of 32 midplanes and 2 x (100 s + 50 s of I/O), side by side; the last one has a walltime."""
    periods = {"count": 2, "compute_s": 100.0, "io_bytes": 50 * BANDWIDTH}
    profile = {"type": "delay", "delay": 300.0, "periods": periods}
    jobs = [{"id": str(i), "subtime": 0, "res": 32, "profile": "p", "requested_s": 300} for i in range(3)]
    jobs[2]["walltime"] = walltime_s
    path.write_text(json.dumps({"nb_res": 96, "jobs": jobs, "profiles": {"p": profile}}), encoding="utf-8")
    return path


def rows(tmp_path: Path, workload: Path, *arguments: str, model: str = "operations") -> dict[str, dict[str, str]]:
    """Run and read the real jobs' rows."""
    command = ["run", "--workload", str(workload), "--platform", "mira", "--model", model, "--no-plots"]
    assert (
        main([*command, "--estimates", "requested", "--workers", "1", "--out", str(tmp_path / "out"), *arguments]) == 0
    )
    (path,) = (tmp_path / "out").glob("*/jobs.csv")
    return csv_by(path)


@pytest.mark.parametrize(
    ("policy", "arguments", "ends", "waits"),
    [
        # exclusive: transfers 100-150, 150-200, 200-250; then 250-300, 300-350, 350-400
        ("pack", ["--io-control", "exclusive"], [300, 350, 400], [0, 50, 100]),
        # shared: each of three transfers takes 150 s
        ("list", ["--io-control", "shared"], [500, 500, 500], [0, 0, 0]),
        ("conservative", ["--io-control", "exclusive", "--transport", "zmq"], [300, 350, 400], [0, 50, 100]),
    ],
)
def test_three_jobs_by_hand(
    tmp_path: Path, policy: str, arguments: list[str], ends: list[float], waits: list[float]
) -> None:
    """Ends and waits under any policy: a policy does not depend on the control."""
    found = rows(tmp_path, write(tmp_path / "w.json"), "--policy", policy, *arguments)
    assert [float(found[str(i)]["finish_time"]) for i in range(3)] == pytest.approx(ends, abs=1e-3)
    assert [float(found[str(i)]["io_wait_s"]) for i in range(3)] == pytest.approx(waits, abs=1e-3)
    assert [row["operations"] for row in found.values()] == ["4"] * 3
    assert {row["final_state"] for row in found.values()} == {"COMPLETED_SUCCESSFULLY"}
    assert (tmp_path / "out").exists()


def test_a_walltime_ends_a_job_that_waits(tmp_path: Path) -> None:
    """Job 2 requests its turn at 100 s and would begin at 200; its 180 s are over before, while nothing of it runs."""
    found = rows(tmp_path, write(tmp_path / "w.json", 180.0), "--policy", "easy", "--io-control", "exclusive")
    assert found["2"]["final_state"] == "COMPLETED_WALLTIME_REACHED"
    assert float(found["2"]["finish_time"]) == pytest.approx(180.0, abs=1e-3)
    assert float(found["1"]["finish_time"]) == pytest.approx(350.0, abs=1e-3)
    assert found["2"]["allocated_resources"] != ""


RACKS = """
name = "racks"
topology = "tree"
[[cluster]]
name = "c"
uplink = { name = "core", bandwidth = "2GBps", latency = 0 }
levels = [
  { name = "rack", count = 2, bandwidth = "1GBps", latency = 0 },
  { name = "node", count = 2, bandwidth = "10GBps", latency = 0 },
]
[pfs]
bandwidth = "2GBps"
latency = 0
[master]
latency = 0
"""


def on_racks(
    folder: Path, jobs: list[dict[str, Any]], profiles: dict[str, Any], *arguments: str, model: str = "operations"
) -> dict[str, dict[str, str]]:
    """Rows of the jobs 0, 1, ... on two racks of two nodes, each behind an I/O node of 1 GB/s."""
    folder.mkdir(exist_ok=True)
    (folder / "racks.toml").write_text(RACKS, encoding="utf-8")
    listed = [{"id": str(number), "subtime": 0, **job} for number, job in enumerate(jobs)]
    data = {"nb_res": 4, "jobs": listed, "profiles": profiles}
    (folder / "w.json").write_text(json.dumps(data), encoding="utf-8")
    return rows(folder, folder / "w.json", "--platform", str(folder / "racks.toml"), *arguments, model=model)


PERIODS = {"type": "delay", "delay": 500.0, "periods": {"count": 2, "compute_s": 100.0, "io_bytes": 150e9}}


@pytest.mark.parametrize("policy", ["list", "pack"])
def test_packs_respect_io_nodes(tmp_path: Path, policy: str) -> None:
    """Two jobs of one node, 2 x (100 s + 150 GB), a 1 GB/s I/O node per rack: 500 s uncontended, 0.6 GB/s on the
    average. Two of them overload a rack (1.2 GB/s) and not the file system (2 GB/s), so each gets a rack of its own:
    both end at 500 s. On one rack they would wait 50 and 200 s for each other and end at 550 and 700 s."""
    job = {"res": 1, "profile": "p", "requested_s": 500, "io_rate": 600_000_000}
    chosen = ("--policy", policy, "--io-node-depth", "1", "--io-control", "exclusive")
    found = on_racks(tmp_path, [job, job], {"p": PERIODS}, *chosen)
    assert [float(found[str(i)]["finish_time"]) for i in range(2)] == pytest.approx([500, 500], abs=1e-3)
    assert [float(found[str(i)]["io_wait_s"]) for i in range(2)] == pytest.approx([0, 0], abs=1e-3)


def test_slowdown_by_contention_of_operations(tmp_path: Path) -> None:
    """The stretch of Jeannot et al., rho: two jobs of two nodes, 2 x (100 s + 150 GB), each in a rack of 1 GB/s: 500 s
    uncontended. One transfer at a time: job 0 transfers in [100, 250] and [400, 550], for which it waits 50 s, job 1 in
    [250, 400] and [550, 700]: 1.1 and 1.4. All at once each has its own rack: 1. A third one, submitted late: 1."""
    profiles = {"p": PERIODS, "d": {"type": "delay", "delay": 50.0}}
    jobs = [{"subtime": at, "res": 2, "profile": name} for at, name in ((0, "p"), (0, "p"), (1000, "d"))]
    for control, slowdowns in {"exclusive": [1.1, 1.4, 1.0], "shared": [1.0, 1.0, 1.0]}.items():
        found = on_racks(tmp_path / control, jobs, profiles, "--policy", "fcfs", "--io-control", control)
        values = [float(found[str(i)]["contention_slowdown"]) for i in range(3)]
        assert values == pytest.approx(slowdowns, abs=1e-6)
        assert float(found["0"]["uncontended_s"]) == pytest.approx(500.0, abs=1e-3)
    for name, option in (("fixed", "--engine=fixed"), ("without", "--no-uncontended")):
        found = on_racks(tmp_path / name, jobs, profiles, "--policy", "fcfs", option)
        assert "contention_slowdown" not in found["0"]


STREAM = {"type": "io_stream", "cpu": 1e6, "io_bytes": 100e9}
BESIDE = {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0}


@pytest.mark.parametrize(("model", "profile", "more"), [("stream", BESIDE, {"io_bytes": 100e9}), ("rigid", STREAM, {})])
def test_slowdown_by_contention_of_streams(
    model: str, profile: dict[str, Any], more: dict[str, Any], tmp_path: Path
) -> None:
    """Two jobs of one node in one rack of 1 GB/s, each with 100 GB beside a millisecond of computing: 100 s
    uncontended, 200 s together; by the job model, or by the simulator's own profile; there a job without bytes has
    no such time, nor a run of these."""
    profiles = {"p": profile, "d": {"type": "delay", "delay": 50.0}}
    streams, last = [{"res": 1, "walltime": 1000, "profile": "p", **more}] * 2, {"res": 1, "profile": "d"}
    found = on_racks(tmp_path / "streams", [*streams, last], profiles, "--policy", "fcfs", model=model)
    for number in "01":
        assert float(found[number]["uncontended_s"]) == pytest.approx(100.0, abs=1e-2)
        assert float(found[number]["contention_slowdown"]) == pytest.approx(2.0, abs=1e-3)
    if model == "rigid":
        assert found["2"]["uncontended_s"] == ""
        alone = on_racks(tmp_path / "none", [last], profiles, "--policy", "fcfs", model=model)
        assert "uncontended_s" not in alone["0"]
