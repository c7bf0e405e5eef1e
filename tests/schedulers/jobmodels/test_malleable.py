"""Malleable execution on the wire: intervals, I/O through the gate, reconfigurations, kills in every state."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import generate
from spillway.protocol import messages as m
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import Activity, AppView
from spillway.schedulers.controllers.sharing import Expansion
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.app_record import AppRecord, finished
from spillway.schedulers.jobmodels.gates import Exclusive
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policies import POLICIES
from spillway.simulator.wire.command import main
from tests.schedulers.jobmodels.dynamic_wire import Told
from tests.schedulers.jobmodels.wire_rules import WireRules
from tests.simulator.peers import decoded, listening

DYNAMIC = m.BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)


def machine(config: m.BatsimConfig) -> m.SimulationBegins:
    """Eight nodes and a file system (id 8)."""
    nodes = tuple(m.ResourceInfo(i, f"n{i}") for i in range(8))
    return m.SimulationBegins(0.0, nodes, (m.ResourceInfo(8, "pfs"),), config=config)


def job(name: str = "1", walltime_s: float = 1000.0, nodes: int = 2, **changes: Any) -> Job:
    """Eight iterations of 60/n s, I/O after every four, control points after every two, 2 to 6 nodes."""
    description = {
        "iterations": 8, "io_every": 4, "control_every": 2, "minimum": 1, "maximum": 6, "overhead": 3.0,
        "io_bytes": 10e9, "model": {"work": 60.0},
    } | changes  # fmt: skip
    return Job(f"w0!{name}", 0, 0.0, walltime_s, nodes, profile={"type": "delay", "delay": 9, "malleable": description})


def runtime(records: list[AppRecord], gate: Exclusive, watched: bool = False) -> ProgramRuntime:
    """Plays applications, with controllers if they are watched."""

    def keep(record: JobRecord) -> None:
        app = finished(record)
        if app is not None:
            records.append(app)

    return ProgramRuntime(Malleable(expansion=Expansion.SPEEDUP if watched else Expansion.NONE), gate, 0, keep)


class Wire:
    """A scripted Batsim; every request is checked by the guard."""

    def __init__(self, *jobs: Job, config: m.BatsimConfig = DYNAMIC, watched: bool = False) -> None:
        self.records: list[AppRecord] = []
        self.runtime = runtime(self.records, Exclusive(), watched)
        self.told = Told(self.runtime, machine(config))
        self.guard = WireRules(config, {"w0": {}})
        self.running: list[str] = []
        self.log: list[m.Request] = []
        first = 0
        for each_job in jobs:
            self.guard.submitted(each_job.id)
            self.apply(self.told.start(each_job, Allocation(tuple(range(first, first + each_job.nodes))), 0.0))
            first += each_job.nodes

    def apply(self, requests: Sequence[m.Request]) -> None:
        """Take requests."""
        self.guard.check(requests)
        self.log += requests
        self.running += [request.job_id for request in requests if isinstance(request, m.ExecuteJob)]

    def complete(self, sub_id: str, now_s: float, state: m.JobState = m.JobState.COMPLETED_SUCCESSFULLY) -> None:
        """A sub-job ends."""
        self.running.remove(sub_id)
        self.guard.completed((sub_id,))
        code = 0 if state is m.JobState.COMPLETED_SUCCESSFULLY else -2
        self.apply(self.told.tell(now_s, m.JobCompleted(now_s, sub_id, state, code, ())))

    def agree(self, steps: Sequence[Step], gained: Allocation | None, now_s: float) -> None:
        """Agree with the first job on changes of size."""
        if gained is not None:
            self.told.session.book.advance(now_s)
            self.told.session.book.expand("w0!1", gained, now_s, 1000.0)
        self.runtime.shown("w0!1").agree(steps, () if gained is None else gained.nodes, now_s)
        self.told.session.check()

    @property
    def view(self) -> AppView:
        """The first running application."""
        view: AppView = self.runtime.published()[0].view
        return view

    def last(self, kind: type) -> Any:
        """The last request of a kind."""
        return [request for request in self.log if isinstance(request, kind)][-1]


def test_a_whole_life() -> None:
    """Two intervals, I/O from both nodes, two intervals, I/O, the end; times as they were seen."""
    wire = Wire(job())
    wire.complete("w0%1!0", 60.0)
    wire.complete("w0%1!1", 120.0)
    execute, profile = wire.last(m.ExecuteJob), wire.last(m.RegisterProfile).profile
    assert (execute.alloc, execute.storage_mapping) == ((0, 1), {"pfs": 8})
    assert (profile["type"], profile["bytes_to_write"]) == ("parallel_homogeneous_pfs", 5e9)
    wire.complete("w0%1!2", 130.0)
    for number, now_s in ((3, 190.0), (4, 250.0), (5, 261.0)):
        wire.complete(f"w0%1!{number}", now_s)
    assert wire.told.ends == {"w0!1": (261.0, m.JobState.COMPLETED_SUCCESSFULLY)}
    record = wire.records[0]
    assert (record.iterations, record.intervals, record.compute_s, record.node_seconds) == (8, 4, 240.0, 522.0)
    assert [(phase.asked_s, phase.end_s) for phase in record.phases] == [(120.0, 130.0), (250.0, 261.0)]
    second = record.phases[1].predicted
    assert second is not None
    assert (second.start_s, second.duration_s) == (250.0, 10.0)


def test_growing_and_shrinking_at_control_points() -> None:
    """Given at 10 s, used from the control point at 60 s on after 3 s on all five nodes; the last come leave first."""
    wire = Wire(job())
    wire.agree((Step(2, 3), Step(6, -2)), Allocation((2, 5, 7)), 10.0)
    view = wire.view
    assert (view.nodes, view.held, view.settled_nodes) == (2, 5, 3)
    wire.complete("w0%1!0", 60.0)
    assert wire.view.activity is Activity.RESIZE
    assert wire.last(m.ExecuteJob).alloc == (0, 1, 2, 5, 7)
    wire.complete("w0%1!1", 63.0)
    assert wire.last(m.ExecuteJob).alloc == (0, 1, 2, 5, 7)
    assert wire.last(m.RegisterProfile).profile["delay"] == 24.0
    for number, now_s in ((2, 87.0), (3, 92.0), (4, 116.0)):
        wire.complete(f"w0%1!{number}", now_s)
    assert wire.last(m.ExecuteJob).alloc == (0, 1, 2, 5, 7), "those that leave take part in the reconfiguration"
    assert wire.told.left == []
    wire.complete("w0%1!5", 119.0)
    assert wire.told.left == [("w0!1", (0, 1, 2))]
    assert wire.last(m.ExecuteJob).alloc == (0, 1, 2)
    wire.complete("w0%1!6", 159.0)
    wire.complete("w0%1!7", 162.0)
    assert wire.told.ends
    assert wire.records[0].sizes == [(0.0, 2), (63.0, 5), (119.0, 3)]
    assert wire.records[0].node_seconds == 2 * 10 + 5 * 109 + 3 * 43


def test_what_it_needs() -> None:
    """Dynamic jobs, and a description without faults."""
    with pytest.raises(RemoteProtocolError, match="--enable-dynamic-jobs"):
        Wire(job(), config=m.BatsimConfig())
    with pytest.raises(RemoteProtocolError, match="control_every: 3 does not divide"):
        Malleable().refuses(job(control_every=3))


def test_the_same_over_zeromq_and_without_profile_reuse(tmp_path: Path) -> None:
    """The embedded simulator as a Batsim of its own: text messages, its options, its file of jobs."""
    platform, workload = tmp_path / "p.xml", tmp_path / "w.json"
    platform.write_text(generate(describe("tiny")), encoding="utf-8")
    jobs = [{"id": name, "subtime": 0, "res": 2, "profile": name} for name in "12"]
    jobs.append({"id": "3", "subtime": 1, "res": 2, "walltime": 50, "profile": "rigid"})
    profiles: dict[str, Any] = {name: job(name, io_bytes=2e9).profile for name in "12"}
    profiles["rigid"] = {"type": "delay", "delay": 20}
    workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}), encoding="utf-8")
    ends = []
    for flags in (["--enable-profile-reuse"], []):
        records: list[AppRecord] = []
        session = Session(POLICIES["easy"].build(), runtime(records, Exclusive()))

        def handle(message: m.Message, session: Session = session) -> m.Reply:
            reply = session.handle(message)
            session.check()
            return reply

        with listening(decoded(handle)) as endpoint:
            code = main(
                ["-s", endpoint, "-p", str(platform), "-w", str(workload), "-e", str(tmp_path / "out"),
                 "--enable-dynamic-jobs", *flags]
            )  # fmt: skip
        assert code == 0
        assert [record.state for record in records] == [m.JobState.COMPLETED_SUCCESSFULLY] * 2
        assert records[0].phases[0].begin_s < records[1].phases[0].begin_s, "one writes after the other"
        ends.append([record.end_s for record in records])
    assert ends[0] == pytest.approx(ends[1])
