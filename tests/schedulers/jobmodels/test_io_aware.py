"""The IO-Aware model: its stages, phases, bytes and options; ``tools.fuzz conversations`` plays it to the wire."""

import pytest

from spillway.base.errors import OptionError, RemoteProtocolError
from spillway.base.options import build
from spillway.protocol.messages import (
    BatsimConfig,
    ResourceInfo,
    SimulationBegins,
)
from spillway.schedulers.jobmodels.base import Compute, Granted, Place, Transfer
from spillway.schedulers.jobmodels.io_aware import IoAware, flops_per_node, staged_bytes
from spillway.schedulers.jobmodels.record import Checkpoints
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Machine
from tests.kit.specs import session_spec

GB = 10**9


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


def test_needs_dynamic_jobs_and_a_dividable_profile() -> None:
    """A simulator without dynamic jobs, or a profile without phases, is refused with the reason."""
    with pytest.raises(RemoteProtocolError, match="--enable-dynamic-jobs"):
        ProgramRuntime(IoAware()).begin(machine(), BatsimConfig())
    runtime = ProgramRuntime(IoAware())
    runtime.begin(machine(), BatsimConfig(dynamic_jobs_enabled=True))
    reason = runtime.refuses(Job("w0!15", 0, 0.0, 10.0, 1, 0, 0, "15", {"type": "smpi"}))
    assert reason is not None
    assert "type 'smpi'" in reason


HALF = 2 * GB
READ, PASS_ON = (Place.BURST_BUFFER, Place.NODES, HALF), (Place.PFS, Place.BURST_BUFFER, HALF)
WRITE, ALONE, BESIDE = (Place.NODES, Place.BURST_BUFFER, HALF), "compute", "compute beside a drain"


@pytest.mark.parametrize(("resumed", "expected"), [
    (None, [ALONE, WRITE, BESIDE, WRITE, BESIDE]),
    (Checkpoints(2, 2), [READ, ALONE]),
    (Checkpoints(2, 1), [READ, BESIDE]),
    (Checkpoints(1, 0), [READ, BESIDE, WRITE, BESIDE]),
    (Checkpoints(0, 1), [PASS_ON, READ, ALONE, WRITE, BESIDE]),
])  # fmt: skip
def test_program_from_a_checkpoint(resumed: Checkpoints | None, expected: list[object]) -> None:
    """Three phases: those before the last checkpoint that survived are left out; undrained data is drained."""
    found: list[object] = []
    for operation in IoAware(phase_target=1e10).program(job(30e9), Granted(Allocation((0,)), 0.0, resumed), machine()):
        if isinstance(operation, Transfer):
            found.append((operation.source, operation.destination, operation.bytes_per_node))
        else:
            assert isinstance(operation, Compute)
            found.append(ALONE if operation.beside is None else BESIDE)
            assert operation.beside is None or operation.beside.bytes_per_node == HALF
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
    assert session_spec("easy", model="io", settings=settings).session()
    assert not IoAware().early_release
    literal = session_spec("easy", model="io", literal=True).make_model()
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
