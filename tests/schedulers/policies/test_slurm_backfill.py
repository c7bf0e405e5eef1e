"""Each rule of Slurm's two schedulers separately; recordings of real ones are in ``tests/experiments/slurm``."""

import dataclasses
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.core import Resource, Timeline
from spillway.schedulers.model.decisions import Decision, Hold, Start, WakeAt
from spillway.schedulers.model.explanations import Binding, PassNotes, Role
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import CountedPool, Machine, Node, NodeSet, Storage
from spillway.schedulers.policies.slurm_backfill import RecordedPasses, SlurmBackfill
from spillway.schedulers.policykit.slurm.backfill_pass import PLANNED
from spillway.schedulers.policykit.view import Holding, Running, TakenNodes, View

POOL = 10
MAIN = SlurmBackfill(bf_phase=0.5)
"""At whole seconds only the main scheduler has passes."""
BACKFILL = SlurmBackfill(sched_phase=0.5)
"""At 0 s only the backfill scheduler has one."""


def machine(nodes: int) -> Machine:
    """Nodes, and one storage node with the pool."""
    return Machine(
        nodes=tuple(Node(index, f"n{index}", ()) for index in range(nodes)),
        storages=(Storage(nodes, "pool", (), POOL),),
        node_link=np.full(nodes, -1, np.int32),
        nearest_storages=np.zeros((nodes, 1), np.int32),
        storage_link=np.full(1, -1, np.int32),
    )


def job(number: int, nodes: int, units: int = 0, walltime_s: float = 60.0) -> Job:
    """A job with one buffer of so many units."""
    return Job(f"w0!{number}", number, 0.0, walltime_s, nodes, units, stripes=1 if units else 0)


def decided(
    policy: SlurmBackfill,
    nodes: int,
    queue: Sequence[Job],
    *,
    held: dict[int, bool] | None = None,
    busy: Sequence[tuple[int | tuple[int, ...], float]] = (),
    now_s: float = 0.0,
    notes: PassNotes | None = None,
    notebook: dict[str, Any] | None = None,
    licenses: tuple[int, int] = (0, 0),
    ended: int = 0,
    taken: Sequence[TakenNodes] = (),
) -> list[tuple[str, int | float]]:
    """Decisions of one call.

    ``held``: jobs with a buffer, and whether it is filled; ``busy``: taken nodes and the time until then; ``licenses``:
    their number, and the number held for ever; ``ended``: number of running jobs that have ended but still have their
    nodes; ``taken``: windows of maintenance.
    """
    there, gone = licenses
    pools = (CountedPool("license x", there, license=True),) if there else ()
    timeline = Timeline(dataclasses.replace(machine(nodes), pools=pools), now_s)
    if gone:
        timeline.reserve(now_s, np.inf, Allocation((), pools=(gone,)), Resource.POOLS)
    running, holdings = [], {}
    for number, (nodes_of, end_s) in enumerate(busy):
        allocation = Allocation(nodes_of if isinstance(nodes_of, tuple) else (nodes_of,))
        timeline.reserve(now_s, end_s, allocation)
        apart = (Holding(~Resource.POOLS, allocation, now_s - 1.0, end_s),) if number < ended else ()
        running.append(Running(job(100 + number, 1), now_s - 1.0, end_s, allocation, apart))
    for each_job in queue:
        if each_job.number in (held or {}):
            buffer = Allocation((), (0,), each_job.bb_bytes, striped=True)
            timeline.reserve(now_s, np.inf, buffer, Resource.BURST_BUFFERS)
            holdings[each_job.id] = Holding(Resource.BURST_BUFFERS, buffer, now_s, np.inf)
    view = View(
        now_s, timeline.machine, queue, running, timeline.copy, random.Random(0),
        {} if notebook is None else notebook, notes,
    )  # fmt: skip
    view.held = holdings
    view.filled_s = {f"w0!{number}": 0.0 for number, filled in (held or {}).items() if filled}
    view.taken = tuple(taken)
    found: list[tuple[str, int | float]] = []
    for decision in policy.with_buffers_first(view):
        if isinstance(decision, Hold):
            holdings[decision.job.id] = Holding(Resource.BURST_BUFFERS, decision.allocation, now_s, np.inf)
        match decision:
            case Hold() | Start():
                found.append((type(decision).__name__, decision.job.number))
            case WakeAt():
                found.append(("WakeAt", decision.time_s))
    return found


def without_wakes(found: list[tuple[str, int | float]]) -> list[tuple[str, int | float]]:
    """Starts and holds."""
    return [decision for decision in found if decision[0] != "WakeAt"]


STAGED = [job(0, 2, 4), job(1, 1)]
LATE = RecordedPasses((0.3,), (10.0,))
ONE_OF_THEM = SlurmBackfill(recorded=LATE), 4, [job(0, 4), job(1, 2, walltime_s=30.0)]
WINDOW = {"busy": [((2, 3), 5.0)], "taken": [TakenNodes(60.0, 120.0, frozenset({2, 3}))]}
FOUR = [job(number, 1) for number in range(4)]
DEEP = SlurmBackfill(bf_phase=20.0, default_queue_depth=2)
PLANNED_TWICE = 6, [job(0, 2), job(1, 3), job(2, 1, walltime_s=1000.0)]
LICENSED = dataclasses.replace(MAIN, bf_licenses=True, release="24.11")
NEEDING = [replaced(job(0, 1, 8), pools=(4,)), replaced(job(1, 1), pools=(2,))]
START, HOLD = "Start", "Hold"
PASSES: dict[str, tuple[SlurmBackfill, int, Sequence[Job], dict[str, Any], list[tuple[str, int]]]] = {
    # The main pass: job 1 does not fit into the pool, 2 gets its buffer, 3 starts.
    "a blocked buffer blocks nobody": (
        MAIN, 4, [job(0, 1, 8), job(1, 1, 5), job(2, 1, 2), job(3, 1)], {}, [(HOLD, 0), (HOLD, 2), (START, 3)]
    ),
    # Job 0 finds one node of two: 1 would fit, 2 get a buffer, but neither is looked at.
    "lacking nodes end the main pass": (MAIN, 2, [job(0, 2), job(1, 1), job(2, 1, 2)], {"busy": [(0, 90.0)]}, []),
    # A job that stages in is passed over, and a later one starts on all nodes; the staged one starts before.
    "staging in keeps no nodes": (MAIN, 2, [job(0, 2, 4), job(1, 2)], {"held": {0: False}}, [(START, 1)]),
    "staged in": (MAIN, 2, [job(0, 2, 4), job(1, 2)], {"held": {0: True}}, [(START, 0)]),
    # The backfill pass: all could start now; in order of priority, and job 1 is in the way of 2.
    "buffers up to the first that does not fit": (
        BACKFILL, 4, [job(0, 1, 8), job(1, 1, 5), job(2, 1, 2)], {}, [(HOLD, 0)]
    ),
    # Job 0 waits for nodes until 90 s: 1, which could start now, gets its buffer before.
    "buffers in order of expected starts": (
        BACKFILL, 2, [job(0, 2, 6), job(1, 1, 6, walltime_s=30.0)], {"busy": [(0, 90.0)]}, [(HOLD, 1)]
    ),
    # A job without its buffer that could start now reserves nothing; one that is staging in does.
    "without its buffer": (BACKFILL, 2, STAGED, {}, [(START, 1), (HOLD, 0)]),
    "staging in reserves": (BACKFILL, 2, STAGED, {"held": {0: False}}, []),
    # One that can start only later reserves: the free node of two is kept for it.
    "later without its buffer": (
        BACKFILL, 2, [job(0, 2, 4), job(1, 1, walltime_s=120.0)], {"busy": [(0, 90.0)]}, [(HOLD, 0)]
    ),
    # Rounded down to whole multiples a job of half a minute reserves nothing, one of a minute and a half a minute.
    "half a minute": (BACKFILL, 2, [job(0, 2, 4, 30.0), job(1, 1)], {"held": {0: False}}, [(START, 1)]),
    "a minute and a half": (BACKFILL, 2, [job(0, 2, 4, 90.0), job(1, 1)], {"held": {0: False}}, []),
    # Job 0 is expected in two hours; starts beyond the window reserve nothing.
    **{
        f"window of {window_min:g} min": (
            SlurmBackfill(sched_phase=0.5, bf_window=window_min), 2, [job(0, 2), job(1, 1, walltime_s=10_000.0)],
            {"busy": [(0, 7200.0)]}, found,
        )
        for window_min, found in ((60.0, [(START, 1)]), (1440.0, []))
    },
    # Job 2 neither starts nor gets a buffer, and its expected start of an earlier pass is forgotten.
    "so many jobs": (
        SlurmBackfill(sched_phase=0.5, bf_max_job_test=2), 4, [job(0, 1), job(1, 1), job(2, 1, 2)],
        {"notebook": {PLANNED: {"w0!2": 0.0}}}, [(START, 0), (START, 1)],
    ),
    # Job 100 has two of four nodes until 60 s at most. At 10 s job 1 is over before that, and starts. Where job 100 has
    # ended, and its nodes are not back yet, job 0 is expected at 11 s, and job 1 would delay it.
    "nodes until 60 s": (*ONE_OF_THEM, {"busy": [((0, 1), 60.0)], "now_s": 10.0}, [(START, 1)]),
    "nodes of an ended job": (*ONE_OF_THEM, {"busy": [((0, 1), 60.0)], "now_s": 10.0, "ended": 1}, []),
    # Nodes 2 and 3 of four are taken from 60 s on, and busy until 5 s. At 0.7 s it is 0 s for Slurm: job 0 would be
    # over at 60 s, lacks nodes that are busy, and ends the main pass. At 1.2 s only the window keeps it out.
    **{
        f"a window, at {now_s:g} s": (
            SlurmBackfill(sched_phase=now_s, bf_phase=0.5), 4, [job(0, 4), job(1, 2, walltime_s=50.0)],
            {**WINDOW, "now_s": now_s}, found,
        )
        for now_s, found in ((0.7, []), (1.2, [(START, 1)]))
    },
    # After an event two of four, one if the first job's buffer does not fit; all at 0 s, as every ``sched_interval``.
    "a main pass after an event": (DEEP, 8, FOUR, {"now_s": 1.0}, [(START, 0), (START, 1)]),
    "with a buffer that does not fit": (DEEP, 8, [job(9, 1, 11), *FOUR], {"now_s": 1.0}, [(START, 0)]),
    "a main pass of the interval": (DEEP, 8, FOUR, {}, [(START, number) for number in range(4)]),
    # Nodes 0 and 1 are taken until 100 s, by one job, 2 to 4 for longer; 5 is idle. Job 0 is planned on 0 and 1 from 60
    # to 120 s, as rounded, job 1 on 0, 1 and 5 from 120 s on: job 2 would be in the way of job 1, not of job 0.
    **{
        f"reserves for {most}": (
            dataclasses.replace(BACKFILL, bf_job_part_count_reserve=most), *PLANNED_TWICE,
            {"busy": [((0, 1), 100.0), ((2, 3, 4), 5000.0)]}, found,
        )
        for most, found in ((0, []), (1, [(START, 2)]))
    },
    # Job 0 lacks a node and has the priority 1, the least that there is: from 2 on both passes let job 1 by.
    **{
        f"least priority {least}, {name}": (
            dataclasses.replace(policy, order="multifactor", bf_min_prio_reserve=least), 2,
            [job(0, 2), job(1, 1, walltime_s=1000.0)], {"busy": [(0, 500.0)]}, found,
        )
        for name, policy in (("main", MAIN), ("backfill", BACKFILL))
        for least, found in ((1, []), (2, [(START, 1)]))
    },
    # Job 0 lacks two of four licenses and its buffer: it gets that, and does not end the main pass, as a real Slurm
    # 24.11 shows. It ends it once its buffer is filled, and is passed over while it stages in. 22.05 looks at licenses
    # first.
    "a buffer before licenses": (LICENSED, 4, NEEDING, {"licenses": (4, 2)}, [(HOLD, 0), (START, 1)]),
    "its buffer is being filled": (LICENSED, 4, NEEDING, {"licenses": (4, 2), "held": {0: False}}, [(START, 1)]),
    "its buffer is filled": (LICENSED, 4, NEEDING, {"licenses": (4, 2), "held": {0: True}}, []),
    "licenses first": (MAIN, 4, NEEDING, {"licenses": (4, 2)}, [(START, 1)]),
}  # fmt: skip
"""Policy, nodes, queue; what is there; starts and buffers given."""


@pytest.mark.parametrize("name", PASSES)
def test_one_pass(name: str) -> None:
    """Each rule by itself: the decisions of one pass, but for the times of the next ones."""
    policy, nodes, queue, given, expected = PASSES[name]
    assert without_wakes(decided(policy, nodes, queue, **given)) == expected


def test_when_passes_are() -> None:
    """After an event there is a main pass at the next look of the controller, but a least time after the last one."""
    policy, notebook, queue = SlurmBackfill(bf_phase=20.0), dict[str, Any](), [job(0, 2)]
    busy = [(0, 500.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=0.3, notebook=notebook) == [("WakeAt", 1.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=1.0, notebook=notebook) == [("WakeAt", 20.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=1.5, notebook=notebook) == [("WakeAt", 4.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=4.0, notebook=notebook) == [("WakeAt", 20.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=8.2, notebook=notebook) == [("WakeAt", 9.0)]


def test_a_pass_is_due_when_its_call_comes() -> None:
    """The call for 1 s comes 15 us late, as with a loopback of such latency at the master: the pass is not put off to
    the next second, and the next main pass is 3 s after the planned one."""
    policy, notebook, queue, busy = SlurmBackfill(bf_phase=20.0), dict[str, Any](), [job(0, 2)], [(0, 500.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=0.3, notebook=notebook) == [("WakeAt", 1.0)]
    assert decided(policy, 2, queue, now_s=1.000015, notebook=notebook) == [("Start", 0), ("WakeAt", 20.0)]
    assert decided(policy, 2, queue, busy=busy, now_s=2.5, notebook=notebook) == [("WakeAt", 4.0)]


def test_what_waits_in_vain_is_not_looked_at_for_ever() -> None:
    """Failed before: a job that lacks nodes while nothing runs was tried every 30 s for ever.

    Both schedulers have had a pass; then a smaller job comes, and one with a time-dependent order waits.
    """
    policy, notebook = SlurmBackfill(bf_phase=20.0), dict[str, Any]()
    assert decided(policy, 2, [job(0, 3)], now_s=0.0, notebook=notebook) == [("WakeAt", 20.0)]
    assert decided(policy, 2, [job(0, 3)], now_s=20.0, notebook=notebook) == []
    assert decided(policy, 2, [job(0, 3), job(1, 3)], now_s=21.5, notebook=notebook) == [("WakeAt", 23.0)]
    assert decided(policy, 2, [job(0, 3), job(1, 3)], now_s=23.0, notebook=notebook) == [("WakeAt", 50.0)]
    assert decided(policy, 2, [job(0, 3), job(1, 1)], now_s=50.0, notebook=notebook)[0] == ("Start", 1)
    staging = decided(policy, 2, [job(0, 3, 4)], held={0: False}, now_s=300.0, notebook=notebook)
    assert staging == [("WakeAt", 320.0)]
    assert decided(policy, 2, [job(0, 3, 4)], held={0: False}, now_s=320.0, notebook=notebook) != []
    aging, notebook = SlurmBackfill(order="wfp3"), {}
    assert decided(aging, 2, [job(0, 3)], now_s=0.0, notebook=notebook) == [("WakeAt", 30.0)]


def test_reasons_are_those_of_slurm() -> None:
    """BurstBufferResources, BurstBufferStageIn, Resources."""
    notes = PassNotes()
    decided(MAIN, 2, [job(0, 1, 8), job(1, 1, 5), job(2, 2)], busy=[(0, 500.0)], notes=notes)
    found = {name: (note.role, note.binding) for name, note in notes.notes.items()}
    assert found["w0!0"] == (Role.HOLDS_BUFFER, Binding.STAGE_IN)
    assert found["w0!1"] == (Role.PASSED_OVER, Binding.BURST_BUFFERS)
    assert found["w0!2"] == (Role.PASSED_OVER, Binding.NODES)


def on_partitions(
    policy: Callable[[View], Iterable[Decision]], queue: Sequence[Job], busy: Sequence[int], tier: int = 1
) -> list[tuple[str, tuple[int, ...]]]:
    """Starts on eight nodes in partitions a (0-3), b (4-7) and c (2-5, with its tier), some taken until 500 s."""
    ranges = {"a": range(4), "b": range(4, 8), "c": range(2, 6)}
    sets = tuple(NodeSet(name, frozenset(nodes), tier if name == "c" else 1) for name, nodes in ranges.items())
    eight = dataclasses.replace(machine(8), partitions=sets)
    timeline = Timeline(eight, 0.0)
    running = []
    for number, node in enumerate(busy, start=90):
        timeline.reserve(0.0, 500.0, Allocation((node,)))
        running.append(Running(job(number, 1), 0.0, 500.0, Allocation((node,))))
    view = View(0.0, eight, tuple(queue), running, timeline.copy, random.Random(0), {})
    return [(decision.job.name, decision.allocation.nodes) for decision in policy(view) if isinstance(decision, Start)]


def within(number: int, nodes: int, *partitions: int) -> Job:
    """A job of some partitions."""
    return replaced(job(number, nodes), partitions=partitions)


ENDS_A = [within(0, 4, 0), within(1, 1, 0), within(2, 2, 2), within(3, 2, 1)]
WIDE_IN_C, NARROW_IN_C = (replaced(within(1, nodes, 2), bb_bytes=2, stripes=1) for nodes in (3, 2))
TRIED_TWICE = [within(0, 3, 0, 1), within(1, 1, 1)]
BEYOND = replaced(within(1, 1, 1), walltime_s=1000.0)
OF_USERS = [
    replaced(within(number, 1, partition), extras={"user": user})
    for number, (partition, user) in enumerate([(0, "x"), (0, "y"), (0, "y"), (1, "y")])
]
Starts = list[tuple[str, tuple[int, ...]]]
PARTITIONED: dict[
    str, tuple[Callable[[View], Iterable[Decision]], Sequence[Job], Sequence[int], int, Starts]
] = {
    # Job 0 lacks node 0, and a ends. Of c nodes 4 and 5 are left: job 1 needs three, and ends c before its buffer is
    # looked at; so job 2 does not start there. With two it would wait for its buffer, and job 2 start.
    "too few left": (MAIN.with_buffers_first, [within(0, 4, 0), WIDE_IN_C, within(2, 1, 2)], [0], 1, []),
    "enough left": (MAIN.with_buffers_first, [within(0, 4, 0), NARROW_IN_C, within(2, 1, 2)], [0], 1, [("2", (4,))]),
    # Nodes 0 and 4 are taken. Job 0 lacks a node of a: no later job of a starts, though job 1 would fit, nor any job on
    # a's nodes: of c's free nodes 2, 3 and 5 one is left, and job 2 needs two. So c's nodes are kept, too, and job 3
    # gets 6 and 7 of b. Where c is of a higher tier, job 2 comes first, and job 3 may have 5.
    "a main pass ends per partition": (MAIN, ENDS_A, [0, 4], 1, [("3", (6, 7))]),
    "a higher tier": (MAIN, ENDS_A, [0, 4], 2, [("2", (2, 3)), ("3", (5, 6))]),
    # Tried in each: in a it lacks a node, in b it starts; b's later jobs are not held up by it.
    "of two, main": (MAIN, TRIED_TWICE, [0, 1], 1, [("0", (4, 5, 6)), ("1", (7,))]),
    "of two, backfill": (BACKFILL, TRIED_TWICE, [0, 1], 1, [("0", (4, 5, 6)), ("1", (7,))]),
    # Job 0 needs all of a or all of b and must wait in both: job 1 ends before 500 s in b, job 2 would not.
    "reserves in each": (
        BACKFILL, [within(0, 4, 0, 1), within(1, 1, 1), replaced(within(2, 1, 0), walltime_s=1000.0)], [0, 4], 1,
        [("1", (5,))],
    ),
    # The same, and job 1 would run beyond its reservation in b.
    "beyond": (BACKFILL, [within(0, 4, 0, 1), BEYOND], [0, 4], 1, []),
    "reserves once": (
        dataclasses.replace(BACKFILL, bf_one_resv_per_job=True), [within(0, 4, 0, 1), BEYOND], [0, 4], 1, [("1", (5,))]
    ),
    # Jobs 0 and 1 are of partition a and users x and y, job 2 of a and y, job 3 of b and y; one each is looked at.
    "one of a partition": (
        dataclasses.replace(BACKFILL, bf_max_job_part=1), OF_USERS, [], 1, [("0", (0,)), ("3", (4,))]
    ),
    "one of a user": (dataclasses.replace(BACKFILL, bf_max_job_user=1), OF_USERS, [], 1, [("0", (0,)), ("1", (1,))]),
}  # fmt: skip
"""Policy, queue, taken nodes, tier of c; starts."""


@pytest.mark.parametrize("name", PARTITIONED)
def test_one_pass_over_partitions(name: str) -> None:
    """Each rule of partitions by itself."""
    policy, queue, busy, tier, expected = PARTITIONED[name]
    assert on_partitions(policy, queue, busy, tier) == expected


def test_a_least_priority_needs_priorities() -> None:
    """In other orders jobs have no priority."""
    with pytest.raises(OptionError, match="option 'bf_min_prio_reserve' needs order=multifactor, got 5 and order=fcfs"):
        SlurmBackfill(bf_min_prio_reserve=5)


@pytest.mark.parametrize(
    ("select", "linear_s", "expected_s"),
    [
        ("linear", 0.0, (10.0, 45.0, 100.0, 130.0, 190.0)),
        ("linear", 60.0, (10.0, 45.0, 100.0, 130.0, 190.0)),
        ("cons_tres", 0.0, (45.0, 45.0, 130.0, 130.0, 190.0)),
        ("cons_tres", 60.0, (45.0, 45.0, 100.0, 130.0, 190.0)),
    ],
)
def test_expected_ends_in_windows(select: str, linear_s: float, expected_s: tuple[float, ...]) -> None:
    """Jobs on one node each are expected to leave at 10, 35, 45, 100, 130 and 190 s; a job needs 1, 3, 4, 5, 6 nodes.

    By themselves these are free at 10, 45, 100, 130 and 190 s. Windows of ``select/cons_tres`` begin at 30 s, the half
    minute after 10 s. The first one of 30 s ends at 60 s: it is looked after 45 s. One of 60 s has no further job, one
    of 120 s ends at 150 s: it is looked after 130 s, and then at the end of all. With ``bf_window_linear=60`` the
    second is of 90 s, ends at 120 s, and 130 s is in one of 150 s.
    """
    busy = tuple((node, end_s) for node, end_s in enumerate((10.0, 35.0, 45.0, 100.0, 130.0, 190.0)))
    found = []
    for nodes in (1, 3, 4, 5, 6):
        notes = PassNotes()
        policy = dataclasses.replace(BACKFILL, select=select, bf_window_linear=linear_s, bf_resolution=1.0)
        decided(policy, 6, [job(1, nodes)], busy=busy, notes=notes)
        found.append(notes.notes["w0!1"].estimate_s)
    assert tuple(found) == expected_s
