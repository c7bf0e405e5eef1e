"""Every job model under every policy: it runs with all invariants, or is refused.

Rigid and I/O-aware jobs also where bandwidth is not scheduled.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.policies import POLICIES
from tests.properties.small_world import NODES, execute, runs, workload

JOBS: list[tuple[int, int, float, int, int, int | None, bool]] = [
    (0, 4, 30.0, 2, 50, 400, True),
    (0, 4, 25.0, 0, 0, 400, False),
    (1, 8, 10.0, 1, 20, 300, True),
    (2, 1, 40.0, 0, 100, 15, False),
    (3, 2, 12.0, 4, 0, 200, True),
    (4, 9, 5.0, 0, 0, 100, False),
    (5, 3, 20.0, 3, 60, 18, True),
    (30, 2, 9.0, 0, 0, 120, False),
]
"""One requests more nodes than there are; two reach their walltimes."""

WORLDS = [(model, policy, "aware") for model in MODELS for policy in POLICIES]
WORLDS += [(model, policy, "ignorant") for model in ("rigid", "io") for policy in POLICIES]
GANG = {name for name in POLICIES if name.startswith("gang")}


@pytest.mark.parametrize(("model", "policy", "bandwidth"), WORLDS, ids=["-".join(world) for world in WORLDS])
def test_every_combination(
    model: str, policy: str, bandwidth: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ledger, cluster and runtime agree after every message (nothing is over-committed at any instant), every
    feasible job ends, nothing is held in the end, utilisations lie in [0, 1] and slowdowns are at least 1."""
    data = workload(model, JOBS)
    if policy in GANG and model != "timeshared":
        with pytest.raises(OptionError, match="cannot be combined"):
            runs(tmp_path, model, data, [policy], bandwidth=bandwidth)
        return
    [run] = runs(tmp_path, model, data, [policy], bandwidth=bandwidth)
    session = execute(run, tmp_path, monkeypatch)
    assert session.waiting == 0
    assert not session.book.running
    assert len(session.book.free_nodes()) == len(session.machine.nodes)
    assert session.book.timeline.free_storage_now() == [storage.capacity_bytes for storage in session.machine.storages]
    assert session.book.timeline.free_bandwidth_now() == [link.capacity_bytes_per_s for link in session.machine.links]
    with (tmp_path / run.id / "jobs.csv").open(newline="") as stream:
        rows = {row["job_id"]: row for row in csv.DictReader(stream)}
    assert rows.keys() == {str(number) for number in range(len(JOBS))}
    ended = {"COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"}
    rejected = {number for number, row in rows.items() if row["final_state"] == "REJECTED"}
    assert rejected == {str(number) for number, job in enumerate(JOBS) if job[1] > NODES}
    assert all(row["final_state"] in ended for number, row in rows.items() if number not in rejected)
    assert any(row["final_state"] != "COMPLETED_SUCCESSFULLY" for row in rows.values())
    assert all(float(row["stretch"]) >= 1.0 for number, row in rows.items() if number not in rejected)
    metrics = json.loads((tmp_path / run.id / "metrics.json").read_text())
    for name in ("compute_utilisation", "storage_utilisation"):
        assert 0.0 <= metrics[name] <= 1.0, name
