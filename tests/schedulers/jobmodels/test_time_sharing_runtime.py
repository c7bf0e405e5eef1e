"""Time sharing through the protocol, by hand: four nodes, slices of ten seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from spillway.base.errors import DecisionRefused, OptionError, RemoteProtocolError
from spillway.base.options import build
from spillway.protocol.messages import (
    BatsimConfig,
    CallMeLater,
    ExecuteJob,
    JobState,
    JobSubmitted,
    KillJob,
    Message,
    Notify,
    ResourceInfo,
    SimulationBegins,
)
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.model.decisions import Arrange, Decision, Kill, Start
from spillway.schedulers.model.explanations import Binding, PassNotes, Role
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.gang import Gang
from spillway.schedulers.policykit.view import View
from spillway.schedulers.timesharing.rules import PlacementColumns
from spillway.schedulers.timesharing.sharing import MigrationStart
from tests.schedulers.jobmodels.shared_machine import job, play
from tests.schedulers.runtimes import rigid

DONE = JobState.COMPLETED_SUCCESSFULLY
TWO_ROWS = Gang(quantum=10.0, level=2)
FLOPS = {"type": "parallel_homogeneous", "cpu": 95e9, "com": 0}


def test_two_jobs_take_turns() -> None:
    """A has the even slices, B the odd ones; A's tenth ends at 190 s, B then has both rows and ends at 200 s."""
    shown = play(TWO_ROWS, [job("A", 3, 100.0), job("B", 3, 100.0)])
    assert shown.starts == {"A": 0.0, "B": 0.0}
    assert shown.ends == {"A": (190.0, DONE), "B": (200.0, DONE)}
    assert shown.count(ExecuteJob) == 20


def test_computations_are_scaled_by_their_progress() -> None:
    """95 s of flops each: the rest follows from the progress that Batsim reads back, to six decimals. A ends at 185 s;
    B has then received nine slices, and its last five seconds at once."""
    shown = play(TWO_ROWS, [job("A", 3, 0.0, profile=FLOPS), job("B", 3, 0.0, profile=FLOPS)])
    assert shown.ends["A"] == (pytest.approx(185.0, abs=0.001), DONE)
    assert shown.ends["B"] == (pytest.approx(190.0, abs=0.001), DONE)


def test_a_job_in_all_rows_is_never_interrupted() -> None:
    """An uncontended job is replicated to both rows and runs without a break."""
    shown = play(TWO_ROWS, [job("A", 3, 100.0)])
    assert shown.ends == {"A": (100.0, DONE)}
    assert (shown.count(ExecuteJob), shown.count(KillJob)) == (1, 0)
    assert shown.count(CallMeLater) > 1


def test_walltimes_count_what_a_job_received() -> None:
    """B's 45 seconds are over at 95 s, in the middle of its fifth slice; A then has the machine to itself."""
    shown = play(TWO_ROWS, [job("A", 3, 100.0), job("B", 3, 100.0, walltime=45.0)])
    assert shown.ends["B"] == (95.0, JobState.COMPLETED_WALLTIME_REACHED)
    assert shown.ends["A"] == (145.0, DONE)


@pytest.mark.parametrize("profile", [{"type": "delay", "delay": 100.0}, FLOPS])
def test_a_walltime_used_up_at_the_end_of_a_slice(profile: dict[str, Any]) -> None:
    """B's 50 seconds are over at 100 s, when its fifth slice ends: Batsim kills it there and says so."""
    shown = play(TWO_ROWS, [job("A", 3, 100.0, profile=profile), job("B", 3, 100.0, profile=profile, walltime=50.0)])
    assert shown.ends["B"] == (100.0, JobState.COMPLETED_KILLED)
    assert shown.ends["A"][0] == pytest.approx(150.0 if profile["type"] == "delay" else 145.0, abs=0.001)


def test_blocks_cost_by_place() -> None:
    """100 blocks: 3 s on the file's nodes, 9 s as soon as one task is elsewhere."""
    jobs = [
        job("A", 2, 10.0, io_blocks=100, file_nodes=[0, 1]),
        job("B", 2, 10.0, io_blocks=100, file_nodes=[1, 2]),
    ]
    shown = play(TWO_ROWS, jobs)  # side by side, each in both rows
    assert shown.ends == {"A": (13.0, DONE), "B": (19.0, DONE)}


FIGURE_7 = [
    job("A", 2, 15.0, file_nodes=[0, 1]),
    job("C", 2, 200.0, file_nodes=[2, 3]),
    job("B", 1, 200.0, file_nodes=[1]),
    job("D", 2, 30.0, io_blocks=1000, file_nodes=[0, 1]),
]
"""D needs 60 s on its file's nodes, 120 s elsewhere. A and C are in row 0, B and D in row 1, D on nodes 0 and 2."""


HOME = Gang(10.0, 2, PlacementColumns.FILES_FIRST, migrate=True, migration_cost=2.0)


def test_a_migrated_job_pays_once_and_then_runs_locally() -> None:
    """Figure 7. D has slice 1 (10 to 20 s): 10 of 120 s. A, in slices 0 and 2, leaves at 25 s. D goes to row 0 with the
    next quantum, from 30 s on; its first slice there is slice 4: it restarts for 2 s and does 8 of the 55 s that it
    still needs, 10 in each of slices 6, 8, 10 and 12, 7 in slice 14."""
    shown = play(HOME, FIGURE_7)
    assert shown.ends["A"] == (25.0, DONE)
    assert shown.ends["D"] == (147.0, DONE)


def test_a_migration_at_once_is_an_option() -> None:
    """The same, inside the running slice: D restarts at 25 s for 2 s, and needs 55 s more: 3 in this slice, 10 in each
    of slices 4, 6, 8, 10 and 12, 2 in slice 14."""
    shown = play(replace(HOME, migration_start=MigrationStart.AT_ONCE), FIGURE_7)
    assert shown.ends["D"] == (142.0, DONE)


MOVES_IN_ITS_SLICE = [
    job("A", 2, 15.0, file_nodes=[0, 1]),
    job("B", 2, 300.0, file_nodes=[1, 2]),
    job("D", 2, 30.0, io_blocks=1000, file_nodes=[0, 1]),
]
"""A is in row 0 on nodes 0 and 1, B in row 1 on nodes 1 and 2; D, which needs 60 s at home and 120 s elsewhere, gets
nodes 2 and 3 of row 0."""


def test_before_its_move_a_job_goes_on_where_it_is() -> None:
    """D runs in slices 0 and 2; A leaves at 25 s. D works on where it is until 30 s: 20 of its 120 s are done, 50 s are
    left at home. Slice 3 is B's. In slice 4 (40 s) D restarts for 2 s and does 8, then 10 in each of slices 6, 8, 10
    and 12 and 2 in slice 14. At once, it would have restarted at 25 s with 52.5 s left: 3 in slice 2, 49.5 from slice
    4 on."""
    shown = play(HOME, MOVES_IN_ITS_SLICE)
    assert shown.ends["A"] == (25.0, DONE)
    assert shown.ends["D"] == (142.0, DONE)
    assert play(replace(HOME, migration_start=MigrationStart.AT_ONCE), MOVES_IN_ITS_SLICE).ends["D"] == (129.5, DONE)


def test_a_job_that_is_to_move_makes_way() -> None:
    """As before, but B has all of row 1, and E has been waiting since 5 s: when A leaves, the matrix has D on nodes 0
    and 1 of row 0, so that E gets nodes 2 and 3 of it at once. D stops at 25 s and has 52.5 s left at home: 8 in slice
    4, 10 in each of slices 6, 8, 10 and 12, 4.5 in slice 14."""
    a, _, d = MOVES_IN_ITS_SLICE
    jobs = [a, job("B", 4, 300.0, file_nodes=[0, 1, 2, 3]), d, job("E", 2, 5.0, submit_s=5.0)]
    shown = play(HOME, jobs)
    assert shown.starts["E"] == 25.0
    assert shown.ends["D"] == (144.5, DONE)


def test_a_job_that_is_to_move_makes_way_on_its_links() -> None:
    """As before with five nodes: nodes 2 to 4 share a link of 10 GB/s, D streams 5 GB/s from each of its two, E too and
    has its file on node 4. Until 25 s D, on nodes 2 and 3, fills the link and E waits. Then the matrix has D on nodes 0
    and 1, E on node 4: the nodes of both are free at once, but the link is not. D stops, E runs from 25 to 29 s."""
    a, _, d = MOVES_IN_ITS_SLICE
    b = job("B", 5, 300.0, file_nodes=[0, 1, 2, 3, 4])
    jobs = [a, b, {**d, "io_rate": 5 * GB}, job("E", 1, 4.0, submit_s=5.0, file_nodes=[4], io_rate=5 * GB)]
    shown = play(HOME, jobs, nodes=5, paths=["pfs=50e9/left=10e9"] * 2 + ["pfs=50e9/right=10e9"] * 3)
    assert (shown.starts["E"], shown.ends["E"]) == (25.0, (29.0, DONE))
    assert shown.ends["D"] == (144.5, DONE)


def test_without_migration_it_stays() -> None:
    """Its 120 s are twelve of the odd slices; the last ends at 240 s."""
    shown = play(Gang(10.0, 2, PlacementColumns.FILES_FIRST), FIGURE_7)
    assert shown.ends["D"][0] == 240.0


class Killing:
    """A gang policy that kills jobs at a time."""

    def __init__(self, names: str, at_s: float) -> None:
        self._names = names
        self._at_s = at_s

    def sharing(self) -> Any:
        """As for the policy in its place."""
        return TWO_ROWS.sharing()

    def __call__(self, view: View) -> Iterable[Decision]:
        """Kill, then decide as usual."""
        if view.now_s == self._at_s:
            yield from (Kill(entry.job, "test") for entry in view.running if entry.job.name in self._names)
        else:
            yield from TWO_ROWS(view)


@pytest.mark.parametrize("name", ["A", "B"])
def test_kills_with_and_without_a_turn(name: str) -> None:
    """At 45 s it is A's turn: A's current sub-job is killed first, B is removed at once; neither comes back, the others
    end."""
    shown = play(Killing(name, 45.0), [job("A", 3, 100.0), job("B", 3, 100.0), job("C", 1, 1.0, submit_s=45.0)])
    assert shown.ends[name] == (45.0, JobState.COMPLETED_KILLED)
    assert {other for other, (_, state) in shown.ends.items() if state is DONE} == {"A", "B", "C"} - {name}


def test_space_sharing_on_a_serverless_cluster() -> None:
    """With the model ``timeshared`` any policy's jobs are charged for blocks by their place: A is at home, B is not."""
    jobs = [
        job("A", 2, 10.0, io_blocks=100, file_nodes=[0, 1]),
        job("B", 2, 10.0, io_blocks=100, file_nodes=[0, 1]),
    ]
    shown = play(POLICIES["fcfs"].build({}), jobs, make_model("timeshared"))
    assert shown.ends == {"A": (13.0, DONE), "B": (19.0, DONE)}


GB = 1_000_000_000


def test_burst_buffers_are_held_through_all_slices() -> None:
    """Eight nodes, a storage node of 10 GB beside nodes 0 to 3 (s0) and one beside nodes 4 to 7 (s1), two rows.

    A (6 nodes, 2 GB each) takes row 0, nodes 0 to 5: 8 GB of s0, 4 GB of s1. B (6 nodes, 1 GB each) takes row 1, nodes
    6 and 7, which are free in row 0, and 0 to 3: nodes 0 and 1 fill s0, the others go to s1. Both rows share the
    storage: 0 and 2 GB are left. C (2 nodes, 2 GB each) finds nodes 6 and 7 free in row 0, but s1 holds only one of its
    requests: it waits, and D, which requests no buffer, waits behind it. E requests more than a storage node has.

    A has slices 0, 2 and 4 and ends at 45 s; B has slices 1 and 3. At 45 s A's 12 GB are free: C goes to nodes 4 and 5
    of row 1 (the row with the least free cells), and is replicated to row 0; D goes to nodes 0 and 1 of row 0. C's 3 s
    end at 48 s, D's 4 s at 49 s. Then B is replicated to row 0 and needs 5 s more: it ends at 54 s.
    """
    jobs = [
        job("A", 6, 25.0, bb=2 * GB),
        job("B", 6, 25.0, bb=GB),
        job("C", 2, 3.0, bb=2 * GB),
        job("D", 2, 4.0),
        job("E", 1, 5.0, bb=11 * GB),
    ]
    shown = play(TWO_ROWS, jobs, platform="tiny", nodes=8)
    assert shown.refused == {"E": "bb 11 GB > 10 GB of the largest storage node"}
    assert shown.starts == pytest.approx({"A": 0.0, "B": 0.0, "C": 45.0, "D": 45.0}, abs=0.01)
    ends = {name: end_s for name, (end_s, _) in shown.ends.items()}
    assert ends == pytest.approx({"A": 45.0, "B": 54.0, "C": 48.0, "D": 49.0}, abs=0.01)
    assert {state for _, state in shown.ends.values()} == {DONE}
    assert (shown.given["A"].storages, shown.given["B"].storages) == ((0, 0, 0, 0, 1, 1), (0, 0, 1, 1, 1, 1))


def test_a_migrated_job_keeps_its_buffer_where_it_is() -> None:
    """Figure 7 with a buffer for D: it changes nodes, its bytes stay."""
    a, c, b, d = FIGURE_7
    shown = play(HOME, [a, c, b, {**d, "bb": GB}], platform="tiny")
    given, held = shown.given["D"], shown.held["D"]
    assert {node % 4 for node in given.nodes} == {0, 2}
    assert {node % 4 for node in held.nodes} == {0, 1}
    assert (held.storages, held.bb_bytes) == (given.storages, GB)


def test_each_row_has_the_links_for_itself() -> None:
    """Four nodes, two rows, a file system of 10 GB/s; rates are per node.

    A (2 nodes, 3 GB/s each) takes row 0, nodes 0 and 1. B (the same) finds two cells in row 0, but only 4 GB/s: row 1,
    nodes 2 and 3. C (4 GB/s) takes node 2 in row 0, and fills that link. D (3 GB/s) takes node 0 in row 1. E (2 GB/s)
    finds a cell in each row, but 0 and 1 GB/s: it waits, and F, which streams nothing, waits behind it. G requests more
    than the link has.

    C's 5 s end in the first slice. E takes node 2 in row 0 (4 GB/s are free), F node 3; their 4 s and 3 s end at 9 and
    8 s. In row 0 nodes 2 and 3 are free from then on, but B's 6 GB/s are not: it gets no replica. Slice 1 is row 1's:
    D's 6 s end at 16 s. Both rows have two tasks and could be one, but 12 GB/s are too much: they continue to take
    turns. A has run 10 s; it ends at 28 s, after 8 s of slice 2. B is replicated to row 0 then; it has run 10 s and
    ends at 38 s.

    Without rates B is beside A in row 0 from the start. Row 1 has C, D, E and F, then G: the last of them ends at 16 s,
    A and B get replicas and continue; with 10 s run by then they end at 24 and 26 s.
    """
    jobs = [
        job("A", 2, 18.0, io_rate=3 * GB),
        job("B", 2, 20.0, io_rate=3 * GB),
        job("C", 1, 5.0, io_rate=4 * GB),
        job("D", 1, 6.0, io_rate=3 * GB),
        job("E", 1, 4.0, io_rate=2 * GB),
        job("F", 1, 3.0),
        job("G", 1, 3.0, io_rate=11 * GB),
    ]
    shown = play(TWO_ROWS, jobs, paths=["pfs=10e9"] * 4)
    assert shown.refused == {"G": "1 nodes x 11 GB/s: the links carry only 0; pfs (10 GB/s) carries 0 of its 4"}
    assert shown.starts == pytest.approx({"A": 0, "B": 0, "C": 0, "D": 0, "E": 5, "F": 5}, abs=0.01)
    ends = {name: end_s for name, (end_s, _) in shown.ends.items()}
    assert ends == pytest.approx({"A": 28, "B": 38, "C": 5, "D": 16, "E": 9, "F": 8}, abs=0.01)
    assert {state for _, state in shown.ends.values()} == {DONE}
    ignorant = play(TWO_ROWS, jobs, paths=["pfs=10e9"] * 4, settings=build(Settings, {"bandwidth": "ignorant"}))
    assert not ignorant.refused
    assert (ignorant.ends["A"][0], ignorant.ends["B"][0]) == pytest.approx((24, 26), abs=0.01)


def test_file_nodes_that_cannot_carry_a_job() -> None:
    """Under ``gang-io`` a job goes to its file's nodes or nowhere: where these cannot carry it, it is rejected."""
    jobs = [job("A", 2, 5.0, io_rate=3 * GB, file_nodes=[0, 1]), job("B", 2, 5.0, io_rate=3 * GB, file_nodes=[1, 2])]
    paths = ["pfs=10e9/left=5e9"] * 2 + ["pfs=10e9/right=5e9"] * 2
    shown = play(Gang(quantum=10.0, level=2, where=PlacementColumns.FILES), jobs, paths=paths)
    assert shown.ends.keys() == {"B"}
    assert "do not carry its 'io_rate'" in shown.refused["A"]
    anywhere = play(Gang(quantum=10.0, level=2, where=PlacementColumns.FILES_FIRST), jobs, paths=paths)
    assert anywhere.ends.keys() == {"A", "B"}


def test_storage_order_is_the_sessions() -> None:
    """The setting holds for gang policies, too: the emptiest storage node first."""
    settings = build(Settings, {"storage_order": "emptiest"})
    shown = play(TWO_ROWS, [job("A", 2, 5.0, bb=GB)], settings=settings, platform="tiny", nodes=8)
    assert shown.given["A"].storages == (0, 1)


def test_too_many_nodes_are_refused() -> None:
    """A job must fit into a row; other jobs run."""
    shown = play(TWO_ROWS, [job("A", 1, 5.0, bb=0), job("B", 5, 5.0)])
    assert shown.ends == {"A": (5.0, DONE)}
    assert "5 nodes > 4" in shown.refused["B"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (job("A", 2, 5.0, file_nodes=[0]), "must list 2 different nodes from 0 to 3"),
        (job("A", 2, 5.0, file_nodes=[0, 4]), "must list 2 different nodes from 0 to 3"),
        (job("A", 2, 5.0, file_nodes=[1, 1]), "must list 2 different nodes from 0 to 3"),
    ],
)
def test_wrong_descriptions(entry: dict[str, Any], message: str) -> None:
    """The description of a job's file is checked; the error names the fault."""
    with pytest.raises(RemoteProtocolError, match=message):
        play(TWO_ROWS, [entry])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (job("A", 2, 5.0, io_blocks=-1), "'io_blocks' must be a whole number >= 0"),
        (job("A", 1, 0.0, profile=FLOPS, io_blocks=1), "needs a profile of type 'delay'"),
        (job("A", 1, 0.0, profile={"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}), "cannot be run in slices"),
    ],
)
def test_work_that_cannot_be_divided(entry: dict[str, Any], message: str) -> None:
    """Blocks can only be added to a time, and only computation and time can be interrupted."""
    assert message in play(TWO_ROWS, [entry]).refused["A"]


def test_dynamic_jobs_are_needed() -> None:
    """The simulator must allow them."""
    with pytest.raises(RemoteProtocolError, match="enable-dynamic-jobs"):
        play(TWO_ROWS, [job("A", 1, 5.0)], dynamic=False)


def test_other_job_models_are_refused() -> None:
    """A gang policy runs jobs its own way."""
    with pytest.raises(OptionError, match="Gang and --model stream cannot be combined"):
        play(TWO_ROWS, [], make_model("stream"))


class Placing:
    """Starts the first job on given nodes of the stacked machine, and may move it to others."""

    def __init__(self, nodes: tuple[int, ...], then: tuple[int, ...] = ()) -> None:
        self._nodes = nodes
        self._then = then

    def sharing(self) -> Any:
        """Two rows."""
        return TWO_ROWS.sharing()

    def __call__(self, view: View) -> Iterable[Decision]:
        """Do it."""
        for waiting in view.queue:
            yield Start(waiting, Allocation(self._nodes))
            yield Arrange(((waiting, Allocation(self._then)),))


@pytest.mark.parametrize(
    ("nodes", "then", "message"),
    [
        ((0, 5), (), "all its 2 tasks must be in one row"),
        ((0, 1, 4, 6), (), "must have the same columns"),
        ((0, 1, 4), (), "it requests 2 nodes"),
        ((0, 1), (2, 2), "listed twice"),
        ((0, 1), (2, 7), "all its 2 tasks must be in one row"),
    ],
)
def test_the_guard_checks_rows(nodes: tuple[int, ...], then: tuple[int, ...], message: str) -> None:
    """Tasks of a job share a row, replicas have the same columns."""
    with pytest.raises(DecisionRefused, match=message):
        play(Placing(nodes, then), [job("A", 2, 5.0)])


def test_only_shared_nodes_allow_moves() -> None:
    """A rigid session refuses to move a job."""

    class Rigid(Placing):
        """The same, for one row."""

        sharing = None  # type: ignore[assignment]

    from tests.properties.mini import MiniJob, MiniMachine
    from tests.properties.mini import play as mini

    with pytest.raises(DecisionRefused, match="only be moved where they share nodes"):
        mini(Session(Rigid((0, 1), (2, 3)), rigid()), MiniMachine(4), [MiniJob(0.0, 2, 9.0, 5.0)])


def test_why_jobs_wait() -> None:
    """The first misfit lacks nodes; those after it keep the order."""

    class Noting(Observer):
        """Keeps the last notes."""

        def notes(self, now_s: float, notes: PassNotes) -> None:
            """Keep them."""
            self.last = notes.notes

    reported = Noting()
    session = opened(Gang(level=1), observer=reported, explain=True)
    session.handle(Message(0.0, submissions(3, 2, 1)))
    assert [(reported.last[f"w!{n}"].role, reported.last[f"w!{n}"].binding) for n in range(3)] == [
        (Role.STARTED, None), (Role.PASSED_OVER, Binding.NODES), (Role.PASSED_OVER, Binding.ORDER)
    ]  # fmt: skip


def test_why_jobs_wait_for_bandwidth() -> None:
    """Two of four cells are free in the row, but only 4 of the 6 GB/s of the second job; the third waits its turn."""

    class Noting(Observer):
        """Keeps the last notes."""

        def notes(self, now_s: float, notes: PassNotes) -> None:
            """Keep them."""
            self.last = notes.notes

    reported = Noting()
    session = opened(Gang(level=1), observer=reported, explain=True, io_path="pfs=10e9")
    session.handle(Message(0.0, submissions(2, 2, 1, io_rate=3 * GB)))
    assert [reported.last[f"w!{n}"].binding for n in range(3)] == [None, Binding.BANDWIDTH, Binding.ORDER]


def test_unavailable_nodes_take_no_new_jobs() -> None:
    """Node 0 is out in all rows: three tasks go to the others; when it is back, four tasks find a row."""
    session = opened(TWO_ROWS)
    session.handle(Message(0.0, (Notify(0.0, "event_machine_unavailable", (0,)), *submissions(3, 4))))
    assert sorted(node % 4 for node in session.book.parts_of("w!0").nodes.nodes) == [1, 1, 2, 2, 3, 3]  # type: ignore[union-attr]
    assert session.book.parts_of("w!1") is None
    session.handle(Message(1.0, (Notify(1.0, "event_machine_available", (0,)),)))
    assert session.book.parts_of("w!1").nodes.nodes == (4, 5, 6, 7)  # type: ignore[union-attr]
    session.check()


def opened(policy: Gang, io_path: str = "", **options: Any) -> Session:
    """A session with four nodes and their way to a file system."""
    session = assemble(policy, Settings(), **options)
    properties = {"io_path": io_path} if io_path else {}
    hosts = tuple(ResourceInfo(number, f"n{number}", properties=properties) for number in range(4))
    session.handle(Message(0.0, (SimulationBegins(0.0, hosts, (), BatsimConfig(dynamic_jobs_enabled=True)),)))
    return session


def submissions(*sizes: int, **fields: Any) -> tuple[JobSubmitted, ...]:
    """Jobs of these sizes, with these fields."""
    profile = {"type": "delay", "delay": 5.0}
    return tuple(
        JobSubmitted(0.0, f"w!{n}", {"id": f"w!{n}", "subtime": 0.0, "res": size, "profile": "p", **fields}, profile)
        for n, size in enumerate(sizes)
    )
