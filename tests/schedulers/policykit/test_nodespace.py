"""Sets of nodes over intervals, and the choice of neighbours: hand cases, and the plain reference."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Resource, Timeline
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import NodeSet, simple_machine
from spillway.schedulers.policykit.slurm.nodespace import (
    Limits,
    NodeSpace,
    Planning,
    members,
    number_of,
    of_nodes,
)
from spillway.schedulers.policykit.slurm.pairs import Pairs
from spillway.schedulers.policykit.view import Holding, Running, TakenNodes, View
from tests.reference.slurm import NodeSpace as PlainSpace
from tests.reference.slurm import consecutive as plain_choice
from tests.reference.slurm import mask_of
from tests.reference.slurm import members as plain_members

ENDED_S = -999.0


def ended(running: Running) -> Running:
    """A job that has given back its counted pools."""
    holding = Holding(~Resource.POOLS, running.allocation, running.start_s, 100.0)
    return Running(running.job, running.start_s, 100.0, running.allocation, (holding,))


Leaving = Sequence[tuple[float, Sequence[int]]]


def view_of(
    nodes: int, leaving: Leaving, queue: Sequence[Job] = (), out: Iterable[int] = (), now_s: float = 0.0
) -> View:
    """Running jobs with when they are expected to leave (s) and their nodes, waiting ones, nodes that are out.

    A job that was to leave :data:`ENDED_S` has ended, and has its nodes still.
    """
    halves = tuple(NodeSet(name, frozenset(part)) for name, part in (("a", range(nodes)), ("b", range(nodes // 2))))
    machine = simple_machine(nodes, 1, 10)
    object.__setattr__(machine, "partitions", halves)
    running = [
        Running(Job(f"r!{number}", number, 0.0, 1.0, len(held)), 0.0, end_s, Allocation(tuple(held)))
        for number, (end_s, held) in enumerate(leaving)
    ]
    running = [run if run.end_s != ENDED_S else ended(run) for run in running]
    timeline = Timeline(machine, now_s)
    view = View(now_s, machine, queue, running, timeline.copy, random.Random(0), {})
    view.unavailable = frozenset(out)
    return view


@pytest.mark.parametrize(
    ("free", "count", "chosen"),
    [
        ((1, 4, 5, 6, 7, 8), 4, (4, 5, 6, 7)),  # the only run that suffices
        ((1, 7, 8), 3, (1, 7, 8)),  # no run suffices: the longest, then the rest
        ((0, 3, 4, 6, 7, 8), 2, (3, 4)),  # the shortest that suffices
        ((0, 1, 3, 4), 1, (0,)),  # the first of equal ones
        ((0, 1, 3, 4, 5, 9), 4, (3, 4, 5, 9)),  # the longest first, then the shortest that suffices for one
        ((60, 61, 62, 63, 64, 65), 5, (60, 61, 62, 63, 64)),  # over the end of a word
    ],
)
def test_neighbours_are_chosen_as_select_linear_does(
    free: tuple[int, ...], count: int, chosen: tuple[int, ...]
) -> None:
    """The first two are lines of a real controller's log."""
    assert members(NodeSpace.of(view_of(130, ())).consecutive(of_nodes(free, 3), count)) == chosen
    assert plain_members(plain_choice(mask_of(free), count)) == chosen


def test_preferred_nodes_are_chosen_before_others() -> None:
    """Six of the nodes 8 to 15, as a real ``select/cons_tres`` log has them while no job was tried on 12 to 15.

    Three of these are enough for three.
    """
    space = NodeSpace.of(view_of(16, ()))
    space.plan.prefer(of_nodes(range(12, 16), 1))
    free = of_nodes(range(8, 16), 1)
    assert members(space.consecutive(free, 6)) == (8, 9, 12, 13, 14, 15)
    assert members(space.consecutive(free, 3)) == (12, 13, 14)


@given(st.sets(st.integers(0, 139), min_size=1), st.sets(st.integers(0, 139)), st.data())
def test_so_many_of_them_are_chosen(free: set[int], preferred: set[int], data: st.DataObject) -> None:
    """Only given nodes, the requested number, and those of the reference."""
    count = data.draw(st.integers(1, len(free)))
    space = NodeSpace.of(view_of(140, ()))
    space.plan.prefer(of_nodes(sorted(preferred), 3))
    found = space.consecutive(of_nodes(sorted(free), 3), count)
    assert number_of(found) == count
    assert set(members(found)) <= free
    assert members(found) == plain_members(plain_choice(mask_of(free), count, mask_of(preferred)))


def test_nodes_of_running_jobs_are_not_idle() -> None:
    """A hundred jobs on a node each, a set of nodes in four words."""
    later = view_of(200, [(60.0 + node, (node,)) for node in range(100)])
    space = NodeSpace.of(later)
    assert members(space.idle) == tuple(range(100, 200))
    assert space.idle_of_sets().tolist() == [100, 100, 0]


JOB = st.tuples(
    st.integers(1, 80), st.integers(1, 40).map(lambda tens: 10.0 * tens), st.sampled_from([(0,), (1,), (0, 1)])
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, Leaving, list[Job], set[int]]:
    """Number of nodes, running jobs, waiting jobs, nodes that are out."""
    nodes = draw(st.sampled_from([6, 70, 130]))
    holder = draw(st.lists(st.integers(-4, 5), min_size=nodes, max_size=nodes))
    end = st.one_of(st.just(ENDED_S), st.integers(0, 30).map(lambda tens: 10.0 * tens - 20.0))
    ends = draw(st.lists(end, min_size=6, max_size=6))
    leaving = [(ends[job], [node for node in range(nodes) if holder[node] == job]) for job in range(6)]
    jobs = [
        Job(f"w!{number}", number, 0.0, walltime_s, min(size, nodes), partitions=partitions, bb_bytes=number % 3)
        for number, (size, walltime_s, partitions) in enumerate(draw(st.lists(JOB, min_size=1, max_size=14)))
    ]
    return nodes, [job for job in leaving if job[1]], jobs, draw(st.sets(st.integers(0, nodes - 1), max_size=4))


TAKEN = st.builds(
    TakenNodes,
    st.integers(-5, 40).map(lambda tens: 10.0 * tens),
    st.integers(41, 60).map(lambda tens: 10.0 * tens),
    st.frozensets(st.integers(0, 5), min_size=1),
    st.booleans(),
)


@settings(max_examples=150)
@given(
    worlds(),
    st.sampled_from([1.0, 30.0, 60.0]),
    st.sampled_from([100.0, 1e6]),
    st.booleans(),
    st.lists(TAKEN, max_size=2),
    st.sampled_from([None, 0.0, 20.0]),
)
def test_plans_are_those_of_the_reference(
    world: tuple[int, Leaving, list[Job], set[int]],
    resolution_s: float,
    window_s: float,
    ends_up: bool,
    taken: list[TakenNodes],
    growth_s: float | None,
) -> None:
    """Expected start and nodes of each pair, where pairs before it have reservations; a third may overlap with them.
    Beside windows of maintenance, and jobs that have ended, too; with expected ends by themselves, and in windows that
    double or grow.
    """
    nodes, leaving, jobs, out = world
    view = view_of(nodes, leaving, jobs, out)
    view.taken = tuple(taken)
    space, pairs = NodeSpace.of(view), Pairs.of(view, "fcfs")
    limits = Limits(0.0, resolution_s, window_s, growth_s or 0.0, ends_up=ends_up, in_windows=growth_s is not None)
    apart = [job for job in jobs if job.bb_bytes == 1]
    planning = Planning(space, pairs, limits, overlapping=apart, asks=True)
    found = []
    for pair, _ in planning:
        start_s = planning.start_s(pair, 0.0)
        found.append((start_s, members(space.chosen) if start_s < math.inf else ()))
        planning.keep(pair, start_s)
    plain, expected = PlainSpace.of(view, resolution_s, {}), []
    for job in jobs:
        for partition in job.partitions:
            allowed = mask_of(view.machine.partitions[partition].nodes)
            start_s, mask = plain_plan(plain, job, allowed, limits, job in apart)
            expected.append((start_s, plain_members(mask)))
            if start_s <= window_s:
                plain.reserve(*kept(start_s, job, resolution_s, ends_up), mask)
    assert found == expected


def kept(start_s: float, job: Job, resolution_s: float, ends_up: bool) -> tuple[float, float]:
    """Begin and end of a reservation."""
    end = math.ceil if ends_up else math.floor
    return (
        math.floor(start_s / resolution_s) * resolution_s,
        end((start_s + job.walltime_s) / resolution_s) * resolution_s,
    )


def plain_plan(space: PlainSpace, job: Job, allowed: int, limits: Limits, apart: bool) -> tuple[float, int]:
    """Start and nodes by the definition: searches one after another, from 0 s on."""
    not_before_s = 0.0
    while not_before_s < math.inf:
        nodes, later_s = space.search(allowed, not_before_s, job.walltime_s, limits.until_s)
        plan = (
            space.will_run_in_windows(nodes, job.nodes, limits.linear_s)
            if limits.in_windows
            else space.will_run(nodes, job.nodes)
        )
        start_s = math.inf if plan is None else max(plan.start_s, not_before_s)
        if plan is not None and start_s <= 0.0:
            if not plan.nodes & space.ended:
                return start_s, plain_choice(nodes & space.idle, job.nodes)
            start_s, later_s = 1.0, math.inf
        if plan is None or start_s > later_s:
            not_before_s = later_s
            continue
        begin_s, end_s = kept(start_s, job, limits.resolution_s, limits.ends_up)
        if apart or start_s > limits.until_s or not space.overlaps(begin_s, end_s, plan.nodes):
            return start_s, plan.nodes
        not_before_s = start_s if start_s > not_before_s else later_s
    return math.inf, 0


@pytest.mark.parametrize(("keeps", "start_s"), [(False, 130.0), (True, 181.0)])
def test_a_job_that_has_just_started_may_keep_its_node_reserved(keeps: bool, start_s: float) -> None:
    """Two nodes, of which 1 is taken from 100 s to 150 s. Job 0, of 130 s, starts on node 0; job 1, of 50 s, needs 2.

    From now on no window is in its way: it is planned for 130 s. If node 0 is reserved in [0, 120), it is tried at
    120 s, when the window is, and again a second after 180 s, as a recorded Slurm with ``select/cons_tres`` did.
    """
    jobs = [Job("w!0", 0, 0.0, 130.0, 1, partitions=(0,)), Job("w!1", 1, 0.0, 50.0, 2, partitions=(0,))]
    view = view_of(2, [], jobs)
    view.taken = (TakenNodes(100.0, 150.0, frozenset({1})),)
    space = NodeSpace.of(view)
    planning = Planning(space, Pairs.of(view, "fcfs"), Limits(0.0, 60.0, 1e9), asks=True)
    pairs = iter(planning)
    first, _ = next(pairs)
    assert (planning.start_s(first, 0.0), members(space.chosen)) == (0.0, (0,))
    space.take(first.job, space.chosen, 130.0)
    if keeps:
        planning.keep_started(first, (0,))
    second, _ = next(pairs)
    assert planning.start_s(second, 0.0) == start_s


def test_limits_are_extended_by_configuration() -> None:
    """A job to be left at 90.99 s that took 0.02 s more to be configured leaves at 91 s, another one at 90 s."""
    job = Job("w!9", 9, 0.0, 60.0, 2, partitions=(0,))
    view = view_of(2, [(90.99, (0, 1))], [job])
    for longer, start_s in (({"0": 0.02}, 91.0), ({}, 90.0)):
        space = NodeSpace.of(view, longer)
        planning = Planning(space, Pairs.of(view, "fcfs"), Limits(0.0, 60.0, 1e9), asks=True)
        assert [planning.start_s(pair, 0.0) for pair, _ in planning] == [start_s]
