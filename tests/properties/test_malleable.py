"""Malleable jobs under any controller, policy and kill: no work is lost, nothing over-committed, nothing kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import generate
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import JobState, Message, Reply
from spillway.schedulers.applications.moldable import Moldable
from spillway.schedulers.controllers.control import Control, Shrink, make_controllers
from spillway.schedulers.controllers.interference import Strategy
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.scene import Controller, Reason, Resize, Scene
from spillway.schedulers.controllers.sharing import Expansion
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.jobmodels.app_record import AppRecord, finished
from spillway.schedulers.jobmodels.gates import IoControl, make_gate
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.decisions import Decision, Kill
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import View
from tests.kit.play import converse

NODES = 12
GB = 10**9


@lru_cache(maxsize=1)
def platform() -> Platform:
    """Twelve nodes at two switches that carry 1 GB/s each, a burst buffer of 20 GB at each, a file system."""
    text = f"""
name = "small"
topology = "tree"
[[cluster]]
name = "small"
uplink = {{ name = "core", bandwidth = "2GBps" }}
levels = [
  {{ name = "switch", count = 2, bandwidth = "1GBps" }},
  {{ name = "node", count = {NODES // 2}, bandwidth = "1GBps", duplex = true }},
]
[storage]
per = "switch"
capacity = "20GB"
bandwidth = "1GBps"
[pfs]
bandwidth = "1GBps"
"""
    return parse_platform(generate(read_description(text, "small", builtin_files())), "small")


@dataclass
class Restless:
    """A controller that requests legal changes drawn from a list of numbers, and nothing when the list is empty."""

    numbers: list[int]

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Grow, shrink (also below the submitted size), or shift an application."""
        for view in scene.applications:
            if not self.numbers or not view.willing:
                continue
            kind, amount = divmod(self.numbers.pop(), 8)
            at, application = view.next_control, view.application
            later = at + application.control_every
            most = min(application.maximum - view.nodes, scene.idle)
            if kind % 3 == 0 and most > 0:
                yield Resize(view.id, (Step(at, 1 + amount % most),), Reason.EXPAND, scene.now_s + amount)
            elif kind % 3 == 1 and view.nodes > application.minimum:
                yield Resize(view.id, (Step(at, -(1 + amount % (view.nodes - application.minimum))),), Reason.RETURN)
            elif most > 0 and later < application.iterations:
                extra = 1 + amount % most
                yield Resize(view.id, (Step(at, extra), Step(later, -extra)), Reason.SHIFT, scene.now_s + amount)
            return


@dataclass
class Killing:
    """A policy that kills running jobs now and then, else does as another one does."""

    other: Any
    numbers: list[int]
    killed: set[str] = field(default_factory=set)

    def __call__(self, view: View) -> Iterable[Decision]:
        """Kill the job that the next number names, if any."""
        if self.numbers:
            place = self.numbers.pop()
            running = [run.job for run in view.running if run.job.id not in self.killed]
            if place < len(running):
                self.killed.add(running[place].id)
                yield Kill(running[place], "for the test")
        yield from self.other(view)


def application(nodes: int, work: int, io_gb: int, overhead: int, bb: int, rate: int) -> dict[str, Any]:
    """A malleable profile: 13 iterations, control points every 2, I/O every 4; the last iteration is by itself."""
    return {
        "type": "delay", "delay": 10, "bb": bb * GB, "io_rate": rate * 10**7,
        "malleable": {
            "iterations": 13, "io_every": 4, "control_every": 2, "minimum": max(1, nodes - 2), "maximum": nodes + 5,
            "overhead": overhead / 2, "io_bytes": io_gb * GB, "model": {"work": float(work), "serial": 0.25},
        },
    }  # fmt: skip


JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "submit": st.integers(0, 30),
            "nodes": st.integers(1, 7),
            "work": st.integers(1, 40),
            "io": st.integers(0, 6),
            "overhead": st.integers(0, 4),
            "bb": st.sampled_from([0, 0, 1, 4]),
            "rate": st.sampled_from([0, 0, 5]),
            "walltime": st.sampled_from([None, None, 20, 60, 300]),
            "rigid": st.sampled_from([False, False, True]),
            "wants": st.sampled_from([None, None, 0, 5]),
        }
    ),
    min_size=1,
    max_size=6,
)


@dataclass
class Played:
    """Result of a simulation."""

    records: list[AppRecord]
    session: Session
    killed: set[str]


def play(
    jobs: list[dict[str, Any]],
    policy: str,
    controller: Controller,
    kills: list[int],
    gate: IoControl,
    *,
    moldable: bool = False,
) -> Played:
    """Simulate; books and execution are checked after every message."""
    profiles: dict[str, Any] = {"rigid": {"type": "delay", "delay": 15}}
    wire = []
    for number, job in enumerate(jobs):
        profiles[f"p{number}"] = profile = application(
            job["nodes"], job["work"], job["io"], job["overhead"], job["bb"], job["rate"]
        )
        if job.get("wants") is not None:
            size = max(1, job["nodes"] - 2) + job["wants"]
            profile["malleable"]["requests"] = [{"iteration": 6, "nodes": size}]
        name = "rigid" if job["rigid"] else f"p{number}"
        one = {"id": str(number), "subtime": job["submit"], "res": job["nodes"], "profile": name}
        wire.append(one if job["walltime"] is None else one | {"walltime": job["walltime"]})
    records: list[AppRecord] = []

    def keep(record: JobRecord) -> None:
        app = finished(record)
        if app is not None:
            records.append(app)

    execution = ProgramRuntime(Malleable(), make_gate(gate), 0, keep)
    killing = Killing(POLICIES[policy].build({}), kills)
    steering = Steering(controller, execution)
    session = Session(
        killing,
        execution,
        terms=Terms(steering=steering, fewest_nodes=Moldable() if moldable else None),
    )

    def applications_know_their_nodes(message: Message, reply: Reply) -> None:
        for view in [app.view for app in execution.published()]:
            held = session.book.parts_of(view.id)
            assert held is not None
            assert len(held.nodes.nodes) == view.held, f"{view.id} holds other nodes than it knows of"

    data = {"nb_res": NODES, "jobs": wire, "profiles": profiles}
    converse(
        session, platform(), data, after=applications_know_their_nodes,
        dynamic_jobs=True, profile_reuse=True, fail_on_deadlock=True,
    )  # fmt: skip
    return Played(records, session, killing.killed)


def prove(played: Played, jobs: list[dict[str, Any]]) -> None:
    """All nodes are back; a job that came to its end has done every interval once, and no job more than that."""
    assert len(played.session.book.free_nodes()) == NODES
    assert not played.session.book.nodes_out
    played.session.book.check()
    assert len(played.session.book.timeline) == 1 or played.session.book.timeline.free_nodes_now() == NODES
    for record in played.records:
        whole = record.state is JobState.COMPLETED_SUCCESSFULLY
        assert (record.iterations == 13) if whole else (record.iterations <= 13)
        assert record.intervals == -(-record.iterations // 2)
        job = jobs[int(record.job.name)]
        if whole and job["io"]:
            assert len(record.phases) == 3
        model = application(job["nodes"], job["work"], 0, 0, 0, 0)["malleable"]["model"]
        sizes = [nodes for _, nodes in record.sizes]
        if whole:
            fastest, slowest = max(sizes), min(sizes)
            assert record.compute_s >= 13 * (model["work"] / fastest + 0.25) - 1e-3
            assert record.compute_s <= 13 * (model["work"] / slowest + 0.25) + 0.01
        if record.job.id in played.killed:
            assert record.state is not JobState.RUNNING


@settings(max_examples=60)
@given(
    jobs=JOBS,
    policy=st.sampled_from(["fcfs", "easy", "conservative", "sjf-easy"]),
    numbers=st.lists(st.integers(0, 23), max_size=25),
    kills=st.lists(st.integers(0, 9), max_size=12),
    gate=st.sampled_from(IoControl),
)
def test_no_resize_loses_work_or_nodes(
    jobs: list[dict[str, Any]], policy: str, numbers: list[int], kills: list[int], gate: IoControl
) -> None:
    """Under a controller that resizes at random, with kills and walltimes, rigid jobs, burst buffers and bandwidth."""
    prove(play(jobs, policy, Restless(numbers), kills, gate), jobs)


@pytest.mark.parametrize("expansion", list(Expansion))
@pytest.mark.parametrize("strategy", list(Strategy))
@settings(max_examples=6)
@given(
    jobs=JOBS,
    kills=st.lists(st.integers(0, 9), max_size=12),
    gate=st.sampled_from(IoControl),
    shrink=st.sampled_from(Shrink),
    moldable=st.booleans(),
)
def test_our_controllers_keep_it_too(
    expansion: Expansion,
    strategy: Strategy,
    jobs: list[dict[str, Any]],
    kills: list[int],
    gate: IoControl,
    shrink: Shrink,
    moldable: bool,
) -> None:
    """Every combination of strategy, expansion and shrinking; the guard accepts all their decisions."""
    control = Control(
        interference=strategy, expansion=expansion, expansion_profit=0.1, io_uncertainty=0.5, shrink=shrink
    )
    prove(play(jobs, "easy", make_controllers(control), kills, gate, moldable=moldable), jobs)
