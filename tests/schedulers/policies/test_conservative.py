"""Conservative backfilling: promises that wait for something late keep their order, and shift by no more than that."""

import random
from typing import Any

import pytest

from spillway.core import Timeline
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.explanations import Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policies.conservative import PROMISES, Conservative
from spillway.schedulers.policykit.pass_limit import PassLimit
from spillway.schedulers.policykit.view import View
from tests.kit.story import Story
from tests.properties.mini import MiniJob, MiniMachine, play
from tests.schedulers.policies.scenes import job
from tests.schedulers.runtimes import rigid

EIGHT = MiniMachine(nodes=8)


def machine(shape: MiniMachine) -> Machine:
    """A machine of this shape."""
    return Machine.from_simulation_begins(shape.begins())


@pytest.mark.parametrize("late_s", [0.0, 1e-4, 1e-3])
def test_a_late_report_moves_the_promises_behind_it_and_none_passes_another(late_s: float) -> None:
    """Each job takes the whole machine. The first is killed at 10 s and reported later; the second ends a second early.

    The third, promised 20 s, was passed by the fourth and started at 1,019 s.
    """
    played = Story()
    jobs = [
        MiniJob(0.0, 8, 10.0, 20.0),
        MiniJob(1.0, 8, 10.0, 9.0),
        MiniJob(2.0, 8, 100.0, 99.0),
        MiniJob(3.0, 8, 1000.0, 999.0),
    ]
    play(Session(Conservative(), rigid(), terms=Terms(explain=True), observer=played), EIGHT, jobs, late_s)
    assert [played.starts[f"w0!{number}"] for number in range(4)] == pytest.approx([0.0, 10.0, 19.0, 118.0], abs=0.01)
    first: dict[str, float | None] = {}
    for _, notes in played.passes:
        for job_id, note in notes.notes.items():
            if note.role is Role.RESERVED:
                first.setdefault(job_id, note.estimate_s)
    assert first == {"w0!1": 10.0, "w0!2": 20.0, "w0!3": 120.0}


def passes(
    policy: Conservative, steps: list[tuple[float, list[Job], list[tuple[float, Allocation]]]]
) -> list[dict[str, float]]:
    """Promised starts (s) after each pass; a pass has a time, a queue, and running allocations with their ends."""
    notebook: dict[str, Any] = {}
    found = []
    for now_s, queue, running in steps:
        timeline = Timeline(machine(MiniMachine(nodes=4)), now_s)
        for end_s, allocation in running:
            timeline.reserve(now_s, end_s, allocation)
        list(policy(View(now_s, timeline.machine, queue, [], timeline.copy, random.Random(0), notebook)))
        found.append({name: fit.start_s for name, fit in notebook[PROMISES].items()})
    return found


def test_a_bound_leaves_promises_where_they_are() -> None:
    """The clock is over at once: a job that could start 30 s earlier keeps its promise, a new one gets one."""
    queue, later = [job(0, 4, 100.0)], [job(0, 4, 100.0), job(1, 4, 100.0)]
    busy, shorter = [(1000.0, Allocation((0, 1, 2, 3)))], [(970.0, Allocation((0, 1, 2, 3)))]
    steps = [(0.0, queue, busy), (1.0, later, shorter)]
    bounded = Conservative().limited(PassLimit(1.0, iter(range(0, 1000, 5)).__next__))
    assert passes(bounded, steps)[-1] == {"w0!0": 1000.0, "w0!1": 1100.0}
    assert passes(Conservative(), steps)[-1] == {"w0!0": 970.0, "w0!1": 1070.0}
