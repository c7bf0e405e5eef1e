"""Phased execution: the thesis's stages on the wire, and nothing leaks when sub-jobs end, fail or are killed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import OptionError, RemoteProtocolError
from spillway.base.options import build
from spillway.protocol.messages import (
    BatsimConfig,
    ExecuteJob,
    JobCompleted,
    JobState,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    ResourceInfo,
    SetJobMetadata,
    SimulationBegins,
)
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.execution import Ended
from spillway.schedulers.jobmodels.base import Compute, Granted, Place, Transfer
from spillway.schedulers.jobmodels.io_aware import IoAware, flops_per_node, staged_bytes
from spillway.schedulers.jobmodels.record import Checkpoints, JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Machine
from tests.schedulers.jobmodels.wire_rules import WireRules

GB = 10**9
DYNAMIC = BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)


def machine() -> Machine:
    """Four nodes (ids 0-3), two storage nodes (4, 5) and a PFS (6)."""
    return Machine.from_simulation_begins(
        SimulationBegins(
            0.0,
            tuple(ResourceInfo(i, f"n{i}") for i in range(4)),
            (
                ResourceInfo(4, "s0", properties={"capacity_bytes": str(40 * GB)}),
                ResourceInfo(5, "s1", properties={"capacity_bytes": str(40 * GB)}),
                ResourceInfo(6, "pfs"),
            ),
        )
    )


def job(cpu: float, walltime_s: float = 10_000.0, nodes: int = 2, bb_bytes: int = 4 * GB + 1) -> Job:
    """A parallel job of ``cpu`` flop per node."""
    profile = {"type": "parallel_homogeneous", "cpu": cpu, "com": 7, "bb": bb_bytes}
    return Job("w0!15", 0, 0.0, walltime_s, nodes, bb_bytes, 0, "15", profile)


class Wire:
    """A scripted Batsim: applies requests, tracks running jobs, and checks every request with the guard."""

    def __init__(self, model: IoAware | None = None, config: BatsimConfig = DYNAMIC) -> None:
        self.records: list[JobRecord] = []
        self.phased = ProgramRuntime(model or IoAware(), on_record=self.records.append)
        self.phased.begin(machine(), config)
        self.guard = WireRules(config, {"w0": {"15": {}}})
        self.guard.submitted("w0!15")
        self.running: list[str] = []
        self.log: list[Request] = []
        self.ended: list[Ended] = []
        self.killed: set[str] = set()

    def apply(self, requests: object) -> None:
        """Take requests as Batsim would."""
        batch = list(requests)  # type: ignore[call-overload]
        self.guard.check(batch)
        self.log += batch
        for request in batch:
            if isinstance(request, ExecuteJob):
                self.running.append(request.job_id)
            elif isinstance(request, KillJob):
                assert set(request.job_ids) <= set(self.running)
                self.killed |= set(request.job_ids)

    def complete(self, index: int, now_s: float, state: JobState = JobState.COMPLETED_SUCCESSFULLY) -> None:
        """End one running sub-job."""
        sub_id = self.running.pop(index % len(self.running))
        if sub_id in self.killed:
            state = JobState.COMPLETED_KILLED
        code = {JobState.COMPLETED_SUCCESSFULLY: 0, JobState.COMPLETED_KILLED: -2}.get(state, -1)
        self.guard.completed((sub_id,))
        step = self.phased.handle(JobCompleted(now_s, sub_id, state, code, ()), now_s)
        assert step is not None
        self.apply(step.requests)
        self.ended += step.ended

    def start(self, a_job: Job) -> None:
        """Start the job at time 0."""
        allocation = Allocation(tuple(range(a_job.nodes)), tuple(i % 2 for i in range(a_job.nodes)), a_job.bb_bytes)
        self.apply(self.phased.start(a_job, allocation, 0.0).requests)


def kinds(requests: list[Request]) -> list[str]:
    """Class names of requests."""
    return [type(request).__name__ for request in requests]


def test_first_stage_on_the_wire() -> None:
    """Stage-in: metadata, one profile, all registrations, all executions, then the static job is rejected."""
    wire = Wire()
    wire.start(job(3.6e12))
    assert kinds(wire.log) == ["SetJobMetadata", "RegisterProfile"] + ["RegisterJob"] * 2 + ["ExecuteJob"] * 2 + [
        "RejectJob"
    ]
    metadata, profile, first, _, execute, second_execute, reject = wire.log
    assert isinstance(metadata, SetJobMetadata)
    assert metadata.metadata == str(4 * GB + 1)
    assert isinstance(profile, RegisterProfile)
    assert (profile.workload_name, profile.profile_name) == ("w0%15", "data_staging_profile_0")
    assert isinstance(first, RegisterJob)
    assert first.job["walltime"] == 10_000.0
    assert isinstance(execute, ExecuteJob)
    assert isinstance(second_execute, ExecuteJob)
    assert (execute.alloc, execute.storage_mapping) == ((4, 6), {"source": 6, "destination": 4})
    assert (second_execute.alloc, second_execute.storage_mapping) == ((5, 6), {"source": 6, "destination": 5})
    assert isinstance(reject, RejectJob)


def test_two_phases_with_checkpoint_and_concurrent_drain() -> None:
    """7200 s of work: stage-in, compute, checkpoint, compute beside drains, stage-out; the end waits for the drains."""
    wire = Wire()
    wire.start(job(7.2e12))
    wire.complete(0, 1.0)
    wire.complete(0, 1.0)
    assert wire.running == ["w0%15!2"]
    wire.complete(0, 3601.0)
    checkpoint = [r for r in wire.log if isinstance(r, RegisterProfile)][-1]
    assert checkpoint.profile["bytes_to_write"] == 2 * GB, "half of the burst buffer, rounded down"
    wire.complete(0, 3602.0)
    wire.complete(0, 3603.0)
    assert len(wire.running) == 3, "second compute phase beside two drains"
    drains = wire.running[1:]
    wire.complete(0, 7203.0)
    assert len(wire.running) == 4, "two drains and two stage-outs"
    for _ in range(2):
        wire.complete(2, 7204.0)
    assert wire.running == drains
    assert wire.ended == []
    wire.complete(0, 7300.0)
    wire.complete(0, 7301.0)
    assert wire.ended == [Ended("w0!15", JobState.COMPLETED_SUCCESSFULLY, 0)]
    record = wire.records[0]
    assert IoAware().cells(record) == {"phases": "2"}
    assert record.seconds["compute"] == 7200.0
    assert record.seconds["checkpoint"] == 2.0
    assert record.moved_bytes["drain"] == 4 * GB
    assert record.moved_bytes["stage_out"] == 2 * (4 * GB + 1)
    assert (record.end_s, record.sub_jobs) == (7301.0, 10)


def test_walltime_in_compute_ends_without_stage_out() -> None:
    """A compute phase that hits the walltime is the job's last stage."""
    wire = Wire()
    wire.start(job(3.6e12, walltime_s=100.0))
    wire.complete(0, 1.0)
    wire.complete(0, 1.0)
    wire.complete(0, 100.0, JobState.COMPLETED_WALLTIME_REACHED)
    assert wire.running == []
    assert wire.ended == [Ended("w0!15", JobState.COMPLETED_WALLTIME_REACHED, -1)]


def test_no_stage_is_registered_without_time_left() -> None:
    """Completions reported after the deadline end the job: Batsim aborts on a walltime of 0."""
    wire = Wire()
    wire.start(job(3.6e12, walltime_s=100.0))
    wire.complete(0, 99.9)
    wire.complete(0, 100.0)
    assert wire.ended == [Ended("w0!15", JobState.COMPLETED_WALLTIME_REACHED, -1)]


def test_killed_job_keeps_its_resources_until_drains_end() -> None:
    """A kill does not stop drains; the thesis's early release gives the resources back at once."""
    for early, ends in ((False, 0), (True, 1)):
        wire = Wire(IoAware(early_release=early))
        wire.start(job(7.2e12))
        for now_s in (1.0, 1.0, 3601.0, 3602.0, 3603.0):
            wire.complete(0, now_s)
        wire.apply(wire.phased.kill(job(7.2e12), 4000.0).requests)
        wire.complete(0, 4000.0)
        assert len(wire.ended) == ends
        while wire.running:
            wire.complete(0, 5000.0)
        assert wire.ended == [Ended("w0!15", JobState.COMPLETED_KILLED, -2)]


def test_new_profiles_where_batsim_forgets_them() -> None:
    """Without --enable-profile-reuse every stage registers its profile anew under a new name."""
    wire = Wire(config=BatsimConfig(dynamic_jobs_enabled=True))
    wire.start(job(7.2e12))
    while wire.running:
        wire.complete(0, 10.0)
    names = [r.profile_name for r in wire.log if isinstance(r, RegisterProfile)]
    assert len(names) == len(set(names)) == 6


def test_needs_dynamic_jobs_and_a_dividable_profile() -> None:
    """A simulator without dynamic jobs, or a profile without phases, is refused with the reason."""
    with pytest.raises(RemoteProtocolError, match="--enable-dynamic-jobs"):
        ProgramRuntime(IoAware()).begin(machine(), BatsimConfig())
    wire = Wire()
    bad = Job("w0!15", 0, 0.0, 10.0, 1, 0, 0, "15", {"type": "smpi"})
    reason = wire.phased.refuses(bad)
    assert reason is not None
    assert "type 'smpi'" in reason


HALF = 2 * GB
READ, PASS_ON = (Place.BURST_BUFFER, Place.NODES, HALF), (Place.PFS, Place.BURST_BUFFER, HALF)
WRITE, ALONE, BESIDE = (Place.NODES, Place.BURST_BUFFER, HALF), "compute", "compute beside a drain"


@pytest.mark.parametrize(
    ("resumed", "expected"),
    [
        (None, [ALONE, WRITE, BESIDE, WRITE, BESIDE]),
        (Checkpoints(2, 2), [READ, ALONE]),
        (Checkpoints(2, 1), [READ, BESIDE]),
        (Checkpoints(1, 0), [READ, BESIDE, WRITE, BESIDE]),
        (Checkpoints(0, 1), [PASS_ON, READ, ALONE, WRITE, BESIDE]),
    ],
)
def test_program_from_a_checkpoint(resumed: Checkpoints | None, expected: list[object]) -> None:
    """Three phases: those before the last checkpoint that survived are left out; undrained data is drained."""
    found: list[object] = []
    for one in IoAware(phase_target=1e10).program(job(30e9), Granted(Allocation((0,)), 0.0, resumed), machine()):
        if isinstance(one, Transfer):
            found.append((one.source, one.destination, one.bytes_per_node))
        else:
            assert isinstance(one, Compute)
            found.append(ALONE if one.beside is None else BESIDE)
            assert one.beside is None or one.beside.bytes_per_node == HALF
    assert found == expected


@pytest.mark.parametrize(
    ("stated", "sizes"), [({}, (4 * GB + 1, 4 * GB + 1)), ({"stage_in_bytes": 7, "stage_out_bytes": 0}, (7, 0))]
)
def test_staged_bytes(stated: dict[str, int], sizes: tuple[int, int]) -> None:
    """All of the burst buffer, unless the job states less."""
    one = replaced(job(30e9), extras=stated)
    for program, size in zip((IoAware().stage_in(one), IoAware().stage_out(one)), sizes, strict=True):
        operation = next(program)
        assert isinstance(operation, Transfer)
        assert operation.bytes_per_node == size


def test_bytes_that_a_stream_of_stages_carries() -> None:
    """Stage-in, stage-out, and a drain of half after every phase but the last, unless the job states less."""
    model, one = IoAware(phase_target=1e10), job(30e9)
    assert staged_bytes(one, model) == 2 * (4 * GB + 1) + 2 * HALF
    less = replaced(one, extras={"stage_in_bytes": 6.5, "stage_out_bytes": 0})
    assert staged_bytes(less, model) == 7 + 2 * HALF


def test_a_job_without_a_burst_buffer() -> None:
    """One phase, and nothing is staged or kept."""
    model, one = IoAware(phase_target=1e9), job(30e9, bb_bytes=0)
    assert model.phases(one) == 1
    assert [*model.stage_in(one), *model.stage_out(one)] == []


@pytest.mark.parametrize(
    ("profile", "flops"), [({}, 0.0), ({"cpu": []}, 0.0), ({"cpu": [1, 3, 2]}, 3.0), ({"cpu": 4}, 4.0)]
)
def test_work_per_node(profile: dict[str, object], flops: float) -> None:
    """The most of a node counts; nothing where nothing is stated."""
    assert flops_per_node(profile) == flops


def test_what_the_model_states_of_itself() -> None:
    """It passes the I/O gate and restarts from checkpoints; as published, a killed job leaves its drains behind."""
    settings = {"io_control": "exclusive", "on_outage": "requeue", "restart": "checkpoint"}
    assert SessionSpec("easy", model="io", settings=settings).session()
    assert not IoAware().early_release
    literal = SessionSpec("easy", model="io", thesis_literal=True).make_model()
    assert isinstance(literal, IoAware)
    assert literal.early_release
    assert not literal.alone().early_release


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("phase_target", (1.0, 1e24), (0.9, 1.1e24)),
        ("max_phases", (1, 1_000_000), (0, 1_000_001)),
        ("checkpoint_fraction", (0.0, 1.0), (-0.1, 1.1)),
        ("book_stages", (0.0, 1.0, 1.5, 1e6), (-0.1, 0.5, 0.99, 1e6 + 1)),
    ],
)
def test_ranges_of_options(name: str, good: tuple[float, ...], bad: tuple[float, ...]) -> None:
    """The bounds belong to them."""
    for value in good:
        assert getattr(build(IoAware, {name: value}), name) == value
    for value in bad:
        with pytest.raises(OptionError, match=name):
            build(IoAware, {name: value})


def test_phase_count_rounds_half_to_even() -> None:
    """Thesis 2.4.2 as implemented: Python's rounding, at least 1, at most 10."""
    model = IoAware()
    assert [model.phases(job(x * 3.6e12)) for x in (0.1, 0.5, 1.5, 2.5, 2.6, 99.0)] == [1, 1, 2, 2, 3, 10]


@given(
    cpu=st.floats(1e11, 4e13),
    nodes=st.integers(1, 4),
    bb=st.integers(0, 3 * GB),
    endless=st.booleans(),
    early=st.booleans(),
    steps=st.lists(st.tuples(st.integers(0, 99), st.floats(0.0, 400.0), st.integers(0, 9)), max_size=60),
)
def test_every_sequence_of_ends_and_kills_ends_the_job_once(
    cpu: float, nodes: int, bb: int, endless: bool, early: bool, steps: list[tuple[int, float, int]]
) -> None:
    """Sub-jobs complete, fail or are killed in any order: one end, no live sub-job forgotten, legal requests."""
    wire = Wire(IoAware(early_release=early))
    a_job = job(cpu, math.inf if endless else 5000.0, nodes, bb)
    wire.start(a_job)
    now_s = 0.0
    pending = list(steps)
    while wire.running:
        index, delay_s, choice = pending.pop() if pending else (0, 1.0, 5)
        now_s += delay_s
        if choice == 0 and not wire.ended:
            step = wire.phased.kill(a_job, now_s)
            wire.apply(step.requests)
            wire.ended += step.ended
        state = JobState.COMPLETED_WALLTIME_REACHED if choice == 1 else JobState.COMPLETED_SUCCESSFULLY
        wire.complete(index, now_s, state)
    assert len(wire.ended) == 1
    assert len(wire.records) == 1
    assert wire.phased.core.idle
