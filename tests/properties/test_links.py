"""No link is ever over-committed: under every policy, with early ends, walltime kills, kills by policy, rejections."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spillway.protocol.messages import JobState
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Ground, Passes
from spillway.schedulers.model.decisions import Decision, Kill, Reject
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import Policy, Running, View
from spillway.schedulers.timeline.placement import NodeOrder, Placement
from tests.properties.mini import SPACE_SHARING, MiniJob, MiniMachine, Played, play
from tests.schedulers.runtimes import rigid

GB = 10**9

EXACT = {"pack": {"constraint": "strict"}}
"""Options of the policies that by default keep an average within the bandwidth, and say so: made to book it."""

TREES = {
    "two levels": tuple(f"pfs=100/edge{i // 4}=60" for i in range(8)),
    "four levels": tuple(f"pfs=90/pool=100/su{i // 4}=55/edge{i // 2}=45/n{i}=40" for i in range(8)),
    "two clusters": tuple(f"pfs=80/{'a' if i < 3 else 'b'}={50 if i < 3 else 70}/edge{i // 2}=45" for i in range(8)),
}
"""Machines of eight nodes; in the last, two clusters of unequal size share the file system."""

JOBS = st.lists(
    st.builds(
        lambda submit, nodes, run, slack, bb, rate: MiniJob(
            float(submit), nodes, float(run + slack), float(run), bb * GB, rate
        ),
        submit=st.integers(0, 50),
        nodes=st.integers(1, 9),
        run=st.integers(1, 40),
        slack=st.integers(-10, 30).filter(bool),
        bb=st.integers(0, 4),
        rate=st.sampled_from([0, 5, 11, 20, 40, 61]),
    ).filter(lambda job: job.walltime_s > 0),
    min_size=1,
    max_size=12,
)


class Meter(Played):
    """Counts the load of every link, only from starts and ends, and refuses an overload when it arises."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine
        self.load = [0] * len(machine.links)
        self.peak = [0] * len(machine.links)
        self.states: set[JobState] = set()

    def book(self, job: Job, allocation: Allocation, sign: int) -> None:
        """Add a job's streams to the links above its nodes, or take them away."""
        for node in allocation.nodes:
            link = int(self.machine.node_link[node])
            while link >= 0:
                self.load[link] += sign * job.io_rate
                assert 0 <= self.load[link] <= self.machine.links[link].capacity_bytes_per_s, self.machine.links[link]
                self.peak[link] = max(self.peak[link], self.load[link])
                link = self.machine.links[link].parent

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Book a start."""
        super().started(job, allocation, now_s)
        assert len(allocation.nodes) == job.nodes
        self.book(job, allocation, 1)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Book an end."""
        self.states.add(state)
        self.book(running.job, running.allocation, -1)


class Restless:
    """A policy that, before another one decides, kills running jobs and rejects waiting ones at random."""

    def __init__(self, policy: Policy, share: float) -> None:
        self.policy = policy
        self.share = share

    def __call__(self, view: View) -> Iterable[Decision]:
        """Kill and reject some jobs, then let the other policy decide on the others."""
        for running in view.running:
            if view.rng.random() < self.share:
                yield Kill(running.job, "restless")
        unwanted = [job for job in view.queue if view.rng.random() < self.share]
        for job in unwanted:
            yield Reject(job, "unwanted")
        rest = copy.copy(view)
        object.__setattr__(rest, "queue", tuple(job for job in view.queue if job not in unwanted))
        yield from self.policy(rest)


@pytest.mark.parametrize("name", SPACE_SHARING)
@settings(max_examples=12, phases=[Phase.generate])
@given(
    jobs=JOBS,
    tree=st.sampled_from(sorted(TREES)),
    order=st.sampled_from(NodeOrder),
    share=st.sampled_from([0.0, 0.2]),
    literal=st.booleans(),
)
def test_no_link_is_over_committed(
    name: str, jobs: list[MiniJob], tree: str, order: NodeOrder, share: float, literal: bool
) -> None:
    """At every start no link above the job's nodes exceeds its capacity, and in the end all is given back."""
    shape = MiniMachine(nodes=8, storages=2, storage_bytes=10 * GB, io_paths=TREES[tree])
    meter = Meter(Machine.from_simulation_begins(shape.begins()))
    policy = Restless(POLICIES[name].build(EXACT.get(name, {}), literal=literal), share)
    play(
        Session(policy, rigid(), passes=Passes(seed=5), ground=Ground(placement=Placement(order)), observer=meter),
        shape,
        jobs,
    )
    assert not any(meter.load)
    assert len(meter.starts) + len(meter.refused) == len(jobs)


def test_the_histories_are_not_tame() -> None:
    """The generator above meets early ends, walltime kills, kills by policy and rejections, and full links."""
    jobs = [MiniJob(float(i), 1 + i % 5, 12.0 + i % 9, 10.0 + i % 13, 0, (20, 40, 61, 11)[i % 4]) for i in range(60)]
    shape = MiniMachine(nodes=8, storages=2, storage_bytes=10 * GB, io_paths=TREES["two levels"])
    meter = Meter(Machine.from_simulation_begins(shape.begins()))
    play(Session(Restless(POLICIES["easy"].build(), 0.05), rigid(), passes=Passes(seed=1), observer=meter), shape, jobs)
    assert meter.states >= {
        JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_WALLTIME_REACHED, JobState.COMPLETED_KILLED
    }  # fmt: skip
    assert any("link" in reason or "level" in reason or "I/O" in reason for reason in meter.refused.values())
    assert "unwanted" in meter.refused.values()
    assert max(meter.peak) == 100
