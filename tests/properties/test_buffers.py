"""Kinds of burst buffers, limits, and outages of storage nodes in a run's tables.

Every policy under every rule, kind and life: ``test_product.py``.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from spillway.analysis.holdings import storage_spans
from spillway.analysis.tables import JobTable, read_run
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from tests.properties.buffer_cases import PACKING, SHARING
from tests.properties.outage_world import Change, play
from tests.properties.small_world import GB, execute, runs, workload

JOBS: list[tuple[int, int, float, int, int, int | None, bool]] = [
    (0, 4, 30.0, 2, 0, 400, False),
    (0, 2, 25.0, 0, 0, 400, False),
    (1, 8, 10.0, 1, 0, 300, False),
    (2, 1, 40.0, 0, 0, 60, False),
    (3, 2, 12.0, 4, 0, 200, False),
    (5, 3, 20.0, 3, 0, 90, False),
    (6, 5, 2.0, 0, 0, 40, False),
    (30, 2, 9.0, 0, 0, 120, False),
]
STRIPED = {1: (3 * GB + 1, 2), 3: (9 * GB, 1), 6: (11 * GB, 2), 7: (20 * GB, 2)}
"""Bytes and stripes of jobs with a buffer of their own, on two storage nodes of 10 GB."""

CASES = [
    ("fcfs", "slurm", "nearest"),
    ("easy", "with-nodes", "rack"),
    ("easy", "two-reservations", "equal"),
    ("maxutil", "with-nodes", "emptiest"),
    ("window", "with-nodes", "compact"),
    ("plan", "two-reservations", "fullest-at-end"),
    ("conservative", "standby", "spread"),
    ("slurm-backfill", "slurm", "least-loaded"),
    ("gang", "with-nodes", "fullest"),
    ("gang-io", "with-nodes", "by-id"),
]
"""Policy, life, rule."""


def mixed(model: str) -> dict[str, Any]:
    """Jobs with buffers per node, striped, one per job, and without."""
    data = workload(model, JOBS)
    for number, (total, stripes) in STRIPED.items():
        data["profiles"][f"p{number}"] |= {"bb_total": total, "bb_stripes": stripes}
    return data


def check_storage(table: JobTable) -> None:
    """At no instant is more of a storage node held than it has; stripes are equal and lie on nodes that differ."""
    capacity = {storage.id: storage.capacity_bytes for storage in table.machine.storages}
    changes = defaultdict(list)
    pieces = defaultdict(set)
    for span in storage_spans(table):
        changes[span.storage] += [(span.start_s, span.size), (span.end_s, -span.size)]
        if int(table.job_id[span.job]) in STRIPED:
            pieces[int(table.job_id[span.job])].add((span.storage, span.size))
    for storage, steps in changes.items():
        held = 0
        for (time_s, size), (next_s, _) in pairwise([*sorted(steps), (float("inf"), 0)]):
            held += size
            assert held <= capacity[storage] or next_s == time_s, (
                f"{held} bytes of storage node {storage} at {time_s} s"
            )
    for number, found in pieces.items():
        total, stripes = STRIPED[number]
        assert sorted(size for _, size in found) == [-(-total // stripes)] * stripes, number


@pytest.mark.parametrize(("policy", "life", "order"), CASES)
def test_the_tables(policy: str, life: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledger, cluster and runtime agree after every message, every job that is not refused ends, nothing is left."""
    packs, shares = policy in PACKING, policy in SHARING
    model = "timeshared" if shares else ("io", "rigid")[len(policy) % 2]
    session = {"bb_life": life, "storage_order": order}
    [run] = runs(tmp_path, model, mixed(model), [policy], session=session)
    played = execute(run, tmp_path, monkeypatch)
    assert (played.waiting, len(played.book.running), len(played.book.held)) == (0, 0, 0)
    assert len(played.book.free_nodes()) == len(played.machine.nodes)
    assert played.book.timeline.free_storage_now() == [storage.capacity_bytes for storage in played.machine.storages]
    table = read_run(tmp_path / run.id)
    refused = {int(name) for name, state in zip(table.job_id, table.state, strict=True) if state == "REJECTED"}
    assert refused == (set(STRIPED) if packs else set())
    check_storage(table.ran())


@pytest.mark.parametrize("life", ["with-nodes", "slurm"])
@pytest.mark.parametrize("policy", ["fcfs", "plan"])
def test_no_user_exceeds_a_limit(policy: str, life: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """12 GB for each of two users: never more at a time, the job of 20 GB is refused, all others end."""
    limit = 12 * GB
    session = {"bb_life": life, "bb_user_limit": str(limit)}
    [run] = runs(tmp_path, "rigid", mixed("rigid"), [policy], session=session)
    played = execute(run, tmp_path, monkeypatch)
    assert played.waiting == 0
    table = read_run(tmp_path / run.id)
    assert [name for name, state in zip(table.job_id, table.state, strict=True) if state == "REJECTED"] == ["7"]
    assert "7,w0,30.000000,bb 20 GB in all > 12 GB that a user may hold (bb_user_limit)" in (
        tmp_path / run.id / "rejections.csv"
    ).read_text(encoding="utf-8")
    ran, changes = table.ran(), defaultdict(list)
    for span in storage_spans(ran):
        changes[ran.user[span.job]] += [(span.start_s, span.size), (span.end_s, -span.size)]
    assert changes.keys() == {"0", "1"}
    peaks = {user: max(accumulate(size for _, size in sorted(steps))) for user, steps in changes.items()}
    assert all(9 * GB <= peak <= limit for peak in peaks.values()), peaks


@pytest.mark.parametrize("rule", ["continue", "kill", "requeue"])
@pytest.mark.parametrize(("policy", "model"), [("fcfs", "io"), ("easy", "rigid"), ("conservative", "io")])
def test_storage_nodes_go_and_come_back(policy: str, model: str, rule: str, tmp_path: Path) -> None:
    """A striped buffer is lost as a whole; jobs keep drained bytes, and drained storage nodes get nothing new.

    The world checks after each message that nothing leaks, and at each start that no machine in use is out.
    """
    storage = 8
    changes: list[Change] = [(4.0, False, (storage,)), (50.0, True, (storage,))]
    spec = SessionSpec(policy, model=model, settings={"on_outage": rule})
    played = play(tmp_path, spec, mixed(model), changes)
    assert played.session.waiting == 0
    assert played.session.book.timeline.free_storage_now() == [10 * GB, 10 * GB]
    assert not played.session.book.running
    ended = {int(job_id.partition("!")[2].partition("#")[0]): state for job_id, state in played.watch.states.items()}
    assert ended.keys() == set(range(len(JOBS)))
    if rule == "continue" and model == "rigid":
        assert set(ended.values()) == {JobState.COMPLETED_SUCCESSFULLY}
    if rule == "kill":
        killed = {job_id for _, what, job_id in played.watch.story if what == "killed"}
        assert killed >= {"w0!1"}, "job 1 has a stripe on each storage node"
