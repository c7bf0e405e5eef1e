"""Jobs run beyond their limits as Slurm lets them (OverTimeLimit, KillWait); plans use the limits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
from spillway.base.errors import RemoteProtocolError
from spillway.schedulers.model.job import read_job
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows

_SITE = """
nodes = 4
[scheduler]
kill_wait_s = 30
{more}
[[partition]]
name = "p"
default = true
longest_s = 500
default_s = 100
"""

Jobs = Sequence[Mapping[str, Any]]


def played(folder: Path, jobs: Jobs, *options: str, more: str = "", site: bool = True) -> dict[str, Any]:
    """Start, end, success and requested time of each job on four nodes of a site."""
    every = {"subtime": 0, "res": 4, "profile": "300"}
    runs = {20, 50, 85, 300}
    data = {
        "nb_res": 4,
        "jobs": [{"id": str(number), **every, **job} for number, job in enumerate(jobs, start=1)],
        "profiles": {str(run): {"type": "delay", "delay": run} for run in runs},
    }
    (folder / "site.toml").write_text(_SITE.format(more=more))
    given = ["--site", str(folder / "site.toml")] if site else ["--platform", "nodes:4"]
    rows = csv_rows(play_run(folder, data, *given, *options) / "jobs.csv")
    times = ("starting_time", "finish_time", "requested_time")
    return {row["job_id"]: (*(round(float(row[time]), 3) for time in times), row["success"]) for row in rows}


OVERRUN: Jobs = ({"walltime": 60}, {"subtime": 1, "walltime": 100, "profile": "50"})
WAYS = {"direct": [], "bytes": ["--transport", "bytes"], "zmq": ["--transport", "zmq"]}


@pytest.mark.parametrize("way", WAYS)
def test_a_job_is_killed_kill_wait_after_its_limit(way: str, tmp_path: Path) -> None:
    """Job 1 requests 60 s and would run for 300: it is told to end at 60 s and killed at 90, when job 2 starts."""
    assert played(tmp_path, OVERRUN, "--policy", "easy", *WAYS[way]) == {
        "1": (0, 90, 60, "0"),
        "2": (90, 140, 100, "1"),
    }


@pytest.mark.parametrize("model", ["checkpointed", "io"])
def test_under_models_that_run_jobs_in_pieces(model: str, tmp_path: Path) -> None:
    """The same times: the scheduler watches its walltime there."""
    found = played(tmp_path, OVERRUN, "--policy", "fcfs", "--model", model)
    assert found["1"] == (0, 90, 60, "0")
    assert found["2"][0] == 90


@pytest.mark.parametrize(("over", "end_s", "success"), [("120", 210, "0"), ('"unlimited"', 300, "1")])
def test_over_time_limit(over: str, end_s: float, success: str, tmp_path: Path) -> None:
    """Two minutes and then 30 s; without a limit the job runs to its own end."""
    found = played(tmp_path, OVERRUN, "--policy", "easy", more=f"over_time_limit_s = {over}")
    assert found["1"] == (0, end_s, 60, success)
    assert found["2"][0] == end_s


def test_a_job_that_ends_in_its_grace_succeeds(tmp_path: Path) -> None:
    """It needs 85 s for 60 requested ones, as a log states them."""
    assert played(tmp_path, [{"walltime": 60, "profile": "85"}], "--policy", "easy") == {"1": (0, 85, 60, "1")}


def test_a_default_walltime(tmp_path: Path) -> None:
    """The partition's default of 100 s, and 30 s more."""
    found = played(tmp_path, [{}, OVERRUN[1]], "--policy", "easy")
    assert found["1"][:2] == (0, 130)
    assert found["2"][0] == 130


TWO = {"res": 2, "profile": "20"}
OVERDUE: Jobs = (
    {"res": 2, "walltime": 60},
    {"subtime": 1, "walltime": 100, "profile": "50"},
    {"subtime": 2, "walltime": 58, **TWO},
    {"subtime": 30, "walltime": 90, **TWO},
    {"subtime": 65, "walltime": 85, **TWO},
    {"subtime": 65, "walltime": 86, **TWO},
    {"subtime": 125, "walltime": 20, **TWO},
)
"""Job 1 has two of four nodes, requests 60 s, is told to end at 120 s and killed at 150; job 2 needs all four."""


@pytest.mark.parametrize("options", [(), ("--estimates", "history"), ("--thesis-literal",)])
@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_plans_use_limits(policy: str, options: Sequence[str], tmp_path: Path) -> None:
    """At 2 s job 3 (58 s) may start, as it ends at 60 s, when 2 is planned; at 30 s 4 (90 s) may not.

    From 60 s on job 1 is overdue and expected to end at once, as Slurm 22.05 (``select/linear``, OverTimeLimit=1)
    planned the waiting job a second later in each pass and let no other one past: 5, 6 and 7 wait, 2 starts at 150 s.
    """
    played_so = played(tmp_path, OVERDUE, "--policy", policy, *options, more="over_time_limit_s = 60")
    assert {job: found[0] for job, found in played_so.items() if job in "1234"} == {"1": 0, "2": 150, "3": 2, "4": 200}
    assert min(played_so[job][0] for job in "567") == 200


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_under_cons_tres_an_overdue_job_is_expected_at_its_kill(policy: str, tmp_path: Path) -> None:
    """Slurm 22.05 planned the waiting job at limit + 60 + 30 s while job 1 was over its limit.

    At 65 s job 5 (85 s) may start, since it ends by 150 s, and 6 (86 s) may not; at 125 s 7 (20 s) may, 8 (26 s) not.
    """
    more = 'over_time_limit_s = 60\nselect = "cons_tres"'
    jobs = (*OVERDUE, {"subtime": 125, "walltime": 26, **TWO})
    starts = {job: found[0] for job, found in played(tmp_path, jobs, "--policy", policy, more=more).items()}
    assert {job: starts[job] for job in "123457"} == {"1": 0, "2": 150, "3": 2, "4": 200, "5": 65, "7": 125}
    assert min(starts["6"], starts["8"]) == 200


def test_a_job_that_is_submitted_again_keeps_its_limit(tmp_path: Path) -> None:
    """A node is out from 10 to 20 s: the next attempt of job 1 runs from then for 60 + 30 s."""
    (tmp_path / "out.events").write_text(
        '{"type": "machine_unavailable", "timestamp": 10, "resources": "0"}\n'
        '{"type": "machine_available", "timestamp": 20, "resources": "0"}\n'
    )
    more = ("--events", str(tmp_path / "out.events"), "--on-outage", "requeue")
    found = played(tmp_path, [{"walltime": 60}], "--policy", "easy", *more)
    (again,) = (name for name in found if "#" in name)
    assert found[again] == (20, 110, 60, "0")


def test_without_the_setting_jobs_end_at_their_limits(tmp_path: Path) -> None:
    """Without a site, unless the workload states both: the limit is planned, the walltime is the kill."""
    assert played(tmp_path, OVERRUN, "--policy", "easy", site=False)["1"] == (0, 60, 60, "0")
    (tmp_path / "own").mkdir()
    stated = [{"walltime": 90, "time_limit_s": 60}, OVERRUN[1]]
    assert played(tmp_path / "own", stated, "--policy", "easy", site=False)["1"] == (0, 90, 60, "0")


@pytest.mark.parametrize("value", [0, -1, "60", True, 91])
def test_a_limit_is_positive_and_at_most_the_walltime(value: Any) -> None:
    """Read with the job, like its walltime."""
    fields = {"id": "1", "subtime": 0, "res": 1, "profile": "p", "walltime": 90, "time_limit_s": value}
    with pytest.raises(RemoteProtocolError, match="'time_limit_s' must be a time above 0 s, at most the job"):
        read_job("w0!1", fields, None, 0, 0.0)


def test_steps(tmp_path: Path) -> None:
    """The caller's own scheduler sees the limit; the kill comes after it."""
    (tmp_path / "site.toml").write_text(_SITE.format(more=""))
    jobs = [
        {"submit_s": 0, "run_s": 300, "nodes": 4, "walltime_s": 60},
        {"submit_s": 1, "run_s": 50, "nodes": 4, "walltime_s": 60},
    ]
    settings = {"site": str(tmp_path / "site.toml")}
    with sw.Simulation(sw.log(jobs, nodes=4), machine="nodes:4", settings=settings) as steps:
        while steps.step():
            for job in steps.queue:
                if steps.fits(job):
                    assert job.walltime_s == 60
                    steps.start(job)
        first, second = (row["start_s"] for row in steps.jobs)
    assert round(second - first, 2) == 90
