"""Sequences of operations on the wire: hand-computed schedules, exclusive I/O, kills, walltimes."""

import itertools
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import RemoteProtocolError
from spillway.protocol.messages import BatsimConfig, JobState, RejectJob
from spillway.schedulers.jobmodels.gates import Exclusive, IoOrder, Shared
from spillway.schedulers.jobmodels.operations import OperationSequence
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.operations import Operation, Operations, operations_of
from tests.kit.cases import cases
from tests.schedulers.jobmodels.dynamic_wire import BANDWIDTH, Told, Wire, machine


def job(number: int, nodes: int = 1, walltime_s: float = math.inf, **periods: float) -> Job:
    """A periodic job; without periods an ordinary delay."""
    profile: dict[str, Any] = {"type": "delay", "delay": 5.0}
    if periods:
        profile["periods"] = periods
    return Job(f"w0!{number}", number, 0.0, walltime_s, nodes, 0, 0, "p", profile)


def runtime(*arguments: Any, **options: Any) -> ProgramRuntime:
    """Plays sequences of operations."""
    return ProgramRuntime(OperationSequence(), *arguments, **options)


def place(job: Job, first: int) -> Allocation:
    """Consecutive nodes."""
    return Allocation(tuple(range(first, first + job.nodes)))


def play(*jobs: Job, gate: Any = None) -> tuple[Wire, dict[str, JobRecord]]:
    """Start jobs side by side at 0 s and run them."""
    records: dict[str, JobRecord] = {}
    wire = Wire(runtime(gate, on_record=lambda record: records.update({record.job.id: record})), machine(nodes=8))
    first = 0
    for each_job in jobs:
        wire.start(each_job, place(each_job, first))
        first += each_job.nodes
    wire.run()
    return wire, records


def test_one_job_alone() -> None:
    """Three periods of 4 s computing and 20 bytes at 10 bytes/s over two nodes: 3 x (4 + 1) s, nothing waited for."""
    wire, records = play(job(0, nodes=2, count=3, compute_s=4.0, io_bytes=20.0))
    record = records["w0!0"]
    assert wire.ends["w0!0"][0] == 15.0
    assert (record.seconds["compute"], record.seconds["transfer"], record.io_wait_s, record.operations) == (
        12.0,
        3.0,
        0.0,
        6,
    )


def test_figure_2_two_equal_jobs_synchronise() -> None:
    """Figure 2: two identical applications (3 s computing, 3 s I/O) wait once, in the first period, and never again."""
    wire, records = play(
        job(0, count=4, compute_s=3.0, io_bytes=30.0), job(1, count=4, compute_s=3.0, io_bytes=30.0), gate=Exclusive()
    )
    assert [(start, end, owner[-1]) for start, end, owner, _ in wire.transfers] == [
        (3, 6, "0"), (6, 9, "1"), (9, 12, "0"), (12, 15, "1"), (15, 18, "0"), (18, 21, "1"), (21, 24, "0"),
        (24, 27, "1"),
    ]  # fmt: skip
    assert wire.ends["w0!0"][0] == 24.0
    assert wire.ends["w0!1"][0] == 27.0
    assert records["w0!0"].io_wait_s == 0.0
    assert records["w0!1"].io_wait_s == 3.0


def test_shortest_first_lets_the_small_one_pass() -> None:
    """While job 0 transfers, 1 (long) and 2 (short) queue: 2 goes first."""
    jobs = job(0, count=1, compute_s=1.0, io_bytes=40.0), job(1, count=1, compute_s=2.0, io_bytes=30.0)
    wire, _ = play(*jobs, job(2, count=1, compute_s=3.0, io_bytes=10.0), gate=Exclusive(IoOrder.SHORTEST))
    assert [(start, end, owner[-1]) for start, end, owner, _ in wire.transfers] == [
        (1, 5, "0"),
        (5, 6, "2"),
        (6, 9, "1"),
    ]


def test_a_job_without_operations_runs_rigidly() -> None:
    """No sub-jobs, no rejection in Batsim's books."""
    told, plain = Told(runtime(Exclusive()), machine()), job(0)
    requests = told.start(plain, place(plain, 0), 0.0)
    assert [type(request).__name__ for request in requests] == ["ExecuteJob"]
    assert len(told.kill(plain, 1.0)) == 1


def test_an_explicit_sequence_begins_and_ends_as_it_says() -> None:
    """Read 10 bytes, compute 2 s, write 30 bytes: 1 + 2 + 3 s; the job itself leaves Batsim's books at once."""
    steps = [{"io_bytes": 10}, {"compute_s": 2}, {"io_bytes": 30}, {"compute_s": 0}]
    one = Job("w0!0", 0, 0.0, math.inf, 1, 0, 0, "p", {"type": "delay", "delay": 5.0, "operations": steps})
    wire = Wire(runtime(Shared()), machine())
    wire.start(one, place(one, 0))
    assert isinstance(wire.log[-1], RejectJob)
    wire.run()
    assert [(start, end) for start, end, _, _ in wire.transfers] == [(0.0, 1.0), (3.0, 6.0)]


def test_what_the_simulator_must_offer() -> None:
    """Dynamic jobs and a file system; otherwise one clear error."""
    with pytest.raises(RemoteProtocolError, match="enable-dynamic-jobs"):
        Told(runtime(), msgspec.structs.replace(machine(), config=BatsimConfig()))


@pytest.mark.parametrize(("profile", "where"), cases("operations-refused"))
def test_what_is_stated_wrongly_is_named(profile: dict[str, Any], where: str) -> None:
    """The error's path is that of the field."""
    with pytest.raises(RemoteProtocolError) as caught:
        operations_of(profile)
    assert caught.value.path == (f"$.profile.{where}" if where else "$.profile")


def test_times_of_a_sequence() -> None:
    """Equation (1) and the characteristic time, by hand."""
    found = operations_of({"periods": {"count": 5, "compute_s": 8, "io_bytes": 20}})
    assert found == Operations((Operation(8.0, 0.0), Operation(0.0, 20.0)), 5)
    assert found is not None
    assert (len(found), found.transfers, found.compute_s, found.io_bytes) == (10, 5, 40.0, 100.0)
    assert found.uncontended_s(10.0) == 50.0
    assert found.characteristic_s(10.0) == 10.0
    assert operations_of({"type": "delay"}) is None


JOBS = st.lists(
    st.builds(
        lambda nodes, count, compute, size, wall: (
            nodes,
            wall,
            {"count": count, "compute_s": compute, "io_bytes": size},
        ),
        st.integers(1, 3),
        st.integers(1, 4),
        st.sampled_from([0.0, 1.0, 2.5]),
        st.sampled_from([5.0, 20.0, 70.0]),
        st.sampled_from([math.inf, math.inf, 8.0, 20.0]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=120)
@given(JOBS, st.dictionaries(st.integers(0, 5), st.integers(0, 30)), st.integers(0, 1), st.sampled_from(list(IoOrder)))
def test_exclusive_whatever_is_killed(jobs: Any, kills: dict[int, int], depth: int, order: IoOrder) -> None:
    """Never two applications on one I/O node; every job ends, and those not killed or late did all they had to."""
    records: dict[str, JobRecord] = {}
    shape = machine(nodes=24, racks=2)
    wire = Wire(runtime(Exclusive(order), depth, lambda record: records.update({record.job.id: record})), shape)
    made = [job(i, nodes, wall, **periods) for i, (nodes, wall, periods) in enumerate(jobs)]
    for index, one in enumerate(made):
        wire.start(one, place(one, 4 * index))
    for number, time_s in sorted(kills.items(), key=lambda item: item[1]):
        wire.run(float(time_s))
        if number < len(made):
            wire.kill(made[number])
    wire.run()
    rack = {node: (node * 2 // 24 if depth else 0) for node in range(24)}
    for io_node in range(2):
        spans = sorted((a, b) for a, b, _, hosts in wire.transfers if rack[hosts[0]] == io_node)
        assert all(first[1] <= second[0] + 1e-9 for first, second in itertools.pairwise(spans))
    assert wire.ends.keys() == {each_job.id for each_job in made}
    assert not wire.busy()
    for each_job in made:
        operations = operations_of(each_job.profile)
        assert operations is not None
        if wire.ends[each_job.id][1] is JobState.COMPLETED_SUCCESSFULLY:
            assert records[each_job.id].operations == len(operations)
            moved = sum(
                (b - a) * BANDWIDTH * len(hosts) for a, b, owner, hosts in wire.transfers if owner == each_job.id
            )
            assert moved == pytest.approx(operations.io_bytes)
        else:
            assert each_job.walltime_s < math.inf or int(each_job.id[3:]) in kills
