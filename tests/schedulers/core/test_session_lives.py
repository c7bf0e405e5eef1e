"""Lives of holdings through a whole conversation: decisions, guard, execution, view, files, lanes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.measures.metrics import compute_utilisation, storage_utilisation
from spillway.analysis.plots.lanes import pieces
from spillway.analysis.tables.holdings import NodeSpan, StorageSpan, node_spans, storage_spans
from spillway.analysis.tables.jobs import JobTable, read_run
from spillway.analysis.tables.timelines import busy_nodes, held_bytes
from spillway.base.errors import DecisionRefused, OptionError
from spillway.core import PublishedTimeline, Resource
from spillway.experiments.run.reasons import ReasonRecorder
from spillway.experiments.run.recorder import write_machine
from spillway.protocol import messages as m
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.jobmodels.base import Compute, GiveBack, Granted, JobModel, Program
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.decisions import Decision, Evict, Hold, Reject, Start, WakeAt
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import Holding, Running, View
from tests.kit.messages import submitted
from tests.schedulers.jobmodels.dynamic_wire import Told
from tests.schedulers.jobmodels.dynamic_wire import machine as dynamic_machine

BUFFER = {"capacity_bytes": "10", "storage_kind": "burst_buffer"}
MACHINE = m.SimulationBegins(
    0.0,
    tuple(m.ResourceInfo(i, f"n{i}") for i in range(2)),
    tuple(m.ResourceInfo(2 + i, f"s{i}", properties=BUFFER) for i in range(2)),
)
STAGED = Lives(storage_lead_s=60.0, storage_tail_s=200.0)
BOTH = Allocation((), (0, 1), 6)

Pass = Callable[[View], Iterable[Decision]]


@dataclass(frozen=True)
class Faulty(JobModel):
    """A job on node 0 computes and gives node 1 back."""

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Two operations."""
        yield Compute({"type": "delay", "delay": 1.0})
        yield GiveBack((1,), Resource.NODES)


def opened(policy: Pass, **options: object) -> Session:
    """A session of two nodes and two storage nodes of 10 bytes, with one job on both and 6 bytes each."""
    runtime = options.pop("runtime", None) or ProgramRuntime(Rigid())
    session = Session(policy, runtime, **options)  # type: ignore[arg-type]
    session.handle(m.Message(0.0, (MACHINE,)))
    return session


def job_in(view: View, number: int) -> Job:
    """A waiting job."""
    return next(job for job in view.queue if job.name == str(number))


def staged(view: View) -> Iterable[Decision]:
    """Hold at 100, start at 160."""
    for job in view.queue:
        if view.now_s == 100.0:
            yield Hold(job, BOTH, 1000.0)
            yield WakeAt(160.0)
        elif view.now_s == 160.0:
            start = try_start(view, job)
            assert start is not None
            yield start


@pytest.fixture
def played(tmp_path: Path) -> tuple[JobTable, list[tuple[Running, ...]], Path]:
    """One job: buffer from 100, nodes from 160 to 700, buffer until 900."""
    recorder = ReasonRecorder(tmp_path)
    seen: list[tuple[Running, ...]] = []

    def policy(view: View) -> Iterable[Decision]:
        seen.append(tuple(view.running))
        yield from staged(view)

    session = Session(
        policy, ProgramRuntime(Rigid(), limits=StageLimits()), terms=Terms(lives=lambda job: STAGED), observer=recorder
    )
    session.handle(m.Message(0.0, (MACHINE,)))
    write_machine(session.machine, tmp_path / "machine.json")
    done = m.JobCompleted(700.0, "w0!1", m.JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1))
    events = (
        (100.0, submitted(1, 2, 100.0, walltime=600, bb=6, stage_out_s=200.0)),
        (160.0, m.RequestedCall(160.0)),
        (700.0, done),
        (900.0, m.RequestedCall(900.0)),
    )
    for now_s, event in events:
        session.handle(m.Message(now_s, (event,)))
        session.check()
    assert (len(session.book.free_nodes()), session.book.timeline.free_storage_now()) == (2, [10, 10])
    recorder.close()
    columns = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,final_state"
    columns += ",starting_time,execution_time,finish_time,allocated_resources"
    row = "1,w0,100,2,600,COMPLETED_SUCCESSFULLY,160,740,900,0-1"
    (tmp_path / "jobs.csv").write_text(f"{columns}\n{row}\n", encoding="utf-8")
    return read_run(tmp_path), seen, tmp_path


def test_the_view_says_what_is_held_and_until_when(played: tuple[JobTable, list[tuple[Running, ...]], Path]) -> None:
    """At 700 the nodes are back; the drain is expected to end at 960: 600 s of walltime after 160, and 200 s."""
    _, seen, _ = played
    (running,) = seen[2]
    assert running.allocation == Allocation((), (0, 1), 6)
    held = Allocation((0, 1), (0, 1), 6)
    assert running.holdings == (Holding(Resource.BURST_BUFFERS, held, 100.0, 960.0),)


def test_the_files_say_when_what_was_held(played: tuple[JobTable, list[tuple[Running, ...]], Path]) -> None:
    """``allocations.csv`` has its columns and, as something differs, three more; analysis reads them."""
    table, _, folder = played
    header, row = (folder / "allocations.csv").read_text(encoding="utf-8").splitlines()
    assert header.endswith(",start_s,node_lives,storage_lives,bandwidth_lives")
    assert row == ("1,w0,,2,0-1,6,2:1 3:1,160.000000,0-1@160.000000-700.000000,2:1 3:1@100.000000-900.000000,")
    assert node_spans(table) == [NodeSpan(0, [0, 1], 160.0, 700.0)]
    assert list(storage_spans(table)) == [StorageSpan(0, 2, 6, 100.0, 900.0), StorageSpan(0, 3, 6, 100.0, 900.0)]
    assert [(piece.low, piece.high, piece.start_s, piece.end_s) for piece in pieces(table)] == [
        (0, 6, 100.0, 900.0),
        (0, 6, 100.0, 900.0),
    ]


def test_figures_count_what_was_held(played: tuple[JobTable, list[tuple[Running, ...]], Path]) -> None:
    """Two nodes for 540 s of 900, and 12 of 20 bytes for 800 s of 900."""
    table, _, _ = played
    assert compute_utilisation(table) == pytest.approx(540 / 900)
    assert storage_utilisation(table) == pytest.approx(12 * 800 / (20 * 900))
    times = np.array([50.0, 120.0, 160.0, 800.0, 900.0])
    assert busy_nodes(table).at(times).tolist() == [0, 0, 2, 0, 0]
    assert held_bytes(table).at(times).tolist() == [0, 12, 12, 12, 0]


def test_without_lives_the_file_is_as_it_was(tmp_path: Path) -> None:
    """No further columns, though the job holds nodes and buffers."""
    recorder = ReasonRecorder(tmp_path)
    session = Session(
        lambda view: [try_start(view, job) for job in view.queue], ProgramRuntime(Rigid()), observer=recorder
    )  # type: ignore[arg-type,return-value]
    session.handle(m.Message(0.0, (MACHINE,)))
    session.handle(m.Message(0.0, (submitted(1, 2, walltime=600, bb=6),)))
    session.handle(m.Message(9.0, (m.JobCompleted(9.0, "w0!1", m.JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1)),)))
    recorder.close()
    assert (tmp_path / "allocations.csv").read_text(encoding="utf-8").splitlines() == [
        "job_id,workload_name,user,nodes,allocated_resources,bb_bytes,storages,start_s",
        "1,w0,,2,0-1,6,2:1 3:1,0.000000",
    ]


@pytest.mark.parametrize(("decisions", "reason"), [
    (lambda job: [Hold(job, Allocation((), (0, 1), 5))], "it requests .* of burst buffer per node"),
    (lambda job: [Hold(job, Allocation((), (0,), 6))], "it needs 2 storages"),
    (lambda job: [Hold(job, Allocation((), (1, 1), 6))], "storage s1 has"),
    (lambda job: [Hold(job, Allocation((0, 1), (0, 1), 6))], "neither nodes nor bandwidth"),
    (lambda job: [Hold(job, BOTH, 0.0)], "beyond now"),
    (lambda job: [Hold(job, BOTH), Hold(job, BOTH)], "already holds its burst buffer"),
    (lambda job: [Evict(job)], "only a waiting job that holds"),
    (lambda job: [Start(job, Allocation((0, 1), (0, 1), 6))], "must be held 60.0 s before its nodes"),
    (lambda job: [Reject(job, "no"), Hold(job, BOTH)], "it is not waiting"),
])  # fmt: skip
def test_the_guard_refuses(decisions: Callable[[Job], Sequence[Decision]], reason: str) -> None:
    """Another size, another number, no free bytes, nodes in it, no time, twice, nothing there, too early, too late."""
    session = opened(lambda view: decisions(job_in(view, 1)), terms=Terms(lives=lambda job: STAGED))
    with pytest.raises(DecisionRefused, match=reason):
        session.handle(m.Message(0.0, (submitted(1, 2, walltime=600, bb=6),)))


def test_a_job_is_started_on_the_buffer_that_it_holds() -> None:
    """Same job, same bytes, same storages: another buffer is refused."""

    def policy(view: View) -> Iterable[Decision]:
        job = job_in(view, 1)
        yield Hold(job, Allocation((), (0, 0), 5))
        yield Start(job, Allocation((0, 1), (1, 1), 5))

    session = opened(policy)
    with pytest.raises(DecisionRefused, match=r"storages \[0, 0\] and must be started on just these"):
        session.handle(m.Message(0.0, (submitted(1, 2, walltime=600, bb=5),)))


def test_the_published_timeline_knows_no_lives() -> None:
    """Refused when the session is made, with the reason."""
    with pytest.raises(OptionError, match="published timeline exclude each other"):
        Session(
            lambda view: (),
            ProgramRuntime(Rigid()),
            terms=Terms(lives=lambda job: None, timeline=PublishedTimeline),
        )


def test_a_model_that_gives_back_too_much_is_refused() -> None:
    """The job and the node are named."""

    told = Told(ProgramRuntime(Faulty()), dynamic_machine())
    told.start(Job("w0!1", 1, 0.0, 600.0, 1, profile_name="p"), Allocation((0,)), 0.0)
    with pytest.raises(DecisionRefused, match="holds nothing to give back for node 1"):
        told.tell(1.0, m.JobCompleted(1.0, "w0%1!0", m.JobState.COMPLETED_SUCCESSFULLY, 0, (0,)))
