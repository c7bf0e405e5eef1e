"""Lives of burst buffers in a run's tables; every policy under every life: ``test_product.py``."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.properties.buffer_cases import APART
from tests.properties.small_world import execute, runs, workload

GB = 10**9
JOBS: list[tuple[int, int, float, int, int, int | None, bool]] = [
    (0, 4, 30.0, 2, 0, 400, False),
    (0, 4, 25.0, 0, 0, 400, False),
    (1, 8, 10.0, 1, 0, 300, False),
    (2, 1, 40.0, 0, 0, 15, False),
    (3, 2, 12.0, 4, 0, 200, False),
    (5, 3, 20.0, 3, 0, 18, False),
    (6, 3, 20.0, 4, 0, 30, False),
    (7, 3, 2.0, 4, 0, 40, False),
    (30, 2, 9.0, 0, 0, 120, False),
]
"""More burst buffers than there are; two walltimes are too short."""


@pytest.mark.parametrize("life", APART)
@pytest.mark.parametrize("policy", ["fcfs", "conservative", "maxutil", "plan", "slurm-backfill"])
def test_the_tables(policy: str, life: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledger, cluster and runtime agree after every message. A job's nodes lie within the interval of its buffer, and
    come after its stage-in; at no instant is more of a storage node held than it has.
    """
    model = "io" if len(policy) % 2 else "rigid"
    data = workload(model, JOBS)
    for number, job in enumerate(data["jobs"]):
        data["profiles"][job["profile"]] |= {"stage_in_s": 7.0 * (number % 3), "stage_out_s": 11.0 * (number % 2)}
    given = f"{life}:bound=5" if life == "standby" else life
    [run] = runs(tmp_path, model, data, [policy], session={"bb_life": given})
    session = execute(run, tmp_path, monkeypatch)
    assert session.waiting == 0
    assert not session.book.running
    assert not session.book.held
    assert len(session.book.free_nodes()) == len(session.machine.nodes)
    capacity = [storage.capacity_bytes for storage in session.machine.storages]
    assert session.book.timeline.free_storage_now() == capacity
    with (tmp_path / run.id / "jobs.csv").open(newline="") as stream:
        rows = {row["job_id"]: row for row in csv.DictReader(stream)}
    assert all(row["final_state"] != "REJECTED" for row in rows.values())
    changes: list[tuple[float, int]] = []
    for number, (_, nodes, _, bb_gb, *_) in enumerate(JOBS):
        row = rows[str(number)]
        if not bb_gb:
            continue
        given_s, staged_s = float(row["buffer_start_time"]), float(row["staged_time"])
        start_s, end_s = float(row["starting_time"]), float(row["finish_time"])
        assert staged_s - given_s >= 7.0 * (number % 3) - 1e-3
        assert float(row["submission_time"]) <= given_s <= staged_s <= start_s <= end_s
        if row["nodes_finish_time"]:
            assert start_s <= float(row["nodes_finish_time"]) <= end_s - 11.0 * (number % 2) + 1e-3
        changes += [(given_s, nodes * bb_gb * GB), (end_s, -nodes * bb_gb * GB)]
    held = 0
    for _, change in sorted(changes):
        held += change
        assert held <= sum(capacity)
