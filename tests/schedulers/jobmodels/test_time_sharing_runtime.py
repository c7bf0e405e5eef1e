"""Time sharing through the protocol, by hand: four nodes, slices of ten seconds."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from spillway.base.errors import DecisionRefused, OptionError, RemoteProtocolError
from spillway.protocol.messages import (
    CallMeLater,
    ExecuteJob,
    JobState,
    KillJob,
)
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.model.decisions import Arrange, Decision, Kill, Start
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


@pytest.mark.parametrize(("nodes", "then", "message"), [
    ((0, 5), (), "all its 2 tasks must be in one row"),
    ((0, 1, 4, 6), (), "must have the same columns"),
    ((0, 1, 4), (), "it requests 2 nodes"),
    ((0, 1), (2, 2), "listed twice"),
    ((0, 1), (2, 7), "all its 2 tasks must be in one row"),
])  # fmt: skip
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
