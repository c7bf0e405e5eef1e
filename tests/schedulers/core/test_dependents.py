"""Jobs that wait for other jobs: by hand, and over drawn workloads, policies and job models."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import RemoteProtocolError
from spillway.experiments.cli import main
from spillway.schedulers.core.dependents import Dependents
from spillway.schedulers.model.dependencies import NEVER, Condition, Fate, Kind, dependencies_of
from spillway.schedulers.model.job import Job
from tests.kit.runs import play_run
from tests.kit.tables import csv_rows, starts
from tests.kit.workloads import delays

Row = Mapping[str, str]


def _run(folder: Path, jobs: Sequence[Mapping[str, Any]], *options: str) -> Path:
    """Play jobs of 50 s on four nodes; the run's folder."""
    return play_run(folder, delays(4, jobs, walltime=100, seconds=50), "--platform", "nodes:4", *options)


@pytest.mark.parametrize("options", [[], ["--transport", "zmq"], ["--thesis-literal"]], ids=["direct", "zmq", "event"])
def test_every_kind_of_dependency(options: list[str], tmp_path: Path) -> None:
    """Job 1 fills the machine from 0 to 50 s and succeeds, 2 is killed after 100 s; all others follow from these.

    4 starts 60 s after 1 did; 5 cannot, for 1 did not fail; 6 waits for the failure of 2; 7 for the end of 3 and half a
    minute; 8 for one of two, one of them the failed job 2; 9 depends on a job that does not exist; 10 and 11 on each
    other, seen when nothing else is left: then 11, which waits for any end of 10, may start.
    """
    run = _run(
        tmp_path,
        [
            {"res": 4},
            {"seconds": 500, "depends": "afterok:1"},
            {"depends": "afterok:1"},
            {"depends": "after:1+1"},
            {"depends": "afternotok:1"},
            {"depends": "afternotok:2"},
            {"depends": "afterany:3+30s,afterany:5"},
            {"depends": "afterok:2?afterok:3"},
            {"depends": "afterok:99"},
            {"depends": "afterany:11"},
            {"depends": "afterany:10"},
        ],
        "--policy",
        "easy",
        *options,
    )
    assert starts(run) == {1: 0, 2: 50, 3: 50, 4: 60, 6: 150, 7: 130, 8: 100, 11: 200}
    refused = {row["job_id"]: row["reason"] for row in csv_rows(run / "rejections.csv")}
    assert refused.keys() == {"5", "9", "10"}
    assert refused["5"].startswith("its dependency afternotok:1 can never be met: that job ended well at 50")
    assert refused["9"] == "its dependency afterok:99 names a job that was never submitted"
    assert refused["10"] == "its dependencies go in a circle: 10 -> 11 -> 10"
    held = {
        row["job_id"]: (round(float(row["eligible_s"])), row["depends"]) for row in csv_rows(run / "dependencies.csv")
    }
    assert held["7"] == (130, "afterany:3+30s,afterany:5")
    assert held["8"] == (100, "afterok:2?afterok:3")


def test_arrays_and_names(tmp_path: Path) -> None:
    """Of an array of three at most one waits or runs at a time; of one user's jobs of one name the first goes first.

    ``aftercorr`` concerns the task at the same place: 5_1 waits only for 4_1.
    """
    limited = {"array": 9, "array_limit": 1}
    alike = {"depends": "singleton", "job_name": "a", "user": "u"}
    run = _run(
        tmp_path,
        [
            limited,
            limited,
            limited,
            {"id": "4_1", **alike},
            {"id": "4_2", "user": "v", "job_name": "a", "depends": "singleton"},
            {"id": "5_1", "depends": "aftercorr:4"},
            {"id": "7", **alike},
        ],
        "--policy",
        "fcfs",
    )
    started = {row["job_id"]: round(float(row["starting_time"])) for row in csv_rows(run / "jobs.csv")}
    assert started == {"1": 0, "2": 50, "3": 100, "4_1": 0, "4_2": 0, "5_1": 50, "7": 50}


def test_a_dependency_on_an_array(tmp_path: Path) -> None:
    """As in Slurm, an array's number stands for all its tasks: it has started, ended, succeeded when all have, and
    failed when one has. Was: "names a job that was never submitted". Task 6_2 fails at 100 s, by its walltime; job 1
    comes before the tasks."""
    waiting = {
        "1": "afterany:5", "7": "afterok:5", "8": "afterany:6", "9": "afternotok:6", "10": "afterok:6",
        "11": "afternotok:5", "12": "after:6+1", "13": "afterok:6?afterok:5", "14": "afterany:4",
    }  # fmt: skip
    tasks = [
        {"id": f"{array}_{task}", "array": array, "seconds": 500 if (array, task) == (6, 2) else 50}
        for array, task in ((5, 1), (5, 2), (6, 1), (6, 2))
    ]
    jobs = [{"id": name, "depends": depends} for name, depends in waiting.items()]
    run = _run(tmp_path, [jobs[0], *tasks, *jobs[1:]], "--policy", "easy", "--platform", "nodes:9")
    expected = {"5_1": 0, "5_2": 0, "6_1": 0, "6_2": 0, "1": 50, "7": 50, "12": 60, "13": 50, "8": 100, "9": 100}
    found = {row["job_id"]: row["starting_time"] for row in csv_rows(run / "jobs.csv")}
    assert {name: round(float(time)) for name, time in found.items() if time} == expected
    refused = {row["job_id"]: row["reason"].partition(" by 50")[0] for row in csv_rows(run / "rejections.csv")}
    assert refused == {
        "10": "its dependency afterok:6 can never be met: a task of that array failed, the last ended at 100 s",
        "11": "its dependency afternotok:5 can never be met: all tasks of that array ended well",
        "14": "its dependency afterany:4 names a job that was never submitted",
    }


def test_a_job_with_the_name_of_an_array() -> None:
    """Others wait for it once it is submitted, and no longer for the tasks."""
    dependents = Dependents(Fates())
    known = {"w!1", "w!2"}
    for place, (name, extras) in enumerate({"1": {"array": "9"}, "2": {"depends": "afterok:9"}, "9": {}}.items()):
        dependents.submitted(Job(f"w!{name}", place, 0.0, 9.0, 1, extras=extras), known.__contains__, 0.0)
    known.add("w!9")
    for name, ready in (("1", []), ("9", ["2"])):
        dependents.ended(f"w!{name}", 1.0, failed=name == "1")
        assert [settled_job.job.name for settled_job in dependents.settled(1.0)] == ready


@pytest.mark.parametrize("submitted", [0, 10])
def test_such_a_job_may_state_nothing(submitted: int, tmp_path: Path) -> None:
    """It ends at 5 + 80 s; the array's task ended at 50 s. The job that waits comes before it, or after it."""
    waits = {"id": "2", "subtime": submitted, "depends": "afterok:9"}
    run = _run(
        tmp_path, [{"id": "9_1", "array": 9}, waits, {"id": "9", "subtime": 5, "seconds": 80}], "--policy", "fcfs"
    )
    started = {row["job_id"]: round(float(row["starting_time"])) for row in csv_rows(run / "jobs.csv")}
    assert started == {"9_1": 0, "9": 5, "2": 85}


@pytest.mark.parametrize("policy", ["fcfs", "easy", "slurm-backfill:sched_interval=1,batch_sched_delay=0"])
def test_a_released_job_keeps_its_place(policy: str, tmp_path: Path) -> None:
    """Job 2 waited for job 1, which holds all nodes until 50 s, and came before job 3: it goes first (3 at 50 s, 2 at
    100 s before). Of job 4's tasks the second one goes before job 5, which came after it.
    """
    run = _run(
        tmp_path,
        [
            {"res": 4},
            {"res": 4, "subtime": 1, "depends": "afterok:1"},
            {"res": 4, "subtime": 2},
            {"id": "4_1", "res": 4, "subtime": 3, "array": 4, "array_limit": 1},
            {"id": "4_2", "res": 4, "subtime": 3, "array": 4, "array_limit": 1},
            {"id": "5", "res": 4, "subtime": 4},
        ],
        "--policy",
        policy,
    )
    rows = sorted(csv_rows(run / "jobs.csv"), key=lambda row: float(row["starting_time"]))
    assert [row["job_id"] for row in rows] == ["1", "2", "3", "4_1", "4_2", "5"]


def test_waits_count_from_when_a_job_might_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two jobs of the whole machine after each other, the second depends on the first: neither waits for resources."""
    run = _run(tmp_path, [{"res": 4}, {"res": 4, "depends": "afterany:1"}], "--policy", "conservative")
    summary = csv_rows(run.parent / "summary.csv")
    assert float(summary[0]["mean_waiting_time_s"]) == pytest.approx(0.0, abs=0.01)
    capsys.readouterr()
    assert main(["explain", str(run), "2"]) == 0
    assert "Other jobs held it for 50 s before that: it depends on them (afterany:1)." in capsys.readouterr().out


class Fates:
    """Starts and ends of jobs."""

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = {}

    def times(self, job_id: str) -> tuple[float, float]:
        """Start and end of a job."""
        started_s, ended_s = self._times.get(job_id, (math.nan, math.nan))
        return started_s, ended_s

    def note_start(self, job_id: str, now_s: float) -> None:
        """Note a start."""
        times = self._times.setdefault(job_id, [math.nan, math.nan])
        times[0] = now_s if math.isnan(times[0]) else times[0]

    def note_end(self, job_id: str, now_s: float, failed: bool) -> None:
        """Note an end."""
        times = self._times.setdefault(job_id, [math.nan, math.nan])
        times[1] = (-now_s if failed else now_s) if math.isnan(times[1]) else times[1]


def _known(job_id: str) -> bool:
    """All jobs but 99 are submitted; ``+`` is in no name."""
    return job_id != "w!99" and "+" not in job_id


def _held(jobs: Mapping[str, Mapping[str, Any]]) -> tuple[Dependents, list[str]]:
    """Jobs submitted at 0 s, in order; and the names of those that need not be held."""
    dependents = Dependents(Fates())
    made = [
        Job(f"w!{name}", place, 0.0, 9.0, 1, extras=dict(extras)) for place, (name, extras) in enumerate(jobs.items())
    ]
    return dependents, [job.name for job in made if dependents.submitted(job, _known, 0.0) is not None]


def test_the_first_of_a_name_is_in_no_circle_with_itself() -> None:
    """1 is the first of its name, so that it waits only for the end of 2, which is in a circle with 3: when nothing
    else can happen, the circle of 2 and 3 is reported, and 1 continues once 2 is rejected."""
    dependents, ready = _held(
        {
            "1": {"depends": "singleton,afterany:2", "job_name": "a"},
            "2": {"depends": "afterok:3"},
            "3": {"depends": "afterok:2"},
        }
    )
    assert ready == []
    found = dependents.circle()
    assert (found.job.name, found.reason) == ("2", "its dependencies go in a circle: 2 -> 3 -> 2")
    dependents.ended("w!2", 5.0, failed=True)
    assert [(settled_job.job.name, bool(settled_job.reason)) for settled_job in dependents.settled(5.0)] == [
        ("1", False),
        ("3", True),
    ]


def test_a_job_has_one_end() -> None:
    """At a site a job is over when its nodes are given back, at 10 s; that its buffer is emptied at 30 s, and not in
    time, changes nothing: 2 and 3 wait a minute from 10 s on, for its success."""
    dependents, _ = _held({"1": {}, "2": {"depends": "afterok:1+60s"}})
    dependents.started("w!1", 1.0)
    dependents.ended("w!1", 10.0, failed=False)
    assert list(dependents.settled(10.0)) == []
    dependents.ended("w!1", 30.0, failed=True)
    assert list(dependents.settled(30.0)) == []
    third = Job("w!3", 2, 40.0, 9.0, 1, extras={"depends": "afterok:1+60s"})
    assert dependents.submitted(third, _known, 40.0) is None
    assert dependents.due_s == 70.0
    assert [settled_job.job.name for settled_job in dependents.settled(70.0)] == ["2", "3"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"depends": "afterthat:1"}, "'depends' must be conditions of the kinds after,"),
        ({"depends": 7}, "'depends' must be a text such as 'afterok:12'"),
        ({"array": "1", "array_limit": 0}, "'array_limit' must be"),
        ({"bb_use": "a"}, "'bb_use' must be a list"),
    ],
)
def test_a_malformed_field_is_its_jobs_rejection(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Failed before: it ended the conversation, and with it the run of all other jobs."""
    run = _run(tmp_path, [{}, fields, {}], "--policy", "fcfs")
    assert [row["final_state"] for row in sorted(csv_rows(run / "jobs.csv"), key=lambda row: row["job_id"])] == [
        "COMPLETED_SUCCESSFULLY", "REJECTED", "COMPLETED_SUCCESSFULLY",
    ]  # fmt: skip
    assert words in (run / "rejections.csv").read_text()


def test_tasks_of_one_array_with_different_limits() -> None:
    """They go in their order: 3 waits for the ends of 1 and 2, for it may be one at a time; then 4, one of two."""
    limits = {"1": 2, "2": 2, "3": 1, "4": 2}
    dependents, ready = _held({name: {"array": 1, "array_limit": limit} for name, limit in limits.items()})
    assert ready == ["1", "2"]
    for name, following in (("1", []), ("2", ["3", "4"]), ("3", []), ("4", [])):
        dependents.ended(f"w!{name}", 1.0, failed=False)
        assert [settled_job.job.name for settled_job in dependents.settled(1.0)] == following


@pytest.mark.parametrize(("extras", "place", "words"), [
    ({"depends": 7}, "depends", "a text such as 'afterok:12'"),
    ({"depends": "later:7"}, "depends", "conditions of the kinds after, afterany"),
    ({"depends": "afterok"}, "depends", "singleton without jobs, or a kind with jobs"),
    ({"depends": "afterok:1,after:2?after:3"}, "depends", "joined by ',' (all) or by '?' (any)"),
    ({"depends": "singleton"}, "depends", "without singleton, as the job has no 'job_name'"),
    ({"depends": "after:1+9999999999"}, "depends", "delays of at most"),
    ({"job_name": 3}, "job_name", "a text"),
    ({"array_limit": 0, "array": 1}, "array_limit", "a whole number of tasks, at least 1"),
    ({"array_limit": 2}, "array", "the array's name"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(extras: dict[str, Any], place: str, words: str) -> None:
    """The error has the place, the expected form and the value."""
    with pytest.raises(RemoteProtocolError) as caught:
        dependencies_of(Job("w!5", 4, 0.0, 9.0, 1, extras=extras), lambda _: False)
    assert caught.value.path == f"$.job.{place}"
    assert words in str(caught.value)


def test_when_conditions_are_met() -> None:
    """Before the end only starts are settled; a rejected job has ended, failed, and counts as one that began."""
    open_fate, running, rejected = Fate(), Fate(3.0), Fate(ended_s=4.0, failed=True)
    assert Condition(Kind.AFTER, "w!1", 60.0).met_s(running) == 63.0
    assert math.isnan(Condition(Kind.AFTERNOTOK, "w!1").met_s(running))
    assert math.isnan(Condition(Kind.AFTER, "w!1").met_s(open_fate))
    found = [Condition(kind, "w!1").met_s(rejected) for kind in Kind if kind is not Kind.SINGLETON]
    assert found == [4.0, 4.0, NEVER, 4.0, NEVER]


_JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "subtime": st.integers(0, 200),
            "res": st.integers(1, 4),
            "seconds": st.sampled_from([50, 500]),
            "kind": st.sampled_from(["", "after", "afterany", "afterok", "afternotok"]),
            "on": st.lists(st.integers(1, 12), min_size=1, max_size=2, unique=True),
            "joint": st.sampled_from([",", "?"]),
            "limit": st.integers(0, 2),
        }
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=12, deadline=None)
@given(
    _JOBS,
    st.sampled_from(["fcfs", "easy", "conservative", "sjf-easy:depth=2", "plan-square:steps=20", "slurm-backfill"]),
    st.sampled_from(["rigid", "io"]),
)
def test_no_job_starts_before_what_it_depends_on(drawn: list[dict[str, Any]], policy: str, model: str) -> None:
    """Also across circles and jobs that do not exist: every job ends or is rejected, and conditions hold at starts."""
    jobs = [
        {name: job[name] for name in ("subtime", "res", "seconds")}
        | ({"depends": job["joint"].join(f"{job['kind']}:{on}" for on in job["on"])} if job["kind"] else {})
        | ({"array": f"array {job['limit']}", "array_limit": job["limit"]} if job["limit"] else {})
        for job in drawn
    ]
    with TemporaryDirectory() as name:
        run = _run(Path(name), jobs, "--policy", policy, "--model", model)
        table = {int(row["job_id"]): row for row in csv_rows(run / "jobs.csv")}
    assert table.keys() == set(range(1, len(jobs) + 1))
    ran = {number: row for number, row in table.items() if row["starting_time"]}
    spans = {number: (float(row["starting_time"]), float(row["finish_time"])) for number, row in ran.items()}
    for number in ran:
        job = drawn[number - 1]
        if job["kind"]:
            met = [_is_met(job["kind"], table.get(on), spans[number][0]) for on in job["on"]]
            assert any(met) if job["joint"] == "?" else all(met)
    for limit in (1, 2):
        tasks = [spans[number] for number in ran if drawn[number - 1]["limit"] == limit]
        assert all(sum(start <= time < end for start, end in tasks) <= limit for time, _ in tasks)


def _is_met(kind: str, other: Row | None, now_s: float) -> bool:
    """Whether a condition on a job of the table holds at a time, from its row only."""
    if other is None:
        return False
    if other["final_state"] == "REJECTED":
        return kind != "afterok"
    time_s = float(other["starting_time" if kind == "after" else "finish_time"])
    success = other["success"] == "1"
    return time_s <= now_s and {"afterok": success, "afternotok": not success}.get(kind, True)
