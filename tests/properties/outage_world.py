"""Small worlds in which machines come and go: workloads and event files, played by the embedded simulator."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import generate
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Holding, Running
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import SimulationResult
from tests.kit.play import converse
from tests.kit.tables import csv_rows

Change = tuple[float, bool, tuple[int, ...]]
"""Time, whether the machines come back, their ids."""

Drain = tuple[float, tuple[int, ...], int]
"""Time, ids of storage nodes, bytes of each that are drained from then on."""


class Watch(Observer):
    """Notes events, and checks that nothing starts or is held where machines are out or drained."""

    def __init__(self) -> None:
        self.session: Session
        self.story: list[tuple[float, str, str]] = []
        self.states: dict[str, JobState] = {}
        self.reasons: list[str] = []
        self.sizes: dict[str, int] = {}
        self.lost: dict[str, float] = {}
        self.buffers: dict[str, Counter[int]] = {}
        self.gone: Counter[int] = Counter()

    def drained(self, storage: str, drained_bytes: int, left_bytes: int, now_s: float) -> None:
        """Keep it."""
        names = [storage.name for storage in self.session.machine.storages]
        self.gone[names.index(storage)] = drained_bytes
        self.story.append((now_s, f"{drained_bytes} drained", storage))

    def _has(self, job_id: str, allocation: Allocation | None) -> None:
        """Note a job's storage from now on; additional bytes must not be drained ones."""
        before = self.buffers.pop(job_id, Counter())
        now: Counter[int] = Counter()
        for storage in allocation.storages if allocation is not None else ():
            now[storage] += allocation.bb_bytes if allocation is not None else 0
        others: Counter[int] = sum(self.buffers.values(), Counter())
        for storage in now - before:
            left = self.session.machine.storages[storage].capacity_bytes - self.gone[storage]
            assert others[storage] + now[storage] <= left, f"{job_id} gets drained bytes of storage {storage}"
        if now:
            self.buffers[job_id] = now

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """It must not be held on drained bytes."""
        self._has(job.id, holding.allocation)

    def resized(self, running: Running, now_s: float) -> None:
        """It must not have grown onto drained bytes."""
        self._has(running.job.id, running.allocation)

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job must start on nodes and storage nodes that are there."""
        cluster = self.session.book
        assert cluster.nodes_out.isdisjoint(allocation.nodes), f"{job.id} started on a node that is out"
        assert cluster.storages_out.isdisjoint(allocation.storages), f"{job.id} got a buffer that is out"
        self._has(job.id, allocation)
        self.story.append((now_s, "started", job.id))

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Keep its final state and number of nodes."""
        self.states[running.job.id] = state
        self.sizes[running.job.id] = len(running.allocation.nodes)
        self._has(running.job.id, None)
        self.story.append((now_s, "ended", running.job.id))

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Keep it."""
        self.states[job.id] = JobState.REJECTED
        self.reasons.append(reason)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """Keep it."""
        self._has(job.id, None)
        self.story.append((now_s, "evicted", job.id))

    def interrupted(self, job: Job, what: str, reason: str, now_s: float, lost_node_s: float = 0.0) -> None:
        """Keep an outage's effect on a job, and its lost node-seconds."""
        self.story.append((now_s, what, job.id))
        self.lost[job.id] = lost_node_s


@dataclass
class Played:
    """A simulation that is over."""

    session: Session
    watch: Watch
    result: SimulationResult
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    records: dict[str, JobRecord] = field(default_factory=dict)


def write_events(path: Path, changes: list[Change], drains: Sequence[Drain] = ()) -> Path:
    """An event file as Batsim reads it."""
    lines = [
        json.dumps(
            {
                "timestamp": time_s,
                "type": f"machine_{'' if back else 'un'}available",
                "resources": " ".join(map(str, machines)),
            }
        )
        for time_s, back, machines in changes
    ]
    lines += [
        json.dumps(
            {"timestamp": time_s, "type": STORAGE_DRAINED, "resources": " ".join(map(str, hosts)), "bytes": size}
        )
        for time_s, hosts, size in drains
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def play(
    root: Path,
    spec: SessionSpec,
    data: dict[str, Any],
    changes: list[Change],
    *,
    platform: str = "tiny",
    deadlock: bool = False,
    drains: Sequence[Drain] = (),
) -> Played:
    """Play a workload with these outages; ledger, cluster and runtime are proven to agree after every message."""
    (root / "w.json").write_text(json.dumps(data), encoding="utf-8")
    (root / "p.xml").write_text(generate(describe(platform)), encoding="utf-8")
    watch, records = Watch(), dict[str, JobRecord]()
    session = spec.session(watch, on_record=lambda record: records.update({record.job.id: record}))
    watch.session = session

    result = converse(
        session, load_platform(root / "p.xml"), load_workload(root / "w.json"), spec=spec,
        export=str(root / "out"), fail_on_deadlock=not deadlock,
        events=(write_events(root / "events.txt", changes, drains),), forward_unknown_events=bool(drains),
    )  # fmt: skip
    rows = {row["job_id"]: row for row in csv_rows(root / "out_jobs.csv") if row["workload_name"] == "w0"}
    return Played(session, watch, result, rows, records)
