"""Persistent burst buffers through whole runs: created, used, destroyed, in the order of the jobs."""

import re
from pathlib import Path
from typing import Any

import pytest

from spillway.analysis.measures.metrics import summarise
from spillway.analysis.tables.jobs import read_run
from spillway.base.errors import DecisionRefused
from spillway.experiments.run import single
from spillway.experiments.run.spec import Playing, Task, Transport
from spillway.protocol.messages import JobSubmitted, Message, RejectJob, ResourceInfo, SimulationBegins
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.decisions import Create, Decision, Destroy, Finish, Start
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import View
from tests.kit.specs import session_spec
from tests.kit.tables import csv_rows
from tests.kit.workloads import delays
from tests.properties.outage_world import Change, play
from tests.properties.small_world import GB, NODES, execute, runs

LIVES = ("with-nodes", "slurm", "two-reservations", "standby")
TABLES = ("jobs.csv", "persistent.csv")
Rows = dict[str, dict[str, str]]


def job(number: int, at: float, nodes: int, seconds: float = 10.0, **fields: Any) -> dict[str, Any]:
    """A job of a walltime twice as long as it runs."""
    stated = {"id": str(number), "subtime": at, "res": nodes, "walltime": 2 * seconds}
    return {**stated, "seconds": seconds, **fields}


def created(name: str, gigabytes: float, stripes: int = 2) -> list[dict[str, Any]]:
    """The field that creates one buffer."""
    return [{"name": name, "bytes": gigabytes * GB, "stripes": stripes}]


def played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: list[dict[str, Any]], policy: str = "easy", **session: str
) -> tuple[Rows, list[dict[str, str]], Session]:
    """Rows of jobs.csv by id, rows of persistent.csv, and the session in the end."""
    model = "timeshared" if policy.startswith("gang") else "rigid"
    (run,) = runs(tmp_path, model, delays(NODES, jobs), [policy], session=session, transports=(Transport.DIRECT,))
    session_then = execute(run, tmp_path, monkeypatch)
    tables = {name: [row for path in tmp_path.rglob(name) for row in csv_rows(path)] for name in TABLES}
    return {row["job_id"]: row for row in tables["jobs.csv"]}, tables["persistent.csv"], session_then


@pytest.mark.parametrize("life", LIVES)
def test_a_buffer_outlives_its_users_and_is_destroyed_once(
    life: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Created and destroyed by jobs without nodes; a large buffer, 4 GB on each storage node, waits until it is
    destroyed."""
    jobs = [
        job(0, 0.0, 0, bb_create=created("scratch", 8)),
        job(1, 1.0, 4, 100.0, bb_use=["scratch"]),
        job(2, 2.0, 4, 50.0, bb_use=["scratch"]),
        job(3, 3.0, 0, bb_destroy=["scratch"]),
        job(4, 4.0, 2, 10.0, bb_total=18 * GB, bb_stripes=2),
        job(5, 5.0, 2, 10.0, bb_use=["scratch"]),
    ]
    rows, kept, session = played(tmp_path, monkeypatch, jobs, bb_life=life)
    starts = {name: float(row["starting_time"]) for name, row in rows.items() if row["starting_time"]}
    assert starts == pytest.approx({"0": 0.0, "1": 1.0, "2": 2.0, "3": 101.0, "4": 101.0}, abs=0.01)
    assert rows["0"]["final_state"] == rows["3"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert rows["0"]["allocated_resources"] == rows["3"]["allocated_resources"] == ""
    assert rows["5"]["final_state"] == "REJECTED"  # no job creates it anew
    (buffer,) = kept
    assert (buffer["name"], buffer["created_by"], buffer["destroyed_by"]) == ("scratch", "w0!0", "w0!3")
    assert float(buffer["destroyed_s"]) == pytest.approx(101.0, abs=0.01)
    assert buffer["bytes"] == str(8 * GB)
    assert session.book.timeline.free_storage_now() == [10 * GB, 10 * GB]
    (folder,) = {path.parent for path in tmp_path.rglob("persistent.csv")}
    summary = summarise(read_run(folder), 600.0)
    assert (summary.jobs, summary.rejected) == (3, 1)  # statistics are about jobs with nodes


@pytest.mark.parametrize(("jobs", "reason"), [
    ([job(0, 0.0, 2, bb_use=["x"])], "there is no persistent buffer x, and no job that would create it"),
    ([job(0, 0.0, 0, bb_destroy=["x"])], "no persistent buffer x to destroy, and no earlier job creates it"),
    ([job(0, 0.0, 0, bb_create=created("x", 22))], "persistent buffer x: bb 11 GB > 10 GB of the largest storage"),
    ([job(0, 0.0, 0, bb_create=created("x", 3, 3))], "3 stripes x 1 GB: only 2 storage nodes are so large"),
    ([job(0, 0.0, 0, bb_create=created("x", 2)), job(1, 1.0, 0, bb_create=created("x", 2))],
     "the persistent buffer x exists already: job w0!0 created it"),
    ([job(0, 0.0, 0, bb_create=created("x", 2), user="a"), job(1, 1.0, 0, bb_destroy=["x"], user="b")],
     "the persistent buffer x belongs to user a, not to b"),
    ([job(0, 0.0, 0)], "0 nodes < 1"),
    ([job(0, 0.0, 0, bb_create=created("x", 2), bb_total=GB)], "it has no burst buffer of its own"),
])  # fmt: skip
def test_what_cannot_be_met_is_rejected_with_the_reason(
    jobs: list[dict[str, Any]], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last job is rejected; a job beside it runs."""
    beside = job(9, 0.0, 1)
    rows, _, _ = played(tmp_path, monkeypatch, [*jobs, beside])
    assert rows[jobs[-1]["id"]]["final_state"] == "REJECTED"
    assert rows["9"]["final_state"] == "COMPLETED_SUCCESSFULLY"
    (table,) = tmp_path.rglob("rejections.csv")
    assert reason in table.read_text(encoding="utf-8")


def test_what_a_hidden_job_holds_counts_for_its_user(tmp_path: Path) -> None:
    """Failed before: job 1 has its buffer of 6 GB, and its persistent one of 5 GB is out from 5 to 60 s; the policy
    does not see it then, and job 2 was given 2 GB beside it, where its user may hold 12.
    """
    jobs = [
        job(0, 0.0, 0, bb_create=created("a", 5, stripes=1), user="u"),
        job(9, 0.0, 8, 50.0, user="v"),
        job(1, 1.0, 2, bb_total=6 * GB, bb_use=["a"], user="u"),
        job(2, 10.0, 2, bb_total=2 * GB, user="u"),
    ]
    spec = session_spec("easy", settings={"bb_life": "slurm", "bb_user_limit": 12 * GB})
    found = play(tmp_path, spec, delays(NODES, jobs), [(5.0, False, (8,)), (60.0, True, (8,))])
    starts = {name: round(time_s) for time_s, what, name in found.watch.story if what == "started"}
    assert not any(what == "evicted" for _, what, _ in found.watch.story)
    assert (starts["w0!1"], starts["w0!2"]) == (60, 70)


def test_what_would_wait_for_ever_is_rejected_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer that no job destroys holds 8 of 10 GB on each storage node, and 16 of the 17 GB of its user."""
    jobs = [
        job(0, 0.0, 0, bb_create=created("a", 16), user="u"),
        job(1, 1.0, 2, bb_total=3 * GB, user="v"),
        job(2, 2.0, 0, bb_create=created("b", 6), user="v"),
        job(3, 3.0, 1, bb_use=["b"]),
        job(4, 4.0, 2, bb_total=2 * GB, user="u"),
        job(5, 5.0, 2, bb_total=2 * GB, user="v"),
    ]
    rows, _, session = played(tmp_path, monkeypatch, jobs, bb_user_limit="17e9")
    assert {name for name, row in rows.items() if row["final_state"] == "REJECTED"} == {"1", "2", "3", "4"}
    assert session.waiting == 0
    (table,) = tmp_path.rglob("rejections.csv")
    reasons = table.read_text(encoding="utf-8")
    for words in (
        "no room for its burst buffer beside a, and nothing more will be given back",
        "no room for the persistent buffer b beside a, and nothing",
        "there is no persistent buffer b, and no job that would create it",
        "its user may hold no burst buffer of 2000000000 bytes beside a",
    ):
        assert words in reasons


def test_objects_and_bytes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job without nodes is rejected on the wire; in the table it has ended, and sorted by its end."""
    jobs = [
        job(0, 0.0, 0, bb_create=created("a", 6)),
        job(1, 0.5, 2, 20.0, bb_use=["a"], bb=10**9),
        job(2, 1.0, 0, bb_destroy=["a"]),
    ]
    transports = (Transport.DIRECT, Transport.BYTES)
    data = delays(NODES, jobs)
    data["profiles"] = {name: {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6} for name in data["profiles"]}
    tables = []
    for run in runs(tmp_path, "io", data, ["easy"], transports=transports):
        execute(run, tmp_path, monkeypatch)
        tables.append([(tmp_path / run.id / name).read_bytes() for name in TABLES])
    assert tables[0] == tables[1]
    assert [line.split(b",")[0] for line in tables[0][0].splitlines()[1:]] == [b"0", b"1", b"2"]


def test_a_job_without_nodes_has_no_uncontended_time(tmp_path: Path) -> None:
    """Nothing of it is played: its fields stay empty, and the others' do not change."""
    jobs = [
        job(0, 0.0, 0, bb_create=created("a", 6)),
        job(1, 0.5, 2, 20.0, bb_use=["a"], bb=10**9),
        job(2, 1.0, 0, bb_destroy=["a"]),
    ]
    (run,) = runs(tmp_path, "io", delays(NODES, jobs), ["easy"])
    single.execute(Task(run, tmp_path, Playing()))
    rows = {row["job_id"]: row["uncontended_s"] for row in csv_rows(tmp_path / run.id / "jobs.csv")}
    assert (rows["0"], rows["2"]) == ("", "")
    assert float(rows["1"]) > 20.0


@pytest.mark.parametrize(
    ("rule", "starts"),
    [("continue", {"1": 1.0, "2": 60.0}), ("kill", {"1": 1.0, "2": 60.0}), ("requeue", {"1#2": 60.0, "2": 60.0})],
)
def test_a_buffer_outlasts_an_outage_of_its_storage_node(rule: str, starts: dict[str, float], tmp_path: Path) -> None:
    """Out from 20 to 60: a new user waits; a running one continues, is killed, or starts anew. Then it is destroyed."""
    jobs = [
        job(0, 0.0, 0, bb_create=created("a", 8)),
        job(1, 1.0, 2, 100.0, bb_use=["a"]),
        job(2, 30.0, 2, 10.0, bb_use=["a"]),
        job(3, 31.0, 0, bb_destroy=["a"]),
    ]
    changes: list[Change] = [(20.0, False, (8,)), (60.0, True, (8,))]
    done = play(tmp_path, session_spec("easy", settings={"on_outage": rule}), delays(NODES, jobs), changes)
    found = {name: float(done.rows[name]["starting_time"]) for name in starts}
    assert found == pytest.approx(starts, abs=0.01)
    assert done.session.book.timeline.free_storage_now() == [10 * GB, 10 * GB]
    assert done.session.waiting == 0


BUFFER = {"capacity_bytes": "10", "storage_kind": "burst_buffer"}
MACHINE = SimulationBegins(
    0.0, (ResourceInfo(0, "n0"),), tuple(ResourceInfo(1 + i, f"s{i}", properties=BUFFER) for i in range(2))
)
THERE = Allocation((), (0, 1), 4, striped=True)


@pytest.mark.parametrize(("decisions", "reason"), [
    (lambda make, use, drop: [Create(make, "b", THERE)], "waits for no creation of a persistent buffer 'b'"),
    (lambda make, use, drop: [Create(use, "a", THERE)], "waits for no creation"),
    (lambda make, use, drop: [Create(make, "a", Allocation((), (0,), 4, striped=True))], "needs 2 storages"),
    (lambda make, use, drop: [Create(make, "a", Allocation((), (0, 1), 5, striped=True))], "it requests 4e-09 GB"),
    (lambda make, use, drop: [Create(make, "a", Allocation((), (0, 1), 4))], "must have striped=True"),
    (lambda make, use, drop: [Create(make, "a", Allocation((0,), (0, 1), 4, striped=True))], "neither nodes nor"),
    (lambda make, use, drop: [Create(make, "a", THERE)] * 2, "waits for no creation"),
    (lambda make, use, drop: [Start(use, Allocation((0,)))], "it uses the persistent buffer 'a', which does not"),
    (lambda make, use, drop: [Finish(make)], "the persistent buffer 'a' must be created first"),
    (lambda make, use, drop: [Finish(drop)], "the persistent buffer 'a' must be destroyed first"),
    (lambda make, use, drop: [Finish(use)], "only a waiting job without nodes"),
    (lambda make, use, drop: [Destroy(drop, "a")], "the persistent buffer 'a' does not exist"),
    (lambda make, use, drop: [Create(make, "a", THERE), Destroy(use, "a")], "waits for no end"),
    (lambda make, use, drop: [Create(make, "a", THERE), Start(use, Allocation((0,))), Destroy(drop, "a")],
     "is used by job 'w!1'"),
])  # fmt: skip
def test_the_guard_refuses(decisions: Any, reason: str) -> None:
    """Another name, job, size or form; a start, an end or a destruction before its time."""

    def policy(view: View) -> list[Decision]:
        jobs: dict[str, Job] = {each_job.name: each_job for each_job in view.queue}
        return list(decisions(jobs["0"], jobs["1"], jobs["2"]))

    session = Session(policy, ProgramRuntime(Rigid()))
    session.handle(Message(0.0, (MACHINE,)))
    fields = (
        {"res": 0, "bb_create": [{"name": "a", "bytes": 8, "stripes": 2}]},
        {"res": 1, "bb_use": ["a"]},
        {"res": 0, "bb_destroy": ["a"]},
    )
    events = tuple(
        JobSubmitted(0.0, f"w!{number}", {"id": str(number), "subtime": 0.0, "profile": "p", "walltime": 9.0, **one})
        for number, one in enumerate(fields)
    )
    with pytest.raises(DecisionRefused, match=reason):
        session.handle(Message(0.0, events))


@pytest.mark.parametrize(("fields", "fault"), [
    ({"bb_create": 3}, r"'bb_create' must be a list of at most 1000 entries, got 3"),
    ({"bb_create": [{"name": "a"}]}, "must be objects with 'name', 'bytes' and perhaps 'stripes'"),
    ({"bb_create": [{"name": "a", "bytes": 0}]}, "'bytes' from 1 to 2"),
    ({"bb_create": [{"name": "a", "bytes": 9, "stripes": 0}]}, "'stripes' from 1 to"),
    ({"bb_use": ["a b"]}, "must be names of 1 to 100 letters"),
    ({"bb_use": ["a", "a"]}, "names that all differ"),
    ({"bb_create": [{"name": "a", "bytes": 9}], "bb_destroy": ["a"]}, "that the job does not create itself, or uses"),
])  # fmt: skip
def test_malformed_fields_are_the_jobs_rejection(fields: dict[str, Any], fault: str) -> None:
    """One line; the conversation goes on."""
    reasons: list[str] = []

    class Kept(Observer):
        def rejected(self, job: Job, reason: str, now_s: float) -> None:
            reasons.append(reason)

    session = Session(lambda view: [], ProgramRuntime(Rigid()), observer=Kept())
    session.handle(Message(0.0, (MACHINE,)))
    data = {"id": "1", "subtime": 0.0, "res": 1, "profile": "p", **fields}
    reply = session.handle(Message(0.0, (JobSubmitted(0.0, "w!1", data),)))
    assert [type(event) for event in reply.events] == [RejectJob]
    assert re.search(fault, reasons[0])
