"""All worlds of up to four jobs, three nodes, two storage nodes, one pool and three instants: none is drawn.

A world is a sequence of jobs, each of some kind and submitted at some instant; jobs end at instants, too, at their
walltimes or one instant before. Worlds are joined where they have come to the same: the same holdings for the same time
to come, and the same jobs waiting for the same time, whatever their names and whatever has been before. Each such state
is one pass of the product beside the specification, and the number of worlds that have come to it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import product as combined
from random import Random
from typing import Any, NamedTuple

import numpy as np

from spillway.core import Fit, Placement, Timeline
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import CountedPool, Machine, Node, Storage
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.conservative import PROMISES
from spillway.schedulers.policykit.view import View
from tests.reference import specification as spec
from tests.reference.comparison import POLICY_RULES, Outside, given_of, job_of, machine_of, table_of

NOW_S = 100.0
"""Time of every pass; states are relative to it (s)."""

MACHINE = Machine(
    nodes=tuple(Node(at, f"n{at}", ()) for at in range(3)),
    storages=tuple(Storage(3 + at, f"s{at}", (), 2) for at in range(2)),
    links=(),
    node_link=np.full(3, -1, np.int32),
    nearest_storages=np.array([(0, 1), (0, 1), (1, 0)], np.int32),
    pools=(CountedPool("license", 1),),
)
"""Three nodes, two storage nodes of two bytes, one license."""

PLAIN = machine_of(MACHINE, Placement())


class Kind(NamedTuple):
    """A kind of job: nodes, bytes for each, licenses, walltime and true duration in instants."""

    nodes: int
    size: int
    pool: int
    wall: int
    run: int


EVERY = tuple(
    Kind(nodes, size, pool, wall, run)
    for nodes, size in combined((1, 2, 3), (0, 1, 2))
    if nodes * size < 6  # three requests of two bytes fit no machine with two storage nodes of two
    for pool in (0, 1)
    for wall, run in ((1, 1), (2, 2), (2, 1))
)
"""All kinds: 48."""

SOME = (
    *(Kind(1, 0, 0, 1, 1), Kind(1, 1, 0, 2, 2), Kind(1, 2, 1, 2, 1), Kind(2, 0, 0, 2, 2)),
    *(Kind(2, 1, 0, 2, 1), Kind(2, 2, 0, 1, 1), Kind(3, 0, 0, 1, 1), Kind(3, 1, 1, 2, 2)),
)
"""Eight kinds that get in each other's way in every column."""

POLICY_NAMES = ("fcfs", "filler", "easy-no-bb", "easy", "sjf-easy", "conservative", "maxutil", "plan-square", "window")


class Run(NamedTuple):
    """A running job: what it has, instants until its walltime and until its end."""

    given: Allocation
    wall: int
    end: int


class State(NamedTuple):
    """What worlds have come to before a pass: running jobs; waiting kinds with instants waited; promises by place.

    A promise is the instants until its start, and its allocation.
    """

    running: tuple[Run, ...] = ()
    queue: tuple[tuple[Kind, int], ...] = ()
    promises: tuple[tuple[float, Allocation] | None, ...] = ()

    def joined(self, arrived: tuple[Kind, ...]) -> State:
        """The state once further jobs have come."""
        queue = (*self.queue, *((kind, 0) for kind in arrived))
        return State(self.running, queue, (*self.promises, *((None,) * len(arrived))))


class Enumeration:
    """All worlds of some kinds of jobs, under one policy.

    Attributes
    ----------
    worlds
        Number of worlds.
    passes, starts
        Passes compared (different states), and the starts in them.
    outside
        Passes not compared, by reason.
    """

    def __init__(self, policy: str, kinds: Sequence[Kind], jobs: int, instants: int = 3) -> None:
        self._policy: Any = POLICIES[policy].build({})
        self._rules = POLICY_RULES[POLICIES[policy].cls]
        self._later: dict[State, State] = {}
        self.passes, self.starts, self.outside = 0, 0, Counter[str]()
        found = Counter({(State(), 0): 1})
        for _ in range(instants):
            met = Counter[tuple[State, int]]()
            for (state, number), worlds in found.items():
                for more in range(jobs - number + 1):
                    for arrived in combined(kinds, repeat=more):
                        met[self._one_later(state.joined(arrived)), number + more] += worlds
            found = met
        self.worlds = found.total()

    def _one_later(self, state: State) -> State:
        """The state that a state has come to an instant later."""
        found = self._later.get(state)
        if found is None:
            starts, promises = self._pass(state) if state.queue else ({}, {})
            runs = [*state.running, *(Run(given, *state.queue[at][0][3:]) for at, given in starts.items())]
            left = [at for at in range(len(state.queue)) if at not in starts]
            found = self._later[state] = State(
                tuple(Run(given, wall - 1, end - 1) for given, wall, end in runs if end > 1),
                tuple((state.queue[at][0], state.queue[at][1] + 1) for at in left),
                tuple(promises.get(at) for at in left),
            )
        return found

    def _pass(self, state: State) -> tuple[dict[int, Allocation], dict[int, tuple[float, Allocation]]]:
        """Run a pass and compare it; starts, and promises as the next instant sees them, by place in the queue."""
        timeline, table = _holdings(state.running)
        queue = [_job(at, kind, waited) for at, (kind, waited) in enumerate(state.queue)]
        promised = {job.id: one for job, one in zip(queue, state.promises, strict=True) if one is not None}
        notebook: dict[str, Any] = {PROMISES: {name: Fit(NOW_S + at, given) for name, (at, given) in promised.items()}}
        view = View(NOW_S, MACHINE, queue, [], timeline.copy, Random(0), notebook)
        try:
            judge = self._rules(self._policy, view, table.copy(), [job_of(job, job.walltime_s) for job in queue])
        except Outside as reason:
            self.outside[str(reason)] += 1
            judge = None
        starts = [decision for decision in self._policy(view) if type(decision) is Start]
        if judge is not None:
            judge([(start.job.id, given_of(start.allocation)) for start in starts], view)
            self.passes, self.starts = self.passes + 1, self.starts + len(starts)
        after = notebook.get(PROMISES, {})
        return (
            {start.job.number: start.allocation for start in starts},
            {at: (after[job.id].start_s - NOW_S - 1, after[job.id].allocation) for at, job in enumerate(queue)
             if job.id in after},
        )  # fmt: skip


def _job(number: int, kind: Kind, waited: int) -> Job:
    """A waiting job."""
    return Job(
        f"w0!{number}", number, NOW_S - waited, float(kind.wall), kind.nodes, kind.size, pools=(kind.pool,) * kind.pool
    )


@cache
def _holdings(running: tuple[Run, ...]) -> tuple[Timeline, spec.Table]:
    """The timeline and the table of running jobs, which agree."""
    timeline, table = Timeline(MACHINE, NOW_S), spec.Table(PLAIN, NOW_S)
    for given, wall, _ in running:
        timeline.reserve(NOW_S, NOW_S + wall, given)
        table.add(table.rows_of(given_of(given), NOW_S, NOW_S + wall))
    read = table_of(timeline)
    assert all(read.least(kind, time_s, time_s) == table.least(kind, time_s, time_s)
               for kind in spec.ALL for time_s in {*read.times, *table.times}), running  # fmt: skip
    return timeline, table
