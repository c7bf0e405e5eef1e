"""Small cases that a real Slurm (22.05.8, 24.11.5) has run: its listings are imported, its jobs are played."""

import json
import lzma
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

LATE_S = 2.1
"""A real start is late by the intervals of passes and of polls, and those of the jobs before it."""


def workload_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """The jobs of a case as a workload of Batsim."""
    jobs, profiles = [], {}
    for number, stated in enumerate(case["jobs"], 1):
        args = {
            key: value for argument in stated["args"] for key, value in re.findall(r"^-+([a-z]+=|[Ln])(.*)", argument)
        }
        tasks, _, limit = args.get("array=", "").partition("%")
        first, _, last = tasks.partition("-")
        profile = str(stated["run"])
        profiles[profile] = {"type": "delay", "delay": stated["run"]}
        for task in range(int(first), int(last) + 1) if tasks else (None,):
            job: dict[str, Any] = {
                "id": f"{number}" if task is None else f"{number}_{task}",
                "subtime": stated["at"],
                "res": int(args["nodes="]),
                "walltime": 60 * int(args["time="]),
                "profile": profile,
                "user": stated.get("user", "ann"),
            }
            job |= {"array": number, "array_limit": int(limit)} if task is not None else {}
            job |= {"qos": args["qos="]} if "qos=" in args else {}
            job |= {"licenses": args["L"]} if "L" in args else {}
            job |= {"cpus": int(args["n"])} if "n" in args else {}
            job |= {"depends": re.sub(r"\{j(\d+)\}", r"\1", args["dependency="])} if "dependency=" in args else {}
            job |= {"nice": int(args["nice="])} if "nice=" in args else {}
            jobs.append(job)
    return {"nb_res": case["count"], "jobs": jobs, "profiles": profiles}


def played(name: str, reference: Path, folder: Path) -> tuple[dict[str, Any], Path]:
    """The recording of a case, and the results of its run here."""
    kept = reference / "data" / "cases" / "slurm" / name
    case = json.loads((kept / "case.json").read_text())
    real = json.loads(lzma.decompress((kept / "out.json.xz").read_bytes()))
    (folder / "workload.json").write_text(json.dumps(workload_of(case)))
    for file, text in {**real["shown"], "slurm.conf": real["slurm.conf"]}.items():
        (folder / file).write_text(text)
    files = [str(folder / file) for file in (*real["shown"], "slurm.conf")]
    site = str(folder / "site.toml")
    assert main(["site", "import", *files, "--out", site]) == 0
    release = case.get("release", "22.05")
    begins = datetime.fromtimestamp(real["origin"], UTC).strftime("%Y-%m-%dT%H:%M:%S")
    run = [
        *("run", "-w", str(folder / "workload.json"), "--site", site, "--policy", f"slurm-backfill:release={release}"),
        *("--engine", "fixed", "--begins", begins, "--no-plots", "--no-uncontended", "--explain"),
        *("--out", str(folder / "out")),
    ]
    assert main(run) == 0
    return real, next((folder / "out").rglob("jobs.csv")).parent


def real_starts(real: Mapping[str, Any]) -> dict[str, list[float]]:
    """Starts of each job and task as polled (s after the first submission)."""
    names = {slurm: name for name, slurm in real["ids"].items()}
    found: dict[str, list[float]] = {}
    before: dict[str, str] = {}
    for time_s, slurm, state, *_ in real["states"]:
        number, _, task = slurm.partition("_")
        name = names[number] + (f"_{task}" if task else "")
        if state == "RUNNING" and before.get(name) != state:
            found.setdefault(name, []).append(time_s)
        before[name] = state
    return found


@pytest.mark.parametrize("name", ["array-min", "lic-min", "limits-min", "qos-requeue", "sprio8"])
def test_starts(name: str, reference: Path, tmp_path: Path) -> None:
    """Every start is the real one, to the interval of passes; they were off by up to 103 s.

    * Of an array of which one task may run at a time the second one runs before a job that came after it.
    * A job that waits for licenses is planned on nodes that become free by then, and leaves the idle ones to others.
    * A job whose QOS has a limit of its own is charged to its account, too, and keeps the next one waiting.
    * A requeued job waits for 121 s, and the others need not wait for it.
    """
    real, run = played(name, reference, tmp_path)
    ours: dict[str, list[float]] = {}
    for row in csv_rows(run / "jobs.csv"):
        ours.setdefault(row["job_id"].partition("#")[0], []).append(float(row["starting_time"]))
    for job, starts in real_starts(real).items():
        assert sorted(ours[job]) == pytest.approx(starts, abs=LATE_S), job


@pytest.mark.parametrize("name", ["sprio8", "sprio8-tres"])
def test_priorities_on_nodes_of_several_cpus(name: str, reference: Path, tmp_path: Path) -> None:
    """The terms of ``sprio`` for size and TRES at 40 and 70 s, on four nodes of 8 CPUs.

    Until the next calculation the CPUs that a job requests count (one for each node, unless it requests 8), then those
    of its whole nodes; resources always count as requested.
    """
    real, run = played(name, reference, tmp_path)
    ours = {job: [row for row in csv_rows(run / "priorities.csv") if row["job_id"] == job] for job in real["ids"]}
    for place, (_, listing, _) in enumerate(real["looks"]):
        for line in listing.splitlines():
            job, _, _, _, _, _, size, partition, qos, nice, *tres = line.split()
            row = ours[job][(0, -1)[place]]
            named = dict(term.partition("=")[::2] for term in tres[0].split(",")) if tres else {}
            stated = [round(float(row[key])) for key in ("size", "partition", "qos", "nice")]
            assert stated == [int(term) for term in (size, partition, qos, nice)], (job, place)
            played_tres = sum(int(named.get(key, 0)) for key in ("cpu", "node"))
            assert float(row["tres"]) == pytest.approx(played_tres, abs=1.0), job
