"""Advance reservations of a site, by hand; and over drawn jobs and policies."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.cli import main
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import Reservation
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows, starts
from tests.kit.workloads import delays
from tests.schedulers.policykit.test_preemption import GB, play

_SITE = """
name = "small"
nodes = 4

[[license]]
name = "solver"
count = 4

[[association]]
account = "lab"

[[association]]
account = "lab"
user = "ann"

[[association]]
account = "lab"
user = "bob"
"""


def _play(folder: Path, jobs: Sequence[Mapping[str, Any]], reservation: str, *options: str) -> Path:
    """Play jobs on the four nodes of a site with a reservation, under easy if no policy is named; the run's folder."""
    folder.mkdir(exist_ok=True)
    (folder / "site.toml").write_text(_SITE + reservation)
    names = {"at": "subtime", "nodes": "res", "run": "seconds"}
    data = delays(4, [{names.get(name, name): value for name, value in job.items()} for job in jobs])
    chosen = [] if "--policy" in options else ["--policy", "easy"]
    chosen += [] if "--platform" in options else ["--platform", "nodes:4"]
    chosen += [] if "--begins" in options else ["--begins", "1970-01-01"]
    return play_run(folder, data, *chosen, "--site", str(folder / "site.toml"), *options)


def _reserved(name: str, at_s: int, *lines: str) -> str:
    """A reservation, as in a site's file, that begins at a simulated time (s)."""
    start = f"start = 1970-01-01T00:{at_s // 60:02}:{at_s % 60:02}"
    return "\n".join(["", "[[reservation]]", f'name = "{name}"', start, *lines, ""])


def _rows(run: Path) -> dict[int, Mapping[str, str]]:
    return {int(row["job_id"]): row for row in csv_rows(run / "jobs.csv")}


def test_jobs_of_a_reservation_run_in_it(tmp_path: Path) -> None:
    """Nodes 0 and 1 are reserved from 100 to 200 s for ann.

    Job 1 names it and starts when it begins, on these nodes. Job 2, which needs one of them for 90 s, can start after 1
    only: 50 s are left then, so it is rejected. Job 3, of the others, takes all four nodes until 60 s, and 4 the two
    that are not reserved (it may take 150 s); 5, which needs three, starts when the reservation and 4 have ended, at
    210 s. Bob may not use it, 7 would take longer than it has, and 8 has its name wrong.
    """
    jobs: list[Mapping[str, Any]] = [
        {"at": 0, "nodes": 2, "run": 50, "walltime": 50, "user": "ann", "reservation": "school"},
        {"at": 0, "nodes": 1, "run": 90, "walltime": 90, "user": "ann", "reservation": "school"},
        {"at": 0, "nodes": 4, "run": 60, "walltime": 60, "user": "bob"},
        {"at": 0, "nodes": 2, "run": 150, "walltime": 150, "user": "bob"},
        {"at": 0, "nodes": 3, "run": 20, "walltime": 20, "user": "ann"},
        {"at": 0, "nodes": 1, "run": 20, "walltime": 20, "user": "bob", "reservation": "school"},
        {"at": 0, "nodes": 1, "run": 20, "walltime": 101, "user": "ann", "reservation": "school"},
        {"at": 0, "nodes": 1, "run": 20, "walltime": 20, "user": "ann", "reservation": "shool"},
    ]
    reservation = _reserved("school", 100, "length_s = 100", 'nodes = "0-1"', 'users = ["ann"]')
    run = _play(tmp_path, jobs, reservation)
    assert starts(run) == {1: 100, 3: 0, 4: 60, 5: 210}
    rows = _rows(run)
    assert (rows[1]["allocated_resources"], rows[4]["allocated_resources"]) == ("0-1", "2-3")
    reasons = (run / "rejections.csv").read_text()
    for words in (
        "walltime 90 s > 49.9",
        "reservation school is for the user ann, not for 'bob'",
        "walltime 101 s > 100 s, the longest that is left of reservation school",
        "reservation 'shool' is unknown; the site has school",
    ):
        assert words in reasons


def test_jobs_that_no_time_between_reservations_serves(tmp_path: Path) -> None:
    """Three of four licences are reserved for 40 of every 90 s from 200 s on, and all GB but four as long.

    Job 1 (two licences, 60 s) runs before that; 2 is the same and comes too late, so that it never can; 3 takes 50 s,
    just the gap between two; 4 has one licence and any duration. 5 needs 5 GB for 60 s, 6 only 4.
    """
    size = 1_000_000_000
    jobs = [
        {"at": 0, "nodes": 1, "run": 60, "walltime": 60, "licenses": "solver:2"},
        {"at": 150, "nodes": 1, "run": 60, "walltime": 60, "licenses": "solver:2"},
        {"at": 160, "nodes": 1, "run": 50, "walltime": 50, "licenses": "solver:2"},
        {"at": 160, "nodes": 1, "run": 300, "walltime": 300, "licenses": "solver:1"},
        {"at": 160, "nodes": 1, "run": 60, "walltime": 60, "bb": 5 * size},
        {"at": 160, "nodes": 1, "run": 60, "walltime": 60, "bb": 4 * size},
    ]
    reservation = _reserved(
        "r", 200, "length_s = 40", "every_s = 90", "licenses = { solver = 3 }", 'tres = { "bb/lua" = 6000000000 }'
    )
    run = _play(tmp_path, jobs, reservation, "--platform", "nodes:4,burst_buffer_total=10GB")
    assert starts(run) == {1: 0, 3: 240, 4: 160, 6: 160}
    reasons = {row["job_id"]: row["reason"] for row in csv_rows(run / "rejections.csv")}
    assert reasons == dict.fromkeys(
        ("2", "5"), "60 s at no time have the job's resources free: every 90 s reservation r keeps them"
    )


@pytest.mark.parametrize(("jobs", "reservation", "options"), [
    ([{"bb": 5 * GB}, {"bb": 4 * GB}], ("length_s = 40", "every_s = 90", 'tres = { "bb/lua" = 6000000000 }'),
     ("--bb-life", "slurm")),
    ([{"nodes": 4}, {"nodes": 1}], ("length_s = 40", "every_s = 80", 'nodes = "0-1"'),
     ("--maintenance", "45s 5s every 40s")),
])  # fmt: skip
def test_jobs_that_wait_for_ever(
    tmp_path: Path, jobs: list[Mapping[str, Any]], reservation: Sequence[str], options: Sequence[str]
) -> None:
    """A buffer that is given without end, before the nodes, is never free in the first case. In the second one the
    first job needs 33 s on all nodes: 35 are between two windows of maintenance, 40 between two reservations, 31 beside
    both. They are rejected when nothing has happened for twelve periods; the others run. Such runs had no end."""
    common = {"at": 0, "nodes": 1, "run": 30, "walltime": 33}
    listed = [{**common, **jobs[0]}, {**common, **jobs[1]}]
    platform = ("--platform", "nodes:4,burst_buffer_total=10GB")
    run = _play(tmp_path, listed, _reserved("r", 1, *reservation), *platform, *options)
    assert set(starts(run)) == {2}


def test_a_limit_of_users_counts_what_started_in_reservations(tmp_path: Path) -> None:
    """Ann may have 6 GB of burst buffer: her job of no reservation waits until that of the reservation has ended. Both
    are looked at in one pass, in which the one has just started."""
    common = {"at": 1, "nodes": 1, "run": 30, "walltime": 33, "user": "ann", "bb": 5 * GB}
    jobs = [{**common, "run": 20, "at": 0, "bb": GB}, common, {**common, "reservation": "r"}]
    reservation = _reserved("r", 0, "length_s = 500", 'nodes = "0-1"')
    options = ("--platform", "nodes:4,burst_buffer_total=20GB", "--bb-user-limit", "6e9")
    assert starts(_play(tmp_path, jobs, reservation, *options)) == {1: 0, 2: 31, 3: 1}


def test_what_the_nodes_of_a_reservation_lack(tmp_path: Path) -> None:
    """Nodes 0 and 1 are reserved every day, and only 2 and 3 have GPUs: a job that names it and needs a GPU is
    rejected, one without GPUs starts."""
    jobs = [
        {"at": 0, "nodes": 1, "run": 10, "walltime": 20, "gpus": 1, "reservation": "r"},
        {"at": 0, "nodes": 2, "run": 10, "walltime": 20, "reservation": "r"},
    ]
    gpus = '\n[[gpu]]\ncount = 2\nnodes = "2-3"\n'
    run = _play(tmp_path, jobs, _reserved("r", 5, "length_s = 100", "every_s = 86400", 'nodes = "0-1"') + gpus)
    assert starts(run) == {2: 5}
    (row,) = csv_rows(run / "rejections.csv")
    assert row["reason"] == "the nodes of reservation r cannot serve the job, even when all are free"


def test_who_may_use_a_reservation(tmp_path: Path) -> None:
    """As in Slurm: where users and accounts are stated, a job must match both; users and accounts that begin with a
    minus sign are kept out; accounts below count, too."""
    common = {"at": 0, "nodes": 1, "run": 10, "walltime": 20}
    named = [
        ("both", "ann", "lab"), ("both", "ann", "other"), ("both", "bob", "lab"), ("no-bob", "ann", "lab"),
        ("no-bob", "bob", "lab"), ("no-lab", "ann", "other"), ("no-lab", "ann", "team"), ("lab", "eve", "team"),
        ("lab", "eve", "other"),
    ]  # fmt: skip
    jobs = [{**common, "reservation": one, "user": user, "account": account} for one, user, account in named]
    below = '\n[[association]]\naccount = "team"\nparent = "lab"\n'
    times = ("length_s = 500", 'flags = ["FLEX"]')
    reservations = (
        _reserved("both", 0, *times, 'users = ["ann", "eve"]', 'accounts = ["lab"]')
        + _reserved("no-bob", 0, *times, 'users = ["-bob"]')
        + _reserved("no-lab", 0, *times, 'accounts = ["-lab"]')
        + _reserved("lab", 0, *times, 'accounts = ["lab"]')
    )
    run = _play(tmp_path, jobs, below + reservations)
    assert set(starts(run)) == {1, 4, 6, 8}
    reasons = {row["job_id"]: row["reason"] for row in csv_rows(run / "rejections.csv")}
    assert reasons == {
        "2": "reservation both is for the account lab, not for 'other'",
        "3": "reservation both is for the users ann, eve, not for 'bob'",
        "5": "reservation no-bob is not for the user bob",
        "7": "reservation no-lab is not for the account lab",
        "9": "reservation lab is for the account lab, not for 'other'",
    }


def test_reservations_with_dates_need_the_date_of_time_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reservation of all nodes begins 100 s after time 0, with the date stated by the option or the workload."""
    job = {"at": 0, "nodes": 1, "run": 50, "walltime": 150}
    reservation = (
        '[[reservation]]\nname = "down"\nstart = 2026-12-01T08:01:40\nlength_s = 100\nflags = ["MAINT", "ALL_NODES"]\n'
    )
    assert starts(_play(tmp_path, [job], reservation, "--begins", "2026-12-01T08:00:00")) == {1: 200}
    text = json.loads((tmp_path / "w.json").read_text())
    options = ["--policy", "easy", "--site", str(tmp_path / "site.toml"), "--no-plots", "--platform", "nodes:4"]
    assert main(["run", str(tmp_path / "w.json"), *options, "--out", str(tmp_path / "two")]) == 2
    assert "reservation 'down' of the site begins at a date" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "w.json"), *options, "--begins", "soon"]) == 2
    assert "setting begins: expected a date such as 2026-12-01T08:00:00, got 'soon'" in capsys.readouterr().err
    (tmp_path / "v.json").write_text(json.dumps(text | {"begins_s": 1_796_112_000}))
    assert main(["run", str(tmp_path / "v.json"), *options, "--out", str(tmp_path / "three")]) == 0
    (run,) = (tmp_path / "three").glob("v_*")
    assert starts(run) == {1: 200}
    (tmp_path / "v.json").write_text(json.dumps(text | {"begins_s": "December"}))
    assert main(["run", str(tmp_path / "v.json"), *options, "--out", str(tmp_path / "four")]) == 2
    assert "$.begins_s: must be seconds since 1970" in capsys.readouterr().err


def test_maintenance_at_a_date(tmp_path: Path) -> None:
    """A window at a date of a log that states dates: the second job would run into it and starts at its end."""
    head = "JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS\n"
    rows = [
        f"{number}|ann|lab|p|normal|COMPLETED|2026-12-01T08:00:0{number}|2026-12-01T08:00:0{number}|"
        f"2026-12-01T08:00:0{number}|2026-12-01T08:01:0{number}|60|00:0{limit}:00|4|4\n"
        for number, limit in ((1, 1), (2, 8))
    ]
    (tmp_path / "jobs.txt").write_text(head + "".join(rows))
    options = ["--policy", "fcfs", "--maintenance", "2026-12-01T08:05 10min", "--no-replay", "--no-plots"]
    assert main(["run", str(tmp_path / "jobs.txt"), *options, "--nodes", "4", "--out", str(tmp_path / "out")]) == 0
    (run,) = (tmp_path / "out").glob("jobs_*")
    assert starts(run) == {1: 1, 2: 900}


_DRAWN = st.fixed_dictionaries(
    {
        "at": st.integers(0, 60),
        "nodes": st.integers(1, 3),
        "run": st.sampled_from([5, 20, 30]),
        "walltime": st.sampled_from([30, 45]),
    },
    optional={"reservation": st.just("r"), "licenses": st.sampled_from(["solver:1", "solver:3"])},
)
_POLICIES = ["fcfs", "filler", "easy", "sjf-easy:depth=2", "conservative", "plan:steps=20", "window", "maxutil"]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(_DRAWN, min_size=2, max_size=10),
    st.sampled_from([*_POLICIES, "easy-no-bb", "slurm-backfill", "list"]),
    st.sampled_from(["length_s = 60", "length_s = 50\nevery_s = 110"]),
    st.sampled_from(["with-nodes", "slurm"]),
)
def test_reserved_nodes_are_for_jobs_of_the_reservation(
    jobs: list[Mapping[str, Any]], policy: str, times: str, life: str
) -> None:
    """Under any policy: within the reservation its nodes serve only its jobs, which run only there and then; each job
    runs or is rejected; notes change nothing."""
    reservation = _reserved("r", 40, times, 'nodes = "1-2"', "licenses = { solver = 2 }")
    with TemporaryDirectory() as name:
        options = ["--policy", policy, "--bb-life", life]
        run = _play(Path(name) / "one", jobs, reservation, *options)
        other = _play(Path(name) / "two", jobs, reservation, *options, "--explain")
        assert (run / "jobs.csv").read_bytes() == (other / "jobs.csv").read_bytes()
        rows = _rows(run)
        rejected = {int(row["job_id"]) for row in csv_rows(run / "rejections.csv")}
    every_s = 110.0 if "every" in times else float("inf")
    length_s = 50.0 if "every" in times else 60.0
    for number, job in enumerate(jobs, start=1):
        row = rows[number]
        if not row["starting_time"]:
            assert number in rejected
            continue
        start_s, nodes = float(row["starting_time"]), set(parse_intervals(row["allocated_resources"]))
        since_s = (start_s - 40.0) % every_s if start_s >= 40.0 else start_s - 40.0
        until_s = since_s + job["walltime"]
        if "reservation" in job:
            assert nodes <= {1, 2}
            assert since_s >= 0
            assert until_s <= length_s + 0.01
        elif nodes & {1, 2}:
            outside = until_s <= 0.01 or (since_s >= length_s - 0.01 and until_s <= every_s + 0.01)
            assert outside, (job, row)


def test_a_buffer_changes_hands_within_a_reservation() -> None:
    """All three jobs are of a reservation of two nodes. Job 1 has them until 100 s; job 2 has the buffers, filled.

    At 10 s, over the bound, its buffers go to job 3, which was booked for the jobs of no reservation beside them, too:
    16 GB of 10. Job 3 has the nodes at 100 s, job 2 when that has ended, at 110 s.
    """
    site = Site(reservations=(Reservation("r", 0.0, 1000.0, nodes="0-1"),))
    stated = {"res": 2, "reservation": "r"}
    jobs = [
        {**stated, "subtime": 0, "walltime": 101, "seconds": 100},
        {**stated, "subtime": 0, "walltime": 11, "seconds": 10, "bb": 8 * GB},
        {**stated, "subtime": 10, "walltime": 11, "seconds": 10, "bb": 8 * GB},
    ]
    story = play(site, jobs, bb_life="standby:bound=5", begins="1970-01-01T00:00:00")
    assert story.starts == {"1": 0, "3": 100, "2": 110}


@pytest.mark.parametrize("policy", ["easy", "slurm-backfill", "conservative"])
def test_a_window_of_a_millisecond(policy: str, tmp_path: Path) -> None:
    """At its end, whose time is rounded, nothing is left of it: an empty interval was taken, a call asked for now."""
    (tmp_path / "site.toml").write_text(
        'nodes = 4\n[[reservation]]\nname = "r"\nstart = 1970-01-01T00:00:40\nlength_s = 0.001\nevery_s = 1.0\n'
        'nodes = "0"\n'
    )
    jobs = [{"subtime": n * 10.5, "res": 1 + n % 3, "walltime": 400, "seconds": 330} for n in range(8)]
    (tmp_path / "w.json").write_text(json.dumps(delays(4, jobs)))
    options = ["--site", str(tmp_path / "site.toml"), "--platform", "nodes:4", "-p", policy, "--engine", "fixed"]
    options += ["--begins", "1970-01-01T00:00:00", "--no-plots", "--no-replay", "--out", str(tmp_path / "out")]
    assert main(["run", str(tmp_path / "w.json"), *options]) == 0
